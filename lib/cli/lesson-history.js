/**
 * What the history knows about a lesson: pure functions over its entries.
 *
 * @typedef {import('../verdict/outcome.js').Verdict} Verdict
 * @typedef {object} LessonHistory
 * @property {string[]} failed  the promises that have failed and have not held since
 * @property {Record<string, Verdict>} verdicts  of each promise, when it was judged last
 * @property {number | null} [task]  the first that was open then; null when all had passed; undefined before the first check
 * @property {Record<string, number>} measured  the values that were measured last, by name
 */

/** @type {LessonHistory} */
export const noHistory = { failed: [], task: undefined, verdicts: {}, measured: {} };

/**
 * @param {Record<string, any>[]} history  oldest first
 * @param {string} key  the lesson's
 * @returns {LessonHistory}
 */
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
 * The promises to begin with next time: what fails now, and what failed before and was not judged again.
 * @param {LessonHistory} before
 * @param {Record<string, Verdict>} now  of the promises that were judged
 */
export function stillFailing(before, now) {
  const failing = Object.keys(now).filter((id) => now[id] === 'failed');
  const open = before.failed.filter((id) => now[id] === undefined || now[id] === 'skipped');
  return [...failing, ...open];
}
