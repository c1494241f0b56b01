/**
 * How a program's own work delayed its event loops. A late beat marks a stretch in which the process did nothing else; the CPU time
 * of the stretch shows whether it computed or waited for a core. Pure.
 * @typedef {import('./timeline.js').Event} Event
 * @typedef {{ pid: number, fromMs: number, toMs: number, computedMs: number, queuedMs: number }} Stretch  between two beats of a
 *   process; computedMs: CPU time; queuedMs: in a run queue, 0 if the system doesn't say
 * @typedef {{ pid: number, fromMs: number, toMs: number }} Span  an interval in the life of a process
 * @typedef {{ pid: number, keptMs: number, computedMs: number, queuedMs: number, path?: string }} OwnWork  keptMs: the longest stretch
 *   without a turn of the event loop; computedMs, queuedMs: parts of it; path: of the request that was executed in it
 * @typedef {(pid: number) => { ranMs: number, queuedMs: number } | undefined} ReadThread  of a process's main thread
 */
import { requestsOf } from './timeline.js';

const BEAT_MS = 20;
const LEAST_COMPUTED_MS = 25; // in one stretch; right solutions reached ten at most, beside four hogs on two cores
const MUCH = 0.25; // of the time without waits for a core; right solutions had none
const DUE_MS = 100; // a beat that is so late may be delayed by the very work we look for

/**
 * The stretches between beats of each process's main thread. A process's start, before its first beat, isn't one. @returns {Stretch[]}
 * @param {Event[]} events @param {number} nowMs @param {ReadThread} [readThread]  for a process whose beat is overdue
 */
export function stretchesOf(events, nowMs, readThread = () => undefined) {
  const last = new Map();
  const found = [];
  const note = (/** @type {Event} */ beat) => {
    const before = last.get(beat.pid);
    last.set(beat.pid, beat);
    if (before) found.push(between(before, beat));
  };
  for (const event of events) {
    if (event.tid !== undefined) continue;
    if (event.what === 'beat') note(event);
    else if (event.what === 'exit') last.delete(event.pid);
    else if (event.what === 'worker-exit') last.delete(event.workerPid);
  }
  for (const { pid, t } of [...last.values()]) {
    const now = nowMs - t > DUE_MS ? readThread(pid) : undefined;
    if (now) note({ t: nowMs, pid, what: 'beat', ran: now.ranMs, queued: now.queuedMs });
  }
  return found;
}

/** @returns {Stretch} */
function between(/** @type {Event} */ before, /** @type {Event} */ beat) {
  const { pid, t: toMs } = beat;
  const ms = toMs - before.t;
  const since = (/** @type {string} */ field) => Math.min(ms, beat[field] - before[field]);
  const isReported = beat.ran !== undefined && before.ran !== undefined;
  const computedMs = isReported
    ? since('ran')
    : Math.min(ms, (beat.cpu ?? 0) * (BEAT_MS + beat.late));
  return { pid, fromMs: before.t, toMs, computedMs, queuedMs: isReported ? since('queued') : 0 };
}

/** How much of a span the process computed without a break, and waited for a core. @param {Stretch[]} stretches @param {Span} span */
export function workWithin(stretches, { pid, fromMs, toMs }) {
  let [computedMs, queuedMs] = [0, 0];
  for (const one of stretches) {
    const withinMs = Math.min(one.toMs, toMs) - Math.max(one.fromMs, fromMs);
    if (one.pid !== pid || withinMs <= 0) continue;
    if (one.computedMs >= LEAST_COMPUTED_MS) computedMs += Math.min(one.computedMs, withinMs);
    queuedMs += Math.min(one.queuedMs, withinMs);
  }
  return { computedMs, queuedMs, ms: toMs - fromMs };
}

/**
 * The longest stretch of work, if work took a large part of one of these spans; waits for a core don't count.
 * @param {Event[]} events @param {Stretch[]} stretches @param {Span[]} spans @returns {OwnWork | undefined}
 */
export function ownWorkIn(events, stretches, spans) {
  const kept = spans.flatMap((span) => {
    const { computedMs, queuedMs, ms } = workWithin(stretches, span);
    if (computedMs < LEAST_COMPUTED_MS || computedMs < MUCH * (ms - queuedMs)) return [];
    return stretches.filter(
      ({ pid, fromMs, toMs }) => pid === span.pid && toMs > span.fromMs && fromMs < span.toMs,
    );
  });
  if (kept.length === 0) return undefined;
  const longest = kept.reduce((a, b) => (b.computedMs > a.computedMs ? b : a));
  const { pid, fromMs, toMs, computedMs, queuedMs } = longest;
  return { pid, keptMs: toMs - fromMs, computedMs, queuedMs, path: pathIn(events, longest) };
}

/** The last request to begin before the longest silence is the one being executed. @param {Event[]} events @param {Stretch} stretch */
function pathIn(events, { pid, fromMs, toMs }) {
  const own = events.filter((one) => one.pid === pid && one.t >= fromMs && one.t <= toMs);
  const silences = own.map(({ t }, index) => ({ t, ms: (own[index + 1]?.t ?? toMs) - t }));
  const { t: sinceMs } = silences.reduce((a, b) => (b.ms > a.ms ? b : a), { t: fromMs, ms: 0 });
  const open = requestsOf(events).filter(
    (one) => one.pid === pid && one.startMs <= sinceMs && (one.endMs ?? Infinity) > sinceMs,
  );
  return open.at(-1)?.url.split('?')[0];
}

/** From each process's first request on: no client waits before. @param {Event[]} events @param {number} sinceMs @param {number} toMs */
export function servingSince(events, sinceMs, toMs) {
  const spans = new Map();
  for (const { what, pid, t } of events) {
    if (what === 'request' && !spans.has(pid))
      spans.set(pid, { pid, fromMs: Math.max(sinceMs, t), toMs });
  }
  return [...spans.values()];
}
