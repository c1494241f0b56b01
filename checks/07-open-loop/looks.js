/** What is done with the programs of lesson 7, and what is seen of them. */
import {
  askAtOnce,
  createOpenLoop,
  disturbanceOf,
  eventsOf,
  exitsOf,
  forksOf,
  groupBy,
  isCrowded,
  meanOf,
  quickestOf,
  reportOf,
  unansweredAt,
  watchMachine,
} from '../../lib/check/checking.js';

/** @typedef {import('../../lib/observe/program.js').Program} Program */

/** More than are computed, and more than there seem to be cores. */
export const TOLD = { told: 2, env: { NODE_CLUSTER_WORKERS: '2', RATE: '50' }, pretendCores: 1 };
const TOLD_FEWER = 1; // than are computed
export const WORK_MS = 8.6; // unless told otherwise by WORK_MS
export const FIRST_IS = 5; // times as slow as the others
export const RATE = 200;
export const MOST_OFF = 1.1; // how much longer than it should a page may take, for a count still to be judged
const EACH = 6; // requests at once for each worker: some come while it renders, and then all wait
const ROUNDS = { least: 4, most: 8 }; // on a busy machine one page in thirty is as quick as it can be
const ONE_BY_ONE = 40; // requests
const TRIES = 3;
const LONG_PAGE = 1.09; // times as long as it should be: with a page of 1.1, 0.8 needs as many workers as 0.7
const TOO_MANY = 40; // children
const MOST_HELPERS = 3; // processes that aren't workers, and may be started before anything is forked
const AT_ONCE_MS = 20; // forks of one loop come together
const ONE_MORE_MS = 60; // by then a loop that goes on has forked one more
const MOST_APART = 1.5; // how much slower the program may have been than we, moments later
const WARM_UP = { ratePerSecond: 100, durationMs: 100 };
const CONTROL_SENDS = 0.6; // of the time: what it has not answered by then takes it the rest
const BATCHES = 5;
const SHARE_OF_QUEUE = 0.25;
const LAST_MS = 250; // a queue that is worked off is empty now and then
const UNDECIDED_LATE_MS = 20;
const LEAST_SERVED = 0.85; // of what one process could render if HTTP took no time
export const LEAST_OF_PAGE = 0.95; // a clock in whole milliseconds, or rounding, shows this much of a page
const ROUNDED_UP = 1.02;
const LEAST_MICROSECONDS = 1_000;
const ANY_UNIT = [1, 1_000, 0.001]; // in milliseconds
/** @type {[words: string, ms: number][]} */
const UNITS = [
  ['ms|msecs?|millis|milliseconds?', 1],
  ['s|secs?|seconds?', 1_000],
  ['[uµμ]s|[uµμ]secs?|micros|microseconds?', 0.001],
  ['ns|nsecs?|nanos|nanoseconds?', 0.000_001],
];
const NAMED_MS = /(?:ms|millis|milliseconds?)["')\]]*\s*[:=]?\s*$/i; // serviceMs: 8.66

/** @typedef {{ value: number, units: number[] }} Told */

/**
 * @typedef {object} Setting
 * @property {Record<string, string>} env
 * @property {number} rate
 * @property {number} utilization
 * @property {number} workMs
 * @property {number} [pretendWaits]
 * @property {number} [pretendCores]
 * @property {number} [pretendClock]
 * @property {boolean} [pretendSkips]
 */

/**
 * Neither flips when a page was measured 20 % too long or 5 % too short. In the second a hard-coded rate or utilization
 * does not pass, and rounding to the nearest shows, unless pages were measured 40 % too long; so does rounding down
 * where less than a tenth is missing. It seems to have one core, so that more workers than cores are needed wherever it runs.
 * @type {{ usual: Setting, other: Setting }}
 */
export const SETTINGS = {
  usual: { env: {}, rate: RATE, utilization: 0.7, workMs: WORK_MS },
  other: {
    env: { RATE: '56', UTILIZATION: '0.45' },
    rate: 56,
    utilization: 0.45,
    workMs: WORK_MS,
    pretendCores: 1,
  },
};
const SLOW_MS = 18.15;
/**
 * Pages take more than twice as long as usual, and nothing that a program can read says so: one that believes a number that is
 * written down, in its file, in WORK_MS or by itself at an earlier start, is found out. So is one that takes another rate or
 * utilization than 200 and 0.7 where nobody has set them: the number flips when one of them is 4 % off in one direction, or
 * 16 % in the other, as it does for a page measured 4 % too short or 15 % too long.
 * @type {Setting}
 */
export const SLOW = {
  env: {},
  rate: RATE,
  utilization: 0.7,
  workMs: SLOW_MS,
  pretendWaits: SLOW_MS / WORK_MS,
};
/** As slow, by another way: what is measured there instead of a page takes another time. @type {Setting} */
export const AS_SLOW = { ...SLOW, env: { WORK_MS: '6.05' }, pretendWaits: SLOW_MS / 6.05 };
/**
 * One worker is enough, even if a page took a second: nobody needs as many as there seem to be cores, or one in reserve.
 * @type {Setting}
 */
export const LEAST = {
  env: { RATE: '0.5', UTILIZATION: '1' },
  rate: 0.5,
  utilization: 1,
  workMs: WORK_MS,
  pretendCores: 4,
};

/** Pages take exactly as long as they should, wherever that is, and nobody waits for them. */
const EXACTLY = { pretendClock: 1e-9, pretendSkips: true };
/**
 * Neither the rate is a whole number, nor the 2.5 pages a second that a worker can render, nor the 0.146 s of work that come each
 * second: rounded, the last one to tenths, one of them makes it three workers or five, and a page that seems 15 % too long, or 3 %
 * too short, does not.
 * @type {Setting}
 */
const LONG = {
  env: { RATE: '0.365', UTILIZATION: '0.0438', WORK_MS: '400' },
  rate: 0.365,
  utilization: 0.0438,
  workMs: 400,
};
/**
 * A page whose time is not a whole number of milliseconds, and is told in microseconds by some: rounded to 0 or to 1, it needs none
 * or four workers. One that seems 30 % too long, or 13 % too short, does not.
 * @type {Setting}
 */
const FINE = {
  env: { RATE: '2650', WORK_MS: '0.6' },
  rate: 2_650,
  utilization: 0.7,
  workMs: 0.6,
};
const LONG_MS = 30_000; // to measure fifty such pages
const MOST = 99; // workers
/** Such pages need as many workers as there may be. @type {Setting} */
const EDGE = { ...LONG, env: { ...LONG.env, UTILIZATION: '0.001482' }, utilization: 0.001482 };
const SHARES = [0.8, 0.4, 0.2, 0.1]; // of the rate there: with one of them it is plain how a program measures
const MEASURED = { least: 0.95, most: 1.17 }; // times as long as a page should be: 3 % too short, 15 % too long, and a worker more
const NARROW = 1.005; // times the rate: with 98 workers before, no more than 99 are needed then

/** What the formula says. @param {Setting} setting */
export const exactOf = ({ rate, utilization, workMs }) => (rate * workMs) / 1000 / utilization;

/**
 * Settings that make no sense: one variable, or two that make sense together. The quotient of two negative numbers is
 * positive, and 0 / 0 is neither below nor above any bound.
 * @type {Record<string, string>[]}
 */
const NONSENSE = [
  { RATE: '1,000' },
  { RATE: '0' },
  { RATE: '-200' },
  { UTILIZATION: '0' },
  { UTILIZATION: '-0.7' },
  { UTILIZATION: '1.01' },
  { UTILIZATION: '70' },
  { UTILIZATION: '0.7%' },
  { UTILIZATION: '0,7' },
  { NODE_CLUSTER_WORKERS: '0' },
  { NODE_CLUSTER_WORKERS: '2.5' },
  { NODE_CLUSTER_WORKERS: '100' },
  { NODE_CLUSTER_WORKERS: 'four' },
  { NODE_CLUSTER_WORKERS: '4 workers' },
  { NODE_CLUSTER_WORKERS: '-4' },
  { RATE: '-200', UTILIZATION: '-0.7' },
  { RATE: '0', UTILIZATION: '0' },
];

/**
 * All of these make sense, and need too many workers, if not many more in the first case: a program that refuses none of
 * this forks dozens until it is stopped.
 * @type {Setting[]}
 */
const TOO_MUCH = [
  {
    env: { RATE: '900', UTILIZATION: '0.07' },
    rate: 900,
    utilization: 0.07,
    workMs: WORK_MS,
  },
  { env: { RATE: '200000' }, rate: 200_000, utilization: 0.7, workMs: WORK_MS },
];

/** At the bounds, and right, as LEAST is. @type {{ env: Record<string, string>, pretendForks?: boolean }[]} */
const SENSE = [
  { env: { RATE: '0.01', UTILIZATION: '0.01' } },
  { env: { NODE_CLUSTER_WORKERS: '99', RATE: '200000' }, pretendForks: true }, // that rate alone needs thousands
];

/**
 * The workers that it has forked, without a first one that was only to measure: the others were forked later, and it has ended
 * and never listened.
 */
export function workersIn(events) {
  const forks = forksOf(events);
  const [first, second] = forks;
  if (!second || second.t - first.t <= AT_ONCE_MS) return forks;
  const isFirst = (/** @type {any} */ { workerPid }) => workerPid === first.workerPid;
  const hasListened = eventsOf(events, 'worker-listening').some(isFirst);
  return exitsOf(events).some(isFirst) && !hasListened ? forks.slice(1) : forks;
}

/** Rounds of requests until every worker has executed one, or it is clear that some never will. */
export async function askUntilAllAnswer(/** @type {Program} */ program) {
  const all = { program, ...(await askAtOnce(program, '/', 1)) };
  for (let round = 1; round <= ROUNDS.most; round += 1) {
    const { answers, requests } = await askAtOnce(program, '/', EACH * TOLD.told);
    all.answers.push(...answers);
    all.requests.push(...requests);
    const pids = new Set(all.requests.map(({ pid }) => pid));
    const isEveryone = workersIn(program.events).every(({ workerPid }) => pids.has(workerPid));
    if (isEveryone && round >= ROUNDS.least) break;
  }
  // if all were slow, ask one after the other: on a busy machine one of many is as quick as it can be
  const isEnough = () => quickestOf(all.requests) <= MOST_OFF * WORK_MS;
  const isAnswered = () => all.requests.at(-1)?.endMs;
  for (let more = 0; more < ONE_BY_ONE && isAnswered() && !isEnough(); more += 1) {
    const { answers, requests } = await askAtOnce(program, '/', 1);
    all.answers.push(...answers);
    all.requests.push(...requests);
  }
  return all;
}

/** What it forks when told a number lower than the one it computes; nothing new if it ignores a higher one. */
export async function forkFewer(launch, program) {
  const told = TOLD_FEWER;
  if (workersIn(program.events).length !== TOLD.told) return { program, told: TOLD.told };
  const one = await countOnce(launch, { env: { NODE_CLUSTER_WORKERS: String(told) } }, told);
  await one.program.stop();
  return { program: one.program, told };
}

/**
 * @typedef {object} Counted
 * @property {Setting} setting
 * @property {boolean} isRight
 * @property {boolean} isVague  right, but on a busy machine, for pages so long that a formula which asks for fewer would be right, too
 * @property {number} forks
 * @property {boolean} isFlood  there were more processes than anybody asks for
 * @property {number} slowest  how many times as long as it should a page took, measured by us after a wrong count
 * @property {import('../../lib/observe/program.js').Fate} [fate]
 * @property {string} output
 * @property {{ line?: string, isLong: boolean, mislabelled?: string, nearly?: string }} [told]  what it says about its choice, see telling
 * @property {Program} program  still runs if it is right and has no setting: it gets the load
 */

/**
 * A wrong count is looked at again where the machine may be the cause, and so is a right one that may be right by accident.
 * @param {Setting} setting
 * @returns {Promise<Counted>}
 */
export async function countForks(launch, setting) {
  const expected = Math.ceil(exactOf(setting));
  let slowest = 1;
  for (let tries = 1; ; tries += 1) {
    const seen = await countOnce(launch, setting, expected);
    const isRight = seen.forks === expected;
    if (!isRight || setting !== SETTINGS.usual) await seen.program.stop();
    if (!isRight) slowest = Math.max(slowest, medianBlockMs(WORK_MS) / WORK_MS);
    const isLong = setting !== SETTINGS.usual && seen.told?.isLong === true;
    const isVague = isRight && isLong && isCrowded();
    const counted = { setting, isRight, isVague, slowest, ...seen };
    const isClear = isRight ? !isLong : !mayBeSpoilt(counted);
    if (isClear || tries === TRIES) return counted;
  }
}

/**
 * How many it forks where as many are needed as there may be. Its forks are pretended, and its pages take exactly as long as they should.
 * @param {number} [rate]
 */
export async function forkAtEdge(launch, rate = EDGE.rate) {
  const env = { ...EDGE.env, RATE: String(rate) };
  const program = await launch({ env, pretendForks: true, ...EXACTLY });
  const count = () => forksOf(program.events).length;
  await program.settled(() => count() >= MOST);
  await program.settled(() => count() > MOST, ONE_MORE_MS);
  const { fate } = program;
  const output = program.output();
  await program.stop();
  const forks = count();
  return { env, rate, forks, isRefused: hasRefused({ forks, fate }), fate, output, program };
}

const hasRefused = ({ forks, fate }) => forks === 0 && fate?.kind === 'ended' && fate.code !== 0;

/**
 * How many it forks for long pages; if that isn't right, where a page really takes so long. Nothing, if it was right at the edge,
 * or if it refuses such a setting.
 * @returns {Promise<Counted | undefined>}
 */
export async function countLong(launch, edge) {
  if (edge?.forks === MOST) return undefined;
  const quick = await countAndStop(launch, { ...LONG, ...EXACTLY });
  if (hasRefused(quick)) return undefined;
  const seen = quick.isRight ? quick : await countAndStop(launch, LONG);
  const isVague = !seen.isRight && seen.forks !== quick.forks && isCrowded();
  return { ...seen, isVague };
}

/**
 * How many it forks for pages of a fraction of a millisecond; if that isn't right, where a page really takes so long.
 * @returns {Promise<Counted>}
 */
export async function countFine(launch) {
  const seen = await countAndStop(launch, { ...FINE, ...EXACTLY });
  return seen.isRight ? seen : countForks(launch, FINE);
}

/**
 * Did it count as if a page took the usual time, as one does that has not measured it, or something else? Of that 'measured'
 * tells.
 */
export function isWrittenDown({ isRight, setting, forks }) {
  const usual = exactOf({ ...setting, workMs: WORK_MS });
  return !isRight && forks >= Math.ceil(usual) && forks <= Math.ceil(usual * MEASURED.most);
}

/** @param {Setting} setting */
async function countAndStop(launch, setting) {
  const expected = Math.ceil(exactOf(setting));
  const seen = await countOnce(launch, setting, expected);
  await seen.program.stop();
  const isRight = seen.forks === expected;
  return { setting, isRight, isVague: false, slowest: 1, ...seen };
}

/**
 * Is the most that is allowed refused? Between a rate at which it forks and one at which it refuses, until both are so close that
 * with the second no more than 99 can be needed. Nothing where it forks 99, or where it isn't plain how it measures.
 */
export async function refuseAtEdge(launch, edge) {
  if (!edge?.isRefused) return undefined;
  let refused = edge;
  let taken;
  for (const share of SHARES) {
    taken = await forkAtEdge(launch, share * EDGE.rate);
    if (!taken.isRefused) break;
    refused = taken;
  }
  if (!taken || !isPlain(taken)) return undefined;
  while (refused.rate > NARROW * taken.rate) {
    const between = await forkAtEdge(launch, (refused.rate + taken.rate) / 2);
    if (between.isRefused) refused = between;
    else if (between.forks < MOST && isPlain(between)) taken = between;
    else return undefined;
  }
  return { refused, taken };
}

/** Is a page for it about as long as it is? */
function isPlain({ rate, forks }) {
  const times = forks / exactOf({ ...EDGE, rate });
  return times >= MEASURED.least && times <= MEASURED.most;
}

const mayBeSpoilt = (counted) =>
  mayComeOfMachine(counted) || (counted.forks > 0 && !counted.isFlood && isCrowded());

/**
 * A busy machine makes pages longer, never shorter: that never explains too few workers, and too many only as far as
 * pages were slow for us too.
 * @param {Pick<Counted, 'setting' | 'slowest' | 'forks' | 'isFlood'>} counted
 */
export function mayComeOfMachine({ setting, slowest, forks, isFlood }) {
  const pageTimes = (forks - 1) / exactOf(setting); // a page took at least so many times as long as it should
  return !isFlood && pageTimes >= 1 && pageTimes <= MOST_APART * slowest;
}

/** @param {{ env: Record<string, string> } & Partial<Setting>} setting */
async function countOnce(launch, setting, expected) {
  const { env, pretendWaits, pretendCores, pretendClock, pretendSkips } = setting;
  const program = await launch({ env, pretendWaits, pretendCores, pretendClock, pretendSkips });
  const isDone = (/** @type {any[]} */ events) =>
    workersIn(events).length >= expected || childrenOf(events).length > TOO_MANY;
  await program.settled(isDone, setting === LONG ? LONG_MS : undefined);
  const [first, last] = [forksOf(program.events).at(0), forksOf(program.events).at(-1)];
  const isOneByOne = first && last && last.t - first.t > AT_ONCE_MS; // each waits for the one before
  if (isOneByOne || setting === SETTINGS.usual) await program.ready(expected); // that one is to serve
  const isOneLoop = forksOf(program.events).length > 1 && !isOneByOne; // it is over: only then does a cluster report its forks
  const goesOn = (/** @type {any[]} */ events) => workersIn(events).length > expected;
  await program.settled(goesOn, isOneLoop ? AT_ONCE_MS : ONE_MORE_MS);
  if (goesOn(program.events)) await program.drained(); // how many too many tells why
  const forks = workersIn(program.events).length;
  const whole = setting.rate ? /** @type {Setting} */ (setting) : undefined; // otherwise we do not know what it should say
  if (whole && forks === expected)
    await program.settled(() => telling(program, whole, forks).line !== undefined);
  const { fate } = program;
  const output = program.output();
  const isFlood = isFlooded(program);
  const told = whole && telling(program, whole, forks);
  return { forks, isFlood, fate, output, told, program };
}

const isFlooded = ({ fate, events }) =>
  fate?.kind === 'excess' || childrenOf(events).length > TOO_MANY;

/**
 * What a program says about its choice: the line with the page time and the number of workers, and whether that time is
 * longer than it should be; without one, a line where only the unit of the time is wrong, and the last line with that number.
 * @param {Program} program
 * @param {Setting} setting  for which it has forked as many as it should
 * @param {number} forks
 */
function telling(program, setting, forks) {
  const { workMs } = setting;
  const most = (workMs * forks * ROUNDED_UP) / exactOf(setting); // longer, and it would have forked more
  const isPageTime = (/** @type {Told} */ { value, units }, longest = most) =>
    units.some((unit) => value * unit >= LEAST_OF_PAGE * workMs && value * unit <= longest);
  const pids = program.events.flatMap(({ pid, childPid }) => [pid, childPid ?? pid]);
  const other = new Set([program.port, ...pids].filter((one) => one >= LEAST_MICROSECONDS)); // these look like a page time
  const numbersOf = (/** @type {string} */ line) =>
    toldIn(line).filter(({ value }) => !other.has(value));
  const lines = program.output().split('\n');
  const lineWith = (/** @type {string} */ line) =>
    numbersOf(line).some(({ value }) => value === forks);
  const line = lines.find(
    (one) => lineWith(one) && numbersOf(one).some((told) => isPageTime(told)),
  );
  const isShort = (/** @type {Told} */ told) => isPageTime(told, LONG_PAGE * workMs);
  const isLong = line !== undefined && !numbersOf(line).some(isShort);
  const inAnyUnit = (/** @type {Told} */ { value }) => isPageTime({ value, units: ANY_UNIT });
  const mislabelled = lines.find((one) => lineWith(one) && numbersOf(one).some(inAnyUnit));
  return { line, isLong, mislabelled, nearly: lines.findLast(lineWith) };
}

/**
 * The numbers of a line, each with what it may be in milliseconds: what its unit says, behind it or in the name before it.
 * @returns {Told[]}
 */
function toldIn(/** @type {string} */ line) {
  return numbersWith(line, (value, before, behind) => {
    const named = UNITS.find(([words]) =>
      new RegExp(`^[\\s\\u00a0)]*\\(?(${words})(?![a-z])`, 'i').test(behind),
    );
    const isNamed = NAMED_MS.test(before) && !named;
    return { value, units: isNamed ? [1] : named ? [named[1]] : ANY_UNIT };
  });
}

/** The numbers of a line in every way of writing them that may be meant: 8.66, 8,66 and 8 660. In milliseconds, seconds or microseconds. */
export const numbersIn = (/** @type {string} */ line) => numbersWith(line, (value) => value);

/**
 * What `make` makes of each number, and of the text before and behind it.
 * @template T
 * @param {string} line
 * @param {(value: number, before: string, behind: string) => T} make
 */
function numbersWith(line, make) {
  const ungrouped = line.replace(/(?<=\d)[\s.,'’_](?=\d{3}(?!\d))/g, '');
  return [line, ungrouped].flatMap((text) =>
    [/\d+(?:\.\d+)?/g, /\d+(?:,\d+)?/g].flatMap((pattern) =>
      [...text.matchAll(pattern)].map(({ index, 0: found }) => {
        const behind = text.slice(index + found.length);
        return make(Number(found.replace(',', '.')), text.slice(0, index), behind);
      }),
    ),
  );
}

/** The processes that it has started; the cluster reports forks only when the loop that forks has ended. */
const childrenOf = (events) => events.filter(({ what }) => what === 'child');

const never = new Int32Array(new SharedArrayBuffer(4));

/** What a page takes on this machine, at this moment, in one of our processes. */
function medianBlockMs(ms, times = 9) {
  const tookMs = Array.from({ length: times }, () => {
    const startMs = performance.now();
    Atomics.wait(never, 0, 0, ms);
    return performance.now() - startMs;
  });
  return tookMs.sort((a, b) => a - b)[(times - 1) / 2];
}

/** The workers that it has started; one that forks and then refuses ends before its cluster reports anything. */
function workersStarted(events) {
  const pids = events.flatMap(({ what, role, worker, pid, childPid, workerPid }) => {
    if (what === 'child' && worker !== undefined) return [childPid];
    if (what === 'start' && role === 'worker') return [pid];
    return what === 'fork' ? [workerPid] : [];
  });
  return new Set(pids);
}

/** What it does with settings that it should refuse, and with some that it should not. */
export async function tryAllNonsense(launch) {
  const [refusals, tooMuch, sense] = await Promise.all([
    Promise.all(NONSENSE.map((env) => trySetting(launch, env, { env }))),
    Promise.all(TOO_MUCH.map((one) => trySetting(launch, one, { env: one.env }, 2))), // one may be forked to measure
    Promise.all(SENSE.map((one) => trySetting(launch, one.env, one))),
  ]);
  return { refusals, tooMuch, sense };
}

/**
 * Starts the program with a setting, until it forks so many, or refuses it.
 * @template T
 * @param {(options: { env: Record<string, string>, pretendForks?: boolean }) => Promise<Program>} launch
 * @param {T} setting
 * @param {{ env: Record<string, string>, pretendForks?: boolean }} options
 */
async function trySetting(launch, setting, options, forks = 1) {
  const program = await launch(options);
  await program.settled((events) => isStarted(events, forks));
  return { setting, ...(await stopTried(program, forks)) };
}

const isStarted = (events, forks = 1) =>
  workersStarted(events).size >= forks ||
  events.some(({ what }) => what === 'listening') ||
  childrenOf(events).length > MOST_HELPERS;

async function stopTried(program, forks = 1) {
  const { fate, events } = program;
  const output = program.output();
  await program.stop();
  const isFlood = isFlooded(program);
  return { fate, output, isFlood, isStarted: isFlood || isStarted(events, forks), program };
}

/** How many serve where one is enough? One that was only to measure never listens. */
export async function tryLeast(launch) {
  const program = await launch({ env: LEAST.env, pretendCores: LEAST.pretendCores });
  const isServed = (events, workers = 1) => servingIn(events).size >= workers;
  await program.settled((events) => isServed(events));
  const isMore = (events) => isServed(events, 2);
  await program.settled(isMore, forksOf(program.events).length > 1 ? undefined : ONE_MORE_MS);
  const serving = servingIn(program.events).size;
  return { setting: LEAST.env, serving, ...(await stopTried(program)) };
}

const servingIn = (events) =>
  new Set(eventsOf(events, 'worker-listening').map(({ workerPid }) => workerPid));

/** For the load: the sender, and the single process that the learner's cluster started from. */
export async function prepareControl({ launch, ready }) {
  const loop = createOpenLoop();
  return { loop, control: await ready(await launch({ isReference: true })) };
}

/**
 * The learner's cluster as it is by itself: the first that was counted.
 * @param {{ ready: import('../../lib/check/session.js').Lesson['ready'] }} lesson
 * @param {Counted} usual
 */
export const candidateOf = async ({ ready }, { setting, isRight, program }) =>
  isRight ? ready(program, Math.ceil(exactOf(setting))) : program;

/**
 * The same 200 requests a second to both, at the same time: they need little of the machine but time. The one process gets
 * them for a shorter time, so that it finishes its queue when the others do. Once more, where a busy machine may be why
 * clients waited.
 * @param {{ isLonger: boolean, conditionsWere: import('../../lib/check/session.js').Lesson['conditionsWere'] }} lesson
 */
export async function loadBoth(lesson, candidate, { control, loop }) {
  const durationMs = lesson.isLonger ? 5_000 : 1_000;
  await Promise.all([control, candidate].map((program) => warmUp(program, loop)));
  const before = candidate.events.length; // one that only measured may have ended by now
  for (let tries = 1; ; tries += 1) {
    const loaded = await loadOnce(lesson, [control, candidate], loop, durationMs);
    const ends = exitsOf(candidate.events.slice(before));
    const isSpoilt = loaded.disturbance && ends.length === 0 && !isCalm(loaded);
    if (isSpoilt && tries < TRIES) continue;
    loop.close();
    return { ...loaded, seconds: durationMs / 1000, ends, program: candidate };
  }
}

async function loadOnce({ conditionsWere }, [control, candidate], loop, durationMs) {
  const machine = watchMachine();
  const [queue, calm] = await Promise.all([
    loadOne(control, loop, CONTROL_SENDS * durationMs),
    loadOne(candidate, loop, durationMs),
  ]);
  const disturbance =
    disturbanceOf({ ...conditionsWere(machine()), busyCores: 0 }) ?? // the busy ones were we
    disturbanceBySchedule(queue, durationMs) ??
    disturbanceBySchedule(calm);
  return { control: queue, candidate: calm, disturbance };
}

/** Did hardly anybody wait, of those whom one process keeps waiting? */
export const isCalm = ({ control, candidate }) =>
  candidate.waiting <= SHARE_OF_QUEUE * control.waiting;

const PATIENT = { isFresh: false, timeoutMs: 10_000 };

async function warmUp(program, { fire }) {
  await fire({ url: `${program.url}/`, ...PATIENT, ...WARM_UP });
  await program.drained();
}

/** @param {Program} program @param {ReturnType<typeof createOpenLoop>} loop */
async function loadOne({ url }, { fire }, durationMs) {
  const window = await fire({ url: `${url}/`, ...PATIENT, ratePerSecond: RATE, durationMs });
  return { window, report: reportOf(window), waiting: leastWaiting(window) };
}

/** The moment near the end of the sending with the fewest waiting clients. */
function leastWaiting(window) {
  const last = window.answers.at(-1).dueMs;
  const moments = window.answers.map(({ dueMs }) => dueMs).filter((t) => t > last - LAST_MS);
  return Math.min(...moments.map((t) => unansweredAt(window, t)));
}

/** What a machine that is too busy does to us: requests are sent late, and one process serves fewer than it can. */
function disturbanceBySchedule({ window, report }, durationMs) {
  if (report.lateMs.p99 > UNDECIDED_LATE_MS)
    return `our own requests were sent up to ${report.lateMs.p99.toFixed(0)} ms too late`;
  if (!durationMs) return undefined;
  const [first] = window.answers;
  const doneMs = Math.max(...window.answers.map((answer) => answer.doneMs));
  const spentMs = Math.min(durationMs, doneMs - first.dueMs); // it may have finished all of them earlier
  const served = window.answers.filter((answer) => answer.doneMs <= first.dueMs + spentMs).length;
  const foretold = spentMs / WORK_MS;
  if (served > LEAST_SERVED * foretold) return undefined;
  return `one process served only ${served} pages in ${(spentMs / 1000).toFixed(1)} s, where ${Math.round(foretold)} fit in`;
}

/** The numbers of both, side by side; passes on what it was given. */
export function reportBoth({ measured, drawn }, loaded) {
  const { control, candidate, seconds, disturbance } = loaded;
  const sides = [
    { name: 'one process', ...control.report },
    { name: 'yours', ...candidate.report },
  ];
  const rounded = (/** @type {number} */ value) => Math.round(value * 10) / 10;
  const controlSeconds = seconds * CONTROL_SENDS;
  drawn('throughput', {
    label: `answered a second, at ${RATE} requests a second for ${seconds} s (one process: ${controlSeconds} s)`,
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
    ...meanOf(p90s(candidate.window)),
    formula: { value: WORK_MS, says: 'the page alone, when nobody waits' },
    isHeadline: true,
    note: disturbance && `do not trust it: ${disturbance}`,
  });
  return loaded;
}

/** The p90 of each fifth of the time. */
function p90s({ startMs, endMs, answers }) {
  const size = Math.ceil(answers.length / BATCHES);
  return Array.from({ length: BATCHES }, (_, index) => {
    const some = answers.slice(index * size, (index + 1) * size);
    return reportOf({ startMs, endMs, answers: some }).latencyMs.p90;
  });
}

/** What the requests of each process were. */
export const byProcess = (requests) => groupBy(requests, ({ pid }) => pid);
