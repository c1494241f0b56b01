import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, lessonFiles, readLesson } from './catalog.js';
import { withoutRegions } from './regions.js';
import { lessonPaths } from './lesson-paths.js';
import { promiseIds } from './promise-ids.js';
import { taskProblems } from './tasks.js';

/** @typedef {import('./compare-rooms.js').Problem} Problem */

/**
 * Does `starterFails` name promises of the check, and does a text with a prediction have its unit? @returns {Generator<Problem>}
 * @param {string} root @param {string} key @throws {UsageError}  if the text, lesson.yml or hints.md is missing or invalid
 */
export function* aboutProblems(root, key) {
  const lesson = readLesson(root, key);
  const { starterFails, text, predicts } = lesson;
  const known = promiseIds(root, key);
  for (const id of starterFails.filter((each) => !known.has(each))) {
    const where = lessonPaths(key).about;
    const problem = `starterFails names "${id}", which checks/${key}/check.js does not hold.`;
    yield { where, problem, mend: 'Name a promise of the check by its id.' };
  }
  yield* taskProblems(root, lesson);
  if (!text.includes('--predict') || predicts) return;
  const problem = 'The text asks for a prediction, and nothing says in which unit.';
  yield { where: lessonPaths(key).about, problem, mend: 'Add predicts: ms, s or times.' };
}

/** Missing parts, and starter files without a solution. @param {string} root @param {string} key @returns {Generator<Problem>} */
export function* partProblems(root, key) {
  const files = lessonFiles(root, key);
  if (files.length === 0) {
    const where = `solutions/${key}`;
    yield {
      where,
      problem: 'The lesson has no solution.',
      mend: 'Write the finished files there.',
    };
  }
  const { check, experiments, slides, starter } = lessonPaths(key);
  if (!existsSync(join(root, check))) {
    const where = check;
    yield { where, problem: 'The lesson has no check.', mend: 'Write its promises there.' };
  }
  const others = {
    [experiments]: ['no experiments', 'what its reader may doubt'],
    [slides]: ['no slides', 'its chapter of the deck'],
  };
  for (const [where, [what, content]] of Object.entries(others)) {
    if (existsSync(join(root, where))) continue;
    yield { where, problem: `The lesson has ${what}.`, mend: `Write ${content} there.` };
  }
  for (const file of files.filter((each) => !existsSync(join(root, 'lessons', key, each)))) {
    const where = `lessons/${key}/${file}`;
    const mend = `Put it back: npm run reset lesson-${Number(key.slice(0, 2))}`;
    yield { where, problem: 'The file is missing.', mend };
  }
  for (const file of filesBelow(join(root, starter))) {
    if (files.includes(file)) continue;
    const where = `${starter}/${file}`;
    yield {
      where,
      problem: `solutions/${key} has no such file.`,
      mend: 'Add it there, or remove it here.',
    };
  }
}

/**
 * Starter and solution may differ only inside regions. @param {string} root @param {string} key @param {string} file @throws {UsageError}
 */
export function* regionProblems(root, key, file) {
  const places = lessonPaths(key);
  const starter = `${places.starter}/${file}`;
  const solution = `${places.solution}/${file}`;
  if (!existsSync(join(root, starter))) {
    const mend = `Write lessons/${key}/${file}, then run: npm run sync -- --starters`;
    yield { where: starter, problem: 'The pristine copy of the starter is missing.', mend };
    return;
  }
  const difference = firstDifference(root, starter, solution);
  if (!difference) return;
  const problem = `Outside the regions it differs from ${solution}: ${difference}.`;
  const mend = `Make them the same, in lessons/${key}/${file} too, or move the difference into a region.`;
  yield { where: starter, problem, mend };
}

function firstDifference(root, starter, solution) {
  const [here, there] = [starter, solution].map((path) =>
    withoutRegions(readFileSync(join(root, path), 'utf8'), path).split('\n'),
  );
  const longer = here.length > there.length ? here : there;
  const index = longer.findIndex((_, each) => here[each] !== there[each]);
  const show = (/** @type {string | undefined} */ line) =>
    line === undefined ? 'the end of the file' : `"${line.trim()}"`;
  return index < 0 ? undefined : `${show(here[index])} here, ${show(there[index])} there`;
}
