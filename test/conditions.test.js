// Verifies what is said of the machine's own business: which reading counts, and that a crowd is counted while it is there.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import { conditionsNow, disturbanceOf, watchCrowd } from '../lib/measure/conditions.js';
import { limitMs } from './limits.js';
import { until } from './nothing-left.js';

const calm = { ...conditionsNow(), cores: 2, load: 0, stealPercent: 0, throttledMs: 0 };

test('each disturbance is told in words, and a calm machine is none', () => {
  assert.equal(disturbanceOf({ ...calm, busyCores: 0.1 }), undefined);
  assert.match(disturbanceOf({ ...calm, busyCores: 1.2 }) ?? '', /1\.2 of 2 cores busy/);
  assert.match(disturbanceOf({ ...calm, busyCores: 0, stealPercent: 9 }) ?? '', /steal/);
  assert.match(disturbanceOf({ ...calm, busyCores: 0, throttledMs: 90 }) ?? '', /quota/);
});

test('the load before we began counts only where the system does not tell how busy it was', () => {
  const after = { ...calm, load: 5 };
  assert.equal(disturbanceOf({ ...after, busyCores: 0.1 }), undefined);
  assert.match(disturbanceOf({ ...after, busyCores: null }) ?? '', /a load of 5 on 2 cores/);
});

const onLinux = { skip: process.platform !== 'linux' && 'it reads /proc' };

test('processes that want a core are a crowd, while they do', onLinux, async () => {
  const many = 6 * availableParallelism();
  const spin = `for (const end = Date.now() + ${limitMs(20)}; Date.now() < end; );`;
  const crowd = watchCrowd();
  const hogs = Array.from({ length: many }, () => spawn(process.execPath, ['-e', spin]));
  try {
    await Promise.all(hogs.map((hog) => once(hog, 'spawn')));
    await until(`${many} hogs are three for each core`, () => crowd() >= 3, limitMs(10));
  } finally {
    for (const hog of hogs) hog.kill('SIGKILL');
  }
  await Promise.all(hogs.map((hog) => hog.exitCode ?? hog.signalCode ?? once(hog, 'exit')));
});
