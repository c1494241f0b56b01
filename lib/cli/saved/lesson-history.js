/**
 * Summarizes the earlier checks of one lesson.
 * @typedef {import('../../verdict/outcome.js').Verdict} Verdict
 * @typedef {object} LessonHistory
 * @property {string[]} failed  and have not held since
 * @property {Record<string, Verdict>} verdicts  the last one on each promise
 * @property {number | null} [task]  the first open one; null: all had passed; undefined: never checked
 * @property {Record<string, number>} measured  the last values, by name
 */

/** @type {LessonHistory} */
export const noHistory = { failed: [], task: undefined, verdicts: {}, measured: {} };

/** @param {Record<string, any>[]} history  of all lessons, oldest first @param {string} key @returns {LessonHistory} */
export function lessonHistory(history, key) {
  const checks = history.filter(({ lesson }) => lesson === key);
  const measurements = checks.findLast((one) => one.measurements?.length > 0)?.measurements ?? [];
  return {
    failed: checks.at(-1)?.failed ?? [],
    task: checks.at(-1)?.task,
    verdicts: Object.assign({}, ...checks.map(({ verdicts }) => verdicts)),
    measured: Object.fromEntries(measurements.map(({ name, value }) => [name, value])),
  };
}

/**
 * The promises to judge first next time: current failures, and earlier failures that were not judged again.
 * @param {LessonHistory} before @param {Record<string, Verdict>} now  by promise
 */
export function stillFailing(before, now) {
  const failing = Object.keys(now).filter((id) => now[id] === 'failed');
  const open = before.failed.filter((id) => now[id] === undefined || now[id] === 'skipped');
  return [...failing, ...open];
}

const MOST_EARLIER = 8;

/**
 * The headline numbers of a lesson's latest checks, so that the effect of each change shows.
 * @param {Record<string, any>[]} history @param {string} key @returns {{ value: number, low?: number, high?: number }[]}  in order
 */
export function earlierHeadlines(history, key) {
  const headlines = history
    .filter(({ lesson }) => lesson === key)
    .flatMap(({ measurements = [] }) => measurements.filter(({ isHeadline }) => isHeadline));
  return headlines.slice(-MOST_EARLIER).map(({ value, low, high }) => ({ value, low, high }));
}
