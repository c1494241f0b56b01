import { appendFileSync, mkdirSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readIfThere, timestamp, writeWhole } from '../files.js';

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
 * @property {Record<string, number>} hints by lesson key: how many hints were shown
 * @property {Record<string, number>} solutionAsked by lesson key: how often it was asked for before passing
 * @property {Record<string, number>} predictions by lesson key: what the learner foretold last
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
 * message on stderr says where.
 *
 * @param {Pick<Io, 'root' | 'env' | 'stderr'>} io
 * @returns {Progress}
 */
export function readProgress(io) {
  const file = join(homeFolder(io), 'progress.json');
  const text = readIfThere(file);
  /** @type {Progress} */
  const fresh = {
    version: 1,
    passed: {},
    hints: {},
    solutionAsked: {},
    predictions: {},
    lastLesson: null,
  };
  if (text === undefined) return fresh;
  const found = parseObject(text);
  if (found && isProgress({ ...fresh, ...found })) return { ...fresh, ...found };
  const kept = `${file}.unreadable-${timestamp()}`;
  renameSync(file, kept);
  io.stderr.write(
    `Forkshop could not understand its progress file and begins a new one.\n` +
      `The old one was kept as ${kept}\n`,
  );
  return fresh;
}

/**
 * Changes the learner's progress. At any moment, also after a crash, the file holds either all of
 * the old progress or all of the new.
 *
 * @param {Pick<Io, 'root' | 'env' | 'stderr'>} io
 * @param {(progress: Progress) => void} change changes the object that it gets
 * @returns {Progress} the new progress
 */
export function updateProgress(io, change) {
  const progress = readProgress(io);
  change(progress);
  mkdirSync(homeFolder(io), { recursive: true });
  writeWhole(join(homeFolder(io), 'progress.json'), `${JSON.stringify(progress, null, 2)}\n`);
  return progress;
}

/**
 * Appends one finished check to the history.
 *
 * @param {Pick<Io, 'root' | 'env'>} io
 * @param {object} entry becomes one line of JSON
 * @returns {void}
 */
export function appendHistory(io, entry) {
  const file = join(homeFolder(io), 'history.jsonl');
  mkdirSync(homeFolder(io), { recursive: true });
  const torn = !/(^|\n)$/.test(readIfThere(file) ?? '');
  appendFileSync(file, `${torn ? '\n' : ''}${JSON.stringify(entry)}\n`);
}

/**
 * Reads the history. A line that a crash tore is left out.
 *
 * @param {Pick<Io, 'root' | 'env'>} io
 * @returns {Record<string, any>[]} oldest first
 */
export function readHistory(io) {
  const lines = (readIfThere(join(homeFolder(io), 'history.jsonl')) ?? '').split('\n');
  return lines.map(parseObject).filter((entry) => entry !== undefined);
}

function isProgress(/** @type {Record<string, any>} */ { version, ...rest }) {
  const records = [rest.passed, rest.hints, rest.solutionAsked, rest.predictions];
  return version === 1 && records.every((each) => each && typeof each === 'object');
}

/** @returns {Record<string, any> | undefined} undefined when the text is not a JSON object */
function parseObject(/** @type {string} */ text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === 'object' && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
