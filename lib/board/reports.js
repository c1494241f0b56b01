/**
 * What a learner's machine reports to the board of a class.
 *
 * @typedef {import('./class-roster.js').Subject} Subject
 * @typedef {'reading' | 'checking' | 'passed' | 'failed' | 'inconclusive'} State
 *
 * @typedef {object} Report
 * @property {string} lesson  its key
 * @property {State} state
 * @property {string[]} failed  ids of promises
 * @property {string[]} kept  ids of promises that held when they were last judged
 * @property {boolean} hand  is it raised?
 * @property {number | null} [stood]  how many blows the program has stood, if the check strikes any
 */

export const BOARD_PORT = 4020;

/** The content of a Report, for the learner. @type {string} */
export const REPORT_IN_WORDS =
  'a chosen name, the lesson, how its check went, which promises hold or fail, how many blows it stood, a raised hand, votes';

const MOST_BLOWS = 999;
const STATES = ['reading', 'checking', 'passed', 'failed', 'inconclusive'];

/**
 * @param {any} body  a request's, parsed as JSON @param {Subject[]} lessons
 * @returns {Report | undefined}  undefined if it isn't a report, or its lesson isn't here
 */
export function parseReport(body, lessons) {
  const lesson = lessons.find(({ key }) => key === body?.lesson);
  const { state, failed, kept = [], hand, stood } = body ?? {};
  if (!lesson || !STATES.includes(state) || ![failed, kept].every(Array.isArray)) return undefined;
  const known = (/** @type {unknown[]} */ ids) =>
    Object.keys(lesson.promises).filter((id) => ids.includes(id));
  return {
    ...{ lesson: lesson.key, state, failed: known(failed), kept: known(kept) },
    hand: hand === true,
    stood: Number.isInteger(stood) && stood >= 0 && stood <= MOST_BLOWS ? stood : null,
  };
}
