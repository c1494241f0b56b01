/**
 * The timeline in the Trace Event Format, which https://ui.perfetto.dev and chrome://tracing show: a lane for each process,
 * in it every request, every silence of its event loop, its start and end. Pure. `npm run test:field` has Perfetto's own
 * parser read it: an `id` that is not local to its process takes a request out of the process's lane there, and of two
 * silences that overlap by a microsecond it drops one.
 */
import { processesOf, requestsOf } from '../../observe/timeline.js';

const PER_MS = 1000; // the format counts in microseconds

/** What is no request and no silence, and how it is named there. */
const MOMENTS = {
  start: 'starts',
  listening: 'listens',
  fork: 'forks a worker',
  disconnect: 'a worker disconnects',
  'worker-exit': 'a worker ended',
  crash: 'crashes',
  exit: 'exits',
};

/**
 * @param {object} seen
 * @param {import('../../observe/timeline.js').Event[]} seen.events
 * @param {import('./silences.js').Silence[]} seen.silences
 * @param {number} seen.zeroMs  time 0
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
