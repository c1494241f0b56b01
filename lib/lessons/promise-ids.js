import { join } from 'node:path';
import { readIfThere } from '../common/files.js';
import { lessonPaths } from './lesson-paths.js';

/** Keys of a check's source, as in `'one-port': '...'`. @param {string} root @param {string} key @returns {Set<string>} */
export function promiseIds(root, key) {
  const source = readIfThere(join(root, lessonPaths(key).check)) ?? '';
  const pairs = source.matchAll(/^[\s{]*(['"]?)([a-z0-9]+(?:-[a-z0-9]+)*)\1:\s*['"`]/gm);
  return new Set([...pairs].map((pair) => pair[2]));
}
