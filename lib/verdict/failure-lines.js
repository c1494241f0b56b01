/** What fails, explained at the end of a verdict: what its program printed, the first failure opened up, a line for each other. */
import { otherFailureLines } from './other-promises.js';
import { outputLines } from './program-output.js';
import { openPromises } from './tally.js';
import { FIELD_LINES, promiseDetails } from './terminal.js';

const ROOM = 26; // lines of a verdict that fails: in a window of 30 it stands whole, with a line or two around it
const AROUND = 5; // blank lines, a heading, the summary, what next
const FEWEST_OF_PART = 2; // of what was expected, of what came, ...
const MOST_PRINTED = 12;
const FEWEST_PRINTED = 4;

/**
 * @param {import('../check/run-check.js').CheckResult} result @param {object} options
 * @param {boolean} options.isTold  what to try, too
 * @param {number} options.used  lines above it
 * @param {string} options.root  folder that is left out of paths
 * @param {number} options.columns @param {import('./style.js').Style} options.style
 * @returns {string[]}  each part ends with an empty line; none where nothing fails
 */
export function failureLines(result, { isTold, used, root, columns, style }) {
  const [first, ...others] = openPromises(result);
  if (!first) return [];
  const also = otherFailureLines(others, result, style, columns);
  const room = ROOM - used - also.length - AROUND;
  let most = FIELD_LINES;
  const open = () => promiseDetails(first, { isTold, most }, style, columns);
  while (most > FEWEST_OF_PART && open().length > room - FEWEST_PRINTED) most -= 1;
  const story = open();
  const lines = Math.min(MOST_PRINTED, Math.max(FEWEST_PRINTED, room - story.length));
  const printed = outputLines(first.output ?? result.output, { most: lines, root });
  const shown = printed.map((line) => `    ${within(line, columns - 4)}`);
  const head = `  ${style.dim('Your program printed:')}`;
  return [...(shown.length > 0 ? [head, ...shown, ''] : []), ...story, ...also, ''];
}

const within = (/** @type {string} */ line, /** @type {number} */ columns) =>
  line.length > columns ? `${line.slice(0, columns - 1)}…` : line;
