/**
 * How many times as fast the candidate is as the control, and how fast it could have been.
 *
 * @typedef {import('./stats.js').Interval & {
 *   ceiling: number, target?: number, side?: 'above' | 'below' | 'open',
 *   note?: string, controlPerSecond: number, candidatePerSecond: number, errors: number, windows: number
 * }} Speedup  value, low and high are ratios
 *
 * @typedef {object} Contest
 * @property {import('./load.js').Load} load
 * @property {import('../observe/program.js').Program} control  one process
 * @property {import('../observe/program.js').Program} candidate
 * @property {number} workers  the candidate's processes that serve
 * @property {string} path  the same work on both sides
 * @property {number} windowMs
 * @property {number} budgetMs  no round of windows begins after that
 */
import { interleave, saturate } from './compare.js';
import { mean, ratioOf, sideOf } from './stats.js';

const SPIN_MS = 40;
const WIDE = 2; // an interval whose high end is twice its low end tells little
const NO_ROOM = 1.3; // with less than that to win there is nothing to be seen

/**
 * Work that blocks but burns no CPU. Its ceiling is the number of workers, on any machine. Stops when the interval is
 * on one side of the target.
 * @param {Contest & { target: number, onRound?: (soFar: import('./stats.js').Interval & { ceiling: number }) => void }} contest
 *   onRound: told after each round of windows, while the interval narrows
 * @returns {Promise<Speedup & { target: number }>}
 */
export async function speedupOfBlocking({ target, workers, budgetMs, onRound, ...contest }) {
  const { sides, errors } = contestants({ workers, ...contest });
  const isEnough = (rates) => {
    const soFar = ratioOf(rates.control, rates.candidate);
    onRound?.({ ...soFar, ceiling: workers });
    return sideOf(soFar, target) !== 'open';
  };
  const rates = await interleave(sides, { isEnough, budgetMs });
  const ratio = ratioOf(rates.control, rates.candidate);
  const decided = { target, side: sideOf(ratio, target), ceiling: workers };
  return { ...ratio, ...decided, ...summary(rates), errors: errors() };
}

/**
 * Work that burns CPU. Its ceiling is what this machine gave, in the same rounds, to as many spinning threads as there
 * are workers. It decides nothing: the cores may not be ours.
 * @param {Contest & { spinners: import('./ceiling.js').Spinners }} contest
 * @returns {Promise<Speedup>}
 */
export async function speedupOfCpu({ spinners, workers, budgetMs, ...contest }) {
  const { sides, errors } = contestants({ workers, ...contest });
  const all = {
    one: () => spinners.spin(1, SPIN_MS),
    ...sides,
    many: () => spinners.spin(workers, SPIN_MS),
  };
  const isEnough = (/** @type {Record<string, number[]>} */ { control, candidate }) => {
    const { low, high } = ratioOf(control, candidate);
    return high < WIDE * low;
  };
  for (const side of [sides.control, sides.candidate]) await side(); // a warm-up: compiled code is several times as fast
  /** @type {any} */
  const rates = await interleave(all, { isEnough, budgetMs });
  const ratio = ratioOf(rates.control, rates.candidate);
  const ceiling = ratioOf(rates.one, rates.many).value;
  return { ...ratio, ceiling, note: noteOn(ratio, ceiling), ...summary(rates), errors: errors() };
}

/** Why this measurement tells nothing, if so: never the learner's fault. */
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
