/**
 * Copies that hold real files alone, never a link: what is written into such a copy reaches nobody else's file.
 */
import { copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../common/files.js';
import { nameOf } from '../common/paths.js';
import { Broken } from '../verdict/outcome.js';

const UNWANTED = ['node_modules', '.git'];
const MOST_BYTES = 256 * 1024 ** 2; // a link may lead to a whole disk, and the copy may lie in memory
const LEAST_BYTES = 4 * 1024; // of each entry
const LEAVE = 'leave only the program in the folder';

/**
 * Copies a file, or a folder without packages and the history of git. In the place of a link comes what it leads to. One
 * that leads nowhere is left out: some editors leave such ones, and no program can read them.
 * @param {string} from
 * @param {string} to  what is there already stays
 * @param {{ without?: string[], besides?: string }} [options]  without: folders to leave out; besides: what is in this
 *   folder, at the same place, is left out
 * @throws {Broken}  when something cannot be copied: links that go in a circle, a pipe, what one may not read
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

/** Of what a path leads to; undefined when it leads nowhere. */
const statsOf = (path) => readable(path, () => statSync(path, { bigint: true }));

/** What may go wrong with a file of somebody else's is said of that file; one that has just gone is not missed. */
function readable(path, read) {
  try {
    return read();
  } catch (/** @type {any} */ error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    if (hasCode(error, 'ELOOP')) throw uncopied(path, 'is a link that leads to itself');
    const isRefused = hasCode(error, 'EACCES', 'EPERM') && error.path === path;
    if (isRefused)
      throw uncopied(path, `cannot be read (${error.code})`, `chmod u+r ${nameOf(path)}`);
    throw error;
  }
}

function kindOf(/** @type {import('node:fs').BigIntStats} */ stats) {
  if (stats.isFIFO()) return 'a pipe (FIFO)';
  return stats.isSocket() ? 'a socket' : 'a device';
}

function uncopied(path, got, command = `rm ${nameOf(path)}`) {
  return new Broken({
    expected: 'a folder of files, which this check can copy',
    got: `${nameOf(path)} ${got}.`,
    why: 'This check works with copies of the whole folder, so that it can deploy in them.',
    try: command,
  });
}
