/** What was seen of one process of a server. Pure. */
import { quantile } from '../../measure/stats.js';
import { requestsOf } from '../../observe/timeline.js';
import { shortName } from './words.js';

/**
 * @typedef {import('../../observe/timeline.js').Event} Event
 * @typedef {import('./facts.js').Facts} Facts
 * @typedef {import('./facts.js').Seen} Seen
 */

const LONGEST_ERROR = 200;
const BEAT_MS = 20; // by the probe
const TOO_LATE_MS = 1_000; // before the last client gave up: what was begun then had waited elsewhere
const SHORT_MS = 500; // too short a time for a share of it

/**
 * @param {ReturnType<typeof import('../../observe/timeline.js').processesOf>[number]} known
 * @param {any} of  the run: its events, those under load, its port, the memory, who is alive, the load, what hangs
 * @returns {Seen}
 */
export function seenOf(known, { events, during, port, memory, alive, load, hangs }) {
  const { pid, role, worker } = known;
  const own = events.filter((one) => one.pid === pid);
  const start = own.find(({ what, tid }) => what === 'start' && tid === undefined);
  const heard = own.find(({ what, ...one }) => what === 'listening' && one.port === port);
  const crash = own.find(({ what }) => what === 'crash');
  const mine = during.filter((one) => one.pid === pid);
  const requests = requestsOf(mine);
  const more = mine.reduce((sum, one) => sum + (one.more ?? 0), 0);
  const took = memory.find((one) => one.pid === pid);
  const endMs = known.endMs ?? (alive.has(pid) ? undefined : own.at(-1)?.t);
  const isLeft = (/** @type {import('../../observe/timeline.js').Request} */ one) =>
    one.endMs === undefined && (endMs !== undefined || one.startMs < load.toMs - TOO_LATE_MS);
  const isPrimary = own.some(({ what }) => what === 'fork');
  return {
    pid,
    ppid: known.ppid,
    name: shortName(start?.file),
    isNode: start !== undefined,
    role: role === 'worker' ? 'worker' : isPrimary ? 'primary' : 'process',
    worker,
    given: start?.given,
    threads: own.filter(({ what, tid }) => what === 'start' && tid !== undefined).length,
    startMs: known.startMs,
    endMs,
    code: known.code,
    signal: known.signal,
    crash: crash?.error.split('\n')[0].slice(0, LONGEST_ERROR),
    listenedMs: heard?.t,
    handle: heard?.handle,
    most: heard?.most,
    requests: requests.length + more,
    unanswered: requests.filter(isLeft).length,
    failed: requests.filter(({ status = 0 }) => status >= 500).length,
    ...loopOf(mine, load, { hang: hangs.find((one) => one.pid === pid), own }),
    memory: took && {
      rssBytes: took.rssBytes,
      ussBytes: took.ussBytes,
      pssBytes: took.pssBytes,
    },
  };
}

/** What its beats tell of an event loop; each tells of the time since the one before. */
function loopOf(
  /** @type {Event[]} */ mine,
  /** @type {Facts['load']} */ { fromMs, toMs, lastDueMs },
  /** @type {{ hang?: import('./hangs.js').Hang, own: Event[] }} */ { hang, own },
) {
  const beats = mine.filter(({ what, tid }) => what === 'beat' && tid === undefined);
  if (beats.length === 0) return {};
  const untilMs = lastDueMs - fromMs > SHORT_MS ? lastDueMs : toMs;
  const within = beats.filter(({ t }) => t <= untilMs);
  const stillMs = hang ? Math.max(0, untilMs - hang.fromMs) : 0;
  const took = within.map(({ late }) => BEAT_MS + late);
  const allMs = stillMs + took.reduce((sum, ms) => sum + ms, 0);
  const busyMs = stillMs + within.reduce((sum, { elu }, index) => sum + elu * took[index], 0);
  const timers = beats.flatMap((one) => one.timers ?? []);
  const ofCluster = own.filter(({ handle }) => handle === 'handed').length; // Node.js keeps such a worker alive by one each
  return {
    busy: allMs > 0 ? busyMs / allMs : undefined,
    timers: timers.length > 0 ? Math.max(0, Math.min(...timers) - ofCluster) : undefined,
    lateMs: quantile(
      beats.map(({ late }) => late),
      0.99,
    ),
  };
}

/**
 * What runs below the program, and is no Node.js process.
 * @param {{ pid: number, ppid: number, name: string }} one
 * @param {number} startMs
 * @returns {Seen}
 */
export const unseen = ({ pid, ppid, name }, startMs) => ({
  ...{ pid, ppid, name, startMs, isNode: false, role: 'process' },
  ...{ threads: 0, requests: 0, unanswered: 0, failed: 0 },
});
