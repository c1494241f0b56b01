/** What is done with the programs of lesson 7, and what is seen of them. */
import {
  askAtOnce,
  createOpenLoop,
  disturbanceOf,
  exitsOf,
  forksOf,
  groupBy,
  reportOf,
  unansweredAt,
  watchMachine,
} from '../../lib/checking.js';

/** @typedef {import('../../lib/observe/program.js').Program} Program */

export const TOLD = 4;
const TOLD_FEWER = 2; // than are computed
export const WORK_MS = 8.6; // unless told otherwise by WORK_MS
export const FIRST_IS = 5; // times as slow as the others
export const RATE = 200;
export const MOST_OFF = 1.1; // how much longer a page may have taken than it should, and a count still be judged
const ROUNDS = { least: 4, most: 8 }; // on a busy machine one page in thirty is as quick as it can be
const ONE_BY_ONE = 40; // requests
const TRIES = 3;
const TOO_MANY = 40; // children
const AT_ONCE_MS = 20; // forks of one loop come together
const ONE_MORE_MS = 60; // by then a loop that goes on has forked one more
const WARM_UP = { ratePerSecond: 100, durationMs: 150 };
const LAST_MS = 250; // a queue that is worked off is empty now and then
const UNDECIDED_LATE_MS = 20;
const LEAST_SERVED = 0.85; // of what one process could render if HTTP took no time

/**
 * None of these flips when a page was measured 20 % too long or 10 % too short; and in the last one it shows that somebody
 * rounds to the nearest, unless pages were measured 30 % too long.
 * @typedef {{ env: Record<string, string>, rate: number, utilization: number, workMs: number, pretendWaits?: number }} Setting
 * @type {Setting[]}
 */
const SETTINGS = [
  { env: {}, rate: RATE, utilization: 0.7, workMs: WORK_MS },
  { env: { RATE: '100', UTILIZATION: '0.35' }, rate: 100, utilization: 0.35, workMs: WORK_MS },
  { env: { RATE: '100', UTILIZATION: '0.75' }, rate: 100, utilization: 0.75, workMs: WORK_MS },
];
/**
 * Pages take longer than usual, and twice as long as WORK_MS says: who believes a number that is written down is found.
 * @type {Setting}
 */
const SLOW = {
  env: { WORK_MS: '30', RATE: '29' },
  rate: 29,
  utilization: 0.7,
  workMs: 60,
  pretendWaits: 2,
};

/** What the formula says. @param {Setting} setting */
export const exactOf = ({ rate, utilization, workMs }) => (rate * workMs) / 1000 / utilization;

const NONSENSE = [
  ['RATE', '200/s'],
  ['RATE', '0'],
  ['UTILIZATION', '0'],
  ['UTILIZATION', '1.5'],
  ['UTILIZATION', '70%'],
  ['NODE_CLUSTER_WORKERS', '0'],
  ['NODE_CLUSTER_WORKERS', '2.5'],
  ['NODE_CLUSTER_WORKERS', '1e9'],
];

/** The time in which the quickest of these was answered. */
export const quickestOf = (requests) =>
  Math.min(...requests.map(({ startMs, endMs = Infinity }) => endMs - startMs));

/** Rounds of requests until every worker has executed one, or it is plain that some never will. */
export async function askUntilAllAnswer(/** @type {Program} */ program) {
  const all = await askAtOnce(program, '/', 1);
  for (let round = 1; round <= ROUNDS.most; round += 1) {
    const { answers, requests } = await askAtOnce(program, '/', 2 * TOLD);
    all.answers.push(...answers);
    all.requests.push(...requests);
    const pids = new Set(all.requests.map(({ pid }) => pid));
    const isEveryone = forksOf(program.events).every(({ workerPid }) => pids.has(workerPid));
    if (isEveryone && round >= ROUNDS.least) break;
  }
  // where all were slow one comes after the other: on a busy machine one of many is as quick as it can be
  const isEnough = () => quickestOf(all.requests) <= MOST_OFF * WORK_MS;
  const isAnswered = () => all.requests.at(-1)?.endMs;
  for (let more = 0; more < ONE_BY_ONE && isAnswered() && !isEnough(); more += 1) {
    const { answers, requests } = await askAtOnce(program, '/', 1);
    all.answers.push(...answers);
    all.requests.push(...requests);
  }
  return all;
}

