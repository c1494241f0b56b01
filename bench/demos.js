// Runs the demos of the deck beside CPU hogs, and compares the last sentence of each run with its timeline: a demo may say
// that the machine is too busy, but nothing false.
//   npm run bench:demos -- [--times 20] [--hogs N] [--only kill-one,roll] [--minutes 30] [--file demos.jsonl]
// The file gets a line for each run: started again, it continues from there.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkFile, loadCheck } from '../lib/check/definitions.js';
import { answersOf } from '../lib/lessons/answers.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { findTool } from '../lib/tools/tools.js';
import { readDemos } from '../lib/deck/recordings.js';
import { demoName } from '../lib/deck/spots.js';
import { perform } from '../lib/deck/perform-demo.js';
import { startHogs } from './hog.js';
import { seenIn, truths } from './truths.js';

const HOGS_A_CORE = 4;

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '20' },
    hogs: { type: 'string', default: String(HOGS_A_CORE * availableParallelism()) },
    only: { type: 'string' },
    minutes: { type: 'string', default: 'Infinity' },
    file: { type: 'string', default: join(tmpdir(), 'forkshop-demos.jsonl') },
  },
});
const [times, hogs, minutes] = [values.times, values.hogs, values.minutes].map(Number);
const wanted = values.only?.split(',');
const deadline = performance.now() + minutes * 60_000;

const all = await readDemos(rootFolder);
const demos = all.filter(
  ({ name, needs }) => (!wanted || wanted.includes(name)) && (!needs || findTool(needs)),
);
if (demos.length === 0 || wanted?.some((name) => all.every((one) => one.name !== name))) {
  console.error(`Known are: ${all.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

/** @type {{ name: string, hogs: number, outcome: 'true' | 'busy' | 'FALSE', words: string }[]} */
const done = (existsSync(values.file) ? readFileSync(values.file, 'utf8') : '')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line))
  .filter((one) => one.hogs === hogs);
const runsOf = (/** @type {string} */ name) => done.filter((one) => one.name === name);

const stopHogs = startHogs(hogs);
for (let round = 1; round <= times; round += 1)
  for (const demo of demos) {
    if (performance.now() > deadline) break;
    if (runsOf(demo.name).length >= round) continue;
    const one = { name: demo.name, hogs, ...(await runOne(demo)) };
    done.push(one);
    appendFileSync(values.file, `${JSON.stringify(one)}\n`);
    if (one.outcome !== 'true') console.log(`${one.name}, ${one.outcome}: ${one.words}`);
  }
stopHogs();

console.log(`\nBeside ${hogs} hogs (${values.file}):`);
for (const { name } of demos) {
  const [isTrue, busy, isFalse] = ['true', 'busy', 'FALSE'].map(
    (wanted) => runsOf(name).filter(({ outcome }) => outcome === wanted).length,
  );
  console.log(`  ${name}: ${isTrue} true, ${busy} too busy, ${isFalse} FALSE`);
}
process.exitCode = done.some(({ outcome }) => outcome === 'FALSE') ? 1 : 0;

/** @param {import('../lib/deck/perform-demo.js').Demo & { key: string }} demo */
async function runOne(demo) {
  /** @type {any[]} */
  const messages = [];
  const send = (/** @type {object} */ message) => void messages.push(message);
  await perform(demo, { root: rootFolder, send, signal: new AbortController().signal });
  const { error } = messages.at(-1).end;
  if (error) return { outcome: /** @type {const} */ ('busy'), words: error };
  const seen = seenIn(messages);
  const truth = truths[demo.name] ?? (await truthOfSpot(demo));
  const fault = truth(seen);
  const words = `${fault ?? ''} ${seen.sentence}`.trim();
  return { outcome: fault ? /** @type {const} */ ('FALSE') : /** @type {const} */ ('true'), words };
}

/**
 * A fault from the lesson's catalogue must break the promises that the catalogue names.
 * @param {import('../lib/deck/perform-demo.js').Demo & { key: string }} demo
 * @returns {Promise<import('./truths.js').Truth>}
 */
async function truthOfSpot({ name, key }) {
  const answer = answersOf(rootFolder, key).find((one) => name === demoName(key, one.name));
  if (!answer) throw new Error(`The demo ${name} has no truth in bench/truths.js.`);
  const { promises } = await loadCheck(checkFile(rootFolder, key));
  const starts = answer.isRight
    ? ['It is right']
    : answer.breaks.map((id) => `It breaks “${promises[id]}”`);
  return ({ sentence }) =>
    starts.some((words) => sentence.startsWith(words))
      ? undefined
      : `To be said: ${starts.join(', or ')}.`;
}
