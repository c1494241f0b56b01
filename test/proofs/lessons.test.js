// Proves every lesson through `check`, as a learner would run it: the solution passes, the untouched starter breaks
// what its front matter says, right answers pass, wrong ones break exactly the promises that they name, every promise is
// broken alone by some wrong answer, and nothing is left behind.
// `ends` judges the solution and the starter of each lesson; `quick` adds one right answer, and for each promise one wrong
// answer that breaks just it, of which only this promise, and its dependencies, are judged; `answers` these answers alone.
// `all` judges every answer whole, `3/10` the third tenth of them, and neither the solution nor the starter.
// In CI, on a shared machine, an answer with an unexpected verdict is judged once again, alone.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { findLesson, listLessons, rootFolder } from '../../lib/lessons/catalog.js';
import { makeAnswer } from '../../lib/lessons/answer-programs.js';
import { answersOf } from '../../lib/lessons/answers.js';
import { findTool } from '../../lib/tools/tools.js';
import { openPromises } from '../../lib/verdict/tally.js';
import { limitMs } from '../limits.js';
import { Watched, until } from '../nothing-left.js';
import { createSlots } from '../slots.js';

const AT_ONCE = Number(process.env.FORKSHOP_SLOTS ?? 2);
const LOOK_EVERY_MS = 150; // a look takes 7 ms of CPU, which the programs need
const main = join(rootFolder, 'lib/cli/main.cjs');
const slots = createSlots(AT_ONCE);

/**
 * @typedef {import('../../lib/check/run-check.js').CheckResult} CheckResult
 * @typedef {import('../../lib/lessons/answer-programs.js').AnswerSource & { breaks: string[], only?: string }} Answer  only: the promise
 *   that is judged; by default the whole lesson
 */

const amount = process.env.FORKSHOP_PROOFS ?? 'quick';

/** Selects the answers of a lesson to judge. @type {(answers: Answer[]) => Answer[]} */
const choice = choiceOf(amount);

/** One lesson alone, or one answer of it, for its author. */
const { FORKSHOP_LESSON: wanted, FORKSHOP_ANSWER: one } = process.env;
const areAnswersOnly = Boolean(one) || amount === 'answers' || amount.includes('/');
const all = listLessons(rootFolder);

for (const lesson of wanted ? [findLesson(all, wanted)] : all) {
  const missing = lesson.needs.filter((name) => !findTool(name)).join(', ');
  const skip = missing !== '' && !process.env.CI && `${missing} is not installed`;
  test(lesson.key, { concurrency: true, skip }, async (t) => {
    assert.equal(missing, '', 'This is not installed.');
    const { key, starterFails } = lesson;
    const answers = answersOf(rootFolder, key);
    for (const isRight of [true, false])
      assert.ok(
        answers.some((answer) => answer.isRight === isRight),
        `Right answers: ${!isRight}`,
      );
    const chosen = one ? answers.filter(({ name }) => name === one) : choice(answers);
    if (amount !== 'ends') assert.ok(chosen.length > 0, 'There is no answer to judge.');
    /** @type {Answer} */
    const solution = { name: 'solution', place: join(rootFolder, 'solutions', key), breaks: [] };
    const starter = {
      name: 'starter',
      place: join(rootFolder, 'checks', key, 'starter'),
      breaks: starterFails,
    };
    /** @type {string[]} */
    let promises = [];
    await Promise.all(
      [...(areAnswersOnly ? [] : [solution, starter]), ...chosen].map((answer) =>
        t.test(nameOf(answer), async (subtest) => {
          const result = await prove(key, answer, subtest);
          if (answer === solution) promises = result.promises.map(({ id }) => id);
          if (answer === starter) assert.ok(doesAnything(result), 'The starter does not boot.');
        }),
      ),
    );
    if (areAnswersOnly) return;
    await t.test('every promise is broken alone by some wrong answer', () => {
      assert.ok(promises.length > 0, 'The solution was not judged.');
      const alone = answers.filter(({ breaks }) => breaks.length === 1);
      const missing = promises.filter((id) => !alone.some(({ breaks }) => breaks[0] === id));
      assert.deepEqual(missing, [], 'No wrong answer breaks these promises and no other.');
    });
  });
}

/** @param {Answer} answer */
const nameOf = ({ name, only }) => (only ? `${name}, of which ${only} is judged` : name);

/** @param {string} wanted  ends, quick, answers, all, or which part of how many, as in 3/10 */
function choiceOf(wanted) {
  if (wanted === 'ends') return () => [];
  if (wanted === 'quick' || wanted === 'answers') return quickOf;
  if (wanted === 'all') return (/** @type {Answer[]} */ answers) => answers;
  const [, part, of] = /^([1-9]\d*)\/([1-9]\d*)$/.exec(wanted) ?? [];
  assert.ok(
    Number(part) <= Number(of),
    `"${wanted}" is not ends, quick, answers, all, or a part as in 3/10.`,
  );
  // a lesson with fewer answers than parts has one in each part, some twice
  return (/** @type {Answer[]} */ answers) => {
    const step = Math.min(Number(of), answers.length);
    return answers.filter((answer, index) => index % step === (Number(part) - 1) % step);
  };
}

