// Verifies, on recorded numbers, whether a late event is the fault of the program or of the machine.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { runCheck } from '../lib/check/run-check.js';
import { verdictOnMissing } from '../lib/check/whose-fault.js';
import { ownWorkIn, servingSince, stretchesOf } from '../lib/observe/own-work.js';
import { watchCpuTime } from '../lib/observe/cpu-time.js';
import { nowMs } from '../lib/observe/clock.js';
import { Broken, Undecided } from '../lib/verdict/outcome.js';
import { demandSpeedup } from '../lib/verdict/speedup.js';
import { blockedByOwnWork } from '../lib/verdict/blocked-by-own-work.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { keys, makeRoot, write } from './fixture-root.js';
import { limitMs } from './limits.js';
import { until } from './nothing-left.js';

const PID = 7;

/**
 * A process that answers one request for / in `ms`, of which its thread computed for one part and waited for a core for another.
 * @param {{ ms: number, computedMs: number, queuedMs?: number }} how
 */
function recorded({ ms, computedMs, queuedMs = 0 }) {
  const at = { pid: PID };
  return [
    { ...at, t: 0, what: 'start', role: 'primary' },
    { ...at, t: 30, what: 'beat', late: 0, cpu: 1, ran: 200, queued: 500 },
    { ...at, t: 50, what: 'beat', late: 0, cpu: 0, ran: 201, queued: 500 },
    { ...at, t: 45, what: 'request', client: 2, url: '/report' }, // in flight, and waiting for something
    { ...at, t: 50, what: 'request', client: 1, url: '/?page=2' },
    { ...at, t: 50 + ms, what: 'response', client: 1, status: 200 },
    {
      ...{ ...at, t: 51 + ms, what: 'beat', late: ms - 20, cpu: computedMs / ms },
      ...{ ran: 201 + computedMs, queued: 500 + queuedMs },
    },
  ];
}

/** Such a program, as a check sees it. @returns {any} */
function programOf(/** @type {any[]} */ events, printedBytes = 0) {
  const stretches = () => stretchesOf(events, events.at(-1).t);
  return {
    stretches,
    ownWork({ spans = [] } = /** @type {any} */ ({})) {
      const all = spans.length > 0 ? spans : servingSince(events, 0, events.at(-1).t);
      const own = ownWorkIn(events, stretches(), all);
      return own && { ...own, printedBytes };
    },
  };
}

const story = { expected: 'It is quick.', got: 'It was slow.', why: 'A guess.', try: 'this' };

/** The verdict on a / that took too long twice. */
function judged(
  /** @type {Parameters<typeof recorded>[0]} */ how,
  isCrowded = true,
  isShown = true,
  areOthers = true,
) {
  const program = programOf(recorded(how));
  const moment = { pid: PID, t: 50, toMs: 50 + how.ms, says: 'the quickest' };
  const shows = isShown ? { program, moments: [undefined, moment], byLength: true } : undefined;
  return verdictOnMissing(
    { ...story, shows },
    { programs: [program], isAgain: true, machine: { isCrowded, areOthers } },
  );
}

test('delays by its own computing are the fault of the program, even on a crowded machine', () => {
  for (const how of [
    { ms: 1_013, computedMs: 1_009 },
    { ms: 3_000, computedMs: 1_010, queuedMs: 1_900 }, // beside hogs
    { ms: 90, computedMs: 67, queuedMs: 5 }, // 50,000 lines on stderr
  ])
    for (const isShown of [true, false]) {
      const outcome = judged(how, true, isShown);
      assert.ok(outcome instanceof Broken, JSON.stringify(how));
      assert.match(outcome.story.why ?? '', /The handler of \/ kept the thread of process 7 for/);
      assert.equal(outcome.story.got, 'It was slow.');
    }
});

test('a right program delayed by others stays undecided', () => {
  const right = { ms: 90, computedMs: 10, queuedMs: 60 };
  assert.ok(judged(right) instanceof Undecided);
  assert.ok(
    judged(right, false) instanceof Undecided,
    'few others, and one in the way at that moment',
  );
  assert.ok(judged({ ...right, ms: 12_000 }, true, false) instanceof Undecided);
  assert.ok(
    judged(right, false, true, false) instanceof Broken,
    'its own processes were in the way',
  );
  const untold = judged({ ...right, queuedMs: 0 }, true);
  assert.ok(untold instanceof Undecided, 'the system does not say which process waited');
});

test('its own waits do not make a busy machine, however many other processes there are', () => {
  const outcome = judged({ ms: 300, computedMs: 3, queuedMs: 4 });
  assert.ok(outcome instanceof Broken);
  assert.equal(outcome.story.why, 'A guess.');
});

test('if other virtual machines took the cores, no process can be blamed', () => {
  const program = programOf(recorded({ ms: 300, computedMs: 3, queuedMs: 4 }));
  const seen = { programs: [program], isAgain: true, machine: { isStolen: true } };
  assert.ok(verdictOnMissing(story, seen) instanceof Undecided);
});

