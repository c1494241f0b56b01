/** @typedef {import('../lessons/catalog.js').Lesson} Lesson */
/** @typedef {import('./progress.js').Progress} Progress */

/**
 * Tells which lesson the learner last worked on; at the beginning, the first one.
 *
 * @param {Lesson[]} lessons
 * @param {Progress} progress
 * @returns {Lesson}
 */
export function currentLesson(lessons, progress) {
  return lessons.find(({ key }) => key === progress.lastLesson) ?? lessons[0];
}

/**
 * Tells which lesson the learner should work on: the current one until it has passed, then the
 * next after it that has not; when all have passed, the current one.
 *
 * @param {Lesson[]} lessons
 * @param {Progress} progress
 * @returns {Lesson}
 */
export function nextLesson(lessons, progress) {
  const current = currentLesson(lessons, progress);
  const here = lessons.indexOf(current);
  const inOrder = [...lessons.slice(here), ...lessons.slice(0, here)];
  return inOrder.find(({ key }) => !progress.passed[key]) ?? current;
}