/**
 * How many workers it forks, for one setting after the other: only together they tell what a wrong number comes from.
 * @returns {Promise<Counted[]>}
 */
export async function forkAsComputed(launch) {
  const counted = [];
  for (const setting of SETTINGS) {
    const one = await countForks(launch, setting);
    counted.push(one);
    if (one.isHopeless) return counted;
  }
  return counted;
}

/** What it forks when it is told a number that is lower than what it computes. */
export async function forkFewer(launch) {
  const env = { NODE_CLUSTER_WORKERS: String(TOLD_FEWER) };
  const { program } = await countOnce(launch, { env }, TOLD_FEWER);
  await program.stop();
  return { program, told: TOLD_FEWER };
}

export const forkForSlowPages = (launch) => countForks(launch, SLOW);

/**
 * @typedef {object} Counted
 * @property {Setting} setting
 * @property {boolean} isRight
 * @property {boolean} isHopeless  it forked nobody, or dozens: it will do so with other settings, too
 * @property {number} forks
 * @property {boolean} isFlood  there were more processes than anybody asks for
 * @property {number} slowest  how many times as long as it should a page took, measured by us after a wrong count
 * @property {import('../../lib/observe/program.js').Fate} [fate]
 * @property {string} output
 * @property {Program} program  still runs if it is right and has no setting: it gets the load
 */

/**
 * A wrong count is looked at again: a busy machine makes pages longer now and then, a wrong formula does so always.
 * @param {Setting} setting
 * @returns {Promise<Counted>}
 */
async function countForks(launch, setting) {
  const expected = Math.ceil(exactOf(setting));
  let slowest = 1;
  for (let tries = 1; ; tries += 1) {
    const seen = await countOnce(launch, setting, expected);
    const isRight = seen.forks === expected;
    if (!isRight || setting !== SETTINGS[0]) await seen.program.stop();
    if (!isRight) slowest = Math.max(slowest, medianBlockMs(WORK_MS) / WORK_MS);
    const isHopeless = seen.forks === 0 || seen.isFlood;
    if (isRight || isHopeless || tries === TRIES)
      return { setting, isRight, isHopeless, slowest, ...seen };
  }
}

/** @param {{ env: Record<string, string>, pretendWaits?: number }} setting */
async function countOnce(launch, setting, expected) {
  const { env, pretendWaits } = setting;
  const program = await launch({ env, pretendWaits });
  const isDone = (/** @type {any[]} */ events) =>
    forksOf(events).length >= expected || childrenOf(events).length > TOO_MANY;
  await program.settled(isDone);
  const [first, last] = [forksOf(program.events).at(0), forksOf(program.events).at(-1)];
  const isOneByOne = first && last && last.t - first.t > AT_ONCE_MS; // each waits for the one before
  if (isOneByOne) await program.ready(expected);
  await program.settled((events) => forksOf(events).length > expected, ONE_MORE_MS);
  const { fate, events } = program;
  const output = program.output();
  const isFlood = fate?.kind === 'excess' || childrenOf(events).length > TOO_MANY;
  return { forks: forksOf(events).length, isFlood, fate, output, program };
}

/** The processes that it has started; the cluster tells of forks only when the loop that forks has ended. */
const childrenOf = (events) => events.filter(({ what }) => what === 'child');

const never = new Int32Array(new SharedArrayBuffer(4));

/** What a page takes on this machine, at this moment, in a process of ours. */
function medianBlockMs(ms, times = 9) {
  const tookMs = Array.from({ length: times }, () => {
    const startMs = performance.now();
    Atomics.wait(never, 0, 0, ms);
    return performance.now() - startMs;
  });
  return tookMs.sort((a, b) => a - b)[(times - 1) / 2];
}

const isUp = (events) =>
  events.some(({ what, role }) => ['fork', 'listening'].includes(what) || role === 'worker');

export async function tryAllNonsense(launch) {
  return Promise.all(NONSENSE.map(([name, value]) => tryNonsense(launch, name, value)));
}

