import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { hasCode } from '../common/files.js';
import { parseAbout } from './about.js';
import { parseHints } from './hints.js';
import { placesOf } from './places.js';
import { nearest, quoted } from '../common/nearest.js';
import { UsageError } from '../common/usage-error.js';

/**
 * @typedef {object} Lesson
 * @property {string} key `NN-slug`, the name that ties all parts of a lesson
 * @property {number} number
 * @property {string} slug
 * @property {string} title
 * @property {number} minutes how long the lesson takes
 * @property {string} goal
 * @property {string[]} concepts
 * @property {import('./hints.js').HintsOfTask[]} hints for each task, in order
 * @property {string[]} starterFails ids of the promises that the untouched starter breaks
 * @property {'ms' | 's' | 'times'} [predicts] the unit of the number that the text asks its reader to predict
 * @property {import('./about.js').Tool[]} needs what has to be installed for it, beside `npm ci`
 * @property {string} text Markdown
 * @property {string} folder absolute path of the folder that the learner works in
 */

export { rootFolder } from '../common/paths.js';

/** What a lesson's key looks like: two digits, then words in kebab-case. */
export const keyPattern = /^(\d{2})-([a-z0-9]+(?:-[a-z0-9]+)*)$/;

const downloadAgain = 'Run the command in the folder of the workshop, or download it again.';

/**
 * Lists the keys of all lessons under `root`, in order: the folders of lessons/ that are named
 * like one.
 *
 * @param {string} root
 * @returns {string[]}
 * @throws {UsageError} when there is no lessons folder
 */
export function lessonKeys(root) {
  try {
    return readdirSync(join(root, 'lessons'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && keyPattern.test(entry.name))
      .map((entry) => entry.name)
      .sort();
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error;
    throw new UsageError(`${root} has no folder named lessons.`, downloadAgain);
  }
}

/**
 * Lists the keys of the deck's chapters, in order: those of the lessons, and of what comes before and after them.
 *
 * @param {string} root
 * @returns {string[]} empty when there are no slides
 */
export function chapterKeys(root) {
  const folder = join(root, 'slides');
  return existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => existsSync(join(root, placesOf(name).slides)))
        .sort()
    : [];
}

/**
 * Lists all lessons under `root`, in order, as their lesson.yml describes them.
 *
 * @param {string} root
 * @returns {Lesson[]} at least one
 * @throws {UsageError} when there is none, or when a lesson's lesson.yml or hints are broken
 */
export function listLessons(root) {
  const lessons = lessonKeys(root).map((key) => readLesson(root, key));
  if (lessons.length) return lessons;
  throw new UsageError(`There is no lesson in ${join(root, 'lessons')}.`, downloadAgain);
}

/**
 * Reads one lesson.
 *
 * @param {string} root
 * @param {string} key
 * @returns {Lesson}
 * @throws {UsageError} when its text, its lesson.yml or its hints are missing or broken
 */
export function readLesson(root, key) {
  const { text, about, hints } = placesOf(key);
  const read = (/** @type {string} */ file) => readPart(root, file);
  const [, number, slug] = /** @type {RegExpExecArray} */ (keyPattern.exec(key));
  const { needs = [], ...values } = parseAbout(read(about), about);
  return {
    ...values,
    ...{ needs, key, number: Number(number), slug },
    hints: parseHints(read(hints), hints),
    text: read(text),
    folder: join(resolve(root), 'lessons', key),
  };
}

function readPart(/** @type {string} */ root, /** @type {string} */ file) {
  try {
    return readFileSync(join(root, file), 'utf8');
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    throw new UsageError(`${file} is missing.`, 'Write it, or remove the lesson.');
  }
}

/**
 * Finds the lesson that is meant by `lesson-3`, `lesson3`, `3`, `03`, `03-slug` or `slug`, in upper or
 * lower case.
 *
 * @param {Lesson[]} lessons
 * @param {string} name
 * @returns {Lesson}
 * @throws {UsageError} with the nearest right name and the list of what exists
 */
export function findLesson(lessons, name) {
  const wanted = name.trim().toLowerCase();
  const number = /^(?:lesson[- ]?)?0*(\d{1,3})$/.exec(wanted)?.[1];
  const found = lessons.find((lesson) =>
    number ? lesson.number === Number(number) : [lesson.key, lesson.slug].includes(wanted),
  );
  if (found) return found;
  const known = lessons.map((lesson) => `lesson-${lesson.number}, ${lesson.key}`);
  const names = lessons.flatMap(({ number, key, slug }) => [`lesson-${number}`, slug, key]);
  const guess = nearest(wanted, names);
  throw new UsageError(
    `There is no lesson named ${quoted(name)}.`,
    `${guess ? `Did you mean ${guess}? ` : ''}The lessons are:\n  ${known.join('\n  ')}`,
  );
}

/**
 * Lists the files that a learner writes in one lesson: the files of its solution, wherever they
 * lie below it. Build output (names that begin with a dot) and node_modules do not count.
 *
 * @param {string} root
 * @param {string} key
 * @returns {string[]} relative paths with forward slashes, sorted; empty when there is no solution
 */
export function lessonFiles(root, key) {
  return filesBelow(join(root, 'solutions', key));
}

/**
 * Lists the files below a folder, without node_modules and names that begin with a dot.
 *
 * @param {string} folder
 * @returns {string[]} relative paths with forward slashes, sorted; empty when there is no folder
 */
export function filesBelow(folder) {
  let entries;
  try {
    entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, sep).length))
    .map((file) => file.split(sep).join('/'))
    .filter((file) => !/(^|\/)(\.|node_modules\/)/.test(file))
    .sort();
}
