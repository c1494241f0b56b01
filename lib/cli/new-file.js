/** A file that a command is to write: nothing that is there is written over, and what cannot be is known before the work. */
import { closeSync, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { hasCode } from '../common/files.js';
import { UsageError } from '../common/usage-error.js';

/**
 * Creates the file, and removes it again.
 * @param {string} name
 * @param {{ cwd?: string, example: string }} options  example: of a command that names one
 * @returns {string}  its absolute path, the same for each way that leads to it
 * @throws {UsageError}
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

/**
 * Writes it, or leaves nothing of it.
 * @param {string} file  as newFile() gives it
 * @param {string} text
 * @returns {string[]}  why it could not be written, if so, as a sentence
 */
export function writeNewFile(file, text) {
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return [];
  } catch (/** @type {any} */ error) {
    if (!hasCode(error, 'EEXIST')) rmSync(file, { force: true }); // a full disk leaves half of it
    return [`${file} could not be written (${error.code}). Make room there, or name another file.`];
  }
}
