/**
 * The one door through which a check sees the machinery. A check is a file that exports its definition:
 *
 *   export default check('02-cluster-fork', { 1: { 'forks-as-told': 'NODE_CLUSTER_WORKERS=4 forks exactly four workers' } },
 *     ({ launch, ready, observe, hold }) => {
 *       const main = observe([], async () => ready(await launch({ env: { NODE_CLUSTER_WORKERS: '4' } }), 4));
 *       hold('forks-as-told', [main], ({ events }) => {
 *         demand(forksOf(events).length === 4, { expected, got, why, try });
 *       });
 *     });
 *
 * It declares looks and promises; session.js judges them. `npm run check` loads the definition, judges it in its own process,
 * and renders what it reports; started by itself, with `node --test`, the file becomes a test. A longer check has its looks
 * and its demands in separate files (looks.js, demands.js, or folders of those names), with the same door.
 */
import { normalize, resolve } from 'node:path';
import { placesOf } from '../lessons/places.js';
import { testAlone } from './alone.js';

export { asCoresAllow } from './at-once.js';
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
export { episode, startRequests, stopAtWork } from './episode.js';
export { kill, repeatUntil, whileFrozen } from './faults.js';
export { isAtRest, untilAtRest } from './rest.js';
export { measureAtRate } from '../measure/at-rate.js';
export { createSpinners } from '../measure/ceiling.js';
export { interleave, saturate } from '../measure/compare.js';
export { disturbanceOf, watchMachine } from '../measure/conditions.js';
export { createLoad } from '../measure/load.js';
export { createOpenLoop } from '../measure/open-loop.js';
export { reportOf, reportTable, unansweredAt } from '../measure/report.js';
export { speedupOfBlocking, speedupOfCpu } from '../measure/speedup.js';
export { mean, meanOf, ratioOf, sumOf } from '../measure/stats.js';
export { MIXED, lostOf, startTraffic } from '../measure/traffic.js';
export { wrongAnswer } from '../lessons/answers.js';
export { buildNitro, isNitroBuilt } from '../tools/nitro.js';
export { askAtOnce, askOnce, requestOf } from '../observe/ask.js';
export { get, isReset } from '../observe/client.js';
export { nowMs } from '../observe/clock.js';
export { memoryOf } from '../observe/memory.js';
export { canListen, freePort } from '../observe/ports.js';
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
export { whyOfCrash } from '../verdict/thrown.js';
export { faultOfRandomHex, parseBody } from '../verdict/bodies.js';
export { Undecided, demand, demandInTime, momentOf } from '../verdict/outcome.js';
export { demandSpeedup } from '../verdict/speedup.js';

/**
 * Defines the check of one lesson. Where its file is the program that Node.js runs, it becomes a test, with a subtest for
 * each promise.
 * @param {string} key  NN-slug
 * @param {Record<number, Record<string, string>>} tasks  number of a task in the text → its promises: id → sentence, in the
 *   order in which they are judged. A promise belongs to the first task with which it can hold, and a task whose work shows
 *   only with the next one has none.
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
  if (isMain(placesOf(key).check)) testAlone(definition);
  return definition;
}

/** Does this process run that file? @param {string} path  from the root of a repository */
const isMain = (path) => resolve(process.argv[1] ?? '').endsWith(normalize(`/${path}`));
