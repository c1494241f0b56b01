// Proves every lesson through `check`, as a learner would run it: the solution passes, the untouched starter breaks
// what its front matter says, every right answer in checks/submissions/ passes, every wrong one breaks exactly the
// promises that its first line names, every promise is broken alone by some wrong answer, and nothing is left behind.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listLessons, rootFolder } from '../../lib/catalog.js';
import { findTool } from '../../lib/tools.js';
import { Watched, until } from '../nothing-left.js';
import { createSlots } from './slots.js';

const AT_ONCE = 2;
const TRIES = 3;
const DEADLINE_MS = 60_000;
const LOOK_EVERY_MS = 150; // a look takes 7 ms of CPU, which the programs need
const main = join(rootFolder, 'lib/cli/main.cjs');
const slots = createSlots(AT_ONCE);

/**
 * @typedef {import('../../lib/cli/run-check.js').CheckResult} CheckResult
 * @typedef {{ name: string, place: string, breaks: string[] }} Answer  breaks: the promises; none for a right one
 */

/**
 * Of the wrong answers that break the same promises so many are proved each time, the others by
 * `npm run test:proofs -- all`: there are hundreds.
 */
const ALIKE = process.env.FORKSHOP_PROOFS === 'all' ? Infinity : 1;

/** One lesson alone, for its author. */
const wanted = process.env.FORKSHOP_LESSON;

for (const lesson of listLessons(rootFolder).filter(({ key }) => !wanted || key === wanted)) {
  test(lesson.key, { concurrency: true }, async (t) => {
    const { key, starterFails, needs } = lesson;
    const missing = needs.filter((name) => !findTool(name));
    assert.ok(missing.length === 0 || !process.env.CI, `Not installed: ${missing.join(', ')}.`);
    if (missing.length > 0) return t.skip(`${missing.join(', ')} is not installed`);
    const submissions = someOf(submissionsOf(key));
    /** @type {Answer} */
    const solution = { name: 'solution', place: join(rootFolder, 'solutions', key), breaks: [] };
    const starter = {
      name: 'starter',
      place: join(rootFolder, 'checks/starters', key),
      breaks: starterFails,
    };
    /** @type {string[]} */
    let promises = [];
    await Promise.all(
      [solution, starter, ...submissions].map((answer) =>
        t.test(answer.name, async (subtest) => {
          const result = await judge(key, answer, subtest);
          assertBreaks(answer, result);
          if (answer === solution) promises = result.promises.map(({ id }) => id);
          if (answer === starter) assert.ok(doesAnything(result), 'The starter does not boot.');
        }),
      ),
    );
    await t.test('every promise is broken alone by some wrong answer', () => {
      assert.ok(promises.length > 0, 'The solution was not judged.');
      const alone = submissions.filter(({ breaks }) => breaks.length === 1);
      const missing = promises.filter((id) => !alone.some(({ breaks }) => breaks[0] === id));
      assert.deepEqual(missing, [], 'No reject-* breaks these promises and no other.');
    });
  });
}

/** Every right answer, and of the wrong ones that break the same promises the first few. @param {Answer[]} answers */
function someOf(answers) {
  const alike = new Map();
  return answers.filter(({ breaks }) => {
    const kind = breaks.join();
    alike.set(kind, (alike.get(kind) ?? 0) + 1);
    return breaks.length === 0 || alike.get(kind) <= ALIKE;
  });
}

/**
 * The right and wrong answers of a lesson, each with what its first line says.
 * @param {string} key
 * @returns {Answer[]}
 */
function submissionsOf(key) {
  const room = join(rootFolder, 'checks/submissions', key);
  const answers = readdirSync(room).map((name) => {
    const place = join(room, name);
    const file = statSync(place).isDirectory() ? join(place, 'server.js') : place;
    const [first] = readFileSync(file, 'utf8').split('\n', 1);
    const [, kind, text = ''] = /^\/\/ (accepts|breaks): (.+)$/.exec(first) ?? [];
    const isRight = kind === 'accepts';
    const expected = isRight ? 'accept-' : 'reject-';
    assert.ok(kind && name.startsWith(expected), `${key}/${name} begins with "${first}".`);
    return { name, place, breaks: isRight ? [] : text.split(/, */) };
  });
  for (const kind of ['accept', 'reject'])
    assert.ok(
      answers.some(({ name }) => name.startsWith(kind)),
      `There is no ${kind}-* in ${room}.`,
    );
  return answers;
}

/**
 * What the check says; asked again, with the machine to itself, when it could not tell.
 * @param {string} key
 * @param {Answer} answer
 * @param {import('node:test').TestContext} t
 * @returns {Promise<CheckResult>}
 */
async function judge(key, { place }, t) {
  const once = () => check(['check', key, '--in', place, '--json', '--quick']);
  let result = await slots.take(1, once);
  for (let tries = 1; tries < TRIES && result.verdict === 'inconclusive'; tries += 1) {
    t.diagnostic(`inconclusive: ${wordsOf(result)}`);
    result = await slots.take(AT_ONCE, once);
  }
  t.diagnostic(`${result.verdict} in ${result.seconds} s`);
  return result;
}

/**
 * Runs the command, and looks for what it has left behind.
 * @param {string[]} argv
 * @returns {Promise<CheckResult>}
 */
async function check(argv) {
  const watched = new Watched([process.execPath, main, ...argv]);
  clearInterval(watched.watching);
  watched.watching = setInterval(() => watched.look(), LOOK_EVERY_MS);
  try {
    const command = argv.join(' ');
    const end = await until(`a verdict of ${command}`, () => watched.ended, DEADLINE_MS);
    const { stdout, stderr, code } = /** @type {import('../nothing-left.js').Ended} */ (end);
    assert.match(stdout, /^\{[^]*\}\n$/, `${command} printed no JSON object.\n${stderr}`);
    const result = JSON.parse(stdout);
    assert.equal(code, { passed: 0, failed: 1, inconclusive: 3 }[result.verdict], 'The exit code');
    await until('nothing is left', async () => (await watched.left()).length === 0).catch(() => {});
    assert.deepEqual(await watched.left(), [], 'This is left behind.');
    return result;
  } finally {
    watched.cleanUp();
  }
}

/**
 * @param {Answer} answer
 * @param {CheckResult} result
 */
function assertBreaks({ breaks }, result) {
  const failed = result.promises.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id);
  const said = `The verdict is "${result.verdict}". ${wordsOf(result)}`;
  assert.equal(result.fault, null, said);
  assert.deepEqual(failed.sort(), [...breaks].sort(), said);
  assert.equal(result.verdict, breaks.length > 0 ? 'failed' : 'passed', said);
}

/** @param {CheckResult} result */
const doesAnything = ({ promises }) => promises.some(({ verdict }) => verdict === 'passed');

/**
 * What went wrong, in words.
 * @param {CheckResult} result
 */
function wordsOf({ promises, fault, output }) {
  const stories = promises
    .filter(({ verdict }) => verdict === 'failed' || verdict === 'inconclusive')
    .map(({ id, verdict, got, why }) => `\n  ${id} ${verdict}: ${got} ${why ?? ''}`);
  const rest = fault ? `\n${fault}\nIt printed: ${output}` : '';
  return `${stories.join('')}${rest}`;
}
