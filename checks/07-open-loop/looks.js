/** Lesson 7: the programs are started, asked and loaded, and their workers counted. */
import {
  askAtOnce,
  createOpenLoop,
  exitsOf,
  forksOf,
  haveTurned,
  meanInterval,
  reportOf,
  unansweredAt,
  untilAtRest,
} from '../../lib/check/checking.js';

/** @typedef {import('../../lib/observe/program.js').Program} Program */

/**
 * @typedef {object} Setting
 * @property {Record<string, string>} env
 * @property {number} rate
 * @property {number} utilization
 * @property {number} pageMs
 * @property {number} [pretendWaits]
 */

export const WORK_MS = 8.6; // of a page, unless the variable WORK_MS is set
const RATE = 200;

/** NODE_CLUSTER_WORKERS overrides the formula. One fork alone, a loop with one too few or too many, and the formula differ in their counts. */
export const EXPLICIT = {
  env: { NODE_CLUSTER_WORKERS: '3', RATE: '350' },
  workers: 3,
  formula: 5, // 4.3, rounded up
};

/**
 * They need 3 and 4 workers, so the number of cores is wrong for one of them, and common wrong formulas differ in one; both tolerate
 * a page measured as 20 % too long or 5 % too short.
 * @type {{ usual: Setting, other: Setting, slow: Setting }}
 */
export const SETTINGS = {
  usual: { env: {}, rate: RATE, utilization: 0.7, pageMs: WORK_MS },
  other: {
    env: { RATE: '132', UTILIZATION: '0.35' },
    rate: 132,
    utilization: 0.35,
    pageMs: WORK_MS,
  },
  // a slower machine: only a measurement of the page can reveal it
  slow: {
    env: {},
    rate: RATE,
    utilization: 0.7,
    pageMs: 18.15,
    pretendWaits: 18.15 / WORK_MS,
  },
};

const COUNTED_TURNS = 3; // of the primary's event loop, after which a loop that forks is over
const EACH = 4; // requests at once for each worker
const WARM_UP = { ratePerSecond: 100, durationMs: 100 };
const SINGLE_SENDS = 0.6; // of the time: one process needs the rest for its queue
const BATCHES = 5;
const LAST_MS = 250; // a queue that doesn't grow is empty now and then
const PATIENT = { isFresh: false, timeoutMs: 10_000 };

/** @param {Setting} setting */
export const exactOf = ({ rate, utilization, pageMs }) => (rate * pageMs) / 1000 / utilization;

/** The forked workers, except a worker that only measured the page and has exited. @param {Program} program */
export function workersOf({ events }) {
  const done = exitsOf(events).filter(({ code }) => code === 0);
  return forksOf(events).filter((fork) => !done.some(({ worker }) => worker === fork.worker));
}

/** Starts the program and counts its workers. @param {(options: any) => Promise<Program>} launch @param {Setting} setting */
export async function countWorkers(launch, setting) {
  const { env, pretendWaits } = setting;
  const program = await launch({ env, pretendWaits });
  const expected = Math.ceil(exactOf(setting));
  await untilAtRest(program, (events) => {
    const workers = workersOf(program);
    const lastMs = workers.at(-1)?.t;
    return (
      workers.length === expected &&
      haveTurned(events, [Number(program.pid)], COUNTED_TURNS, lastMs)
    );
  });
  const { fate } = program;
  const output = program.output();
  return { setting, program, workers: workersOf(program).length, fate, output };
}

/** Several requests at once for each worker. @param {Program} program */
export const askAll = (program) => askAtOnce(program, '/', EACH * EXPLICIT.workers);

/**
 * 200 requests a second to the learner's cluster and, at the same time, to the starter's one process, because both mostly sleep.
 * The one process gets them for a shorter time, so that both finish together.
 * @param {{ isLonger: boolean }} lesson @param {Program} cluster @param {Program} single
 */
export async function loadBoth({ isLonger }, cluster, single) {
  const durationMs = isLonger ? 5_000 : 1_000;
  const loop = createOpenLoop();
  try {
    await Promise.all([cluster, single].map((program) => warmUp(program, loop)));
    const before = cluster.events.length;
    const [many, one] = await Promise.all([
      loadOne(cluster, loop, durationMs),
      loadOne(single, loop, SINGLE_SENDS * durationMs),
    ]);
    const exits = exitsOf(cluster.events.slice(before));
    return { cluster: many, single: one, exits, seconds: durationMs / 1000 };
  } finally {
    loop.close();
  }
}

async function warmUp(program, { fire }) {
  await fire({ url: `${program.url}/`, ...PATIENT, ...WARM_UP });
  await program.drained();
}

async function loadOne({ url }, { fire }, durationMs) {
  const window = await fire({ url: `${url}/`, ...PATIENT, ratePerSecond: RATE, durationMs });
  return { window, report: reportOf(window), waiting: leastWaiting(window) };
}

/** The fewest waiting clients at any moment near the end of the sending. */
function leastWaiting(window) {
  const last = window.answers.at(-1).dueMs;
  const moments = window.answers.map(({ dueMs }) => dueMs).filter((t) => t > last - LAST_MS);
  return Math.min(...moments.map((t) => unansweredAt(window, t)));
}

export function reportLoad({ measured, drawn }, { cluster, single, seconds }) {
  const sides = [
    { name: 'one process', ...single.report },
    { name: 'yours', ...cluster.report },
  ];
  const rounded = (/** @type {number} */ value) => Math.round(value * 10) / 10;
  drawn('throughput', {
    label: `answered a second, at ${RATE} requests a second for ${seconds} s (one process: ${seconds * SINGLE_SENDS} s)`,
    unit: 'a second',
    rows: sides.map(({ name, throughputPerSecond }) => ({
      name,
      value: rounded(throughputPerSecond),
    })),
  });
  drawn('latency', {
    label: 'from when a request was due until it was answered',
    unit: 'ms',
    rows: ['p50', 'p90', 'p99'].flatMap((which) =>
      sides.map(({ name, latencyMs }) => ({
        name: `${which}, ${name}`,
        value: rounded(latencyMs[which]),
      })),
    ),
  });
  measured('p90', {
    label: 'yours: nine of ten were answered within',
    unit: 'ms',
    ...meanInterval(p90s(cluster.window)),
    formula: { value: WORK_MS, says: 'the page alone, when no client waits' },
    isHeadline: true,
  });
}

/** The p90 of each fifth of the time. */
function p90s({ startMs, endMs, answers }) {
  const size = Math.ceil(answers.length / BATCHES);
  return Array.from({ length: BATCHES }, (_, index) => {
    const some = answers.slice(index * size, (index + 1) * size);
    return reportOf({ startMs, endMs, answers: some }).latencyMs.p90;
  });
}
