/** Counts which hints of a lesson were shown. */
import { lessonHistory } from './lesson-history.js';
import { readHistory } from './history.js';
import { readProgress, updateProgress } from './progress.js';
import { hasUnreportedError } from './save-errors.js';

/** @typedef {import('../../lessons/catalog.js').Lesson} Lesson @typedef {import('./progress.js').Io} Io */

/** @typedef {{ name: string, shown: string[], of: number }} ShownHints  name: `Task 2`, or '' once the lesson has passed */

/**
 * The shown hints of the task that the last check left open; before any check, of the first task.
 * @param {Lesson} lesson @param {Io} io @returns {ShownHints}
 */
export function shownHints(lesson, io) {
  const { task } = lessonHistory(readHistory(io), lesson.key);
  if (task === null) return { name: '', shown: [], of: 0 };
  const open = lesson.hints.find((one) => one.task >= (task ?? 0)) ?? lesson.hints[0];
  const count = hasUnreportedError(io)
    ? open.hints.length // without a count that can be saved, show all
    : (readProgress(io).hints[counterOf(lesson, open)] ?? 0);
  return { name: open.name, shown: open.hints.slice(0, count), of: open.hints.length };
}

/** Counts one more hint as shown, unless the lesson has passed. @param {Lesson} lesson @param {Io} io @returns {ShownHints} */
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

/** @param {Lesson} lesson @param {Io} io @returns {number}  hints of the lesson that were not shown */
export function countHintsLeft(lesson, io) {
  const { hints: counts } = readProgress(io);
  const left = lesson.hints.map((one) => one.hints.length - (counts[counterOf(lesson, one)] ?? 0));
  return left.reduce((sum, each) => sum + each, 0);
}

const counterOf = (/** @type {Lesson} */ { key }, /** @type {{ task: number }} */ { task }) =>
  `${key}/${task}`;
