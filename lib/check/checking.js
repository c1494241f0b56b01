/**
 * The API of a check file, which exports its definition; a longer check has its looks in looks.js and its demands in demands.js:
 *
 *   export default check('02-cluster-fork', { 1: { 'forks-as-told': 'NODE_CLUSTER_WORKERS=4 forks exactly four workers' } },
 *     ({ launch, ready, observe, hold }) => {
 *       const main = observe([], async () => ready(await launch({ env: { NODE_CLUSTER_WORKERS: '4' } }), 4));
 *       hold('forks-as-told', [main], ({ events }) => {
 *         demand(forksOf(events).length === 4, { expected, got, why, try });
 *       });
 *     });
 */
import { normalize, resolve } from 'node:path';
import { lessonPaths } from '../lessons/lesson-paths.js';
import { runUnderNodeTest } from './node-test.js';

export { mapConcurrently } from './map-concurrently.js';
export {
  aliveIn,
  exitMoment,
  fewestServing,
  forkMoment,
  hasExited,
  hasListened,
  howItEnded,
  primaryExitMoment,
  servingIn,
} from './cluster.js';
export { episode, outliving, repeatUntil, startRequests, stopUnderLoad } from './episode.js';
export { createDraw } from './draw.js';
export {
  deploy,
  deployBad,
  freezeOne,
  kill,
  killInDeploy,
  killOne,
  whileFrozen,
} from './nemesis.js';
export { STILL, calm, deathsOf, strike } from './strike.js';
export { sceneOf } from './scene.js';
export { isAtRest, untilAtRest } from './at-rest.js';
export { measureAtRate } from '../measure/constant-rate.js';
export { createSpinners } from '../measure/spinners.js';
export { interleave, saturate } from '../measure/compare.js';
export { disturbanceOf, watchMachine } from '../measure/conditions.js';
export { createLoad } from '../measure/load.js';
export { createOpenLoop } from '../measure/open-loop.js';
export { reportOf, reportTable, unansweredAt } from '../measure/load-report.js';
export { speedupOfBlocking, speedupOfCpu } from '../measure/speedup.js';
export { mean, meanInterval, ratioOf, sumOf } from '../measure/stats.js';
export { MIXED, lostOf, startTraffic } from '../measure/traffic.js';
export { wrongAnswer } from '../lessons/answer-programs.js';
export { buildNitro, isNitroBuilt } from '../tools/nitro.js';
export { askAtOnce, askOnce, keepIdle, requestOf } from '../observe/ask.js';
export { get, getAtOnce, isReset } from '../observe/client.js';
export { nowMs } from '../observe/clock.js';
export { memoryOf } from '../observe/memory.js';
export { canListen, reservePort } from '../observe/ports.js';
export { hasPid } from '../observe/processes.js';
export { acceptQueueOf, listeningSockets } from '../observe/sockets.js';
export {
  deepestOverlap,
  eventsOf,
  exitsOf,
  forksOf,
  groupBy,
  haveTurned,
  listenersOf,
  quickestOf,
  requestsOf,
  turnedMs,
  waitsOf,
} from '../observe/timeline.js';
export { startRedis } from '../tools/redis.js';
export { demandTool } from '../tools/tools.js';
export { describeCrash } from '../verdict/thrown-errors.js';
export { faultOfRandomHex, parseJsonBody } from '../verdict/response-bodies.js';
export { Undecided, demand, demandInTime, firstOf, momentOf } from '../verdict/outcome.js';
export { demandSpeedup } from '../verdict/speedup.js';

/**
 * Defines the check of one lesson; if Node.js was started with its file, also runs it as a test.
 * @param {string} key  NN-slug
 * @param {Record<number, Record<string, string>>} tasks  number of the first task with which a promise can hold → promises, id → sentence,
 *   in the order of judging
 * @param {(lesson: import('./session.js').Lesson) => void} declare  declares looks and promises
 * @returns {import('./session.js').Definition}  what the file exports
 */
export function check(key, tasks, declare) {
  const all = Object.entries(tasks);
  const taskOf = Object.fromEntries(
    all.flatMap(([task, promises]) => Object.keys(promises).map((id) => [id, Number(task)])),
  );
  const promises = Object.assign({}, ...all.map(([, promises]) => promises));
  const definition = { key, promises, taskOf, declare };
  if (isMain(lessonPaths(key).check)) runUnderNodeTest(definition);
  return definition;
}

const isMain = (path) => resolve(process.argv[1] ?? '').endsWith(normalize(`/${path}`));
