import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow } from '../catalog.js';
import { readIfThere } from '../files.js';

/** @typedef {import('./compare.js').Problem} Problem */

/**
 * Collects the ids of the promises in a lesson's check: the keys in kebab-case whose value is a text,
 * as in `'one-port': 'they share one port'`.
 *
 * @param {string} root
 * @param {string} key
 * @returns {Set<string>} empty when there is no check
 */
export function promiseIds(root, key) {
  const source = readIfThere(join(root, `checks/${key}.check.js`)) ?? '';
  const pairs = source.matchAll(/^[\s{]*(['"]?)([a-z0-9]+(?:-[a-z0-9]+)*)\1:\s*['"`]/gm);
  return new Set([...pairs].map((pair) => pair[2]));
}

/**
 * Looks at the right and wrong answers of a lesson: are there both, and does the first line of each
 * say what it is for? A wrong one must name the promises that it breaks.
 *
 * @param {string} root
 * @param {string} key
 * @returns {Generator<Problem>}
 */
export function* submissionProblems(root, key) {
  const room = `checks/submissions/${key}`;
  const folder = join(root, room);
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  const known = promiseIds(root, key);
  for (const kind of ['accept', 'reject']) {
    if (names.some((name) => name.startsWith(`${kind}-`))) continue;
    const mend = `Write ${room}/${kind}-why.js.`;
    yield { where: room, problem: `No file or folder is named ${kind}-*.`, mend };
  }
  for (const name of names) {
    const problem = submissionFault(folder, name, known);
    if (!problem) continue;
    const mend = 'Begin the file with a comment, as in: // breaks: ids-of-the-broken-promises';
    yield { where: `${room}/${name}`, problem, mend };
  }
}

function submissionFault(
  /** @type {string} */ folder,
  /** @type {string} */ name,
  /** @type {Set<string>} */ known,
) {
  const isNamed = /^(accept|reject)-/.test(name);
  if (!isNamed) return 'Its name begins neither with accept- nor with reject-.';
  const first = firstLine(join(folder, name));
  const isComment = /^\s*(\/\/|\/\*)/.test(first);
  if (!isComment) return 'Its first line is no comment that says what it is for.';
  const named = first.match(/[a-z0-9]+(?:-[a-z0-9]+)*/g) ?? [];
  if (name.startsWith('accept-') || named.some((id) => known.has(id))) return undefined;
  return 'Its first line names no promise of the check by its id.';
}

/**
 * Reads the first line of a submission: of the file, or of the server in a folder of files.
 *
 * @returns {string}
 */
function firstLine(/** @type {string} */ path) {
  if (!statSync(path).isDirectory()) return readFileSync(path, 'utf8').split('\n', 1)[0];
  const files = filesBelow(path);
  const main = files.find((file) => /^server\.c?js$/.test(file)) ?? files[0];
  return main ? firstLine(join(path, main)) : '';
}
