/**
 * The last verdict on each lesson, in a file of its own: the page shows it whichever terminal the check ran in, and also when
 * `npm start` has been started again.
 */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readIfThere, writeWhole } from '../common/files.js';
import { having, isCount, isText, listOf, parseAs } from '../common/shape.js';
import { followFolder } from '../common/watch-recursive.js';
import { homeFolder, placeOf } from './progress.js';
import { attempt, keeping } from './save-errors.js';

/** @typedef {import('./progress.js').Io} Io */
/** @typedef {import('../learner/check-records.js').Kept & { pid: number }} KeptVerdict  pid: of the process that checked */

const FOLDER = 'verdicts';
const fileOf = (/** @type {string} */ key) => join(FOLDER, `${key}.json`);

const isPromise = having({ id: isText, sentence: isText, verdict: isText });
const isVerdict = having({
  at: isText,
  pid: isCount,
  verdict: isText,
  promises: listOf(isPromise),
});

/**
 * @param {Io} io
 * @param {string} key  the lesson's
 * @param {object} told  what is told of the check, with its promises
 */
export function keepVerdict(io, key, told) {
  const kept = { at: new Date().toISOString(), pid: process.pid, ...told };
  keeping(io, () => {
    const file = placeOf(io, fileOf(key));
    mkdirSync(dirname(file), { recursive: true });
    writeWhole(file, `${JSON.stringify(kept)}\n`);
  });
}

/**
 * @param {Io} io
 * @param {string} key  the lesson's
 * @returns {KeptVerdict | undefined}  undefined where there is none that can be understood
 */
export function keptVerdict(io, key) {
  const text = attempt(io, () => readIfThere(join(homeFolder(io), fileOf(key))));
  return text === undefined ? undefined : parseAs(text, isVerdict);
}

/**
 * Calls `tell` whenever a verdict may have been kept.
 * @param {Io} io
 * @param {() => void} tell
 */
export const followVerdicts = (io, tell) => followFolder(join(homeFolder(io), FOLDER), tell);
