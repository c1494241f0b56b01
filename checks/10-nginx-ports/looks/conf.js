/** What nginx was told: the learner's configuration, read as nginx reads it. */
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const LARGEST = 64 * 1024;
/** A comment, a text in quotes, a mark, or a word, which may have a variable such as ${name} in it. */
const TOKENS = /#[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[{};]|(?:\$\{\w+\}|[^\s{};])+/g;

/**
 * @typedef {object} Directive
 * @property {string} name
 * @property {string[]} args
 * @property {string} block  the names of the blocks that it is in, such as 'http server'; none at the top
 */

/**
 * The configuration among a program's temporary files.
 * @param {Pick<import('../../../lib/observe/program.js').Program, 'temporary'>} program
 * @returns {{ file: string, directives: Directive[] } | undefined}  undefined when it is not there (any more), or takes in
 *   other files
 */
export function configurationOf({ temporary }) {
  if (!temporary) return undefined;
  for (const name of readdirSync(temporary, { recursive: true })) {
    const file = join(temporary, `${name}`);
    const directives = directivesOf(readSmall(file));
    if (directives.some(({ block }) => block === 'http'))
      return directives.some((one) => one.name === 'include') ? undefined : { file, directives };
  }
  return undefined;
}

/** @returns {Directive[]} */
function directivesOf(/** @type {string} */ text) {
  /** @type {string[]} */
  const blocks = [];
  /** @type {string[]} */
  let words = [];
  const found = [];
  for (const [token] of text.matchAll(TOKENS)) {
    if (token.startsWith('#')) continue;
    if (token === ';') {
      const [name = '', ...args] = words;
      found.push({ name, args, block: blocks.join(' ') });
    } else if (token === '{') blocks.push(words[0] ?? '');
    else if (token === '}') blocks.pop();
    if (/^[{};]$/.test(token)) words = [];
    else words.push(/^["']/.test(token) ? token.slice(1, -1) : token);
  }
  return found;
}

/** A text file; nothing if it is large, not a file, or gone. */
function readSmall(/** @type {string} */ file) {
  const info = statSync(file, { throwIfNoEntry: false });
  return info?.isFile() && info.size <= LARGEST ? readFileSync(file, 'utf8') : '';
}