/** The first right answer, and the first wrong one for each promise. @param {Answer[]} answers */
function quickOf(answers) {
  /** @type {Map<string, Answer>} */
  const chosen = new Map();
  for (const answer of answers) {
    const [only = ''] = answer.breaks;
    if (answer.breaks.length <= 1 && !chosen.has(only)) chosen.set(only, { ...answer, only });
  }
  return [...chosen.values()].reverse(); // the promises of the end take longest
}

/**
 * The verdict, after asserting that it is the expected one.
 * @param {string} key
 * @param {Answer} answer
 * @param {import('node:test').TestContext} t
 * @returns {Promise<CheckResult>}
 */
async function prove(key, answer, t) {
  for (let wanted = 1; ; wanted = AT_ONCE) {
    try {
      const result = await judge(key, answer, t, wanted);
      assertBreaks(answer, result);
      assertSays(answer, result);
      assertMarked(result);
      return result;
    } catch (error) {
      if (!process.env.CI || wanted === AT_ONCE) throw error;
      t.diagnostic(`failed at first: ${/** @type {Error} */ (error).message}`);
    }
  }
}

/**
 * The check's verdict; if undecided, the check runs again with the machine to itself.
 * @param {string} key
 * @param {Answer} answer
 * @param {import('node:test').TestContext} t
 * @param {number} wanted  slots, for the first time
 * @returns {Promise<CheckResult>}
 */
async function judge(key, { only, ...answer }, t, wanted) {
  const place = makeAnswer(rootFolder, key, answer);
  const some = only ? ['--only', only] : ['--all']; // its broken promises may belong to several tasks
  const once = () => check(['check', key, '--in', place, '--json', '--quick', ...some]);
  const isUnsure = (/** @type {CheckResult} */ one) =>
    [one, ...one.promises].some(({ verdict }) => verdict === 'inconclusive');
  const result = await slots.takeUntilSure(wanted, once, isUnsure, (one) =>
    t.diagnostic(`inconclusive: ${wordsOf(one)}`),
  );
  t.diagnostic(`${result.verdict} in ${result.seconds} s`);
  return result;
}

/**
 * Runs the command, and looks for leftovers.
 * @param {string[]} argv
 * @returns {Promise<CheckResult>}
 */
async function check(argv) {
  const watched = new Watched([process.execPath, main, ...argv]);
  clearInterval(watched.watching);
  watched.watching = setInterval(() => watched.look(), LOOK_EVERY_MS);
  try {
    const command = argv.join(' ');
    const end = await until(`a verdict of ${command}`, () => watched.ended, limitMs(60));
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
 * Of several promises that it breaks, a busy machine may leave some undecided, but not all.
 * @param {Answer} answer
 * @param {CheckResult} result
 */
function assertBreaks({ breaks }, result) {
  const idsOf = (wanted) =>
    result.promises.filter(({ verdict }) => verdict === wanted).map(({ id }) => id);
  const [failed, undecided] = [idsOf('failed'), idsOf('inconclusive')];
  const said = `The verdict is "${result.verdict}". ${wordsOf(result)}`;
  assert.equal(result.fault, null, said);
  const due = breaks.filter((id) => !undecided.includes(id));
  assert.deepEqual(failed.sort(), due.sort(), said);
  assert.equal(result.verdict, breaks.length > 0 ? 'failed' : 'passed', said);
}

/**
 * The first failure names the mistake, if the answer says in which words.
 * @param {Answer & { says?: string }} answer
 * @param {CheckResult} result
 */
function assertSays({ says }, result) {
  const [first] = openPromises(result);
  if (says === undefined || first?.verdict !== 'failed') return;
  const message = `${first.got} ${first.why ?? ''}`;
  assert.ok(message.includes(says), `It says: ${message}`);
}

const OF_THE_CHECK = /^(SIG[A-Z]+|Ctrl-C)\b/; // a signal that it has sent

/**
 * Each mark on the page for a promise is an event of that process's timeline, or the check's own act.
 * @param {CheckResult} result
 */
function assertMarked({ promises }) {
  const moments = promises.flatMap(({ id, shows }) =>
    (shows?.moments ?? []).map((moment) => ({ id, ...moment })),
  );
  const unknown = moments.filter(
    ({ what, says }) => what === undefined && !OF_THE_CHECK.test(says),
  );
  assert.deepEqual(unknown, [], 'The timeline has no such event.');
}

/** @param {CheckResult} result */
const doesAnything = ({ promises }) =>
  promises.some(({ verdict }) => verdict === 'passed') ||
  !promises.some(({ got = '' }) => /before it listened|listens on (?:no )?port/.test(got));

/**
 * Describes the failure.
 * @param {CheckResult} result
 */
function wordsOf({ promises, fault, output }) {
  const stories = promises
    .filter(({ verdict }) => verdict === 'failed' || verdict === 'inconclusive')
    .map(({ id, verdict, got, why }) => `\n  ${id} ${verdict}: ${got} ${why ?? ''}`);
  const rest = fault ? `\n${fault}\nIt printed: ${output}` : '';
  return `${stories.join('')}${rest}`;
}
