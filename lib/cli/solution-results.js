/** The headline of each lesson's solution, as it was measured on this machine. */
import { availableParallelism } from 'node:os';
import { appendHistory, readHistory } from './progress.js';

/** @typedef {Pick<import('./progress.js').Io, 'root' | 'env'>} Io */
/** @typedef {{ value: number, low?: number, high?: number, at: string }} Measured  at: ISO 8601 */

const FILE = 'solutions.jsonl';

/**
 * Remembers what was measured of a solution, if anything was.
 * @param {import('../check/run-check.js').CheckResult} result
 * @param {Io} io
 */
export function keepSolution({ lesson, measurements, conditions }, io) {
  const at = new Date().toISOString();
  if (measurements.length > 0) appendHistory(io, { at, lesson, measurements, conditions }, FILE);
}

/**
 * The last headline of each lesson's solution that was measured with as many cores and the same Node as now.
 * @param {Io} io
 * @returns {Record<string, Measured>} by lesson key
 */
export function solutionsOf(io) {
  const here = readHistory(io, FILE).filter(isOfHere);
  const headlines = here.flatMap(({ at, lesson, measurements = [] }) =>
    measurements
      .filter(({ isHeadline }) => isHeadline)
      .map(({ value, low, high }) => [lesson, { value, low, high, at }]),
  );
  return Object.fromEntries(headlines);
}

const isOfHere = (/** @type {Record<string, any>} */ { conditions }) =>
  conditions?.cores === availableParallelism() && conditions?.node === process.versions.node;
