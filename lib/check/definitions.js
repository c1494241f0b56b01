/** The definitions of checks, loaded from their files. @typedef {import('./session.js').Definition} Definition */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { lessonPaths } from '../lessons/lesson-paths.js';

/** The path of a lesson's check. */
export const checkFile = (/** @type {string} */ root, /** @type {string} */ key) =>
  join(root, lessonPaths(key).check);

/**
 * Loads the definition that a check file exports. Node.js keeps the module, so a file is read once in a process.
 * @param {string} file  absolute path @returns {Promise<Definition>} @throws {Error}  when the file exports no check
 */
export async function loadCheck(file) {
  const { default: definition } = await import(pathToFileURL(file).href);
  if (definition?.declare) return definition;
  throw new Error(`${file} exports no check: it needs "export default check(...)".`);
}
