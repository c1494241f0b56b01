/**
 * The right and wrong answers of a lesson: those that its catalogue tells as small changes to the solution, and those that
 * are programs of their own.
 *
 * @typedef {import('./patch.js').Hunk} Hunk
 *
 * @typedef {object} Patch  what is different in one file
 * @property {string} file  path from the solution's folder
 * @property {Hunk[]} hunks
 * @property {string} [whole]  the file as it is now, in place of hunks
 *
 * @typedef {object} Answer
 * @property {string} name  in kebab-case
 * @property {boolean} isRight
 * @property {string[]} breaks  ids of the promises; none for a right one
 * @property {string} why  why somebody writes it, and what it does to clients; Markdown
 * @property {string} [says]  words of the message that a learner reads first: they name the mistake
 * @property {Patch[]} [patches]  what is different from the solution
 * @property {string} [place]  the file or folder, if it is a program of its own
 *
 * @typedef {Pick<Answer, 'name' | 'place' | 'patches'> & { isRight?: boolean }} AnswerSource
 */
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { structuredPatch } from 'diff';
import MarkdownIt from 'markdown-it';
import { readIfThere } from '../common/files.js';
import { UsageError } from '../common/usage-error.js';
import { filesBelow, rootFolder } from './catalog.js';
import { applyHunks, parseHunks } from './patch.js';
import { lessonPaths } from './lesson-paths.js';
import { promiseIds } from './promise-ids.js';

/** @typedef {import('./compare-rooms.js').Problem} Problem */

const KINDS = [
  { kind: 'wrong-answers', isRight: false },
  { kind: 'right-answers', isRight: true },
];
const MAIN = 'server.js';
const SAYS = 'Says:';
const CONTEXT = 2; // lines around a change, where it is shown
const REGION = /^[ \t]*\/\/ ?#(end)?region\b.*\n?/gm;
const howToWrite =
  'CONTRIBUTING.md shows how: a heading, "Breaks: `id`", why somebody writes it, a ```diff.';

/**
 * @param {string} root @param {string} key
 * @returns {Answer[]}  in the order of the documents, wrong ones first; after those of each kind its programs, by name
 * @throws {UsageError}  that says what is wrong with the catalogue
 */
export function answersOf(root, key) {
  return KINDS.flatMap(({ kind, isRight }) => {
    const path = `${lessonPaths(key).checks}/${kind}`;
    const told = parseCatalogue(readIfThere(join(root, `${path}.md`)) ?? '', `${path}.md`, isRight);
    const folder = join(root, path);
    const programs = existsSync(folder) ? readdirSync(folder).sort() : [];
    return [...told, ...programs.map((name) => readProgram(join(folder, name), name, isRight))];
  });
}

/** @param {string} text @param {string} path @param {boolean} isRight @returns {Answer[]} */
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
    [why === '', 'does not say why somebody writes it'],
    [patches.length === 0, 'shows no change'],
  ];
  const fault = faults.find(([isSo]) => isSo);
  if (fault) throw new UsageError(`"${name}" in ${path} ${fault[1]}.`, howToWrite);
}

/**
 * A program of its own says in its first line what it is for.
 * @param {string} place @param {string} file @param {boolean} isRight @returns {Answer}
 */
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

/** Of the file, or of the server in a folder of files. */
function firstLine(/** @type {string} */ place) {
  const files = filesBelow(place);
  const main = files.find((file) => /^server\.c?js$/.test(file)) ?? files[0];
  return readFileSync(main ? join(place, main) : place, 'utf8').split('\n', 1)[0];
}

/**
 * Makes the program that an answer is.
 * @param {string} root @param {string} key @param {AnswerSource} answer
 * @param {string} [home]  where such folders are kept
 * @returns {string}  the file or folder to judge; a folder that is made anew when the answer is told as a change
 * @throws {UsageError}  when it no longer fits the solution: where, and where it nearly does
 */
