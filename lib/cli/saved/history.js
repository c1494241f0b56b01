/** The history of finished checks, one line of JSON each. */
import { appendFileSync } from 'node:fs';
import { readIfThere } from '../../common/files.js';
import {
  having,
  isNumber,
  isRecord,
  isText,
  listOf,
  maybe,
  parseAs,
  recordOf,
} from '../../common/shape.js';
import { trySaving } from './save-errors.js';
import { readSaved, writablePath } from './saved-files.js';

/** @typedef {import('./progress.js').Io} Io */

const HISTORY = 'history.jsonl';

/** @param {Pick<Io, 'root' | 'env'>} io @param {object} entry @param {string} [name]  another file of the same format */
export function appendHistory(io, entry, name = HISTORY) {
  trySaving(io, () => {
    const file = writablePath(io, name);
    const isTorn = !/(^|\n)$/.test(readIfThere(file) ?? '');
    appendFileSync(file, `${isTorn ? '\n' : ''}${JSON.stringify(entry)}\n`);
  });
}

/**
 * Reads the history, and leaves out what is invalid: lines torn by a crash, other entries, and measurements.
 * @param {Pick<Io, 'root' | 'env'>} io @param {string} [name]  another file of the same format
 * @returns {Record<string, any>[]}  oldest first
 */
export function readHistory(io, name = HISTORY) {
  const lines = (readSaved(io, name) || '').split('\n');
  return lines.flatMap((line) => {
    const entry = parseAs(line, isEntry);
    if (!entry) return [];
    if (!('measurements' in entry)) return [entry];
    const { measurements } = entry;
    const valid = Array.isArray(measurements) ? measurements.filter(isMeasurement) : [];
    return [{ ...entry, measurements: valid }];
  });
}

const isEntry = having({
  at: maybe(isText),
  lesson: maybe(isText),
  conditions: maybe(isRecord),
  failed: maybe(listOf(isText)),
  task: maybe(isNumber),
  verdicts: maybe(recordOf(isText)),
});

const isMeasurement = having({
  name: isText,
  value: isNumber,
  low: maybe(isNumber),
  high: maybe(isNumber),
});
