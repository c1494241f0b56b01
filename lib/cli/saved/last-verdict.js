/** The last verdict on each lesson, in a file: the page shows it after a restart, and after a check in another terminal. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readIfThere, writeWhole } from '../../common/files.js';
import { having, isCount, isText, listOf, maybe, parseAs, recordOf } from '../../common/shape.js';
import { watchRecursive } from '../../common/watch-recursive.js';
import { homeFolder, writablePath } from './saved-files.js';
import { tryFile, trySaving } from './save-errors.js';

/** @typedef {import('./progress.js').Io} Io */
/** @typedef {import('../../learner/check-records.js').SavedVerdict & { pid: number }} SavedVerdict  pid: the command that checked */

const FOLDER = 'verdicts';
const fileOf = (/** @type {string} */ key) => join(FOLDER, `${key}.json`);

const isPromise = having({ id: isText, sentence: isText, verdict: isText });
const isVerdict = having({
  at: isText,
  pid: isCount,
  verdict: isText,
  promises: listOf(isPromise),
  before: maybe(recordOf(isText)),
});

/** @param {Io} io @param {string} key  the lesson's @param {object} verdict  including its promises */
export function saveVerdict(io, key, verdict) {
  const saved = { at: new Date().toISOString(), pid: process.pid, ...verdict };
  trySaving(io, () => {
    const file = writablePath(io, fileOf(key));
    mkdirSync(dirname(file), { recursive: true });
    writeWhole(file, `${JSON.stringify(saved)}\n`);
  });
}

/** @param {Io} io @param {string} key @returns {SavedVerdict | undefined}  undefined if it is missing or can't be parsed */
export function readVerdict(io, key) {
  const text = tryFile(io, () => readIfThere(join(homeFolder(io), fileOf(key))));
  return text === undefined ? undefined : parseAs(text, isVerdict);
}

/** @param {Io} io @param {() => void} onChange  called whenever a verdict may have been saved */
export const watchVerdicts = (io, onChange) =>
  watchRecursive(join(homeFolder(io), FOLDER), onChange);
