/**
 * Check files, loaded. A file that the command line loads only says what it defines; one that is run on its own, with
 * `node --test`, becomes a test.
 *
 * @typedef {import('./session.js').Definition} Definition
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { placesOf } from '../lessons/places.js';
import { runUnderNodeTest } from './node-test.js';

/** @type {Map<string, Definition | undefined>} by file */
const loaded = new Map();
/** @type {((definition: Definition) => void) | undefined} */
let take;

/** The file with the check of a lesson. */
export const checkFile = (/** @type {string} */ root, /** @type {string} */ key) =>
  join(root, placesOf(key).check);

/** @type {Promise<unknown>} */
let loading = Promise.resolve();

/**
 * Loads a check file, once; of several one after the other, since a file that is loaded does not say which it is.
 * @param {string} file  absolute path
 * @returns {Promise<Definition>}
 * @throws {Error}  when the file defines no check
 */
export function loadCheck(file) {
  const mine = loading.then(() => load(file));
  loading = mine.catch(() => {}); // whoever asked for it is told
  return mine;
}

async function load(/** @type {string} */ file) {
  if (!loaded.has(file)) {
    take = (definition) => loaded.set(file, definition);
    await import(pathToFileURL(file).href).finally(() => (take = undefined));
  }
  const definition = loaded.get(file);
  if (!definition) throw new Error(`${file} declares no check.`);
  return definition;
}

/** What a check file calls, through lib/check/checking.js. */
export function register(/** @type {Definition} */ definition) {
  (take ?? runUnderNodeTest)(definition);
}
