// Judges right programs while the machine is crowded: node bench/crowd.js [ROUNDS] [HOGS] [LESSON]. In each round fourteen
// checks run at once, of solutions and right answers, of all lessons in turn unless one is named; beside them so many CPU
// hogs. A false verdict is told with its reason. The bar: none failed in twenty rounds, with no hogs and with sixteen a core;
// undecided is fine.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { answersOf, makeAnswer } from '../lib/lessons/answers.js';
import { findLesson, listLessons, rootFolder } from '../lib/lessons/catalog.js';
import { countGiven } from './argument.js';
import { startHogs } from './hog.js';

const AT_ONCE = 14;
const main = join(rootFolder, 'lib/cli/main.cjs');
const rounds = countGiven(1, 20, 'rounds');
const [, hogs = '0', name] = process.argv.slice(2);
const all = listLessons(rootFolder);

/** @typedef {{ key: string, name: string, place: string }} Right */

const queues = (name ? [findLesson(all, name)] : all).map(({ key }) => rightOf(key));
const counts = { passed: 0, failed: 0, undecided: 0 };
const stopHogs = startHogs(Number(hogs));
for (let round = 0; round < rounds; round += 1) {
  const before = { ...counts };
  const since = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => judge(next(round, index))));
  const told = Object.entries(counts).map(([one, count]) => `${one} ${count - before[one]}`);
  const seconds = Math.round((performance.now() - since) / 1000);
  console.log(`round ${round + 1}: ${told.join(', ')}, in ${seconds} s`);
}
stopHogs();
const { passed, failed, undecided } = counts;
console.log(
  `${rounds} rounds of ${AT_ONCE} checks at once, beside ${hogs} hogs: ` +
    `passed ${passed}, failed ${failed}, undecided ${undecided}`,
);
process.exitCode = failed > 0 ? 1 : 0;

/** The solution of a lesson and its right answers. @param {string} key @returns {Right[]} */
function rightOf(key) {
  const answers = answersOf(rootFolder, key)
    .filter(({ isRight }) => isRight)
    .map((answer) => ({ key, name: answer.name, place: makeAnswer(rootFolder, key, answer) }));
  return [{ key, name: 'solution', place: join(rootFolder, 'solutions', key) }, ...answers];
}

/** The lessons in turn, and of each its programs in turn. @param {number} round @param {number} index */
function next(round, index) {
  const count = round * AT_ONCE + index;
  const programs = queues[count % queues.length];
  return programs[Math.floor(count / queues.length) % programs.length];
}

/** @param {Right} right */
async function judge({ key, name: what, place }) {
  const flags = ['--quick', '--all', '--json', '--in', place];
  const child = spawn(process.execPath, [main, 'check', key, ...flags], { cwd: rootFolder });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part) => (text += part));
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code === 0) counts.passed += 1;
  else if (code === 3) counts.undecided += 1;
  else counts.failed += 1;
  if (code !== 0 && (code !== 3 || /"fault": "/.test(text)))
    console.log(`${key}/${what}, exit code ${code}: ${whyOf(text)}`);
}

/** What failed, and why; where nothing can be read, all that was printed. @param {string} text */
function whyOf(text) {
  try {
    const { promises, fault } = JSON.parse(text);
    const told = promises.filter((/** @type {any} */ { verdict }) => verdict === 'failed');
    return `${fault ?? ''} ${told.map(({ id, got, why }) => `${id}: ${got} ${why}`).join('; ')}`;
  } catch {
    return text;
  }
}
