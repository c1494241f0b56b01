/** @typedef {import('../lessons/catalog.js').Lesson} Lesson @typedef {import('./saved/progress.js').Progress} Progress */

/** The lesson that was last worked on, at first lesson 1. @param {Lesson[]} lessons @param {Progress} progress @returns {Lesson} */
export function currentLesson(lessons, progress) {
  return lessons.find(({ key }) => key === progress.lastLesson) ?? lessons[0];
}

/**
 * The lesson to work on: the current one until it has passed, then the next that hasn't; the current one if all have passed.
 * @param {Lesson[]} lessons @param {Progress} progress @returns {Lesson}
 */
export function nextLesson(lessons, progress) {
  const current = currentLesson(lessons, progress);
  const here = lessons.indexOf(current);
  const inOrder = [...lessons.slice(here), ...lessons.slice(0, here)];
  return inOrder.find(({ key }) => !progress.passed[key]) ?? current;
}
