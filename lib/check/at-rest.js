/**
 * Waiting for rest replaces a timeout. A program is at rest when each of its event loops has turned several times since the last event,
 * without more timers than usual.
 * @typedef {{ except?: number[], turns?: number, kinds?: string[], isHandedOn?: boolean }} RestOptions  except: pids of frozen processes;
 *   turns: of each event loop; kinds: of events that interrupt a rest, all by default; isHandedOn: other processes execute the requests,
 *   so a request in flight doesn't keep the first process from rest
 */
import { nowMs } from '../observe/clock.js';
import { eventsOf, forksOf } from '../observe/timeline.js';
import { aliveIn, hasExited, hasListened } from './cluster.js';

/** @typedef {import('../observe/program.js').Program} Program @typedef {import('../observe/timeline.js').Event} Event */

const BEAT_MS = 19; // a process reports every 20 ms, and its timers in every fifth report
const REST_TURNS = 10;
const LONG_TURNS = 150; // 3 s: a timer that hasn't fired by then doesn't count
const DEADLINE_MS = 10_000;

/**
 * Waits until `isDone`, or the program is at rest, has exited, or is out of time.
 * @param {Program} program @param {(events: Event[]) => unknown} [isDone]
 * @param {RestOptions & { deadlineMs?: number }} [options]
 * @returns {Promise<boolean>}  whether it is done; rejects with Starved if the program got too little CPU time
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
 * Will nothing more happen by itself? A process gets three seconds if it is starting, has crashed, has a request in flight, or has a timer
 * more than usual, such as the delay before a restart. @param {Program} program @param {RestOptions & { sinceMs: number }} options
 */
export function isAtRest({ events, pid: primary }, options) {
  const { sinceMs, except = [], turns = REST_TURNS, kinds, isHandedOn = false } = options;
  const interrupts = (what) => (kinds ? kinds.includes(what) : what !== 'beat');
  const last = events.findLast(({ what }) => interrupts(what))?.t ?? 0;
  const fromMs = Math.max(last, sinceMs);
  if (nowMs() < fromMs + turns * BEAT_MS) return false;
  const alive = aliveIn(events);
  if (primary !== undefined && !alive.includes(primary)) return false; // its exit will be reported in a moment
  const forked = forksOf(events).map(({ workerPid }) => workerPid);
  if (forked.some((pid) => !alive.includes(pid) && !hasExited(events, pid))) return false; // so will this exit
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

/** The fewest timers since the process listens. The first report of a child that doesn't listen has the timers of its loading. */
function usualTimers(events, beats, { pid, isFirst }) {
  const isPrimary = forksOf(events).some((fork) => fork.pid === pid);
  const listening = eventsOf(events, 'listening').find((event) => event.pid === pid);
  const since = isPrimary ? undefined : (listening ?? (isFirst ? undefined : beats[0]));
  const counts = beats.flatMap(({ t, timers }) =>
    t > (since?.t ?? 0) && timers !== undefined ? [timers] : [],
  );
  return Math.min(...counts);
}
