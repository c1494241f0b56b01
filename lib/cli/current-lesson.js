/** @typedef {import('../lessons/catalog.js').Lesson} Lesson @typedef {import('./saved/progress.js').Progress} Progress */

/** The lesson that was last worked on, or lesson 1. @param {Lesson[]} lessons @param {Progress} progress @returns {Lesson} */
export function recentLesson(lessons, progress) {
  return lessons.find(({ key }) => key === progress.lastLesson) ?? lessons[0];
}

/**
 * The recent lesson until it has passed, then the next that hasn't, from the end round to lesson 1; the recent one if all have.
 * @param {Lesson[]} lessons @param {Progress} progress @returns {Lesson}
 */
export function lessonToDo(lessons, progress) {
  const recent = recentLesson(lessons, progress);
  const here = lessons.indexOf(recent);
  const inOrder = [...lessons.slice(here), ...lessons.slice(0, here)];
  return inOrder.find(({ key }) => !progress.passed[key]) ?? recent;
}
