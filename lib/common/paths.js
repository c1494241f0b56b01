import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds the rooms: lessons, solutions, checks, slides. */
export const rootFolder = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

/** A path as a person at the root would write it. @param {string} file  absolute path @param {string} [root]  holds the rooms */
export function displayPath(file, root = rootFolder) {
  const name = relative(root, file);
  return name.startsWith('..') ? file : name;
}
