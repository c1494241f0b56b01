// Verifies that a limit counts only the time in which a program got CPU time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nowMs } from '../lib/observe/clock.js';
import { Starved, watchCpuTime, starvedBetween } from '../lib/observe/cpu-time.js';
import { isSettled } from '../lib/observe/settled.js';
import { until } from './nothing-left.js';

const reading = (
  /** @type {number} */ t,
  /** @type {Record<string, [number, number]>} */ threads,
) => ({
  t,
  threads: new Map(
    Object.entries(threads).map(([id, [ranMs, queuedMs]]) => [id, { ranMs, queuedMs }]),
  ),
});

test('a program waited for a core as long as its longest-waiting thread', () => {
  const before = reading(0, { a: [5, 1_000], b: [5, 20] });
  assert.equal(starvedBetween(before, reading(100, { a: [6, 1_010], b: [6, 90] }), 2), 70);
  assert.equal(starvedBetween(before, reading(100, { a: [6, 1_000], b: [6, 20] }), 2), 0);
  assert.equal(
    starvedBetween(before, reading(100, { new: [0, 900] }), 2),
    100,
    'never longer than it took',
  );
  assert.equal(
    starvedBetween(before, reading(100, {}), 2),
    0,
    'no thread wanted a core, or it has exited',
  );
});

test('time that a program sleeps is not waiting for a core: a program that uses half of all cores is getting its turn', () => {
  const before = reading(0, { a: [0, 0], b: [0, 0], c: [0, 0] });
  const hogs = reading(100, { a: [60, 40], b: [60, 40], c: [60, 40] });
  assert.equal(starvedBetween(before, hogs, 2), 0);
  assert.equal(starvedBetween(before, hogs, 8), 40);
});

test('a limit counts its own time and that of its observers', async () => {
  const us = () => [process.pid];
  const isReached = watchCpuTime(us, us).limit(30);
  assert.equal(isReached(), false);
  await until('the limit is reached, or this machine never gives us a core', () => {
    try {
      return isReached();
    } catch (error) {
      return error instanceof Starved;
    }
  });
});

test('a program that has not been started has had no CPU time', async () => {
  const cpuTime = watchCpuTime(() => []);
  const fromMs = nowMs();
  await until('that time counts as lost', () => cpuTime.starvedSince(fromMs) > 0);
});

test('a limit that its program had no CPU time to reach gives no verdict, and says why', () => {
  const { story, message } = new Starved(9_000, 1_200);
  assert.match(message, /In 9\.0 s the program could run for 1\.2 s/);
  assert.match(story.why, /The machine is too busy: .* wanted its \d+ cores/);
});

test('a program that gets no core does not count as calm', () => {
  const start = { t: 0, pid: 1, what: 'start', role: 'primary', ppid: 0 };
  const beat = { t: 2_600, pid: 1, what: 'beat', elu: 0 };
  assert.equal(isSettled([start, beat]), true);
  assert.equal(
    isSettled([start, beat], (t) => (assert.equal(t, 0), 200)),
    false,
  );
  assert.equal(
    isSettled([start, { ...beat, t: 2_800 }], () => 200),
    true,
  );
});

test('a program whose other threads work, or that waits for a file, has not settled', () => {
  const start = { t: 0, pid: 1, what: 'start', role: 'primary', ppid: 0 };
  const beat = { what: 'beat', pid: 1, elu: 0, cpu: 0 };
  const busy = { ...beat, t: 1_000, cpu: 0.9 };
  assert.equal(isSettled([start, { ...beat, t: 1_000 }, { ...beat, t: 2_600 }]), true);
  assert.equal(isSettled([start, busy, { ...beat, t: 2_600 }]), false);
  assert.equal(isSettled([start, busy, { ...beat, t: 3_600 }]), true);
  const waiting = { ...beat, timers: 0, waits: 1 };
  assert.equal(isSettled([start, { ...waiting, t: 2_600 }]), false);
  assert.equal(isSettled([start, { ...waiting, t: 3_100 }]), true, 'it waits for something else');
});

test('a result limited by the clock is judged if half of the limit was its own time', async () => {
  const fromMs = nowMs();
  const idle = watchCpuTime(() => [process.pid]);
  await until('some time has gone by', () => nowMs() > fromMs + 5);
  assert.equal(idle.starvedIn(fromMs - 100_000, 100), undefined);
  const unborn = watchCpuTime(() => []);
  await until('time counts as lost', () => unborn.starvedSince(fromMs) > 0);
  assert.ok(unborn.starvedIn(fromMs, 100_000) instanceof Starved);
});
