/** The end of a failed check: the program's output, the first failure in full, and a line for each other one. */
import { otherFailureLines } from './other-promises.js';
import { outputLines } from './program-output.js';
import { openPromises } from './tally.js';
import { FIELD_LINES, promiseDetails } from './terminal.js';

const MOST_LINES = 26; // of the whole verdict, so that it fits into a terminal of 30
const OTHER_LINES = 5; // of these: blank lines, a heading, the summary, the next command
const FEWEST_FIELD_LINES = 2;
const MOST_PRINTED = 12;
const FEWEST_PRINTED = 4;

/**
 * @param {import('../check/run-check.js').CheckResult} result @param {object} options
 * @param {boolean} options.isTold  include what to try @param {number} options.used  lines printed above
 * @param {string} options.root  folder to omit from paths @param {number} options.columns @param {import('./style.js').Style} options.style
 * @returns {string[]}  each part ends with an empty line; empty if nothing fails
 */
export function failureLines(result, { isTold, used, root, columns, style }) {
  const [first, ...others] = openPromises(result);
  if (!first) return [];
  const otherLines = otherFailureLines(others, result, style, columns);
  const room = MOST_LINES - used - otherLines.length - OTHER_LINES;
  const storyOf = (/** @type {number} */ fieldLines) =>
    promiseDetails(first, { isTold, most: fieldLines }, style, columns);
  const outputOf = (/** @type {number} */ most) =>
    outputLines(first.output ?? result.output, { most, root });
  const fewest = outputOf(FEWEST_PRINTED).length;
  let fieldLines = FIELD_LINES;
  while (fieldLines > FEWEST_FIELD_LINES && storyOf(fieldLines).length > room - fewest)
    fieldLines -= 1;
  const story = storyOf(fieldLines);
  const printed = outputOf(Math.min(MOST_PRINTED, Math.max(FEWEST_PRINTED, room - story.length)));
  const shown = printed.map((line) => `    ${within(line, columns - 4)}`);
  const head = `  ${style.dim('Your program printed:')}`;
  return [...(shown.length > 0 ? [head, ...shown, ''] : []), ...story, ...otherLines, ''];
}

const within = (/** @type {string} */ line, /** @type {number} */ columns) =>
  line.length > columns ? `${line.slice(0, columns - 1)}…` : line;
