import { join } from 'node:path';
import { run } from 'node:test';

const DEADLINE_MS = 90_000; // checks have deadlines of their own; this one is for a fault in a check

/**
 * @typedef {object} CheckResult  what `check --json` prints
 * @property {string} lesson  its key
 * @property {'passed' | 'failed' | 'inconclusive'} verdict
 * @property {import('../verdict/outcome.js').PromiseRecord[]} promises
 * @property {Measurement[]} measurements
 * @property {import('../verdict/terminal.js').Chart[]} charts
 * @property {number} seconds
 * @property {import('../measure/conditions.js').Conditions | null} conditions
 * @property {string} output  what the learner's program printed, its last part
 * @property {string | null} fault  what went wrong in Forkshop itself
 *
 * @typedef {import('../verdict/terminal.js').Measurement} Measurement
 */

/**
 * Runs the check of a lesson in a process of its own, with node:test, and collects what it reports.
 *
 * @param {object} options
 * @param {string} options.root
 * @param {string} options.key
 * @param {string} [options.subject]  the file or folder that is judged; the learner's own unless told
 * @param {string} [options.timelineFile]  where to leave the timeline of the program
 * @param {boolean} [options.isQuick]  leave out the measurements that decide nothing
 * @param {AbortSignal} [options.signal]  ends the check; what it started is ended by its keeper
 * @param {(record: { promise: import('../verdict/outcome.js').PromiseRecord, number: number, of: number }) => void} [options.onPromise]
 *   called as soon as a promise is decided
 * @returns {Promise<CheckResult>}
 */
export async function runCheck({ root, key, subject, timelineFile, isQuick, signal, onPromise }) {
  const since = performance.now();
  /** @type {CheckResult} */
  const result = {
    lesson: key,
    verdict: 'inconclusive',
    promises: [],
    measurements: [],
    charts: [],
    seconds: 0,
    conditions: null,
    output: '',
    fault: null,
  };
  const restore = setEnvironment({
    FORKSHOP_ROOT: root,
    FORKSHOP_REPORT: 'json',
    FORKSHOP_SUBJECT: subject,
    FORKSHOP_KEEP_TIMELINE: timelineFile,
    FORKSHOP_QUICK: isQuick ? '1' : undefined,
  });
  let isWhole = false;
  const end = new AbortController(); // not AbortSignal.any() with a timeout, which Node 20 forgets
  const onEnd = () => end.abort();
  const timer = setTimeout(onEnd, DEADLINE_MS);
  signal?.addEventListener('abort', onEnd, { once: true });
  try {
    const files = [join(root, 'checks', `${key}.check.js`)];
    for await (const { type, data } of run({ files, concurrency: false, signal: end.signal })) {
      if (type === 'test:diagnostic') isWhole = take(data.message, result, onPromise) || isWhole;
      else if (type === 'test:stderr') process.stderr.write(data.message);
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onEnd);
    restore();
  }
  if (result.fault || !isWhole) {
    result.verdict = 'inconclusive';
    result.fault ??= 'The check ended before it had a verdict.';
  }
  result.seconds = Math.round((performance.now() - since) / 10) / 100;
  return result;
}

/** node:test's own `run` takes no environment before Node 24. */
function setEnvironment(wanted) {
  const before = Object.fromEntries(Object.keys(wanted).map((name) => [name, process.env[name]]));
  const assign = (values) => {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  assign(wanted);
  return () => assign(before);
}

/** Takes in one diagnostic; true when it is the check's last. */
function take(message, result, onPromise) {
  const record = parse(message);
  if (record?.promise) {
    result.promises.push(record.promise);
    onPromise?.(record);
  } else if (record?.measurement) {
    result.measurements.push(record.measurement);
  } else if (record?.chart) {
    result.charts.push(record.chart);
  } else if (record?.verdict) {
    const { verdict, conditions, output, left } = record;
    Object.assign(result, { verdict, conditions, output });
    if (left.length > 0) result.fault ??= `These processes could not be ended: ${left.join(', ')}.`;
    return true;
  } else if (record?.fault) {
    result.fault ??= record.fault;
  }
  return false;
}

/** node:test's own diagnostics ("tests 8") are no JSON objects. */
function parse(message) {
  return message.startsWith('{') ? JSON.parse(message) : undefined;
}
