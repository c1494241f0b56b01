import { listenersOf, processesOf } from './timeline.js';

const QUIET_MS = 100; // every process listens
const HALF_QUIET_MS = 400; // some listen, others don't (yet)
const SILENT_MS = 2_500; // no process listens (yet): a slow disk looks the same
const TIMER_MS = 3_000; // for a pending timer, file or child; later ones don't count
const BUSY = 0.5; // share of the time in which an event loop or a core was busy: it loads packages, or computes
const FUTILE_ENDS = 12;
const FUTILE_STARTS = 40;

/**
 * Will nothing more happen by itself, or only the same again, or nothing that the probe could see? @returns {boolean}
 * @param {import('./timeline.js').Event[]} events @param {(t: number) => number} [starvedSince]  its waits for a core since then, in ms
 */
export function isSettled(events, starvedSince = () => 0) {
  return isQuiet(events, starvedSince) || isFutile(events) || hasUnseenWorker(events);
}

/**
 * Every process has been idle since the last event, its loop turning, without timers or pending operations; waits for a core don't count.
 */
function isQuiet(events, starvedSince) {
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
  const waitMs = ({ pid }) =>
    pending.get(pid) || hasUnreportedChild(pid, events) ? TIMER_MS : quietMs;
  if (!alive.every((one) => beats.get(one.pid) > news + waitMs(one))) return false;
  const starvedMs = starvedSince(news);
  return alive.every((one) => beats.get(one.pid) > news + waitMs(one) + starvedMs);
}

/** Has it started a child that hasn't reported itself? A child that isn't Node, or has exited, never will. */
function hasUnreportedChild(parent, events) {
  const started = pidsStarted(events);
  for (const { what, workerPid } of events) if (what === 'worker-exit') started.add(workerPid);
  return events.some(
    ({ what, pid, childPid }) => what === 'child' && pid === parent && !started.has(childPid),
  );
}

/** Processes start and exit one after another, and none has ever listened. @param {import('./timeline.js').Event[]} events */
export function isFutile(events) {
  if (events.some(({ what, handle }) => what === 'worker-listening' || handle === 'handed'))
    return false;
  const count = (/** @type {string} */ kind) => events.filter(({ what }) => what === kind).length;
  return count('worker-exit') >= FUTILE_ENDS || count('child') >= FUTILE_STARTS;
}

/** A worker listens that has never reported its start: it runs without the probe. @param {import('./timeline.js').Event[]} events */
export function hasUnseenWorker(events) {
  const started = pidsStarted(events);
  return events.some(
    ({ what, workerPid }) => what === 'worker-listening' && !started.has(workerPid),
  );
}

function pidsStarted(events) {
  return new Set(events.filter(({ what }) => what === 'start').map(({ pid }) => pid));
}
