/**
 * Times in which an event loop did not turn: the probe reports at least every 20 ms, unless the process works without a break
 * or waits for a core; that wait is subtracted. Pure.
 * @typedef {import('../../observe/timeline.js').Event} Event @typedef {import('../../observe/timeline.js').Request} Request
 * @typedef {{ pid: number, fromMs: number, ms: number, under?: string }} Silence  ms: without its waits for a core; under: path of the
 *   last request that it began and hadn't answered
 * @typedef {import('../../observe/own-work.js').Stretch} Stretch @typedef {import('../../observe/own-work.js').Span} Span
 */
import { requestsOf } from '../../observe/timeline.js';

const SHORTEST_MS = 50; // twice a beat, and a little

/**
 * The silences of all processes within a span, by their beginning. @param {Event[]} events  of the whole run
 * @param {{ fromMs: number, toMs: number, stretches: Stretch[], alive: Set<number> }} within  alive: still at the end @returns {Silence[]}
 */
export function silencesOf(events, { fromMs, toMs, stretches, alive }) {
  const requests = requestsOf(events.filter(({ tid }) => tid === undefined));
  const last = new Map();
  const found = [];
  const note = (/** @type {number} */ pid, /** @type {number} */ untilMs) => {
    const since = last.get(pid);
    if (since === undefined || since < fromMs) return;
    const span = { pid, fromMs: since, toMs: untilMs };
    const ms = untilMs - since - spentIn(stretches, 'queuedMs', span);
    if (ms < SHORTEST_MS) return;
    found.push({ pid, fromMs: since, ms: Math.round(ms), under: lastBegun(requests, pid, since) });
  };
  for (const { t, pid, tid } of events) {
    if (tid !== undefined || t > toMs) continue;
    note(pid, t);
    last.set(pid, t);
  }
  for (const pid of alive) note(pid, toMs);
  return found.sort((a, b) => a.fromMs - b.fromMs);
}

/**
 * How long a process computed, or waited for a core, within a span; at most, since a stretch that overlaps it counts as far as it fits.
 * @param {Stretch[]} stretches @param {'queuedMs' | 'computedMs'} how @param {Span} span
 */
export function spentIn(stretches, how, { pid, fromMs, toMs }) {
  let spentMs = 0;
  for (const one of stretches) {
    const withinMs = Math.min(one.toMs, toMs) - Math.max(one.fromMs, fromMs);
    if (one.pid === pid && withinMs > 0) spentMs += Math.min(one[how], withinMs);
  }
  return spentMs;
}

/** The path of the last request that a process began and hadn't answered. @param {Request[]} requests @param {number} pid @param {number} atMs */
export function lastBegun(requests, pid, atMs) {
  const one = requests.findLast(
    ({ startMs, endMs = Infinity, ...request }) =>
      request.pid === pid && startMs <= atMs && endMs > atMs,
  );
  return one?.url.split('?')[0];
}
