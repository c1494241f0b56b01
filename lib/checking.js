/**
 * The one door through which a check sees the machinery. A check is a node:test file:
 *
 *   check('02-cluster-fork', { 'forks-as-told': 'NODE_CLUSTER_WORKERS=4 forks exactly four workers' },
 *     async ({ launch, ready, observe, hold }) => {
 *       const main = observe(async () => ready(await launch({ env: { NODE_CLUSTER_WORKERS: '4' } }), 4));
 *       await hold('forks-as-told', async () => {
 *         const { events } = await main;
 *         demand(forksOf(events).length === 4, { expected, got, why, try });
 *       });
 *     });
 *
 * It runs by itself with `node --test`; `npm run check` runs it in the same way and renders what it reports. A longer
 * check has its looks and its demands in files of their own (checks/looks/, checks/demands/), with this door, too.
 */
import { test } from 'node:test';
import { createRunner } from './observe/run.js';
import { createSession } from './session.js';

export { measureAtRate } from './measure/at-rate.js';
export { createSpinners } from './measure/ceiling.js';
export { interleave, saturate } from './measure/compare.js';
export { disturbanceOf, isCrowded, watchMachine } from './measure/conditions.js';
export { createLoad } from './measure/load.js';
export { createOpenLoop } from './measure/open-loop.js';
export { reportOf, reportTable, unansweredAt } from './measure/report.js';
export { speedupOfBlocking, speedupOfCpu } from './measure/speedup.js';
export { mean, meanOf, ratioOf } from './measure/stats.js';
export { MIXED, lostOf, startTraffic } from './measure/traffic.js';
export { buildNitro } from './nitro.js';
export { askAtOnce } from './observe/ask.js';
export { get } from './observe/client.js';
export { nowMs } from './observe/clock.js';
export { memoryOf } from './observe/memory.js';
export { freePort } from './observe/ports.js';
export { hasPid } from './observe/processes.js';
export { acceptQueueOf, listeningSockets } from './observe/sockets.js';
export {
  deepestOverlap,
  eventsOf,
  exitsOf,
  forksOf,
  groupBy,
  listenersOf,
  requestsOf,
  waitsOf,
} from './observe/timeline.js';
export { startRedis } from './redis.js';
export { demandTool, findTool } from './tools.js';
export { whyOfCrash } from './verdict/diagnosis.js';
export { faultOfRandomHex } from './verdict/bodies.js';
export { Undecided, demand } from './verdict/outcome.js';
export { demandSpeedup } from './verdict/speedup.js';

const PARENT_LOOK_MS = 200;

/**
 * Declares the check of one lesson: a test, with a subtest for each promise.
 * @param {string} key  NN-slug
 * @param {Record<string, string>} promises  id → sentence, in the order in which they are held
 * @param {(lesson: import('./session.js').Lesson) => Promise<void>} body
 */
export function check(key, promises, body) {
  endWithParent();
  test(key, async (t) => {
    const runner = createRunner();
    const session = createSession({ t, key, promises, runner });
    try {
      await body(session.lesson);
    } catch (error) {
      session.reportFault(error);
    } finally {
      session.finish(await runner.close());
    }
  });
}

/** When the command that asked for this check is killed, nobody waits for it any more; the keeper does the rest. */
function endWithParent() {
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || process.exit(1), PARENT_LOOK_MS).unref();
}
