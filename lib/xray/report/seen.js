/** The facts about one process of a server. Pure. */
import { quantile } from '../../measure/stats.js';
import { requestsOf } from '../../observe/timeline.js';
import { shortName } from './words.js';

/** @import { Event } from '../../observe/timeline.js' @import { Facts, Seen } from './facts.js' */

const LONGEST_ERROR = 200;
const BEAT_MS = 20; // by the probe
const TOO_LATE_MS = 1_000; // a request begun later than this before the last timeout had waited elsewhere
const SHORT_MS = 500; // too short for a share of it

/** @param {ReturnType<typeof import('../../observe/timeline.js').processesOf>[number]} known @param {any} of  the run @returns {Seen} */
export function seenOf(known, { events, during, port, memory, alive, load, hangs }) {
  const { pid, startMs, code, signal } = known;
  const own = events.filter((one) => one.pid === pid);
  const mine = during.filter((one) => one.pid === pid);
  const endMs = known.endMs ?? (alive.has(pid) ? undefined : own.at(-1)?.t);
  const crash = own.find(({ what }) => what === 'crash');
  const heard = own.find(({ what, ...one }) => what === 'listening' && one.port === port);
  return {
    ...identityOf(known, own),
    ...{ startMs, endMs, code, signal },
    crash: crash?.error.split('\n')[0].slice(0, LONGEST_ERROR),
    ...{ listenedMs: heard?.t, handle: heard?.handle, most: heard?.most },
    ...requestsIn(mine, { endMs, toMs: load.toMs }),
    ...loopOf(mine, load, { hang: hangs.find((one) => one.pid === pid), own }),
    memory: memoryOf(memory.find((one) => one.pid === pid)),
  };
}

/**
 * @param {Pick<Seen, 'pid' | 'worker'> & { ppid?: number, role: string }} known @param {Event[]} own
 * @returns {Pick<Seen, 'pid' | 'ppid' | 'name' | 'isNode' | 'role' | 'worker' | 'given' | 'threads'>}
 */
function identityOf({ pid, ppid, role, worker }, own) {
  const start = own.find(({ what, tid }) => what === 'start' && tid === undefined);
  const isPrimary = own.some(({ what }) => what === 'fork');
  return {
    ...{ pid, ppid, name: shortName(start?.file), isNode: start !== undefined },
    role: role === 'worker' ? 'worker' : isPrimary ? 'primary' : 'process',
    ...{ worker, given: start?.given },
    threads: own.filter(({ what, tid }) => what === 'start' && tid !== undefined).length,
  };
}

function requestsIn(/** @type {Event[]} */ mine, { endMs, toMs }) {
  const requests = requestsOf(mine);
  const more = mine.reduce((sum, one) => sum + (one.more ?? 0), 0);
  const isLeft = (/** @type {import('../../observe/timeline.js').Request} */ one) =>
    one.endMs === undefined && (endMs !== undefined || one.startMs < toMs - TOO_LATE_MS);
  return {
    requests: requests.length + more,
    unanswered: requests.filter(isLeft).length,
    failed: requests.filter(({ status = 0 }) => status >= 500).length,
  };
}

const memoryOf = (/** @type {any} */ took) =>
  took && { rssBytes: took.rssBytes, ussBytes: took.ussBytes, pssBytes: took.pssBytes };

/**
 * Each beat describes the time since the beat before.
 * @param {Event[]} mine @param {Facts['load']} load @param {{ hang?: import('./hangs.js').Hang, own: Event[] }} about
 */
function loopOf(mine, { fromMs, toMs, lastDueMs }, { hang, own }) {
  const beats = mine.filter(({ what, tid }) => what === 'beat' && tid === undefined);
  if (beats.length === 0) return {};
  const untilMs = lastDueMs - fromMs > SHORT_MS ? lastDueMs : toMs;
  const within = beats.filter(({ t }) => t <= untilMs);
  const stillMs = hang ? Math.max(0, untilMs - hang.fromMs) : 0;
  const took = within.map(({ late }) => BEAT_MS + late);
  const allMs = stillMs + took.reduce((sum, ms) => sum + ms, 0);
  const busyMs = stillMs + within.reduce((sum, { elu }, index) => sum + elu * took[index], 0);
  const timers = beats.flatMap((one) => one.timers ?? []);
  const ofCluster = own.filter(({ handle }) => handle === 'handed').length; // Node.js keeps a worker alive by a timer for each
  return {
    busy: allMs > 0 ? busyMs / allMs : undefined,
    timers: timers.length > 0 ? Math.max(0, Math.min(...timers) - ofCluster) : undefined,
    lateMs: quantile(
      beats.map(({ late }) => late),
      0.99,
    ),
  };
}

/** A process that isn't Node.js. @param {{ pid: number, ppid: number, name: string }} one @param {number} startMs @returns {Seen} */
export const unseen = ({ pid, ppid, name }, startMs) => ({
  ...{ pid, ppid, name, startMs, isNode: false, role: 'process' },
  ...{ threads: 0, requests: 0, unanswered: 0, failed: 0 },
});
