/** The hints of a lesson: of the task that is open, one more each time. */
import { lastTime } from './last-time.js';
import { readHistory, readProgress, updateProgress } from './progress.js';
import { isUnkept } from './save-errors.js';

/** @typedef {import('../lessons/catalog.js').Lesson} Lesson */
/** @typedef {import('./progress.js').Io} Io */

/**
 * @typedef {object} Hinted
 * @property {string} name  of the task, as in `Task 2`; empty where the last check has passed
 * @property {string[]} shown  so far
 * @property {number} of  how many there are for this task
 */

/**
 * What was shown of the task that the last check left open; before the first check of the first.
 * @param {Lesson} lesson
 * @param {Io} io
 * @returns {Hinted}
 */
export function hinted(lesson, io) {
  const { task } = lastTime(readHistory(io), lesson.key);
  if (task === null) return { name: '', shown: [], of: 0 };
  const open = lesson.hints.find((one) => one.task >= (task ?? 0)) ?? lesson.hints[0];
  const count = isUnkept(io)
    ? open.hints.length // all, if they cannot be counted
    : (readProgress(io).hints[placeOf(lesson, open)] ?? 0);
  return { name: open.name, shown: open.hints.slice(0, count), of: open.hints.length };
}

/**
 * Shows one more. Where the last check has passed there is none, and none is counted.
 * @param {Lesson} lesson
 * @param {Io} io
 * @returns {Hinted}
 */
export function hintMore(lesson, io) {
  const { name, of } = hinted(lesson, io);
  const open = lesson.hints.find((one) => one.name === name);
  updateProgress(io, (progress) => {
    progress.lastLesson = lesson.key;
    if (!open) return;
    const place = placeOf(lesson, open);
    progress.hints[place] = Math.min((progress.hints[place] ?? 0) + 1, of);
  });
  return hinted(lesson, io);
}

/** How many hints of a lesson were not shown. @param {Lesson} lesson @param {Io} io */
export function hintsLeft(lesson, io) {
  const { hints: counts } = readProgress(io);
  const left = lesson.hints.map((one) => one.hints.length - (counts[placeOf(lesson, one)] ?? 0));
  return left.reduce((sum, each) => sum + each, 0);
}

/** How a task's count is named in what is kept. */
const placeOf = (/** @type {Lesson} */ { key }, /** @type {{ task: number }} */ { task }) =>
  `${key}/${task}`;
