// Crashes the solution of each lesson at a moment of its check (crash-at.js), and verifies that the check never calls it a
// bug of ours. In a namespace, since programs crash there in any state. `npm run test:crashes` tries some moments of each
// lesson, and prints the seed that chose them; with FORKSHOP_SEED=that it tries the same ones. `-- all` tries every one,
// which takes hours; `-- lesson-5` some of lesson 5.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeAnswer } from '../../lib/lessons/answer-programs.js';
import { filesBelow, findLesson, listLessons, rootFolder } from '../../lib/lessons/catalog.js';
import { findTool } from '../../lib/tools/tools.js';
import { limitMs } from '../limits.js';
import { namespace } from '../namespace.js';
import { Watched, until } from '../nothing-left.js';
import { MOMENTS, WAYS } from './crash-at.js';

/** @typedef {{ moment: string, nth: number, way: string, isOnce: boolean }} Plan */

const { FORKSHOP_PROOFS: amount, FORKSHOP_LESSON: wanted, FORKSHOP_ANSWER: count } = process.env;
const TRIED = Number(count ?? 4); // of each lesson
const AT_ONCE = 2;
const FIRST = Array.from({ length: 12 }, (_, index) => index + 1);
const LATER = [20, 50, 100];
/** @type {Record<string, number[]>} */
const COUNTS = {
  request: [...FIRST, ...LATER],
  response: [...FIRST, ...LATER],
  fork: FIRST.slice(0, 6),
  message: [...FIRST, ...LATER],
  signal: [1, 2],
  millisecond: [1, 50, 200, 400, 1_000, 3_000],
};
const seed = Number(process.env.FORKSHOP_SEED ?? Math.floor(Math.random() * 2 ** 31));
const { prefix, missing } = namespace();
const main = join(rootFolder, 'lib/cli/main.cjs');
const home = mkdtempSync(join(tmpdir(), 'forkshop-crashes-'));
after(() => rmSync(home, { recursive: true }));

/** All plans for a lesson. @type {Plan[]} */
const plans = MOMENTS.flatMap((moment) =>
  COUNTS[moment].flatMap((nth) =>
    WAYS.flatMap((way) => [true, false].map((isOnce) => ({ moment, nth, way, isOnce }))),
  ),
).filter(({ way, isOnce }) => way !== 'memory' || isOnce); // each process of it, all at once, would take too much

/** Every program gets there; some lessons' programs send no messages, for example. */
const certain = plans.filter(({ moment, nth }) => moment === 'request' && nth === 1);

const random = createRandom(seed);
const all = listLessons(rootFolder);
const isAll = amount === 'all' && !wanted;

for (const { key, needs } of wanted ? [findLesson(all, wanted)] : all) {
  const lacking = needs.find((name) => !findTool(name));
  const skip = missing || (lacking ? `${lacking} is not installed` : false);
  test(`${key}, seed ${seed}`, { skip, concurrency: AT_ONCE }, async (t) => {
    const some = () => [pick(certain), ...Array.from({ length: TRIED - 1 }, () => pick(plans))];
    const chosen = isAll ? plans : some();
    const log = join(home, key);
    await Promise.all(
      chosen.map((plan, index) =>
        t.test(nameOf(plan), (one) => tryOne(one, { key, plan, index, log })),
      ),
    );
    assert.ok(existsSync(log), 'No process crashed: nothing was tried.');
  });
}

/** @param {Plan} plan */
const nameOf = ({ moment, nth, way, isOnce }) =>
  `${way} at ${moment} ${nth} of ${isOnce ? 'the first process' : 'every process'}`;

/** @param {import('node:test').TestContext} t @param {{ key: string, plan: Plan, index: number, log: string }} what */
async function tryOne(t, { key, plan, index, log }) {
  const place = makeCrashing(key, plan, index, log);
  const args = ['check', key, '--in', place, '--json', '--quick', '--all'];
  const watched = new Watched([...prefix, process.execPath, main, ...args]);
  t.after(() => watched.cleanUp());
  await until('the check ends', () => watched.ended, limitMs(200));
  const { code, stdout, stderr } = await watched.end;
  assert.equal(stderr, '');
  const { fault, verdict, promises } = JSON.parse(stdout);
  const told = promises.find((/** @type {any} */ one) => one.verdict !== 'passed');
  t.diagnostic(`${verdict} ${told ? `${told.id}: ${told.got}` : ''}`);
  assert.equal(fault, null);
  assert.equal(code, { passed: 0, failed: 1, inconclusive: 3 }[verdict]);
}

/**
 * A copy of the solution; the first line of each file says when to crash.
 * @param {string} key @param {Plan} plan @param {number} index @param {string} log
 */
function makeCrashing(key, plan, index, log) {
  const solution = join(rootFolder, 'solutions', key);
  const crash = new URL('crash-at.js', import.meta.url);
  const line = `import { crashAt } from '${crash}'; crashAt(${JSON.stringify({ ...plan, log })});`;
  const files = filesBelow(solution).filter((file) => /^[\w-]+\.js$/.test(file));
  const patches = files.map((file) => {
    const whole = `${line}\n${readFileSync(join(solution, file), 'utf8')}`;
    return { file, hunks: [], whole };
  });
  return makeAnswer(rootFolder, key, { name: `crash-${process.pid}-${index}`, patches });
}

/** @template T @param {T[]} list @returns {T} */
function pick(list) {
  return list[Math.floor(random() * list.length)];
}

/** The same numbers from 0 to 1 for the same seed: Mulberry32. @param {number} state */
function createRandom(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
