/** What is judged: the learner's file, or another that stands in for it. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { rootFolder } from './catalog.js';
import { Broken } from './verdict/outcome.js';

/** The folder that holds the rooms; the command line says which when it is not ours. */
const root = process.env.FORKSHOP_ROOT || rootFolder;

const ENTRIES = ['server.js', 'server.cjs', 'server.mjs'];

/**
 * The folder with the files to judge: the learner's own, unless FORKSHOP_SUBJECT names others.
 * @param {string} key  NN-slug
 */
export function subjectFolder(key) {
  return process.env.FORKSHOP_SUBJECT || join(root, 'lessons', key);
}

/**
 * The folder with the lesson's starter as it was.
 * @param {string} key  NN-slug
 */
export function starterFolder(key) {
  return join(root, 'checks/starters', key);
}

/**
 * The program in a place: the file itself, or the folder's server.js (or .cjs, .mjs).
 * @param {string} place  absolute path
 * @returns {string}  absolute path
 * @throws {Broken}  when there is none, or nothing in it
 */
export function entryOf(place) {
  const stats = statSync(place, { throwIfNoEntry: false });
  if (!stats) {
    throw new Broken({
      got: `There is no ${nameOf(place)}.`,
      try: 'npm run reset, which brings the starter back',
    });
  }
  if (stats.isFile()) return readable(place);
  const found = ENTRIES.map((name) => join(place, name)).find((file) => existsSync(file));
  if (found) return readable(found);
  throw new Broken({
    expected: 'a file server.js',
    got: `There is no server.js in ${nameOf(place)}.`,
    try: "copy the lesson's whole folder, then edit the copy",
  });
}

function readable(file) {
  const name = nameOf(file);
  if (!statSync(file).isFile())
    throw new Broken({ expected: 'a file', got: `${name} is no file; perhaps a folder.` });
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch (/** @type {any} */ error) {
    throw new Broken({ got: `${name} cannot be read (${error.code}).`, try: `chmod u+r ${name}` });
  }
  if (text.trim() !== '') return file;
  throw new Broken({
    got: `${name} is empty.`,
    try: 'npm run reset, which brings the starter back',
  });
}

/**
 * A path as a person at the root of the repository would write it.
 * @param {string} file  absolute path
 */
export function nameOf(file) {
  const name = relative(root, file);
  return name.startsWith('..') ? file : name;
}
