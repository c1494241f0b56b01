// Verifies the parts of a measured speedup, on real programs; its size depends on the machine, and decides nothing here.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { rootFolder } from '../lib/lessons/catalog.js';
import { createSpinners } from '../lib/measure/spinners.js';
import { createLoad } from '../lib/measure/load.js';
import { speedupOfBlocking, speedupOfCpu } from '../lib/measure/speedup.js';
import { createRunner } from '../lib/observe/runner.js';

const WORKERS = 2;
const key = '02-cluster-fork';

test('a speedup reports both sides, its interval and its ceiling, for blocking work and for CPU work', async (t) => {
  const [runner, load, spinners] = [createRunner(), createLoad(), createSpinners(WORKERS)];
  t.after(async () => {
    load.close();
    spinners.close();
    assert.deepEqual(await runner.close(), []);
  });
  const [control, candidate] = await Promise.all([
    runner.start({ entry: join(rootFolder, 'checks', key, 'starter', 'server.js') }),
    runner.start({
      entry: join(rootFolder, 'solutions', key, 'server.js'),
      env: { NODE_CLUSTER_WORKERS: String(WORKERS) },
    }),
  ]);
  assert.ok((await control.ready(1)) && (await candidate.ready(WORKERS)));
  const contest = { load, control, candidate, workers: WORKERS, windowMs: 200, budgetMs: 0 };

  /** @type {number[]} */
  const rounds = [];
  const onRound = (/** @type {{ ceiling: number }} */ { ceiling }) => rounds.push(ceiling);
  const blocking = await speedupOfBlocking({ ...contest, path: '/', target: 1.4, onRound });
  assert.deepEqual([blocking.ceiling, blocking.target, blocking.errors], [WORKERS, 1.4, 0]);
  assert.ok(rounds.length > 0 && rounds.every((ceiling) => ceiling === WORKERS));
  assertWhole(blocking);

  const cpu = await speedupOfCpu({ ...contest, spinners, path: '/cpu' });
  assert.ok(cpu.ceiling > 0 && cpu.errors === 0);
  const isUnsure = cpu.ceiling < 1.3 || cpu.high > 2 * cpu.low;
  assert.equal(cpu.note?.startsWith('inconclusive: ') ?? false, isUnsure);
  assertWhole(cpu);
});

/** @param {import('../lib/measure/speedup.js').Speedup} speedup */
function assertWhole({ value, low, high, controlPerSecond, candidatePerSecond, windows }) {
  assert.ok(low <= value && value <= high, `${low} ${value} ${high}`);
  assert.ok(controlPerSecond > 0 && candidatePerSecond > 0);
  assert.ok(windows >= 4 && windows % 2 === 0, `${windows} windows`);
}
