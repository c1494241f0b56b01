/** Copies of a program, in which a check may deploy: write another version of a file while the program runs. */
import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const rootFolder = fileURLToPath(new URL('../../', import.meta.url));
const WORK = '.work.js'; // lessons/work.js in a copy

/** Entries of copies that have all that they import: packages and '#work'. */
const complete = new Set();

/**
 * Is this program a copy that finds '#work' and packages by itself?
 * @param {string} entry  absolute path
 */
export const isCompleteCopy = (entry) => complete.has(entry);

/**
 * @typedef {object} Copy
 * @property {string} folder  absolute path
 * @property {string} entry  the program in it, absolute path
 * @property {(name: string, text: string) => void} write  puts another text in the place of one of its files
 */

/**
 * Copies a program with all that lies in its folder.
 * @param {object} from
 * @param {string} from.place  a folder, or the program's file if that is all of it
 * @param {string} from.entry  the program's file
 * @param {string} [from.rest]  a folder that has the files which the place lacks
 * @param {string} home  the folder to put the copy in; it is removed with the runner whose folder it is
 * @returns {Copy}
 */
export function copyProgram({ place, entry, rest }, home) {
  const folder = join(home, `copy-${randomUUID()}`);
  mkdirSync(folder);
  const isOurs = (/** @type {string} */ file) => basename(file) !== 'node_modules';
  const isFile = statSync(place).isFile();
  if (isFile) cpSync(place, join(folder, basename(place)));
  else cpSync(place, folder, { recursive: true, filter: isOurs });
  if (rest) cpSync(rest, folder, { recursive: true, force: false });
  const copied = join(folder, isFile ? basename(place) : relative(place, entry));
  if (completeWithin(folder, dirname(entry))) complete.add(copied);
  return {
    folder,
    entry: copied,
    write: (name, text) => writeFileSync(join(folder, name), text),
  };
}

/** Gives a copy from this repository what lies around its original: packages, '#work', the type of its modules. */
function completeWithin(folder, /** @type {string} */ around) {
  const manifest = join(folder, 'package.json');
  if (existsSync(manifest)) return false;
  const type = typeAround(around);
  const isOurs = around.startsWith(rootFolder);
  const imports = isOurs ? { '#work': `./${WORK}` } : undefined;
  if (type || isOurs) writeFileSync(manifest, JSON.stringify({ type, imports }));
  if (!isOurs) return false;
  cpSync(join(rootFolder, 'lessons/work.js'), join(folder, WORK));
  symlinkSync(join(rootFolder, 'node_modules'), join(folder, 'node_modules'), 'junction');
  return true;
}

/** What the nearest package.json says of its .js files: 'module' or 'commonjs', or nothing. */
function typeAround(/** @type {string} */ folder) {
  const manifest = join(folder, 'package.json');
  if (existsSync(manifest)) return JSON.parse(readFileSync(manifest, 'utf8')).type;
  return dirname(folder) === folder ? undefined : typeAround(dirname(folder));
}
