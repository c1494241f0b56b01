/**
 * When an event loop did not turn. The probe's beat comes every 20 ms; a stretch in which a process reported nothing at
 * all is one piece of work that it did not interrupt, or one in which it had no core, which is taken off. Pure.
 *
 * @typedef {import('../../observe/timeline.js').Event} Event
 * @typedef {import('../../observe/timeline.js').Request} Request
 *
 * @typedef {object} Silence
 * @property {number} pid
 * @property {number} fromMs
 * @property {number} ms  without the time in which it waited for a core
 * @property {string} [under]  the path of the request that it had begun last and not yet answered
 *
 * @typedef {{ t: number, queuedMs: number, ranMs?: number }[]} Sampled  for how long a process had run and stood in a run queue, by time
 * @typedef {Map<number, Sampled>} Times  by pid
 */
import { requestsOf } from '../../observe/timeline.js';

const SHORTEST_MS = 50; // twice a beat, and a little

/**
 * The silences of all processes within a stretch of time, in order of their beginning.
 * @param {Event[]} events  of the whole run
 * @param {object} within
 * @param {number} within.fromMs
 * @param {number} within.toMs
 * @param {Times} within.times
 * @param {Set<number>} within.alive  those that still run at the end: their last silence has no end of its own
 * @returns {Silence[]}
 */
export function silencesOf(events, { fromMs, toMs, times, alive }) {
  const requests = requestsOf(events.filter(({ tid }) => tid === undefined));
  /** @type {Map<number, number>} */
  const last = new Map();
  /** @type {Silence[]} */
  const found = [];
  const note = (/** @type {number} */ pid, /** @type {number} */ untilMs) => {
    const since = last.get(pid);
    if (since === undefined || since < fromMs) return;
    const ms = untilMs - since - spentBetween(times.get(pid) ?? [], 'queuedMs', since, untilMs);
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
 * How much it has run, or waited for a core, within a stretch of time: rather too much than too little, since the samples
 * around it count whole.
 * @param {Sampled} samples
 * @param {'queuedMs' | 'ranMs'} how
 * @param {number} fromMs
 * @param {number} toMs
 */
export function spentBetween(samples, how, fromMs, toMs) {
  if (samples.length === 0) return 0;
  const before = samples.findLast(({ t }) => t <= fromMs)?.[how] ?? 0;
  const after = (samples.find(({ t }) => t >= toMs) ?? samples[samples.length - 1])[how] ?? 0;
  return Math.max(0, after - before);
}

/**
 * The path of the request that a process had begun last and not yet answered.
 * @param {Request[]} requests
 * @param {number} pid
 * @param {number} atMs
 * @returns {string | undefined}
 */
export function lastBegun(requests, pid, atMs) {
  const one = requests.findLast(
    ({ startMs, endMs = Infinity, ...request }) =>
      request.pid === pid && startMs <= atMs && endMs > atMs,
  );
  return one?.url.split('?')[0];
}
