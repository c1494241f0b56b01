/** "Spot the fault": a slide shows a change to the solution, the class votes, and Run has it judged. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../common/usage-error.js';
import { changesOf, makeAnswer } from '../lessons/answer-programs.js';
import { answersOf } from '../lessons/answers.js';
import { chapterKeys } from '../lessons/catalog.js';
import { lessonPaths } from '../lessons/lesson-paths.js';
import { Undecided } from '../verdict/outcome.js';
import { escapeHtml, widthClassOf } from '../web/code.js';

/** @typedef {import('../lessons/answers.js').Answer} Answer */

const FENCE = /^```spot[ \t]+(\S+)/gm;

/**
 * The change that a block `spot name` shows.
 * @param {string} root  @param {string} key  of the lesson  @param {string} name  of its answer, which must be a change
 * @returns {{ demo: string, figures: { file: string, html: string, width: string }[] }}  demo: its name; a figure for each file
 * @throws {UsageError}  if there is no such answer, or it doesn't fit the solution
 */
export function readSpot(root, key, name) {
  const answer = findAnswer(root, key, name);
  const figures = changesOf(root, key, answer).map(({ file, hunks }) => {
    const parts = hunks.map((hunk) => outdented(withoutBlankEnds(hunk.lines)));
    const html = parts.map((lines) => lines.map(lineOf).join('\n')).join('\n<i>⋮</i>\n');
    return { file, html, width: widthClassOf(parts.flat()) };
  });
  return { demo: demoName(key, name), figures };
}

/** Lines without a word, such as `}`, say nothing around a change. */
function withoutBlankEnds(/** @type {string[]} */ lines) {
  const tells = (/** @type {string} */ line) => /\w/.test(line);
  return lines.slice(lines.findIndex(tells), lines.findLastIndex(tells) + 1);
}

/** Removes their common indent, which follows the sign. */
function outdented(/** @type {string[]} */ lines) {
  const depths = lines.filter((line) => line.trim()).map((line) => line.slice(1).search(/\S/));
  const least = Math.min(...depths);
  return lines.map((line) => line[0] + line.slice(1 + least));
}

const COLUMNS = 52; // of a wall
const KINDS = { '+': 'added', '-': 'removed' };
/** Cuts a long line of context, and wraps a changed one. */
function lineOf(/** @type {string} */ line) {
  const kind = KINDS[line[0]];
  const isCut = !kind && line.length > COLUMNS;
  const rows = kind ? fold(line) : [isCut ? `${line.slice(0, COLUMNS - 1)}…` : line];
  return rows.map((row) => `<span class="line ${kind ?? ''}">${escapeHtml(row)}</span>`).join('\n');
}

/** Wraps after the last separator that fits. @param {string} line  @returns {string[]} */
function fold(line) {
  if (line.length <= COLUMNS) return [line];
  const indent = line.slice(1).search(/\S/) + 4;
  const ends = [...line.matchAll(/(?<=[,;|&>]) /g)].map(({ index }) => index);
  const at = ends.findLast((end) => end > indent && end <= COLUMNS);
  if (at === undefined) return [line];
  return [line.slice(0, at), ...fold(`${line[0]}${' '.repeat(indent)}${line.slice(at + 1)}`)];
}

/** The name of the demo that judges a lesson's answer. */
export const demoName = (/** @type {string} */ key, /** @type {string} */ name) =>
  `spot-${Number(key.slice(0, 2))}-${name}`;

/** They judge the changes on slides. @param {string} root  @returns {(import('./perform-demo.js').Demo & { key: string })[]} */
export function spotDemos(root) {
  return chapterKeys(root).flatMap((key) => {
    const text = readFileSync(join(root, lessonPaths(key).slides), 'utf8');
    return [...text.matchAll(FENCE)].map(([, name]) => ({
      key,
      name: demoName(key, name),
      title: 'Which promise does it break?',
      perform: (stage) => judgeIt({ root, key, name }, stage),
    }));
  });
}

async function judgeIt(
  { root, key, name },
  /** @type {import('./perform-demo.js').Stage} */ stage,
) {
  const answer = findAnswer(root, key, name);
  stage.say('It is started, and judged as yours would be.');
  const place = makeAnswer(root, key, answer);
  const { promises, verdict } = await stage.judge(key, place, answer.breaks);
  const failed = promises.find((one) => one.verdict === 'failed');
  const undecided = promises.find((one) => one.verdict === 'inconclusive');
  if (failed) return stage.say(`It breaks “${failed.sentence}”. ${failed.got}`);
  if (verdict === 'passed') return stage.say(`It is right: all ${promises.length} promises hold.`);
  throw new Undecided({
    got: `It could not be judged here and now. ${undecided?.got ?? ''}`.trim(),
    why: undecided?.why ?? 'Not every promise that it may break has been judged.',
    try: 'run it again, or play the recording',
  });
}

/** @returns {Answer} */
function findAnswer(
  /** @type {string} */ root,
  /** @type {string} */ key,
  /** @type {string} */ name,
) {
  const answer = answersOf(root, key).find((one) => one.name === name && one.patches);
  if (answer) return answer;
  throw new UsageError(
    `Lesson ${key} has no answer "${name}" that is described as a change.`,
    `${lessonPaths(key).checks}/wrong-answers.md has them.`,
  );
}
