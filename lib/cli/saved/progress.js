/** The learner's progress: which lessons have passed, and what was shown and predicted. */
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { timestamp, writeWhole } from '../../common/files.js';
import {
  having,
  isCount,
  isFlag,
  isNumber,
  isRecord,
  isText,
  maybe,
  parseAs,
  recordOf,
} from '../../common/shape.js';
import { visible } from '../../verdict/visible.js';
import { lockFile } from './file-lock.js';
import { noteSaveError, tryFile, trySaving } from './save-errors.js';
import { homeFolder, readSaved, writablePath } from './saved-files.js';

/**
 * @typedef {object} Io  what a command may use of the world
 * @property {NodeJS.WritableStream & { isTTY?: boolean, columns?: number }} stdout
 * @property {NodeJS.WritableStream & { isTTY?: boolean }} stderr @property {NodeJS.ReadableStream & { isTTY?: boolean }} stdin
 * @property {Record<string, string | undefined>} env
 * @property {string} root  absolute path of the repository
 *
 * @typedef {object} Progress  records are by lesson key
 * @property {1} version
 * @property {Record<string, { at: string, [more: string]: unknown }>} passed  at: ISO 8601
 * @property {Record<string, number>} hints  by lesson and task, as in 02-cluster-fork/1: how many were shown
 * @property {Record<string, number>} solutionAsked  how often it was asked for before passing
 * @property {Record<string, number>} predictions  the last one
 * @property {Record<string, number>} spotAsked  how often `spot` was asked for before passing
 * @property {Record<string, Record<string, boolean>>} spotted  by answer: did the learner see its fault, the last time?
 * @property {string | null} lastLesson  key of the lesson that was last worked on
 *
 * @typedef {Pick<Io, 'root' | 'env' | 'stderr'>} FileIo
 */

const FILE = 'progress.json';
/** @type {Progress} */
const EMPTY = {
  version: 1,
  passed: {},
  hints: {},
  solutionAsked: {},
  predictions: {},
  spotAsked: {},
  spotted: {},
  lastLesson: null,
};

/**
 * Progress that could not be saved: a command that keeps running, such as `npm start`, saves it as soon as it can, unless the
 * file has changed since. base: the file's text at that time.
 * @type {WeakMap<object, { base: string | null, progress: Progress }>}
 */
const unsaved = new WeakMap();

/**
 * Reads the progress. A file that can't be parsed is renamed, and a message on stderr names the copy; without a readable file
 * it starts empty.
 * @param {FileIo} io @returns {Progress}
 */
export function readProgress(io) {
  const { progress, isInvalid } = load(io, { isLocked: false });
  return isInvalid ? updateProgress(io, () => {}) : progress;
}

/**
 * Changes the progress, atomically even beside other commands and in a crash. If it can't be saved, this process remembers it.
 * @param {FileIo} io @param {(progress: Progress) => void} change  changes its argument in place
 * @returns {Progress}  the new progress
 */
export function updateProgress(io, change) {
  const unlock = tryFile(io, () => lockFile(writablePath(io, FILE)));
  try {
    const { progress, mustStay, text } = load(io, { isLocked: unlock !== undefined });
    change(progress);
    const isWritable = unlock !== undefined && !mustStay;
    if (!isWritable) noteSaveError(io);
    const json = `${JSON.stringify(progress, null, 2)}\n`;
    const isSaved = isWritable && trySaving(io, () => writeWhole(writablePath(io, FILE), json));
    if (isSaved) unsaved.delete(io);
    else unsaved.set(io, { base: text ?? null, progress: structuredClone(progress) });
    return progress;
  } finally {
    tryFile(io, () => unlock?.());
  }
}

/**
 * mustStay: the file can be neither read nor renamed, so don't overwrite it. isInvalid: it could not be parsed; rename it only
 * under the lock, because another command may have just replaced it.
 */
function load(/** @type {FileIo} */ io, { isLocked }) {
  const text = readSaved(io, FILE);
  const empty = structuredClone(EMPTY);
  const mine = unsaved.get(io);
  if (mine && mine.base === (text ?? null))
    return { progress: structuredClone(mine.progress), mustStay: text === undefined, text };
  if (typeof text !== 'string') return { progress: empty, mustStay: text === undefined, text };
  const found = parseAs(text, isRecord);
  if (found && isProgress({ ...empty, ...found }))
    return { progress: { ...empty, ...found }, text };
  if (!isLocked) return { progress: empty, mustStay: true, isInvalid: true, text };
  const file = join(homeFolder(io), FILE);
  const copy = `${file}.unreadable-${timestamp()}`;
  const isMoved = tryFile(io, () => (renameSync(file, copy), true));
  if (!isMoved) return { progress: empty, mustStay: true, text };
  io.stderr.write(
    `Forkshop could not understand its progress file and starts a new one.\n` +
      `The old one was kept as ${visible(copy)}\n`,
  );
  return { progress: empty, text: null };
}

const isProgress = having({
  version: (value) => value === 1,
  passed: recordOf(having({ at: isText })),
  ...{ hints: recordOf(isCount), solutionAsked: recordOf(isCount), spotAsked: recordOf(isCount) },
  ...{ predictions: recordOf(isNumber), spotted: recordOf(recordOf(isFlag)) },
  lastLesson: maybe(isText),
});
