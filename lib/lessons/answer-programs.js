import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { structuredPatch } from 'diff';
import { readIfThere } from '../common/files.js';
import { UsageError } from '../common/usage-error.js';
import { MAIN, answersOf, howToWrite } from './answers.js';
import { rootFolder } from './catalog.js';
import { lessonPaths } from './lesson-paths.js';
import { applyHunks } from './patch.js';

/** @typedef {import('./answers.js').Answer} Answer */
/** @typedef {Pick<Answer, 'name' | 'place' | 'patches'> & { isRight?: boolean }} AnswerSource */

const CONTEXT = 2; // lines around a shown change
const REGION = /^[ \t]*\/\/ ?#(end)?region\b.*\n?/gm;

/**
 * Writes an answer's program, unless the answer is a program already. @throws {UsageError}  if it no longer fits the solution
 * @param {string} root @param {string} key @param {AnswerSource} answer @param {string} [home]  below which it is written
 * @returns {string}  the file or folder to judge
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

/** @param {string} key @param {string} name  of a wrong answer of this repository @returns {string}  absolute path of server.js */
export function wrongAnswer(key, name) {
  const found = answersOf(rootFolder, key).find((one) => !one.isRight && one.name === name);
  if (!found) throw new Error(`Lesson ${key} has no wrong answer ${name}.`);
  const place = makeAnswer(rootFolder, key, found);
  return /\.c?js$/.test(place) ? place : join(place, MAIN);
}

/**
 * An answer's changes, as in a unified diff. @param {string} root @param {string} key @param {Pick<Answer, 'name' | 'patches'>} answer
 * @returns {{ file: string, hunks: { line: number, lines: string[] }[] }[]}  line: in the solution without region markers
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
 * The changed files, without the solution's region markers. @param {string} solution  the folder
 * @param {Pick<Answer, 'name' | 'patches'>} answer @returns {Record<string, string>}  path → text @throws {UsageError}  if it doesn't fit
 */
export function applyPatches(solution, { name, patches = [] }) {
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
