/** @typedef {import('../check/run-check.js').CheckResult} Result @typedef {import('./style.js').Style} Style */

const MOST_OTHERS = 3;

/**
 * A line for each task with promises that were not judged: how many of them held before. @returns {string[]}
 * @param {Pick<Result, 'tasks' | 'promises' | 'of' | 'conditions'>} result @param {import('./tally.js').Tally} tally @param {Style} style
 */
export function unjudgedTaskLines({ tasks = [], promises, of, conditions }, { heldBefore }, style) {
  const judged = new Set(promises.map(({ id }) => id));
  const lines = tasks.flatMap((task) => {
    const left = task.promises.filter((id) => !judged.has(id));
    const held = left.filter((id) => heldBefore.includes(id)).length;
    if (left.length === 0) return [];
    const words = held === 1 ? '1 promise held before' : `${held} promises held before`;
    if (held === left.length)
      return [`  ${style.green(style.dim('✔'))} ${style.dim(`${headingBefore(task)} ${words}`)}`];
    const note = held > 0 ? ` (${words})` : '';
    return [`  ${style.dim(`· ${headingBefore(task)} not yet${note}`)}`];
  });
  if (!conditions?.overrunBy) return lines;
  const were = `${of - judged.size} of ${of} promises were not judged`;
  return [...lines, `  ${were}. ${conditions.overrunBy} programs want each core of this machine.`];
}

/** @param {Pick<import('../lessons/tasks.js').Task, 'name' | 'title'>} task */
export const taskHeading = ({ name, title }) =>
  `${name[0].toUpperCase()}${name.slice(1)}${title && `: ${title}`}`;

/** With a colon after it, unless the title ends with a question mark. */
const headingBefore = (/** @type {Parameters<typeof taskHeading>[0]} */ task) =>
  taskHeading(task).replace(/[^?!]$/, '$&:');

/**
 * A line for each failure that isn't explained in full. @param {import('./outcome.js').PromiseRecord[]} others
 * @param {Pick<Result, 'tasks'>} result @param {Style} style @param {number} columns @returns {string[]}
 */
export function otherFailureLines(others, { tasks = [] }, style, columns) {
  const order = tasks.flatMap(({ promises }) => promises);
  const signOf = (/** @type {import('./outcome.js').Verdict} */ verdict) =>
    verdict === 'failed' ? style.red('✖') : style.yellow('?');
  const lines = others.slice(0, MOST_OTHERS).map(({ id, verdict, got = '' }) => {
    const place = `[${order.indexOf(id) + 1}/${order.length}] `;
    const [line] = got.split('\n');
    const room = columns - place.length - 4;
    return `  ${signOf(verdict)} ${place}${line.length > room ? `${line.slice(0, room - 1)}…` : line}`;
  });
  const more = others.slice(MOST_OTHERS);
  return more.length > 0
    ? [...lines, `  ${signOf(more[0].verdict)} and ${more.length} more`]
    : lines;
}
