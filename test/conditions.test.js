// Verifies what is said of the machine's own business: which reading counts, and that a crowd is counted while it is there.
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import { startHogs } from '../bench/hog.js';
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
  const crowd = watchCrowd();
  const stop = startHogs(many);
  try {
    await until(`${many} hogs are three for each core`, () => crowd() >= 3, limitMs(10));
  } finally {
    await stop();
  }
});
