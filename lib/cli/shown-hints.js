/** The hints of a lesson: of the task that is open, one more each time. */
import { lessonHistory } from './lesson-history.js';
import { readHistory, readProgress, updateProgress } from './progress.js';
import { hasUnreportedError } from './save-errors.js';

/** @typedef {import('../lessons/catalog.js').Lesson} Lesson */
/** @typedef {import('./progress.js').Io} Io */

/**
 * @typedef {object} ShownHints
 * @property {string} name  of the task, as in `Task 2`; empty where the last check has passed
 * @property {string[]} shown  so far
 * @property {number} of  how many there are for this task
 */

/**
 * What was shown of the task that the last check left open; before the first check of the first.
 * @param {Lesson} lesson
 * @param {Io} io
 * @returns {ShownHints}
 */
export function shownHints(lesson, io) {
  const { task } = lessonHistory(readHistory(io), lesson.key);
  if (task === null) return { name: '', shown: [], of: 0 };
  const open = lesson.hints.find((one) => one.task >= (task ?? 0)) ?? lesson.hints[0];
  const count = hasUnreportedError(io)
    ? open.hints.length // all, if they cannot be counted
    : (readProgress(io).hints[counterOf(lesson, open)] ?? 0);
  return { name: open.name, shown: open.hints.slice(0, count), of: open.hints.length };
}

/**
 * Shows one more. Where the last check has passed there is none, and none is counted.
 * @param {Lesson} lesson
 * @param {Io} io
 * @returns {ShownHints}
 */
export function showNextHint(lesson, io) {
  const { name, of } = shownHints(lesson, io);
  const open = lesson.hints.find((one) => one.name === name);
  updateProgress(io, (progress) => {
    progress.lastLesson = lesson.key;
    if (!open) return;
    const place = counterOf(lesson, open);
    progress.hints[place] = Math.min((progress.hints[place] ?? 0) + 1, of);
  });
  return shownHints(lesson, io);
}

/** How many hints of a lesson were not shown. @param {Lesson} lesson @param {Io} io */
export function countHintsLeft(lesson, io) {
  const { hints: counts } = readProgress(io);
  const left = lesson.hints.map((one) => one.hints.length - (counts[counterOf(lesson, one)] ?? 0));
  return left.reduce((sum, each) => sum + each, 0);
}

/** How a task's count is named in what is kept. */
const counterOf = (/** @type {Lesson} */ { key }, /** @type {{ task: number }} */ { task }) =>
  `${key}/${task}`;
