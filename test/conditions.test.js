// Verifies the report on the machine's other load: which reading counts, and that a crowd is counted while it is there.
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startHogs } from '../bench/hog.js';
import { conditionsNow, countCrowd, disturbanceOf } from '../lib/measure/conditions.js';
import { listProcesses } from '../lib/observe/processes.js';
import { limitMs } from './limits.js';
import { until } from './nothing-left.js';

const calm = { ...conditionsNow(), cores: 2, load: 0, stealPercent: 0, throttledMs: 0 };

test('each disturbance is described, and a calm machine has none', () => {
  assert.equal(disturbanceOf({ ...calm, busyCores: 0.1 }), undefined);
  assert.match(disturbanceOf({ ...calm, busyCores: 1.2 }) ?? '', /1\.2 of 2 cores busy/);
  assert.match(disturbanceOf({ ...calm, busyCores: 0, stealPercent: 9 }) ?? '', /steal/);
  assert.match(disturbanceOf({ ...calm, busyCores: 0, throttledMs: 90 }) ?? '', /quota/);
});

test('the load before the check counts only if the system cannot say how busy it was', () => {
  const after = { ...calm, load: 5 };
  assert.equal(disturbanceOf({ ...after, busyCores: 0.1 }), undefined);
  assert.match(disturbanceOf({ ...after, busyCores: null }) ?? '', /a load of 5 on 2 cores/);
});

const onLinux = { skip: process.platform !== 'linux' && 'it reads /proc' };

test(
  'other processes that want a core are a crowd while they run; ours are not',
  onLinux,
  async () => {
    const children = () => listProcesses().filter(({ ppid }) => ppid === process.pid);
    const ours = () => children().map(({ pid }) => pid);
    const many = 6 * availableParallelism();
    const stop = startHogs(many);
    const crowdWith = async (/** @type {() => number[]} */ ownPids) => {
      const crowdSince = countCrowd(ownPids);
      await sleep(300);
      return crowdSince();
    };
    try {
      const areCrowd = async () => (await crowdWith(() => [])).isCrowded;
      await until(`${many} hogs are a crowd`, areCrowd, limitMs(10));
      const areNone = async () => !(await crowdWith(ours)).isCrowded; // repeated, since a neighbour may take a core for a moment
      await until('our own processes are no crowd', areNone, limitMs(10));
      assert.equal((await crowdWith(ours)).isIdle, false);
    } finally {
      await stop();
    }
  },
);