export function makeAnswer(root, key, answer, home = join(root, '.forkshop')) {
  if (answer.place) return answer.place;
  const solution = join(root, lessonPaths(key).solution);
  const kind = answer.isRight ? 'right' : 'wrong';
  const folder = join(home, 'answers', key, `${kind}-${answer.name}`);
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
 * The program of a wrong answer of this repository, for what shows its fault.
 * @param {string} key @param {string} name
 * @returns {string}  absolute path of its server.js
 */
export function wrongAnswer(key, name) {
  const found = answersOf(rootFolder, key).find((one) => !one.isRight && one.name === name);
  if (!found) throw new Error(`Lesson ${key} has no wrong answer ${name}.`);
  const place = makeAnswer(rootFolder, key, found);
  return /\.c?js$/.test(place) ? place : join(place, MAIN);
}

/**
 * What an answer changes, with some lines around it, as a unified diff has them.
 * @param {string} root @param {string} key @param {Pick<Answer, 'name' | 'patches'>} answer
 * @returns {{ file: string, hunks: { line: number, lines: string[] }[] }[]}  line: where it begins in the solution, its region
 *   markers taken out
 */
export function changesOf(root, key, answer) {
  const solution = join(root, lessonPaths(key).solution);
  return Object.entries(applyPatches(solution, answer)).map(([file, text]) => {
    const before = readSolution(solution, file) ?? '';
    const { hunks } = structuredPatch(file, file, before, text, '', '', { context: CONTEXT });
    return { file, hunks: hunks.map(({ oldStart, lines }) => ({ line: oldStart, lines })) };
  });
}

const readSolution = (/** @type {string} */ solution, /** @type {string} */ file) =>
  readIfThere(join(solution, file))?.replaceAll('\r\n', '\n').replace(REGION, '');

/**
 * The files that an answer changes, as they are in it. Region markers of the solution are taken out: no change cares.
 * @param {string} solution  the folder
 * @param {Pick<Answer, 'name' | 'patches'>} answer
 * @returns {Record<string, string>}  path → text
 * @throws {UsageError}  when it doesn't fit
 */
export function applyPatches(solution, { name, patches = [] }) {
  /** @type {Record<string, string>} */
  const texts = {};
  for (const { file, hunks, whole } of patches) {
    const source = texts[file] ?? readSolution(solution, file);
    if (whole !== undefined) texts[file] = whole;
    else if (source === undefined)
      throw new UsageError(`"${name}" changes ${file}, which does not exist.`, howToWrite);
    else {
      const result = applyHunks(source, hunks);
      if ('fault' in result) {
        const near = result.near ? `What is there: ${result.near}` : howToWrite;
        throw new UsageError(`"${name}" doesn't fit ${file}: ${result.fault}`, near);
      }
      texts[file] = result.text;
    }
  }
  return texts;
}

/**
 * Looks at the right and wrong answers of a lesson: are there both, do they name promises that the check has, and does each
 * still fit the solution?
 * @param {string} root @param {string} key
 * @returns {Generator<Problem>}
 * @throws {UsageError}  when the catalogue cannot be read
 */
export function* answerProblems(root, key) {
  const { checks, solution } = lessonPaths(key);
  const answers = answersOf(root, key);
  const known = promiseIds(root, key);
  for (const { kind, isRight } of KINDS) {
    const where = `${checks}/${kind}.md`;
    const mine = answers.filter((answer) => answer.isRight === isRight);
    if (mine.length === 0) yield { where, problem: 'There is no answer in it.', mend: howToWrite };
    for (const [index, { name, breaks }] of mine.entries()) {
      const unknown = breaks.find((id) => !known.has(id));
      if (unknown) {
        const problem = `"${name}" breaks "${unknown}", which ${checks}/check.js does not hold.`;
        yield { where, problem, mend: 'Name a promise of the check by its id.' };
      }
      if (mine.findIndex((one) => one.name === name) !== index)
        yield { where, problem: `"${name}" is there twice.`, mend: 'Rename one.' };
    }
    for (const answer of mine) {
      const misfit = misfitOf(join(root, solution), answer);
      if (misfit) yield { where, problem: misfit.message, mend: misfit.hint };
    }
  }
}

/** @returns {UsageError | undefined} */
function misfitOf(/** @type {string} */ solution, /** @type {Answer} */ answer) {
  try {
    applyPatches(solution, answer);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error;
  }
}
