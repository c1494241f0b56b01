/**
 * The right and wrong answers of a lesson: changes to the solution in a Markdown catalogue, and whole programs.
 * @typedef {{ file: string, hunks: import('./patch.js').Hunk[], whole?: string }} Patch  file: path from the solution's folder; whole:
 *   the whole new file, in place of hunks
 * @typedef {object} Answer
 * @property {string} name  in kebab-case
 * @property {boolean} isRight
 * @property {string[]} breaks  ids of promises; empty for a right answer
 * @property {string} why  why a person writes it, and what clients notice; Markdown
 * @property {string} [says]  words that the first message must contain
 * @property {Patch[]} [patches] @property {string} [place]  file or folder of a whole program
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import MarkdownIt from 'markdown-it';
import { readIfThere } from '../common/files.js';
import { UsageError } from '../common/usage-error.js';
import { filesBelow } from './catalog.js';
import { lessonPaths } from './lesson-paths.js';
import { parseHunks } from './patch.js';

export const KINDS = [
  { kind: 'wrong-answers', isRight: false },
  { kind: 'right-answers', isRight: true },
];
export const MAIN = 'server.js';
const SAYS = 'Says:';
export const howToWrite =
  'CONTRIBUTING.md shows how: a heading, "Breaks: `id`", why someone writes it, a ```diff.';

/**
 * @param {string} root @param {string} key @returns {Answer[]}  wrong ones first; of each kind the catalogue's before the programs
 * @throws {UsageError}  if the catalogue can't be parsed
 */
export function answersOf(root, key) {
  return KINDS.flatMap(({ kind, isRight }) => {
    const path = `${lessonPaths(key).checks}/${kind}`;
    const described = parseCatalogue(
      readIfThere(join(root, `${path}.md`)) ?? '',
      `${path}.md`,
      isRight,
    );
    const folder = join(root, path);
    const programs = existsSync(folder) ? readdirSync(folder).sort() : [];
    return [
      ...described,
      ...programs.map((name) => readProgram(join(folder, name), name, isRight)),
    ];
  });
}

function parseCatalogue(text, path, isRight) {
  /** @type {(Answer & { patches: Patch[] })[]} */
  const answers = [];
  const tokens = new MarkdownIt().parse(text, {});
  for (const [index, token] of tokens.entries()) {
    const inline = tokens[index + 1]?.content ?? '';
    const answer = answers[answers.length - 1];
    if (token.type === 'heading_open' && token.tag === 'h2')
      answers.push({ name: inline, isRight, breaks: [], why: '', patches: [] });
    else if (!answer) continue;
    else if (token.type === 'paragraph_open' && inline.startsWith('Breaks:'))
      answer.breaks = [...inline.matchAll(/`([^`]+)`/g)].map(([, id]) => id);
    else if (token.type === 'paragraph_open' && inline.startsWith(SAYS))
      answer.says = inline.slice(SAYS.length).trim();
    else if (token.type === 'paragraph_open') answer.why += `${answer.why && '\n\n'}${inline}`;
    else if (token.type === 'fence') answer.patches.push(readFence(token));
  }
  for (const answer of answers) assertWhole(answer, path);
  return answers;
}

/** @returns {Patch} */
function readFence(/** @type {import('markdown-it').Token} */ { info, content }) {
  const [language, file = MAIN] = info.trim().split(/\s+/);
  if (language === 'diff') return { file, hunks: parseHunks(content) };
  return { file, hunks: [], whole: content };
}

/** @param {Answer} options @param {string} path */
function assertWhole({ name, isRight, breaks, why, patches = [] }, path) {
  const faults = [
    [!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name), 'has a name that is not words in kebab-case'],
    [!isRight && breaks.length === 0, 'names no promise that it breaks'],
    [why === '', 'does not say why someone writes it'],
    [patches.length === 0, 'shows no change'],
  ];
  const fault = faults.find(([isSo]) => isSo);
  if (fault) throw new UsageError(`"${name}" in ${path} ${fault[1]}.`, howToWrite);
}

/** The first line of a program says what it accepts or breaks. @returns {Answer} */
function readProgram(place, file, isRight) {
  const first = firstLine(place);
  const [, word, text = ''] = /^\/\/ (accepts|breaks): (.+)$/.exec(first) ?? [];
  const wanted = isRight ? 'accepts' : 'breaks';
  if (word !== wanted) {
    const mend = `Begin it with a comment: // ${wanted}: ${isRight ? 'what it shows' : 'ids of promises'}`;
    throw new UsageError(`${file} begins with "${first}".`, mend);
  }
  const name = file.replace(/\.\w+$/, '');
  return {
    name,
    isRight,
    breaks: isRight ? [] : text.split(/, */),
    why: isRight ? text : '',
    place,
  };
}

function firstLine(/** @type {string} */ place) {
  const files = filesBelow(place);
  const main = files.find((file) => /^server\.c?js$/.test(file)) ?? files[0];
  return readFileSync(main ? join(place, main) : place, 'utf8').split('\n', 1)[0];
}
