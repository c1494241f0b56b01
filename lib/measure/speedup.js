/**
 * How many times as fast the candidate is as the control, and how fast it could have been.
 * @typedef {import('./stats.js').Interval & {
 *   ceiling: number, target?: number, side?: 'above' | 'below' | 'open',
 *   note?: string, controlPerSecond: number, candidatePerSecond: number, errors: number, windows: number,
 *   own?: ReturnType<import('../observe/program.js').Program['ownWork']>, busiest?: number
 * }} Speedup  value, low and high: ratios; own: the work that kept the candidate busy; busiest: its busiest process's share of requests
 * @typedef {import('../observe/program.js').Program} Program
 * @typedef {{ load: import('./load.js').Load, control: Program, candidate: Program, workers: number, path: string, windowMs: number,
 *   budgetMs: number, isLonger?: boolean }} Contest  control: one process; workers: the candidate's serving processes; path: the same
 *   work on both sides; windowMs: for blocking work, of one slice; budgetMs: no round begins later
 */
import { nowMs } from '../observe/clock.js';
import { groupBy } from '../observe/timeline.js';
import { interleave, saturate, sideBySide } from './compare.js';
import { mean, ratioOf, sideOf } from './stats.js';

const SLICES = 5; // of a round, for work that blocks
const SPIN_MS = 40;
const EXACT = 0.1; // of the ratio: half of its interval
const LONGER = 5;
const LONGER_EXACT = 0.03;
const WIDE = 2; // low × WIDE < high: the interval says little
const NO_ROOM = 1.3; // a lower ceiling leaves nothing to win

/**
 * Work that blocks but burns no CPU: the ceiling is the number of workers on any machine. Stops when the interval is on one side of
 * the target and narrow enough to print. @returns {Promise<Speedup & { target: number }>}
 * @param {Contest & { target: number, onRound?: (soFar: import('./stats.js').Interval & { ceiling: number }) => void }} contest
 */
export async function speedupOfBlocking({ target, workers, onRound, ...contest }) {
  const { load, control, candidate, path, windowMs } = contest;
  const sides = {
    control: { program: control, processes: 1 },
    candidate: { program: candidate, processes: workers },
  };
  const rates = { control: /** @type {number[]} */ ([]), candidate: /** @type {number[]} */ ([]) };
  const deadline = performance.now() + budgetOf(contest);
  const sinceMs = nowMs();
  let errors = 0;
  let ratio;
  do {
    const round = await sideBySide(load, sides, { path, sliceMs: windowMs, slices: SLICES });
    rates.control.push(...round.rates.control);
    rates.candidate.push(...round.rates.candidate);
    errors += round.errors;
    ratio = ratioOf(rates.control, rates.candidate);
    onRound?.({ ...ratio, ceiling: workers });
  } while (!isEnough(ratio, target, contest) && performance.now() < deadline);
  const decided = { target, side: sideOf(ratio, target), ceiling: workers };
  const own = candidate.ownWork({ sinceMs });
  const busiest = busiestOf(candidate.events, sinceMs);
  return { ...ratio, ...decided, ...summary(rates), errors, own, busiest };
}

function busiestOf(/** @type {import('../observe/timeline.js').Event[]} */ events, sinceMs) {
  const requests = events.filter(({ what, t }) => what === 'request' && t >= sinceMs);
  const counts = [...groupBy(requests, ({ pid }) => pid).values()].map(({ length }) => length);
  return Math.max(...counts) / requests.length;
}

const isEnough = (ratio, target, contest) =>
  sideOf(ratio, target) !== 'open' && isExact(ratio, contest);

/**
 * Work that burns CPU: the ceiling is what spinning threads gained in the same rounds. It decides nothing, because other programs
 * may use the cores. @param {Contest & { spinners: import('./spinners.js').Spinners }} contest @returns {Promise<Speedup>}
 */
export async function speedupOfCpu({ spinners, workers, ...contest }) {
  const { sides, errors } = contestants({ workers, ...contest });
  const all = {
    one: () => spinners.spin(1, SPIN_MS),
    ...sides,
    many: () => spinners.spin(workers, SPIN_MS),
  };
  const isDone = (/** @type {Record<string, number[]>} */ { control, candidate }) =>
    isExact(ratioOf(control, candidate), contest);
  for (const side of [sides.control, sides.candidate]) await side(); // a warm-up: compiled code is several times as fast
  /** @type {any} */
  const rates = await interleave(all, { isEnough: isDone, budgetMs: budgetOf(contest) });
  const ratio = ratioOf(rates.control, rates.candidate);
  const ceiling = ratioOf(rates.one, rates.many).value;
  return { ...ratio, ceiling, note: noteOn(ratio, ceiling), ...summary(rates), errors: errors() };
}

function isExact({ value, low, high }, { isLonger = false }) {
  return (high - low) / 2 <= (isLonger ? LONGER_EXACT : EXACT) * value;
}

const budgetOf = ({ budgetMs, isLonger = false }) => (isLonger ? LONGER : 1) * budgetMs;

/** Why the measurement is inconclusive, if so; never the learner's fault. */
function noteOn({ low, high }, ceiling) {
  if (ceiling < NO_ROOM)
    return `inconclusive: this machine gave ${ceiling.toFixed(1)} cores' worth, no more`;
  if (high > WIDE * low) return 'inconclusive: other programs were using the cores';
  return undefined;
}

function contestants({ load, control, candidate, workers, path, windowMs }) {
  let errors = 0;
  const side = (program, processes) => async () => {
    const window = await saturate(load, program, { path, processes, durationMs: windowMs });
    errors += window.errors;
    return window.perSecond;
  };
  return {
    sides: { control: side(control, 1), candidate: side(candidate, workers) },
    errors: () => errors,
  };
}

function summary({ control, candidate }) {
  return {
    controlPerSecond: mean(control),
    candidatePerSecond: mean(candidate),
    windows: control.length + candidate.length,
  };
}
