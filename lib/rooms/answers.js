/**
 * The right and wrong answers of a lesson: those that its catalogue tells as changes to the solution, and those that are
 * programs of their own.
 *
 * @typedef {import('./patch.js').Patch} Patch
 *
 * @typedef {object} Answer
 * @property {string} name
 * @property {boolean} isRight
 * @property {string[]} breaks  ids of the promises; none for a right one
 * @property {string} why  why somebody writes it, and what it does; Markdown
 * @property {Patch[]} [patches]  what is different from the solution
 * @property {string} [place]  the file or folder, if it is a program of its own
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import MarkdownIt from 'markdown-it';
import { filesBelow } from '../catalog.js';
import { readIfThere } from '../files.js';
import { UsageError } from '../usage-error.js';
import { applyHunks, parseHunks } from './patch.js';

const CATALOGUES = { 'wrong-answers.md': false, 'right-answers.md': true };
const MAIN = 'server.js';
const REGION = /^\s*\/\/ ?#(end)?region\b.*\n?/gm;
const howToWrite =
  'Write it as CONTRIBUTING.md shows: a heading, "Breaks: `id`", some sentences, a ```diff.';

/**
 * @param {string} root
 * @param {string} key
 * @returns {Answer[]}  in the order of the documents, then by name
 * @throws {UsageError}  that says what is wrong with the catalogue
 */
export function answersOf(root, key) {
  const room = join(root, 'checks/submissions', key);
  const told = Object.entries(CATALOGUES).flatMap(([file, isRight]) => {
    const text = readIfThere(join(room, file));
    return text === undefined
      ? []
      : parseCatalogue(text, `checks/submissions/${key}/${file}`, isRight);
  });
  const programs = existsSync(room) ? readdirSync(room).sort() : []; // files, then folders, which take longer to copy
  return [
    ...told,
    ...programs.filter((name) => !(name in CATALOGUES)).map((name) => readProgram(room, name)),
  ];
}

/** @returns {Answer[]} */
function parseCatalogue(
  /** @type {string} */ text,
  /** @type {string} */ path,
  /** @type {boolean} */ isRight,
) {
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
      answer.breaks = inline.match(/[a-z0-9]+(?:-[a-z0-9]+)*/g)?.slice(1) ?? [];
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

function assertWhole(
  /** @type {Answer} */ { name, isRight, breaks, why, patches = [] },
  /** @type {string} */ path,
) {
  const faults = [
    [!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name), 'has a name that is not words in kebab-case'],
    [!isRight && breaks.length === 0, 'names no promise that it breaks'],
    [why === '', 'does not say why somebody writes it'],
    [patches.length === 0, 'shows no change'],
  ];
  const fault = faults.find(([isSo]) => isSo);
  if (fault) throw new UsageError(`"${name}" in ${path} ${fault[1]}.`, howToWrite);
}

/** A program of its own says in its first line what it is for. @returns {Answer} */
function readProgram(/** @type {string} */ room, /** @type {string} */ name) {
  const place = join(room, name);
  const [, kind, text = ''] = /^\/\/ (accepts|breaks): (.+)$/m.exec(firstLine(place)) ?? [];
  const isRight = kind === 'accepts';
  if (!kind || !name.startsWith(isRight ? 'accept-' : 'reject-'))
    throw new UsageError(
      `${place} begins with "${firstLine(place)}".`,
      'Begin it with: // accepts: what it shows',
    );
  return {
    name,
    isRight,
    breaks: isRight ? [] : text.split(/, */),
    why: isRight ? text : '',
    place,
  };
}

function firstLine(/** @type {string} */ place) {
  const main = filesBelow(place).find((file) => /^server\.c?js$/.test(file));
  return readFileSync(main ? join(place, main) : place, 'utf8').split('\n', 1)[0];
}

/**
 * Makes the program that an answer is.
 *
 * @param {string} root
 * @param {string} key
 * @param {Pick<Answer, 'name' | 'place' | 'patches'>} answer
 * @returns {string}  the file or folder to judge; a folder that is made anew when the answer is told as a change
 * @throws {UsageError}  when it no longer fits the solution: where, and where it nearly does
 */
export function makeAnswer(root, key, answer) {
  if (answer.place) return answer.place;
  const solution = join(root, 'solutions', key);
  const folder = join(root, '.forkshop/answers', key, answer.name);
  const texts = applyPatches(solution, answer);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  cpSync(solution, folder, { recursive: true });
  for (const [file, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return folder;
}

/**
 * The files that an answer changes, as they are in it. Region markers of the solution are taken out: no change cares.
 *
 * @param {string} solution  the folder
 * @param {Pick<Answer, 'name' | 'patches'>} answer
 * @returns {Record<string, string>}  path → text
 * @throws {UsageError}  when it doesn't fit
 */
export function applyPatches(solution, { name, patches = [] }) {
  /** @type {Record<string, string>} */
  const texts = {};
  for (const { file, hunks, whole } of patches) {
    const source = texts[file] ?? readIfThere(join(solution, file))?.replace(REGION, '');
    if (whole !== undefined) texts[file] = whole;
    else if (source === undefined)
      throw new UsageError(`"${name}" changes ${file}, which is not there.`, howToWrite);
    else {
      const result = applyHunks(source, hunks);
      if ('fault' in result) {
        const near = result.near ? `Nearest is ${result.near}` : howToWrite;
        throw new UsageError(`"${name}" doesn't fit ${file}: ${result.fault}`, near);
      }
      texts[file] = result.text;
    }
  }
  return texts;
}
