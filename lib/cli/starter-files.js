/** A lesson's files beside the starter's: which differ, and putting them back after a backup. */
import { cpSync, lstatSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasCode, isFile, timestamp } from '../common/files.js';
import { UsageError } from '../common/usage-error.js';
import { filesBelow } from '../lessons/catalog.js';
import { lessonPaths } from '../lessons/lesson-paths.js';
import { homeFolder } from './saved/saved-files.js';

/** @typedef {import('./saved/progress.js').Io} Io */
/** @typedef {{ key: string, file: string }} Changed  a file that differs from the starter's; key: of its lesson */

/** @param {Changed[]} changed @param {Io} io @returns {string | undefined}  the folder of the backup, if there was a file to copy */
export function restoreStarter(changed, io) {
  const backup = backUp(changed, io);
  for (const each of changed) restore(each, io.root);
  return backup;
}

/** @param {string} root @param {string} key @returns {Changed[]}  files that differ from the starter's */
export function changedFiles(root, key) {
  const starters = filesBelow(join(root, lessonPaths(key).starter));
  if (starters.length === 0) {
    throw new UsageError(
      `${lessonPaths(key).starter} holds no files to go back to.`,
      'Download the workshop again, into another folder, and copy that folder from there.',
    );
  }
  return starters
    .filter((file) => !sameContent(starterPath(root, { key, file }), minePath(root, { key, file })))
    .map((file) => ({ key, file }));
}

const starterPath = (/** @type {string} */ root, /** @type {Changed} */ { key, file }) =>
  join(root, lessonPaths(key).starter, file);
const minePath = (/** @type {string} */ root, /** @type {Changed} */ { key, file }) =>
  join(root, lessonPaths(key).mine, file);

function sameContent(/** @type {string} */ starter, /** @type {string} */ mine) {
  try {
    return isFile(mine) && readFileSync(starter).equals(readFileSync(mine));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES')) return false;
    throw error;
  }
}

/** Copies the changed files that exist; pipes and sockets have no content to copy. */
function backUp(/** @type {Changed[]} */ changed, /** @type {Io} */ io) {
  const folder = join(homeFolder(io), 'backups', timestamp());
  const present = changed.filter((each) => hasContent(minePath(io.root, each)));
  for (const each of present) {
    const target = join(folder, each.key, each.file);
    mkdirSync(dirname(target), { recursive: true });
    const options = { recursive: true, errorOnExist: true, force: false, filter: hasContent };
    cpSync(minePath(io.root, each), target, options);
  }
  return present.length > 0 ? folder : undefined;
}

function restore(/** @type {Changed} */ changed, /** @type {string} */ root) {
  const target = minePath(root, changed);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(dirname(target), { recursive: true });
  cpSync(starterPath(root, changed), target);
}

function hasContent(/** @type {string} */ path) {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return Boolean(stats?.isFile() || stats?.isDirectory() || stats?.isSymbolicLink());
}
