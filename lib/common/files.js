import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Says whether an error is one of those that the operating system or Node.js tells apart by a code.
 *
 * @param {any} error
 * @param {...string} codes for example `ENOENT`
 * @returns {boolean}
 */
export function hasCode(error, ...codes) {
  return codes.includes(error?.code);
}

/**
 * Reads a text file that may not be there.
 *
 * @param {string} file
 * @returns {string | undefined} undefined when there is no such file
 */
export function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Says whether a path leads to a file. Reading a pipe waits, perhaps for ever.
 *
 * @param {string} path
 * @returns {boolean}
 */
export function isFile(path) {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Writes a file such that at any moment, also after a crash, it holds all of its old text or all
 * of its new: writes beside it, waits for the disk, then renames. What earlier processes left
 * when they were killed in between is removed.
 *
 * @param {string} file in a folder that exists
 * @param {string} text
 * @returns {void}
 */
export function writeWhole(file, text) {
  removeUnfinished(file);
  const unfinished = `${file}.${process.pid}.unfinished`;
  try {
    writeFileSync(unfinished, text, { flush: true });
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/**
 * Gives the present moment in a form that every file system accepts in a name.
 *
 * @returns {string} for example `2026-03-01T12-30-00-123Z`
 */
export function timestamp() {
  return new Date().toISOString().replace(/[:.]/g, '-');
}

function removeUnfinished(/** @type {string} */ file) {
  for (const name of readdirSync(dirname(file))) {
    const [, target, pid] = /^(.*)\.(\d+)\.unfinished$/.exec(name) ?? [];
    if (target !== basename(file) || isAlive(Number(pid))) continue;
    rmSync(join(dirname(file), name), { force: true });
  }
}

function isAlive(/** @type {number} */ pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}
