import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** @param {any} error @param {...string} codes  such as `ENOENT` @returns {boolean}  whether the error has one of these codes */
export function hasCode(error, ...codes) {
  return codes.includes(error?.code);
}

/** Reads a text file that may not exist. @param {string} file @returns {string | undefined} */
export function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Is it a file? Reading a pipe could wait forever. @param {string} path @returns {boolean} */
export function isFile(path) {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Replaces a file whole or, after a crash, not at all. Removes drafts of killed processes. @param {string} file @param {string} text */
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

/** The present moment as every file system accepts it in a name: `2026-03-01T12-30-00-123Z`. @returns {string} */
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
