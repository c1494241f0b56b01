/** Output files of commands: never overwrite one, and fail before the long work rather than after it. */
import { closeSync, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { hasCode } from '../common/files.js';
import { UsageError } from '../common/usage-error.js';

/**
 * Proves that a new file can be written, by creating and removing it.
 * @param {string} name @param {{ cwd?: string, example: string }} options  example: a command for the message
 * @returns {string}  its absolute path, with symbolic links resolved @throws {UsageError}
 */
export function resolveNewFile(name, { cwd = '.', example }) {
  const file = resolve(cwd, name);
  const refuse = (/** @type {string} */ why) => new UsageError(why, `Name a new file: ${example}`);
  if (name === '') throw refuse('The file has no name.');
  try {
    const real = join(realpathSync(dirname(file)), basename(file));
    closeSync(openSync(real, 'wx'));
    rmSync(real);
    return real;
  } catch (/** @type {any} */ error) {
    if (hasCode(error, 'EEXIST')) throw refuse(`${file} already exists.`);
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) throw refuse(`There is no folder ${dirname(file)}.`);
    throw refuse(`${file} cannot be written (${error.code}).`);
  }
}

/** Writes all of a new file, or nothing. @param {string} file @param {string} text @returns {string[]}  empty, or why it failed */
export function writeNewFile(file, text) {
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return [];
  } catch (/** @type {any} */ error) {
    if (!hasCode(error, 'EEXIST')) rmSync(file, { force: true }); // a full disk leaves a part
    return [`${file} could not be written (${error.code}). Make room there, or name another file.`];
  }
}
