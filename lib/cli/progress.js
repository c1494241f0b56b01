import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readIfThere, timestamp, writeWhole } from '../common/files.js';
import {
  having,
  isCount,
  isFlag,
  isNumber,
  isRecord,
  isText,
  listOf,
  maybe,
  parseAs,
  recordOf,
} from '../common/shape.js';
import { visible } from '../verdict/visible.js';
import { takeTurn } from './turn-file.js';
import { WrongKind, attempt, keeping, refuse } from './save-errors.js';

const HISTORY = 'history.jsonl';

/**
 * @typedef {object} Io what a command may use of the world
 * @property {NodeJS.WritableStream & { isTTY?: boolean, columns?: number }} stdout
 * @property {NodeJS.WritableStream & { isTTY?: boolean }} stderr
 * @property {NodeJS.ReadableStream & { isTTY?: boolean }} stdin
 * @property {Record<string, string | undefined>} env
 * @property {string} root absolute path of the folder that holds the rooms
 */

/**
 * @typedef {object} Progress
 * @property {1} version
 * @property {Record<string, { at: string, [more: string]: unknown }>} passed by lesson key; `at` is ISO 8601
 * @property {Record<string, number>} hints by lesson key and task, as in 02-cluster-fork/1: how many hints were shown
 * @property {Record<string, number>} solutionAsked by lesson key: how often it was asked for before passing
 * @property {Record<string, number>} predictions by lesson key: what the learner foretold last
 * @property {Record<string, number>} spotAsked by lesson key: how often its faults were asked for before passing
 * @property {Record<string, Record<string, boolean>>} spotted by lesson key and answer: was its fault seen, the last time?
 * @property {string | null} lastLesson key of the lesson that was last worked on
 */

/**
 * Tells where progress, history and backups live: .forkshop in the root, or FORKSHOP_HOME.
 *
 * @param {Pick<Io, 'root' | 'env'>} io
 * @returns {string} absolute path; the folder may not be there yet
 */
export function homeFolder({ root, env }) {
  return resolve(root, env.FORKSHOP_HOME || '.forkshop');
}

/**
 * Reads the learner's progress. A file that cannot be understood is moved aside and kept, and a
 * message on stderr says where. Where it cannot be read, it begins anew: see save-errors.js.
 *
 * @param {Pick<Io, 'root' | 'env' | 'stderr'>} io
 * @returns {Progress}
 */
export function readProgress(io) {
  const { progress, isOdd } = load(io, false);
  return isOdd ? updateProgress(io, () => {}) : progress;
}

/**
 * What could not be written, by what stands there in its place: a command that goes on (npm start) remembers it, and writes it
 * as soon as it can. Where something else stands there by then, that counts.
 * @type {WeakMap<object, { over: string | null, progress: Progress }>}
 */
const unwritten = new WeakMap();

/**
 * isUnread: there is one, which can be neither read nor moved aside, and is not to be written over. isOdd: it could not be
 * understood, and only in its turn may a command move it aside, since another one may just have replaced it.
 */
function load(/** @type {Pick<Io, 'root' | 'env' | 'stderr'>} */ io, isOurTurn = true) {
  const file = join(homeFolder(io), 'progress.json');
  const text = readKept(io, 'progress.json');
  /** @type {Progress} */
  const fresh = {
    version: 1,
    passed: {},
    hints: {},
    solutionAsked: {},
    predictions: {},
    spotAsked: {},
    spotted: {},
    lastLesson: null,
  };
  const kept = unwritten.get(io);
  if (kept && kept.over === (text ?? null))
    return { progress: structuredClone(kept.progress), isUnread: text === undefined, text };
  if (typeof text !== 'string') return { progress: fresh, isUnread: text === undefined, text };
  const found = parseAs(text, isRecord);
  if (found && isProgress({ ...fresh, ...found }))
    return { progress: { ...fresh, ...found }, text };
  if (!isOurTurn) return { progress: fresh, isUnread: true, isOdd: true, text };
  const aside = `${file}.unreadable-${timestamp()}`;
  const isMoved = attempt(io, () => (renameSync(file, aside), true));
  if (!isMoved) return { progress: fresh, isUnread: true, text };
  io.stderr.write(
    `Forkshop could not understand its progress file and starts a new one.\n` +
      `The old one was kept as ${visible(aside)}\n`,
  );
  return { progress: fresh, text: null };
}

