/** Copies of a program, in which a check may deploy: write another version of a file while the program runs. */
import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyRealFiles } from './real-files.js';
import { isRecord, parseAs } from '../common/shape.js';

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
 * @property {(name: string, text: string) => void} write  puts another text in the place of one of its files, at once
 */

/**
 * Copies a program with all that lies in its folder, and with what links there lead to.
 * @param {object} from
 * @param {string} from.place  a folder, or the program's file if that is all of it
 * @param {string} from.entry  the program's file
 * @param {string} [from.rest]  a folder that has the files which the place lacks
 * @param {string} home  the folder to put the copy in; it is removed with the runner whose folder it is
 * @returns {Copy}
 * @throws {import('../verdict/outcome.js').Broken}  when something in the folder cannot be copied
 */
export function copyProgram({ place, entry, rest }, home) {
  const folder = join(home, `copy-${randomUUID()}`);
  mkdirSync(folder);
  const isFile = statSync(place).isFile();
  if (isFile) copyRealFiles(place, join(folder, basename(place)));
  else copyRealFiles(place, folder, { without: [home] });
  if (rest) copyRealFiles(rest, folder, isFile ? {} : { besides: place });
  const copied = join(folder, isFile ? basename(place) : relative(place, entry));
  if (completeWithin(folder, dirname(entry))) complete.add(copied);
  return {
    folder,
    entry: copied,
    write: (name, text) => writeWithin(folder, name, text),
  };
}

/** Writes beside the file and renames: nobody reads half of it, and where the program put a link, the link goes. */
function writeWithin(folder, name, text) {
  const file = join(folder, name);
  const isWithin = `${realpathSync(dirname(file))}${sep}`.startsWith(realpathSync(folder) + sep);
  if (!isWithin) throw new Error(`${name} is not in the copy.`);
  if (lstatSync(file, { throwIfNoEntry: false })?.isDirectory()) rmSync(file, { recursive: true });
  const draft = join(dirname(file), `.${randomUUID()}`);
  writeFileSync(draft, text, { flag: 'wx' });
  renameSync(draft, file);
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
  if (existsSync(manifest)) return parseAs(readFileSync(manifest, 'utf8'), isRecord)?.type;
  return dirname(folder) === folder ? undefined : typeAround(dirname(folder));
}
