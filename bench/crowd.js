// Judges right programs while the machine is crowded: node bench/crowd.js [TIMES] [HOGS] [LESSON]. Fourteen checks run at
// once, of solutions and right answers, of all lessons in turn unless one is named, until there were fourteen times that
// many; beside them HOGS CPU hogs. A false verdict is printed with its reason. The bar: no check fails in twenty times
// fourteen, with no hogs and with sixteen a core; undecided is fine.
//
// Each check and each hog has its own session, like neighbours at their own terminals: Linux deals the cores out by session
// first (autogroup, see sched(7)), and fourteen checks in one session would share what a single hog gets.
import { join } from 'node:path';
import { spawnOurs } from '../lib/common/child.js';
import { makeAnswer } from '../lib/lessons/answer-programs.js';
import { answersOf } from '../lib/lessons/answers.js';
import { findLesson, listLessons, rootFolder } from '../lib/lessons/catalog.js';
import { countGiven } from './argument.js';
import { startHogs } from './hog.js';

const AT_ONCE = 14;
const main = join(rootFolder, 'lib/cli/main.cjs');
const times = countGiven(1, 20, 'times');
const [, hogs = '0', name] = process.argv.slice(2);
const all = listLessons(rootFolder);

/** @typedef {{ key: string, name: string, place: string }} Right */

const queues = (name ? [findLesson(all, name)] : all).map(({ key }) => rightOf(key));
const checks = AT_ONCE * times;
const VERDICTS = ['passed', 'failed', '', 'undecided']; // by exit code; any other is a fault of ours
/** @type {{ key: string, verdict: string }[]} */
const told = [];
let begun = 0;
const since = performance.now();
const stopHogs = startHogs(Number(hogs));
await Promise.all(Array.from({ length: AT_ONCE }, goOn));
stopHogs();

console.log(`${checks} checks, ${AT_ONCE} at once, beside ${hogs} hogs, in ${secondsNow()} s`);
for (const key of new Set(told.map((one) => one.key)))
  console.log(`${key}: ${countsOf(told.filter((one) => one.key === key))}`);
process.exitCode = told.some(({ verdict }) => verdict === 'failed') ? 1 : 0;

/** Judges one program after the other until the end, so that the machine stays equally crowded. */
async function goOn() {
  while (begun < checks) {
    const right = next(begun);
    begun += 1;
    told.push({ key: right.key, verdict: await judge(right) });
    if (told.length % AT_ONCE === 0)
      console.log(`${told.length} of ${checks} in ${secondsNow()} s: ${countsOf(told)}`);
  }
}

/** The solution of a lesson and its right answers. @param {string} key @returns {Right[]} */
function rightOf(key) {
  const answers = answersOf(rootFolder, key)
    .filter(({ isRight }) => isRight)
    .map((answer) => ({ key, name: answer.name, place: makeAnswer(rootFolder, key, answer) }));
  return [{ key, name: 'solution', place: join(rootFolder, 'solutions', key) }, ...answers];
}

/** The lessons in turn, and the programs of each in turn. @param {number} count  of earlier programs */
function next(count) {
  const programs = queues[count % queues.length];
  return programs[Math.floor(count / queues.length) % programs.length];
}

/** @param {Right} right */
async function judge({ key, name: what, place }) {
  const flags = ['--quick', '--all', '--json', '--in', place];
  const child = spawnOurs([main, 'check', key, ...flags], {
    cwd: rootFolder,
    detached: true,
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part) => (text += part));
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0 && (code !== 3 || /"fault": "/.test(text)))
    console.log(`${key}/${what}, exit code ${code}: ${whyOf(text)}`);
  return VERDICTS[code] || 'failed';
}

/** The failures and their reasons; if the report can't be parsed, the whole output. @param {string} text */
function whyOf(text) {
  try {
    const { promises, fault } = JSON.parse(text);
    const told = promises.filter((/** @type {any} */ { verdict }) => verdict === 'failed');
    return `${fault ?? ''} ${told.map(({ id, got, why }) => `${id}: ${got} ${why}`).join('; ')}`;
  } catch {
    return text;
  }
}

function secondsNow() {
  return Math.round((performance.now() - since) / 1000);
}

/** @param {{ verdict: string }[]} some */
function countsOf(some) {
  const count = (/** @type {string} */ wanted) =>
    some.filter(({ verdict }) => verdict === wanted).length;
  return `passed ${count('passed')}, failed ${count('failed')}, undecided ${count('undecided')}`;
}
