/** Whether a program has settled: from the events of a run to "nothing more is going to happen by itself". */
import { listenersOf, processesOf } from './timeline.js';

const QUIET_MS = 100; // all that run also listen
const HALF_QUIET_MS = 400; // somebody listens, others do not (yet)
const SILENT_MS = 2_500; // nobody listens (yet): that says most, and a slow disk looks like it
const TIMER_MS = 3_000; // a timer, a file or a child may still bring something; one that has not by now is of another kind
const BUSY = 0.5; // share of the time in which an event loop was busy, or of a core: it loads a package, or computes
const FUTILE_ENDS = 12;
const FUTILE_STARTS = 40;

/**
 * Nothing more is going to happen by itself, or nothing but the same again, or we would not see it.
 * @param {import('./timeline.js').Event[]} events
 * @param {(t: number) => number} [starvedSince]  for how long, since then, the program was kept from running
 * @returns {boolean}
 */
export function isSettled(events, starvedSince = () => 0) {
  return isCalm(events, starvedSince) || isFutile(events) || hasUnseenWorker(events);
}

/**
 * Every process has started, none has a timer that keeps it alive or waits for anything, and since the last event each of
 * them has been turning its event loop for a while, with little to do. What others took of that while does not count.
 */
function isCalm(events, starvedSince) {
  const [beats, pending] = [new Map(), new Map()];
  let news = 0;
  for (const event of events) {
    if (event.what !== 'beat') news = event.t;
    else if (event.tid === undefined) {
      beats.set(event.pid, event.t);
      if (event.elu > BUSY || event.cpu > BUSY) news = event.t; // a thread may be at work, such as that of module hooks
      if (event.timers !== undefined) pending.set(event.pid, event.timers || event.waits);
    }
  }
  const alive = processesOf(events).filter((one) => one.endMs === undefined);
  if (alive.length === 0) return false;
  const listening = new Set([...listenersOf(events).values()].flatMap((pids) => [...pids]));
  const isUp = ({ pid, role }) => listening.has(pid) || (role === 'primary' && alive.length > 1);
  const quietMs = listening.size === 0 ? SILENT_MS : alive.every(isUp) ? QUIET_MS : HALF_QUIET_MS;
  const waitMs = ({ pid }) => (pending.get(pid) || isHatching(pid, events) ? TIMER_MS : quietMs);
  if (!alive.every((one) => beats.get(one.pid) > news + waitMs(one))) return false;
  const starvedMs = starvedSince(news);
  return alive.every((one) => beats.get(one.pid) > news + waitMs(one) + starvedMs);
}

/** It has started a process that has not reported itself yet. One that is no Node program never will, nor one that is dead. */
function isHatching(parent, events) {
  const started = pidsStarted(events);
  for (const { what, workerPid } of events) if (what === 'worker-exit') started.add(workerPid);
  return events.some(
    ({ what, pid, childPid }) => what === 'child' && pid === parent && !started.has(childPid),
  );
}

/**
 * Worker after worker ends, or process after process starts, before any has listened: one more will not be better.
 * @param {import('./timeline.js').Event[]} events
 */
export function isFutile(events) {
  if (events.some(({ what, handle }) => what === 'worker-listening' || handle === 'handed'))
    return false;
  const count = (/** @type {string} */ kind) => events.filter(({ what }) => what === kind).length;
  return count('worker-exit') >= FUTILE_ENDS || count('child') >= FUTILE_STARTS;
}

/**
 * A worker listens and has not reported itself, which it would have done before: it runs without the probe.
 * @param {import('./timeline.js').Event[]} events
 */
export function hasUnseenWorker(events) {
  const started = pidsStarted(events);
  return events.some(
    ({ what, workerPid }) => what === 'worker-listening' && !started.has(workerPid),
  );
}

/** The processes that have reported themselves. */
function pidsStarted(events) {
  return new Set(events.filter(({ what }) => what === 'start').map(({ pid }) => pid));
}
