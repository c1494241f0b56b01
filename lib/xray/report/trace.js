/**
 * The timeline in the Trace Event Format of https://ui.perfetto.dev: a lane for each process with its requests, silences,
 * start and end. Perfetto takes a request whose `id` isn't local out of its lane, and drops one of two overlapping silences. Pure.
 */
import { processesOf, requestsOf } from '../../observe/timeline.js';

const PER_MS = 1000; // the format counts in microseconds

/** Events that are moments, and their names in the trace. */
const MOMENTS = {
  start: 'starts',
  listening: 'listens',
  fork: 'forks a worker',
  disconnect: 'a worker disconnects',
  'worker-exit': 'a worker exited',
  crash: 'crashes',
  exit: 'exits',
};

/**
 * @param {Pick<import('./facts.js').Facts, 'silences' | 'zeroMs'> & { events: import('../../observe/timeline.js').Event[] }} seen
 * @returns {{ traceEvents: Record<string, unknown>[], displayTimeUnit: 'ms' }}
 */
export function traceOf({ events, silences, zeroMs }) {
  const ts = (/** @type {number} */ t) => Math.round((t - zeroMs) * PER_MS);
  const lastMs = events.at(-1)?.t ?? zeroMs;
  const names = processesOf(events).map(({ pid, role, worker }) => ({
    ...{ ph: 'M', name: 'process_name', pid, tid: 0 },
    args: { name: role === 'worker' ? `worker ${worker}` : `process ${pid}` },
  }));
  const requests = requestsOf(events).flatMap(
    ({ pid, client, url, startMs, endMs, status }, id) => {
      const name = url.split('?')[0];
      const about = { cat: 'request', name, pid, tid: 0, id2: { local: `0x${id.toString(16)}` } };
      const args = { url, client, status: status ?? 'unanswered' };
      return [
        { ...about, ph: 'b', ts: ts(startMs), args },
        { ...about, ph: 'e', ts: ts(endMs ?? Math.max(lastMs, startMs)) },
      ];
    },
  );
  const silent = silences.map(({ pid, fromMs, ms, under }) => {
    const next = silences.find((one) => one.pid === pid && one.fromMs > fromMs);
    const most = next ? ts(next.fromMs) - ts(fromMs) : Infinity; // ms is a whole number, rounded
    return {
      ...{ ph: 'X', cat: 'event loop', name: 'silent', pid, tid: 0 },
      ...{ ts: ts(fromMs), dur: Math.min(ms * PER_MS, most) },
      args: under === undefined ? {} : { under },
    };
  });
  const moments = events.flatMap(({ t, pid, tid, what, ...args }) =>
    Object.hasOwn(MOMENTS, what)
      ? { ph: 'i', s: 'p', cat: 'life', name: MOMENTS[what], pid, tid: tid ?? 0, ts: ts(t), args }
      : [],
  );
  return { traceEvents: [...names, ...requests, ...silent, ...moments], displayTimeUnit: 'ms' };
}
