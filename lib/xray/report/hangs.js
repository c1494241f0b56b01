/**
 * Serving processes that hang: alive, and silent until the end of the load. A supervisor that waits for 'exit' takes such a
 * process for healthy. A process that doesn't serve may just have a long job. Pure.
 * @typedef {import('../../observe/timeline.js').Event} Event
 * @typedef {{ pid: number, fromMs: number, ms: number, under?: string, does: 'computes' | 'waits' | undefined, fd?: number,
 *   isReplaced: boolean }} Hang  ms: until the end of the load, without its waits for a core; under: path of the last request that it
 *   began and didn't answer; does: undefined if the system doesn't say; fd: the file descriptor to which it waits to write; isReplaced:
 *   its parent has forked another since
 */
import { spentIn } from './silences.js';

const LEAST_MS = 2_000;
const COMPUTES = 0.5; // of that time

/**
 * @param {Event[]} events  of the whole run
 * @param {{ silences: import('./silences.js').Silence[], stretches: import('./silences.js').Stretch[], writes: Map<number, number>,
 *   toMs: number }} seen  toMs: the end of the load @returns {Hang[]}
 */
export function hangsOf(events, { silences, stretches, writes, toMs }) {
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
    const isTold = stretches.some((one) => one.pid === pid && one.toMs >= toMs);
    const computedMs = spentIn(stretches, 'computedMs', { pid, fromMs, toMs });
    const does = computedMs > COMPUTES * ms ? 'computes' : 'waits';
    return {
      ...{ pid, fromMs, ms, under, isReplaced },
      does: isTold ? /** @type {Hang['does']} */ (does) : undefined,
      ...(does === 'waits' && { fd: writes.get(pid) }),
    };
  });
}
