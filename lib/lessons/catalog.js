import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { hasCode } from '../common/files.js';
import { parseLessonYml } from './lesson-yml.js';
import { parseHints } from './hints.js';
import { lessonPaths } from './lesson-paths.js';
import { nearest, quoted } from '../common/nearest.js';
import { UsageError } from '../common/usage-error.js';

/**
 * @typedef {import('./lesson-yml.js').LessonYml & LessonParts} Lesson
 * @typedef {{ key: string, number: number, slug: string, hints: import('./hints.js').HintsOfTask[],
 *   needs: import('./lesson-yml.js').Tool[], text: string, folder: string }} LessonParts  key: `NN-slug`, which names the lesson's
 *   folders; hints: in the order of the tasks; text: Markdown; folder: absolute path of the learner's
 */

export { rootFolder } from '../common/paths.js';

export const keyPattern = /^(\d{2})-([a-z0-9]+(?:-[a-z0-9]+)*)$/;

const downloadAgain = 'Run the command in the folder of the workshop, or download it again.';

/** @param {string} root @returns {string[]}  in order @throws {UsageError}  without a lessons folder */
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

/** The deck's chapters: the lessons', and those before and after them. @param {string} root @returns {string[]}  in order */
export function chapterKeys(root) {
  const folder = join(root, 'slides');
  return existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => existsSync(join(root, lessonPaths(name).slides)))
        .sort()
    : [];
}

/** @param {string} root @returns {Lesson[]}  at least one, in order @throws {UsageError}  if there is none, or one is invalid */
export function listLessons(root) {
  const lessons = lessonKeys(root).map((key) => readLesson(root, key));
  if (lessons.length) return lessons;
  throw new UsageError(`There is no lesson in ${join(root, 'lessons')}.`, downloadAgain);
}

/** @param {string} root @param {string} key @returns {Lesson} @throws {UsageError}  if its text, lesson.yml or hints.md is invalid */
export function readLesson(root, key) {
  const { text, about, hints } = lessonPaths(key);
  const read = (/** @type {string} */ file) => readPart(root, file);
  const [, number, slug] = /** @type {RegExpExecArray} */ (keyPattern.exec(key));
  const { needs = [], ...values } = parseLessonYml(read(about), about);
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
 * Finds a lesson by `lesson-3`, `lesson3`, `3`, `03`, `03-slug` or `slug`, in any case.
 * @param {Lesson[]} lessons @param {string} name @returns {Lesson} @throws {UsageError}  with the nearest name and all lessons
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

/** The files that a learner writes. @param {string} root @param {string} key @returns {string[]}  sorted, with forward slashes */
export function lessonFiles(root, key) {
  return filesBelow(join(root, 'solutions', key));
}

/** Without node_modules and dot files. @param {string} folder @returns {string[]}  sorted, with forward slashes; empty without a folder */
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
