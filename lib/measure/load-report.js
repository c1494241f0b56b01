/**
 * The report on load at a constant rate, by vegeta's definitions. Pure.
 * @typedef {import('./open-loop.js').OpenWindow} OpenWindow
 * @typedef {object} Report
 * @property {number} requests
 * @property {number} ratePerSecond  requests over the time from the first to the last
 * @property {number} throughputPerSecond  successes over the time from the first request to the last answer
 * @property {number} sendingMs  from the first request to the last
 * @property {number} waitMs  from the last request to the last answer
 * @property {{ min: number, mean: number, p50: number, p90: number, p95: number, p99: number, max: number }} latencyMs
 *   of all requests, including failures
 * @property {number} success  share with a status from 200 to 399
 * @property {Record<string, number>} statuses  counts by status; 0: no answer
 * @property {Record<string, number>} errors  counts by error
 * @property {{ p50: number, p99: number, max: number }} lateMs  how late each was sent
 * @property {number} unanswered  when the last was due
 * @typedef {{ model: string, times: Record<'user' | 'nice' | 'sys' | 'idle' | 'irq', number> }} Core  see os.cpus()
 */
import { mean, quantile } from './stats.js';

/**
 * @param {OpenWindow} window  of at least one request @param {'dueMs' | 'sentMs'} [since]  where latency begins; sentMs leaves out the time
 *   that a request waited to be sent @returns {Report}
 */
export function reportOf(window, since = 'dueMs') {
  const { answers } = window;
  const begins = answers.map((answer) => answer[since]);
  const [firstMs, lastMs] = [Math.min(...begins), Math.max(...begins)];
  const endMs = Math.max(...answers.map(({ doneMs }) => doneMs));
  const sendingMs = lastMs - firstMs;
  const successes = answers.filter(({ status = 0 }) => status >= 200 && status < 400).length;
  return {
    requests: answers.length,
    ratePerSecond: sendingMs > 0 ? (answers.length / sendingMs) * 1000 : answers.length,
    throughputPerSecond: (successes / (endMs - firstMs)) * 1000,
    sendingMs,
    waitMs: endMs - lastMs,
    latencyMs: summaryOf(answers.map((answer) => answer.doneMs - answer[since])),
    success: successes / answers.length,
    statuses: countBy(answers.map(({ status }) => status ?? 0)),
    errors: countBy(answers.flatMap(({ error }) => error ?? [])),
    lateMs: summaryOf(answers.map(({ dueMs, sentMs }) => sentMs - dueMs)),
    unanswered: unansweredAt(window, Math.max(...answers.map(({ dueMs }) => dueMs))),
  };
}

/** How many requests are unanswered at a moment. @param {OpenWindow} window @param {number} atMs */
export function unansweredAt({ answers }, atMs) {
  return answers.filter(({ dueMs, doneMs }) => dueMs <= atMs && doneMs > atMs).length;
}

/** How busy each core was, as a share. @param {Core[]} before @param {Core[]} after @returns {number[]} */
export function busySharesOf(before, after) {
  return after.map(({ times }, index) => {
    const spent = (/** @type {keyof Core['times']} */ kind) =>
      times[kind] - before[index].times[kind];
    const busy = spent('user') + spent('nice') + spent('sys') + spent('irq');
    return busy === 0 ? 0 : busy / (busy + spent('idle'));
  });
}

const summaryOf = (/** @type {number[]} */ values) => ({
  min: Math.min(...values),
  mean: mean(values),
  p50: quantile(values, 0.5),
  p90: quantile(values, 0.9),
  p95: quantile(values, 0.95),
  p99: quantile(values, 0.99),
  max: Math.max(...values),
});

function countBy(names) {
  const counts = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/**
 * @typedef {{ report: Report, coresBusy: number[], processes: { role: string, rssBytes: number, ussBytes?: number }[] }} Measured
 *   coresBusy: a share for each core; processes: each one's peak memory
 */

/** A table of reports. @param {Record<string, Measured>} columns  by their headings @returns {string[]}  lines */
export function reportTable(columns) {
  const names = Object.keys(columns);
  const rows = [
    ['of all requests', ...names],
    ...ROWS.map(([name, format]) => [name, ...names.map((one) => format(columns[one]))]),
  ];
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map(([name, ...cells]) =>
    [name.padEnd(widths[0]), ...cells.map((cell, index) => cell.padStart(widths[index + 1]))].join(
      '  ',
    ),
  );
}

const asTime = (ms) => (ms < 1000 ? `${ms.toFixed(1)} ms` : `${(ms / 1000).toFixed(1)} s`);

const asPercent = (/** @type {number} */ share) =>
  `${(share * 100).toFixed(share === 1 ? 0 : 1)} %`;
const asMegabytes = (/** @type {number} */ bytes) => `${(bytes / 2 ** 20).toFixed(0)}`;
const asCounts = (/** @type {Record<string, number>} */ counts) =>
  Object.entries(counts)
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ') || 'none';

const latency = (valueOf) => (measured) => asTime(valueOf(measured));

/** @type {[name: string, format: (measured: Measured) => string][]} */
const ROWS = [
  ['requests', ({ report }) => String(report.requests)],
  ['rate, a second', ({ report }) => report.ratePerSecond.toFixed(2)],
  ['throughput, a second', ({ report }) => report.throughputPerSecond.toFixed(2)],
  ['latency: least', latency(({ report }) => report.latencyMs.min)],
  ['latency: mean', latency(({ report }) => report.latencyMs.mean)],
  ['latency: p50', latency(({ report }) => report.latencyMs.p50)],
  ['latency: p90', latency(({ report }) => report.latencyMs.p90)],
  ['latency: p95', latency(({ report }) => report.latencyMs.p95)],
  ['latency: p99', latency(({ report }) => report.latencyMs.p99)],
  ['latency: most', latency(({ report }) => report.latencyMs.max)],
  ['success', ({ report }) => asPercent(report.success)],
  ['status codes', ({ report }) => asCounts(report.statuses)],
  ['errors', ({ report }) => asCounts(report.errors)],
  ['unanswered when the last was sent', ({ report }) => String(report.unanswered)],
  ['sent late: p99', latency(({ report }) => report.lateMs.p99)],
  [
    'busy, core by core',
    ({ coresBusy }) => coresBusy.map((share) => `${Math.round(share * 100)} %`).join(' '),
  ],
  [
    'memory of each process, MB (RSS)',
    ({ processes }) => processes.map(({ rssBytes }) => asMegabytes(rssBytes)).join(' '),
  ],
  [
    'of it its own, MB (USS)',
    ({ processes }) =>
      processes
        .map(({ ussBytes }) => (ussBytes === undefined ? '?' : asMegabytes(ussBytes)))
        .join(' '),
  ],
];