test('an event that is missing for the first time, on an idle machine, is not excused by load', () => {
  const program = programOf(recorded({ ms: 90, computedMs: 3, queuedMs: 60 }));
  assert.ok(verdictOnMissing(story, { programs: [program] }) instanceof Broken);
});

test('a process that is still computing has not reported yet: its thread is asked', () => {
  const events = recorded({ ms: 1_000, computedMs: 900 }).slice(0, 5);
  const ask = () => ({ ranMs: 1_101, queuedMs: 600 });
  const [last] = stretchesOf(events, 1_050, ask).slice(-1);
  const took = { pid: PID, fromMs: 50, toMs: 1_050, computedMs: 900, queuedMs: 100 };
  assert.deepEqual(last, took);
  assert.equal(stretchesOf(events, 60, ask).length, 1, 'its next beat is not due');
  assert.equal(stretchesOf([...events, { t: 55, pid: PID, what: 'exit' }], 1_050, ask).length, 1);
});

test('if the system has no figures for threads, those of the process count', () => {
  const events = recorded({ ms: 1_000, computedMs: 900 }).map((event) => ({
    ...event,
    ran: undefined,
    queued: undefined,
  }));
  const own = ownWorkIn(events, stretchesOf(events, 1_051), servingSince(events, 0, 1_051));
  assert.equal(Math.round(own?.computedMs ?? 0), 900);
});

test('start-ups, and processes that compute without serving, are ignored', () => {
  const events = recorded({ ms: 1_000, computedMs: 900 });
  const stretches = stretchesOf(events, 2_000);
  assert.equal(stretches[0].fromMs, 30, 'the first beat only begins');
  const job = events.filter(({ what }) => what !== 'request');
  assert.deepEqual(servingSince(job, 0, 2_000), []);
  assert.equal(ownWorkIn(job, stretches, []), undefined);
});

test('the message names the handler, the process and a handful of numbers', () => {
  const own = {
    ...{ pid: 7, keptMs: 1_100.4, computedMs: 1_090, queuedMs: 2, path: '/' },
    printedBytes: 3e6,
  };
  const told = blockedByOwnWork(own);
  assert.equal(
    told.why,
    'The handler of / kept the thread of process 7 for 1,100 ms without a break; it computed all that time. Nothing else ran there in the meantime. The program has printed 2.9 MB.',
  );
  assert.match(told.try, /^print once/);
  const beside = { computedMs: 400, queuedMs: 650, path: undefined, printedBytes: 10 };
  const quiet = blockedByOwnWork({ ...own, ...beside });
  assert.match(
    quiet.why,
    /^Something kept .* it computed for 400 ms, and waited for a core for 650 ms\. Nothing else ran there in the meantime\.$/,
  );
});

test('a limit is reached when its own work explains the missing event, and it never lacked a core', async () => {
  const fromMs = nowMs();
  const unborn = watchCpuTime(
    () => [],
    () => [],
    () => true,
  );
  await until('time counts as lost', () => unborn.starvedSince(fromMs) > 0);
  assert.equal(unborn.starvedIn(fromMs, 100_000), undefined);
});

test('a speedup reduced by its own work is not blamed on a busy machine', () => {
  const speedup = /** @type {any} */ ({
    ...{ side: 'open', value: 2, low: 1, high: 3.5, target: 2.8, ceiling: 4, errors: 0 },
    own: { pid: 7, keptMs: 1_000, computedMs: 990, queuedMs: 0, path: '/', printedBytes: 0 },
  });
  assert.throws(() => demandSpeedup(speedup, 'other programs kept 1.8 of 2 cores busy'), Broken);
  assert.throws(() => demandSpeedup({ ...speedup, own: undefined }), Undecided);
});

/** A server whose page computes until a process exits, and a check that waits for more. */
const server = `
import { createServer } from 'node:http';
createServer((request, response) => { for (;;); }).listen(process.env.PORT);
`;
const check = (/** @type {string} */ key) => `
import { check } from '${pathToFileURL(join(rootFolder, 'lib/check/checking.js'))}';
import { get } from '${pathToFileURL(join(rootFolder, 'lib/observe/client.js'))}';
export default check('${key}', { 1: { answers: 'it answers' } }, ({ launch, ready, observe, hold }) => {
  const start = observe([], async () => ready(await launch()));
  const never = observe([start], (program) => (get(program.url), new Promise(() => {})));
  hold('answers', [never], () => {});
});
`;

const onLinux = { skip: process.platform !== 'linux' && 'it reads /proc' };

test('a check that its program keeps from finishing fails, and says why', onLinux, async () => {
  const root = makeRoot();
  const [key] = keys;
  write(root, { [`lessons/${key}/server.js`]: server, [`checks/${key}/check.js`]: check(key) });
  const result = await runCheck({ root, key, deadlineMs: limitMs(1) });
  assert.deepEqual([result.verdict, result.fault], ['failed', null], JSON.stringify(result));
  const [{ id, got, why }] = result.promises;
  assert.deepEqual([id, got], ['answers', `It was not over after ${limitMs(1) / 1000} s.`]);
  assert.match(why ?? '', /^The handler of \/ kept the thread of process \d+ for [\d,]+ ms/);
});
