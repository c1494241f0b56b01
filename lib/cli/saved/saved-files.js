/** The folder in which progress, history and backups are saved, and its files. */
import { mkdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readIfThere } from '../../common/files.js';
import { WrongFileKind, tryFile } from './save-errors.js';

/** @typedef {Pick<import('./progress.js').Io, 'root' | 'env'>} Io */

/** FORKSHOP_HOME, or .forkshop in the root; the folder may not exist yet. @param {Io} io @returns {string}  absolute path */
export const homeFolder = ({ root, env }) => resolve(root, env.FORKSHOP_HOME || '.forkshop');

/** @param {Io} io @param {string} name @returns {string | null | undefined}  null: no such file; undefined: unreadable */
export const readSaved = (io, name) =>
  tryFile(io, () => {
    assertKind(homeFolder(io), 'a folder');
    assertKind(join(homeFolder(io), name), 'a file');
    return readIfThere(join(homeFolder(io), name)) ?? null;
  });

/**
 * Creates the folder if needed.
 * @param {Io} io @param {string} name @returns {string}  absolute path @throws {WrongFileKind}  if something else is there
 */
export function writablePath(io, name) {
  assertKind(homeFolder(io), 'a folder');
  mkdirSync(homeFolder(io), { recursive: true });
  const file = join(homeFolder(io), name);
  assertKind(file, 'a file');
  return file;
}

/** Refuses a named pipe as well, because reading it would block forever. */
function assertKind(/** @type {string} */ path, /** @type {'a file' | 'a folder'} */ kind) {
  const stats = statSync(path, { throwIfNoEntry: false });
  const isRight = !stats || (kind === 'a file' ? stats.isFile() : stats.isDirectory());
  if (!isRight) throw new WrongFileKind(`${path} should be ${kind}. Remove it, or rename it.`);
}