/** Starts the program with a setting that makes no sense. */
async function tryNonsense(launch, name, value) {
  const program = await launch({ env: { [name]: value } });
  await program.settled(isUp);
  const { fate, events } = program;
  const output = program.output();
  await program.stop();
  return { name, value, fate, output, isStarted: isUp(events) };
}

/** For the load: who sends it, and the single process that the learner's cluster was made from. */
export async function prepareLoad({ launch, ready }) {
  const loops = [createOpenLoop(), createOpenLoop()];
  return { loops, control: await ready(await launch({ isReference: true })) };
}

/**
 * The learner's cluster as it is by itself: the first that was counted.
 * @param {{ ready: import('../../lib/session.js').Lesson['ready'] }} lesson
 * @param {Counted[]} counts
 */
export const candidateOf = ({ ready }, [{ setting, program }]) =>
  ready(program, Math.ceil(exactOf(setting)));

/**
 * The same 200 requests a second to both, at the same time: they need little of the machine but time.
 * @param {{ isQuick: boolean, conditionsWere: import('../../lib/session.js').Lesson['conditionsWere'] }} lesson
 */
export async function loadBoth({ isQuick, conditionsWere }, { candidate, control, loops }) {
  const durationMs = isQuick ? 1_000 : 2_000;
  const machine = watchMachine();
  const [queue, calm] = await Promise.all(
    [control, candidate].map((program, at) => loadOne(program, loops[at], durationMs)),
  );
  const conditions = conditionsWere(machine());
  const disturbance =
    disturbanceOf({ ...conditions, busyCores: 0 }) ?? // the busy ones were we
    disturbanceBySchedule(queue, durationMs) ??
    disturbanceBySchedule(calm);
  const deaths = exitsOf(candidate.events).length;
  return { control: queue, candidate: calm, seconds: durationMs / 1000, deaths, disturbance };
}

/** @param {Program} program @param {ReturnType<typeof createOpenLoop>} loop */
async function loadOne(program, { fire, close }, durationMs) {
  const options = { url: `${program.url}/`, isFresh: false, timeoutMs: 10_000 };
  await fire({ ...options, ...WARM_UP });
  await program.drained();
  const window = await fire({ ...options, ratePerSecond: RATE, durationMs });
  close();
  return { window, report: reportOf(window), waiting: leastWaiting(window) };
}

/** Of the moments at the end of the sending the one with the fewest clients that wait. */
function leastWaiting(window) {
  const last = window.answers.at(-1).dueMs;
  const moments = window.answers.map(({ dueMs }) => dueMs).filter((t) => t > last - LAST_MS);
  return Math.min(...moments.map((t) => unansweredAt(window, t)));
}

/** What a machine too busy does to us: requests are sent late, and one process serves fewer than it can. */
function disturbanceBySchedule({ window, report }, durationMs) {
  if (report.lateMs.p99 > UNDECIDED_LATE_MS)
    return `our own requests were sent up to ${report.lateMs.p99.toFixed(0)} ms too late`;
  if (!durationMs) return undefined;
  const untilMs = window.startMs + durationMs;
  const served = window.answers.filter(({ doneMs }) => doneMs < untilMs).length;
  const foretold = durationMs / WORK_MS;
  if (served > LEAST_SERVED * foretold) return undefined;
  return `one process served only ${served} pages in ${durationMs / 1000} s, where ${Math.round(foretold)} fit in`;
}

/** The numbers of both, side by side; passes on what it was given. */
export function reportBoth({ measured, drawn }, loaded) {
  const { control, candidate, seconds, disturbance } = loaded;
  const sides = [
    { name: 'one process', ...control.report },
    { name: 'yours', ...candidate.report },
  ];
  const rounded = (/** @type {number} */ value) => Math.round(value * 10) / 10;
  drawn('throughput', {
    label: `answered a second, at ${RATE} requests a second for ${seconds} s`,
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
    value: candidate.report.latencyMs.p90,
    formula: { value: WORK_MS, says: 'the page alone, when nobody waits' },
    isHeadline: true,
    note: disturbance && `do not trust it: ${disturbance}`,
  });
  return loaded;
}

/** What the requests of each process were. */
export const byProcess = (requests) => groupBy(requests, ({ pid }) => pid);
