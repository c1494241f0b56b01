/** Copies that hold real files and never a link: writing into such a copy can't change the original. */
import { copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../common/files.js';
import { displayPath } from '../common/paths.js';
import { Broken } from '../verdict/outcome.js';

const UNWANTED = ['node_modules', '.git'];
const MOST_BYTES = 256 * 1024 ** 2; // a link may lead to a whole disk, and the copy may lie in memory
const LEAST_BYTES = 4 * 1024; // counted for each entry, however small
const LEAVE = 'leave only the program in the folder';

/**
 * Copies a file, or a folder without node_modules and .git, and replaces each link by its target. A link that leads nowhere is left
 * out: some editors keep such links as locks. @param {string} from @param {string} to  existing files in it stay
 * @param {{ without?: string[], besides?: string }} [options]  without: folders to leave out; besides: a folder whose entries
 *   are left out, by their relative paths
 * @throws {Broken}  when something can't be copied: links in a circle, a pipe, a file without read permission
 */
export function copyRealFiles(from, to, { without = [], besides } = {}) {
  const unwanted = without.map((folder) => idOf(statSync(folder, { bigint: true })));
  let room = MOST_BYTES;
  const copy = (source, target, name, around) => {
    const stats = statsOf(source);
    if (!stats || unwanted.includes(idOf(stats))) return;
    room -= Math.max(Number(stats.size), LEAST_BYTES);
    if (room < 0) throw uncopied(from, `holds more than ${MOST_BYTES / 1024 ** 2} MB`, LEAVE);
    if (stats.isFile()) {
      const isTaken = existsSync(target) || (besides && isThere(join(besides, name)));
      if (!isTaken) readable(source, () => copyFileSync(source, target));
      return;
    }
    if (!stats.isDirectory()) throw uncopied(source, `is ${kindOf(stats)}, no file`);
    if (around.includes(idOf(stats)))
      throw uncopied(source, 'leads back to a folder that holds it');
    mkdirSync(target, { recursive: true });
    for (const entry of readable(source, () => readdirSync(source)) ?? []) {
      if (UNWANTED.includes(entry)) continue;
      copy(join(source, entry), join(target, entry), join(name, entry), [...around, idOf(stats)]);
    }
  };
  copy(from, to, '', []);
}

const idOf = (/** @type {import('node:fs').BigIntStats} */ { dev, ino }) => `${dev}:${ino}`;
const isThere = (path) => Boolean(lstatSync(path, { throwIfNoEntry: false }));

/** Undefined if the link is broken. */
const statsOf = (path) => readable(path, () => statSync(path, { bigint: true }));

/** An error about a learner's file becomes a Broken that names the file; undefined if the file has just been deleted. */
function readable(path, read) {
  try {
    return read();
  } catch (/** @type {any} */ error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    if (hasCode(error, 'ELOOP')) throw uncopied(path, 'is a link that leads to itself');
    const isRefused = hasCode(error, 'EACCES', 'EPERM') && error.path === path;
    if (isRefused)
      throw uncopied(path, `cannot be read (${error.code})`, `chmod u+r ${displayPath(path)}`);
    throw error;
  }
}

function kindOf(/** @type {import('node:fs').BigIntStats} */ stats) {
  if (stats.isFIFO()) return 'a pipe (FIFO)';
  return stats.isSocket() ? 'a socket' : 'a device';
}

function uncopied(path, got, command = `rm ${displayPath(path)}`) {
  return new Broken({
    expected: 'a folder of files, which this check can copy',
    got: `${displayPath(path)} ${got}.`,
    why: 'This check works with copies of the whole folder, so that it can deploy in them.',
    try: command,
  });
}
