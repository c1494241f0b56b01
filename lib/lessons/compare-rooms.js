import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { keyPattern, lessonFiles, lessonKeys } from './catalog.js';
import { brokenLinks, documentPaths, refreshDocument } from './documents.js';
import { UsageError } from '../common/usage-error.js';
import { partProblems, aboutProblems, regionProblems } from './part-problems.js';
import { answerProblems } from './answer-problems.js';
import { lessonPaths } from './lesson-paths.js';

/** @typedef {{ where: string, problem: string, mend: string }} Problem  where: path from the root; mend: what to do */

const ROOMS = ['lessons', 'solutions', 'checks', 'slides'];
const EXTRA_CHAPTERS = ['00-opening', '99-closing'];

/** Compares the parts of all lessons. @param {string} root @returns {Promise<Problem[]>} */
export async function compareRooms(root) {
  const keys = lessonKeys(root);
  const problems = [...judge('lessons', () => orphanProblems(root, keys))];
  for (const key of keys) {
    problems.push(...judge(lessonPaths(key).about, () => aboutProblems(root, key)));
    problems.push(...judge(lessonPaths(key).check, () => partProblems(root, key)));
    problems.push(...judge(lessonPaths(key).checks, () => answerProblems(root, key)));
    for (const file of lessonFiles(root, key)) {
      const starter = `${lessonPaths(key).starter}/${file}`;
      problems.push(...judge(starter, () => regionProblems(root, key, file)));
    }
  }
  for (const path of documentPaths(root)) {
    problems.push(...judge(path, () => quoteProblems(root, path)));
    if (!path.startsWith('slides/')) problems.push(...(await linkProblems(root, path)));
  }
  return problems;
}

/** Reports what a broken file throws as one more problem. */
function judge(/** @type {string} */ where, /** @type {() => Iterable<Problem>} */ compare) {
  try {
    return [...compare()];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [{ where, problem: error.message, mend: error.hint }];
  }
}

/** A root without lessons, numbers used twice, and folders that belong to no lesson. */
function* orphanProblems(/** @type {string} */ root, /** @type {string[]} */ keys) {
  if (keys.length === 0) {
    const problem = 'There are no lessons, so there is nothing to compare.';
    yield { where: 'lessons', problem, mend: 'Start one: npm run new 01-slug "Title"' };
  }
  for (const [index, key] of keys.entries()) {
    if (!index || key.slice(0, 2) !== keys[index - 1].slice(0, 2)) continue;
    const problem = `The number ${key.slice(0, 2)} is used twice: ${keys[index - 1]}, ${key}.`;
    yield {
      where: `lessons/${key}`,
      problem,
      mend: 'Give one of them another number, in every room.',
    };
  }
  for (const room of ROOMS) {
    const known = [...keys, ...(room === 'slides' ? EXTRA_CHAPTERS : [])];
    for (const name of foldersIn(root, room).filter((folder) => !known.includes(folder))) {
      const problem = `"${name}" belongs to no lesson.`;
      const mend = keyPattern.test(name)
        ? `Write lessons/${name}/README.md, or remove it.`
        : 'Name it NN-slug, such as 03-scheduling-policies, or remove it.';
      yield { where: room, problem, mend };
    }
  }
}

function foldersIn(/** @type {string} */ root, /** @type {string} */ room) {
  if (!existsSync(join(root, room))) return [];
  const entries = readdirSync(join(root, room), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function* quoteProblems(/** @type {string} */ root, /** @type {string} */ path) {
  for (const { file, region, start } of refreshDocument(root, path).stale) {
    const problem = `The quote of ${file}${region ? `#${region}` : ''} on line ${start} is stale.`;
    yield { where: path, problem, mend: 'Refresh it: npm run sync' };
  }
}

async function linkProblems(/** @type {string} */ root, /** @type {string} */ path) {
  const links = await brokenLinks(root, path);
  const mend = 'Write the path from the folder of this file, or remove the link.';
  return links.map((link) => ({
    where: path,
    problem: `The link ${link} leads to nothing.`,
    mend,
  }));
}
