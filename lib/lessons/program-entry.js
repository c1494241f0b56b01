import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { displayPath, rootFolder } from '../common/paths.js';
import { lessonPaths } from './lesson-paths.js';
import { Broken } from '../verdict/outcome.js';

const MOST_NAMES = 5; // of files, in a message
const ENTRIES = ['server.js', 'server.cjs', 'server.mjs'];

/** The folder with the lesson's unedited starter. @param {string} key  NN-slug @param {string} [root]  the folder that holds the rooms */
export function starterFolder(key, root = rootFolder) {
  return join(root, lessonPaths(key).starter);
}

/**
 * The program to judge. @param {string} [root]  the folder that holds the rooms, for paths in messages
 * @param {string} place  absolute path of a program, or of a folder with a server.js (.cjs, .mjs)
 * @returns {string}  absolute path @throws {Broken}  when there is none, or it is empty
 */
export function findEntry(place, root = rootFolder) {
  const stats = statSync(place, { throwIfNoEntry: false });
  if (!stats) {
    throw new Broken({
      got: `There is no ${displayPath(place, root)}.`,
      why: 'The check starts it. npm run reset brings the starter back.',
    });
  }
  if (stats.isFile()) return readable(place, root);
  const found = ENTRIES.map((name) => join(place, name)).find((file) => existsSync(file));
  if (found) return readable(found, root);
  const others = readdirSync(place).filter((name) => /\.[cm]?js$/.test(name));
  const has = others.length > 0 ? `; it has ${others.slice(0, MOST_NAMES).join(', ')}` : '';
  throw new Broken({
    expected: 'a file server.js',
    got: `There is no server.js in ${displayPath(place, root)}${has}.`,
    why:
      others.length === 1
        ? `The check starts server.js: rename ${others[0]}.`
        : 'The check starts server.js: save your program under that name. npm run reset brings the starter back.',
  });
}

function readable(file, root) {
  const name = displayPath(file, root);
  if (!statSync(file).isFile())
    throw new Broken({ expected: 'a file', got: `${name} isn't a file; perhaps it is a folder.` });
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch (/** @type {any} */ error) {
    throw new Broken({
      got: `${name} cannot be read (${error.code}).`,
      why: `The check reads what it starts: chmod u+r ${name} lets it.`,
    });
  }
  if (text.trim() !== '') return file;
  throw new Broken({
    got: `${name} is empty.`,
    why: 'Nothing in it starts. npm run reset brings the starter back.',
  });
}