/**
 * Changes the learner's progress. At any moment, also after a crash, the file holds either all of
 * the old progress or all of the new, and what several commands change at once is all in it. Where it cannot be written, it
 * is remembered for as long as the command runs.
 *
 * @param {Pick<Io, 'root' | 'env' | 'stderr'>} io
 * @param {(progress: Progress) => void} change changes the object that it gets
 * @returns {Progress} the new progress
 */
export function updateProgress(io, change) {
  const endTurn = attempt(io, () => takeTurn(placeOf(io, 'progress.json')));
  try {
    const { progress, isUnread, text: over } = load(io, endTurn !== undefined);
    change(progress);
    const isWritable = endTurn !== undefined && !isUnread;
    if (!isWritable) refuse(io);
    const text = `${JSON.stringify(progress, null, 2)}\n`;
    const isKept = isWritable && keeping(io, () => writeWhole(placeOf(io, 'progress.json'), text));
    if (isKept) unwritten.delete(io);
    else unwritten.set(io, { over: over ?? null, progress: structuredClone(progress) });
    return progress;
  } finally {
    attempt(io, () => endTurn?.());
  }
}

/**
 * Appends one finished check to the history, where that can be written.
 *
 * @param {Pick<Io, 'root' | 'env'>} io
 * @param {object} entry becomes one line of JSON
 * @param {string} [name] of another file of such lines
 * @returns {void}
 */
export function appendHistory(io, entry, name = HISTORY) {
  keeping(io, () => {
    const file = placeOf(io, name);
    const torn = !/(^|\n)$/.test(readIfThere(file) ?? '');
    appendFileSync(file, `${torn ? '\n' : ''}${JSON.stringify(entry)}\n`);
  });
}

/**
 * Reads the history. A line that a crash tore is left out, and so is one that isn't an entry, and what isn't a measurement.
 *
 * @param {Pick<Io, 'root' | 'env'>} io
 * @param {string} [name] of another file of such lines
 * @returns {Record<string, any>[]} oldest first
 */
export function readHistory(io, name = HISTORY) {
  const lines = (readKept(io, name) || '').split('\n');
  return lines.flatMap((line) => {
    const entry = parseAs(line, isEntry);
    if (!entry) return [];
    if (!('measurements' in entry)) return [entry];
    const { measurements } = entry;
    return [
      {
        ...entry,
        measurements: Array.isArray(measurements) ? measurements.filter(isMeasurement) : [],
      },
    ];
  });
}

const isEntry = having({
  ...{ at: maybe(isText), lesson: maybe(isText), conditions: maybe(isRecord) },
  ...{ failed: maybe(listOf(isText)), task: maybe(isNumber), verdicts: maybe(recordOf(isText)) },
});

const isMeasurement = having({
  ...{ name: isText, value: isNumber, low: maybe(isNumber), high: maybe(isNumber) },
});

/** @returns {string | null | undefined} null where there is nothing, undefined where it cannot be read */
function readKept(/** @type {Pick<Io, 'root' | 'env'>} */ io, /** @type {string} */ name) {
  return attempt(io, () => {
    demandKind(homeFolder(io), 'a folder');
    demandKind(join(homeFolder(io), name), 'a file');
    return readIfThere(join(homeFolder(io), name)) ?? null;
  });
}

/**
 * Where to write a file that is kept; its folder is there.
 *
 * @param {Pick<Io, 'root' | 'env'>} io
 * @param {string} name
 * @returns {string} absolute path
 * @throws {WrongKind} when something else is in its place
 */
export function placeOf(io, name) {
  demandKind(homeFolder(io), 'a folder');
  mkdirSync(homeFolder(io), { recursive: true });
  const file = join(homeFolder(io), name);
  demandKind(file, 'a file');
  return file;
}

/** A pipe isn't a file either: reading it waits for ever. */
function demandKind(/** @type {string} */ path, /** @type {'a file' | 'a folder'} */ kind) {
  const stats = statSync(path, { throwIfNoEntry: false });
  const isRight = !stats || (kind === 'a file' ? stats.isFile() : stats.isDirectory());
  if (!isRight) throw new WrongKind(`${path} should be ${kind}. Remove it, or rename it.`);
}

const isProgress = having({
  version: (value) => value === 1,
  passed: recordOf(having({ at: isText })),
  ...{ hints: recordOf(isCount), solutionAsked: recordOf(isCount), spotAsked: recordOf(isCount) },
  ...{ predictions: recordOf(isNumber), spotted: recordOf(recordOf(isFlag)) },
  lastLesson: maybe(isText),
});
