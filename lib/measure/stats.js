/** @typedef {{ value: number, low: number, high: number }} Interval  an estimate and its 95 % confidence interval */

/** Two-sided 95 % quantiles of Student's t for 1, 2, 3, ... degrees of freedom. */
const STUDENT_T = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145,
  2.131, 2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048,
  2.045, 2.042,
];
const NORMAL = 1.96;

/** @param {number[]} values @returns {number}  0 for none */
export function sumOf(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

/** @param {number[]} values */
export function mean(values) {
  return sumOf(values) / values.length;
}

/** The quantile `q` (0 to 1), by nearest rank. @param {number[]} values  in any order @param {number} q */
export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

/**
 * The ratio of the candidate's rates to the control's, with Student's interval for the difference of the means of the logarithms
 * (one variance for both: what disturbs one side's windows disturbs the other's). @param {number[]} control @param {number[]} candidate
 * @returns {Interval}  0 to Infinity if the error is unknown: with fewer than two windows a side, or a window without any request.
 *   A candidate that never served is 0 times as fast, for certain
 */
export function ratioOf(control, candidate) {
  const isStill = (/** @type {number} */ rate) => rate <= 0;
  if (control.some(isStill))
    return { value: mean(candidate) / mean(control), low: 0, high: Infinity };
  if (candidate.every(isStill)) return { value: 0, low: 0, high: 0 };
  if (candidate.some(isStill))
    return { value: mean(candidate) / mean(control), low: 0, high: Infinity };
  const [a, b] = [control.map(Math.log), candidate.map(Math.log)];
  const difference = mean(b) - mean(a);
  const freedom = a.length + b.length - 2;
  if (a.length < 2 || b.length < 2) return { value: Math.exp(difference), low: 0, high: Infinity };
  const squares = sumOfSquares(a) + sumOfSquares(b);
  const error = Math.sqrt((squares / freedom) * (1 / a.length + 1 / b.length));
  const reach = (STUDENT_T[freedom - 1] ?? NORMAL) * error;
  return {
    value: Math.exp(difference),
    low: Math.exp(difference - reach),
    high: Math.exp(difference + reach),
  };
}

/** The mean of independent values, with Student's interval. @param {number[]} values @returns {Interval} */
export function meanInterval(values) {
  const value = mean(values);
  if (values.length < 2) return { value, low: -Infinity, high: Infinity };
  const error = Math.sqrt(sumOfSquares(values) / (values.length - 1) / values.length);
  const reach = (STUDENT_T[values.length - 2] ?? NORMAL) * error;
  return { value, low: value - reach, high: value + reach };
}

/** A share of independent cases, with Wilson's interval. @param {number} count @param {number} of  above 0 @returns {Interval} */
export function shareOf(count, of) {
  const value = count / of;
  const square = NORMAL ** 2 / of;
  const middle = value + square / 2;
  const reach = NORMAL * Math.sqrt((value * (1 - value)) / of + square / (4 * of));
  const bound = (/** @type {number} */ edge) => Math.min(1, Math.max(0, edge / (1 + square)));
  return { value, low: count === 0 ? 0 : bound(middle - reach), high: bound(middle + reach) };
}

function sumOfSquares(values) {
  const middle = mean(values);
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
}

/** On which side of the target is the interval? @param {Interval} interval @param {number} target @returns {'above' | 'below' | 'open'} */
export function sideOf({ low, high }, target) {
  if (low >= target) return 'above';
  return high < target ? 'below' : 'open';
}

/**
 * How many requests were served in an interval. A request of 15 ms with 5 ms inside counts a third, so that short windows lose
 * nothing at their edges. @param {{ startMs: number, endMs?: number }[]} requests @param {number} fromMs @param {number} toMs
 */
export function servedWithin(requests, fromMs, toMs) {
  return requests.reduce((sum, { startMs, endMs }) => {
    if (endMs === undefined || endMs <= fromMs || startMs >= toMs) return sum;
    const inside = Math.min(endMs, toMs) - Math.max(startMs, fromMs);
    return sum + (endMs > startMs ? inside / (endMs - startMs) : 1);
  }, 0);
}
