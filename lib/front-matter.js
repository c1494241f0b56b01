import { parse } from 'yaml';
import { toolNames } from './tools.js';
import { UsageError } from './usage-error.js';

const isText = (/** @type {unknown} */ value) => typeof value === 'string' && value.trim() !== '';
const isTextList = (/** @type {unknown} */ value) =>
  Array.isArray(value) && value.length > 0 && value.every(isText);

const isTool = (/** @type {any} */ value) => toolNames.includes(value);

/** @type {Record<string, [test: (value: any) => boolean, mustBe: string]>} */
const fields = {
  title: [isText, 'a text'],
  minutes: [(value) => Number.isFinite(value) && value > 0, 'a number of minutes, such as 30'],
  goal: [isText, 'a text'],
  concepts: [isTextList, 'a list of texts'],
  hints: [(value) => isTextList(value) && value.length === 3, 'a list of exactly three texts'],
  starterFails: [isTextList, 'a list of promise ids'],
  needs: [
    (value) => value === undefined || (isTextList(value) && value.every(isTool)),
    `left out, or a list of ${toolNames.join(', ')}`,
  ],
};

const howToMend =
  'Mend it between the first two "---" lines; a text with a colon needs quotes around it.';

/**
 * @typedef {object} FrontMatter
 * @property {string} title
 * @property {number} minutes how long the lesson takes
 * @property {string} goal
 * @property {string[]} concepts
 * @property {string[]} hints three, from a nudge to nearly the answer
 * @property {string[]} starterFails ids of the promises that the untouched starter breaks
 * @property {import('./tools.js').Tool[]} [needs] what has to be installed for it, beside `npm ci`
 */

/**
 * Parses a lesson's README.md: YAML between two `---` lines, then Markdown.
 *
 * @param {string} source with LF or CRLF
 * @param {string} file its name, for messages
 * @returns {{ values: FrontMatter, text: string }} `text` is the Markdown; unknown fields are left out
 * @throws {UsageError} that names the file, every field that is wrong, and what to do
 */
export function parseFrontMatter(source, file) {
  const { values: given, text } = splitFrontMatter(source, file);
  const names = Object.keys(fields);
  const wrong = names.filter((name) => !fields[name][0](given[name]));
  const values = Object.fromEntries(names.map((name) => [name, given[name]]));
  if (wrong.length === 0) return { values: /** @type {any} */ (values), text };
  const rules = wrong.map((name) => `${name} must be ${fields[name][1]}`).join('; ');
  throw new UsageError(`The front matter of ${file} is not right: ${rules}.`, howToMend);
}

/**
 * Parses the front matter of any Markdown file, without asking what is in it.
 *
 * @param {string} source with LF or CRLF
 * @param {string} file its name, for messages
 * @returns {{ values: Record<string, any>, text: string }}
 * @throws {UsageError} that names the file
 */
export function splitFrontMatter(source, file) {
  const [yaml, text] = split(source, file);
  return { values: parseYaml(yaml, file), text };
}

/** @returns {[yaml: string, text: string]} */
function split(/** @type {string} */ source, /** @type {string} */ file) {
  const match = /^\uFEFF?---\r?\n([^]*?\r?\n)??---[ \t]*(?:\r?\n([^]*))?$/.exec(source);
  if (match) return [match[1] ?? '', match[2] ?? ''];
  throw new UsageError(
    `${file} has no front matter.`,
    `Begin the file with a line "---", then ${Object.keys(fields).join(', ')}, then a line "---".`,
  );
}

function parseYaml(/** @type {string} */ yaml, /** @type {string} */ file) {
  try {
    return parse(yaml, { logLevel: 'error' }) ?? {};
  } catch (/** @type {any} */ error) {
    const [reason] = error.message.split('\n');
    throw new UsageError(`The front matter of ${file} is not YAML: ${reason}`, howToMend);
  }
}
