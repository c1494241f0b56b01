/**
 * What a program's own work did to its event loops. A beat that is late tells of a stretch in which its process did nothing
 * else; the CPU time of that stretch tells whether it computed, or waited for a core that others had. Pure.
 *
 * @typedef {import('./timeline.js').Event} Event
 *
 * @typedef {object} Stretch  between two beats of a process
 * @property {number} pid
 * @property {number} fromMs
 * @property {number} toMs
 * @property {number} computedMs  CPU time
 * @property {number} queuedMs  its thread stood in a run queue; 0 where the system does not tell
 *
 * @typedef {object} Span  a stretch of time in the life of a process
 * @property {number} pid
 * @property {number} fromMs
 * @property {number} toMs
 *
 * @typedef {object} OwnWork  what kept a process
 * @property {number} pid
 * @property {number} keptMs  the longest stretch without a turn of its event loop
 * @property {number} computedMs  of it
 * @property {number} queuedMs  of it, in which its thread waited for a core
 * @property {string} [path]  of the request that it executed then
 *
 * @typedef {(pid: number) => { ranMs: number, queuedMs: number } | undefined} ReadThread  of a process's first thread, now
 */
import { requestsOf } from './timeline.js';

const BEAT_MS = 20;
const LEAST_COMPUTED_MS = 25; // in one stretch; right solutions came to ten at the most, beside four hogs on two cores
const MUCH = 0.25; // of the time in which the process did not wait for a core; right solutions came to nothing
const DUE_MS = 100; // a beat that is so late may be kept from coming by what we look for

/**
 * Every stretch between two beats, of each process's main thread. A process's start, up to its first beat, is none.
 * @param {Event[]} events
 * @param {number} nowMs
 * @param {ReadThread} [readThread]  for a process whose next beat is due
 * @returns {Stretch[]}
 */
export function stretchesOf(events, nowMs, readThread = () => undefined) {
  /** @type {Map<number, Event>} */
  const last = new Map();
  /** @type {Stretch[]} */
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
  const isTold = beat.ran !== undefined && before.ran !== undefined;
  const computedMs = isTold ? since('ran') : Math.min(ms, (beat.cpu ?? 0) * (BEAT_MS + beat.late));
  return { pid, fromMs: before.t, toMs, computedMs, queuedMs: isTold ? since('queued') : 0 };
}

/**
 * How much of a span a process computed without a break, and how much of it it waited for a core.
 * @param {Stretch[]} stretches
 * @param {Span} span
 */
export function shareOf(stretches, { pid, fromMs, toMs }) {
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
 * The work that took much of what one of these spans had of its process's own time: without the waits for a core.
 * @param {Event[]} events
 * @param {Stretch[]} stretches
 * @param {Span[]} spans
 * @returns {OwnWork | undefined}  the longest stretch of it
 */
export function ownWorkIn(events, stretches, spans) {
  const kept = spans.flatMap((span) => {
    const { computedMs, queuedMs, ms } = shareOf(stretches, span);
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

/**
 * The path of the request that it executed: the last that it had begun before the longest silence in the stretch. Others may be
 * in flight, and wait for something.
 * @param {Event[]} events
 * @param {Stretch} stretch
 */
function pathIn(events, { pid, fromMs, toMs }) {
  const own = events.filter((one) => one.pid === pid && one.t >= fromMs && one.t <= toMs);
  const silences = own.map(({ t }, index) => ({ t, ms: (own[index + 1]?.t ?? toMs) - t }));
  const { t: sinceMs } = silences.reduce((a, b) => (b.ms > a.ms ? b : a), { t: fromMs, ms: 0 });
  const open = requestsOf(events).filter(
    (one) => one.pid === pid && one.startMs <= sinceMs && (one.endMs ?? Infinity) > sinceMs,
  );
  return open.at(-1)?.url.split('?')[0];
}

/**
 * Each process that serves, from its first request on: for one that has none yet, no client waits.
 * @param {Event[]} events
 * @param {number} sinceMs
 * @param {number} toMs
 * @returns {Span[]}
 */
export function servingSince(events, sinceMs, toMs) {
  /** @type {Map<number, Span>} */
  const spans = new Map();
  for (const { what, pid, t } of events) {
    if (what === 'request' && !spans.has(pid))
      spans.set(pid, { pid, fromMs: Math.max(sinceMs, t), toMs });
  }
  return [...spans.values()];
}
