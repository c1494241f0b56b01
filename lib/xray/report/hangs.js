/**
 * Processes that serve and stand still: alive, and silent until the end of the load. To a supervisor that waits for an 'exit'
 * such a process is well. One that does not serve may have a job that takes long. Pure.
 *
 * @typedef {import('../../observe/timeline.js').Event} Event
 *
 * @typedef {object} Hang
 * @property {number} pid
 * @property {number} fromMs
 * @property {number} ms  until the end of the load, without the time in which it waited for a core
 * @property {string} [under]  the path of the request that it had begun last and not yet answered
 * @property {'computes' | 'waits' | undefined} does  undefined where the system does not tell
 * @property {number} [fd]  it waits to write to this file descriptor
 * @property {boolean} isReplaced  the process that started it has since started another
 */
import { spentBetween } from './silences.js';

const LEAST_MS = 2_000;
const COMPUTES = 0.5; // of that time

/**
 * @param {Event[]} events  of the whole run
 * @param {object} seen
 * @param {import('./silences.js').Silence[]} seen.silences
 * @param {import('./silences.js').Times} seen.times
 * @param {Map<number, number>} seen.writes
 * @param {number} seen.toMs  the end of the load
 * @returns {Hang[]}
 */
export function hangsOf(events, { silences, times, writes, toMs }) {
  const lastOf = (/** @type {number} */ pid) =>
    events.findLast((one) => one.pid === pid && one.tid === undefined);
  const isService = ({ what }) => what === 'listening' || what === 'request';
  const serving = new Set(events.filter(isService).map(({ pid }) => pid));
  return silences.flatMap(({ pid, fromMs, ms, under }) => {
    const isOpen = ms >= LEAST_MS && lastOf(pid)?.t === fromMs;
    if (!isOpen || !serving.has(pid)) return [];
    const ppid = events.find(({ what, ...one }) => what === 'start' && one.pid === pid)?.ppid;
    const isReplaced = events.some(
      ({ what, ...one }) => what === 'fork' && one.pid === ppid && one.t > fromMs,
    );
    const samples = times.get(pid) ?? [];
    const ranMs = spentBetween(samples, 'ranMs', fromMs, toMs);
    const does = ranMs > COMPUTES * ms ? 'computes' : 'waits';
    return {
      ...{ pid, fromMs, ms, under, isReplaced },
      does: samples.length > 0 ? /** @type {Hang['does']} */ (does) : undefined,
      ...(does === 'waits' && { fd: writes.get(pid) }),
    };
  });
}
