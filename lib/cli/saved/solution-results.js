/** Each lesson's results, measured with its solution on this machine. */
import { availableParallelism } from 'node:os';
import { appendHistory, readHistory } from './history.js';

/** @typedef {Pick<import('./progress.js').Io, 'root' | 'env'>} Io */
/** @typedef {{ value: number, low?: number, high?: number, at: string }} Measured  at: ISO 8601 */

const FILE = 'solutions.jsonl';

/** @param {import('../../check/run-check.js').CheckResult} result  of a solution @param {Io} io */
export function saveSolutionResult({ lesson, measurements, conditions }, io) {
  const at = new Date().toISOString();
  if (measurements.length > 0) appendHistory(io, { at, lesson, measurements, conditions }, FILE);
}

/**
 * The last headline of each solution, measured with the same number of cores and the same Node.js as now.
 * @param {Io} io @returns {Record<string, Measured>}  by lesson key
 */
export function readSolutionResults(io) {
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
