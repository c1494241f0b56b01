/**
 * The end of waiting for what may never come: a program is at rest when each of its event loops has turned for a while since
 * the last event, and none has a timer more than it usually has. That does not depend on how busy the machine is.
 *
 * @typedef {object} RestOptions
 * @property {number[]} [except]  pids that are frozen, and don't count
 * @property {number} [turns]  of each event loop: how long a rest is
 * @property {string[]} [kinds]  of event that interrupt a rest; all unless named
 * @property {boolean} [isHandedOn]  other processes do the work of a request, so one in flight does not keep the first process
 *   from rest
 */
import { nowMs } from '../observe/clock.js';
import { eventsOf, forksOf } from '../observe/timeline.js';
import { aliveIn, hasExited, hasListened } from './cluster.js';

/** @typedef {import('../observe/program.js').Program} Program */
/** @typedef {import('../observe/timeline.js').Event} Event */

const BEAT_MS = 19; // a process reports every 20 ms, and its timers in every fifth report
const REST_TURNS = 10;
const LONG_TURNS = 150; // 3 s: what a timer has not done by then it never does
const DEADLINE_MS = 10_000;

/**
 * Waits until `isDone`, or the program is at rest or has exited, or time is up.
 * @param {Program} program
 * @param {(events: Event[]) => unknown} [isDone]
 * @param {RestOptions & { deadlineMs?: number }} [options]
 * @returns {Promise<boolean>}  whether it is done; rejects with Starved when the program had no turn
 */
export async function untilAtRest(program, isDone = () => false, options = {}) {
  const { deadlineMs = DEADLINE_MS, ...rest } = options;
  const sinceMs = nowMs();
  let done = false;
  await program.until((events) => {
    done = Boolean(isDone(events));
    return done || isAtRest(program, { sinceMs, ...rest });
  }, deadlineMs);
  return done || Boolean(isDone(program.events));
}

/**
 * Will nothing more happen by itself? A worker that has not listened yet, has crashed, has a request in flight, or more timers
 * than usual (a wait before a restart) is given three seconds.
 * @param {Program} program
 * @param {RestOptions & { sinceMs: number }} options  sinceMs: rest before that does not count
 */
export function isAtRest({ events, pid: primary }, options) {
  const { sinceMs, except = [], turns = REST_TURNS, kinds, isHandedOn = false } = options;
  const interrupts = (what) => (kinds ? kinds.includes(what) : what !== 'beat');
  const last = events.findLast(({ what }) => interrupts(what))?.t ?? 0;
  const fromMs = Math.max(last, sinceMs);
  if (nowMs() < fromMs + turns * BEAT_MS) return false;
  const alive = aliveIn(events);
  if (primary !== undefined && !alive.includes(primary)) return false; // how it ended will be known in a moment
  const forked = forksOf(events).map(({ workerPid }) => workerPid);
  if (forked.some((pid) => !alive.includes(pid) && !hasExited(events, pid))) return false; // and so will be this exit
  return alive
    .filter((pid) => !except.includes(pid))
    .every((pid) => {
      const isFirst = pid === primary;
      const mayAnswer = isFirst && isHandedOn;
      return isProcessAtRest(events, pid, { fromMs, least: turns, isFirst, mayAnswer });
    });
}

function isProcessAtRest(events, pid, { fromMs, least, isFirst, mayAnswer }) {
  const beats = eventsOf(events, 'beat').filter(
    (beat) => beat.pid === pid && beat.tid === undefined,
  );
  const turns = beats.filter(({ t }) => t > fromMs);
  const timers = turns.findLast((beat) => beat.timers !== undefined)?.timers;
  if (timers === undefined || turns.length < least) return false;
  if (turns.length >= LONG_TURNS) return true;
  const isStarting =
    forksOf(events).some(({ workerPid }) => workerPid === pid) && !hasListened(events, pid);
  const count = (kind) => eventsOf(events, kind).filter((event) => event.pid === pid).length;
  const isAnswering = !mayAnswer && count('request') > count('response');
  const hasCrashed = count('crash') > 0;
  const isWaiting = timers > usualTimers(events, beats, { pid, isFirst });
  return !isStarting && !isAnswering && !hasCrashed && !isWaiting;
}

/**
 * The fewest timers that a process has reported: a server's own since it listens; a primary has none, and may wait before a
 * restart soon after. A child that never listens sets its own while it loads its file, so its first report does not count.
 */
function usualTimers(events, beats, { pid, isFirst }) {
  const isPrimary = forksOf(events).some((fork) => fork.pid === pid);
  const listening = eventsOf(events, 'listening').find((event) => event.pid === pid);
  const since = isPrimary ? undefined : (listening ?? (isFirst ? undefined : beats[0]));
  const counts = beats.flatMap(({ t, timers }) =>
    t > (since?.t ?? 0) && timers !== undefined ? [timers] : [],
  );
  return Math.min(...counts);
}
