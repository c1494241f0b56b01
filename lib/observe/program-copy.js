/** Copies of a program, in which a check deploys: it replaces a file while the program runs. */
import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyRealFiles } from './real-files.js';
import { isRecord, parseAs } from '../common/shape.js';

const rootFolder = fileURLToPath(new URL('../../', import.meta.url));
const WORK = '.work.js'; // lessons/work.js in a copy

/** Entries of copies that find packages and '#work' by themselves. */
const complete = new Set();

/** Does this copy find packages and '#work' by itself? @param {string} entry  absolute path */
export const isCompleteCopy = (entry) => complete.has(entry);

/** @typedef {{ folder: string, entry: string, write: (name: string, text: string) => void }} Copy  absolute paths; write replaces a file */

/**
 * Copies a program with everything in its folder, including the targets of links.
 * @param {{ place: string, entry: string, rest?: string }} from  place: a folder, or the program's file if that is all; entry: the
 *   program's file; rest: a folder with the files that the place lacks
 * @param {string} home  the runner's folder, which will hold the copy and is removed with it
 * @returns {Copy} @throws {import('../verdict/outcome.js').Broken}  when something in the folder can't be copied
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

/** Writes a draft and renames it: no reader sees half a file, and a link is replaced instead of followed. */
function writeWithin(folder, name, text) {
  const file = join(folder, name);
  const isWithin = `${realpathSync(dirname(file))}${sep}`.startsWith(realpathSync(folder) + sep);
  if (!isWithin) throw new Error(`${name} is not in the copy.`);
  if (lstatSync(file, { throwIfNoEntry: false })?.isDirectory()) rmSync(file, { recursive: true });
  const draft = join(dirname(file), `.${randomUUID()}`);
  writeFileSync(draft, text, { flag: 'wx' });
  renameSync(draft, file);
}

/** Adds what the original finds around its folder: packages, '#work', the module type. */
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

function typeAround(/** @type {string} */ folder) {
  const manifest = join(folder, 'package.json');
  if (existsSync(manifest)) return parseAs(readFileSync(manifest, 'utf8'), isRecord)?.type;
  return dirname(folder) === folder ? undefined : typeAround(dirname(folder));
}
