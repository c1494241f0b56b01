/** What stands around the failure that is opened up: its task, the other tasks, and what else fails. */

/** @typedef {import('../check/run-check.js').CheckResult} Result */
/** @typedef {import('./style.js').Style} Style */

const MOST_OTHERS = 3;

/**
 * The tasks that were not judged whole, a line each: what held before, and what is to come.
 * @param {Pick<Result, 'tasks' | 'promises' | 'of' | 'conditions'>} result
 * @param {import('./tally.js').Tally} tally
 * @param {Style} style
 * @returns {string[]}
 */
export function aroundLines({ tasks = [], promises, of, conditions }, { heldBefore }, style) {
  const judged = new Set(promises.map(({ id }) => id));
  const lines = tasks.flatMap((task) => {
    const left = task.promises.filter((id) => !judged.has(id));
    const held = left.filter((id) => heldBefore.includes(id)).length;
    if (left.length === 0) return [];
    const words = held === 1 ? '1 promise held before' : `${held} promises held before`;
    if (held === left.length)
      return [`  ${style.green(style.dim('✔'))} ${style.dim(`${before(task)} ${words}`)}`];
    const note = held > 0 ? ` (${words})` : '';
    return [`  ${style.dim(`· ${before(task)} not yet${note}`)}`];
  });
  if (!conditions?.overrunBy) return lines;
  const were = `${of - judged.size} of ${of} promises were not judged`;
  return [...lines, `  ${were}. ${conditions.overrunBy} programs want each core of this machine.`];
}

/**
 * How a task is named above its promises.
 * @param {Pick<import('../lessons/tasks.js').Task, 'name' | 'title'>} task
 */
export const headingOf = ({ name, title }) =>
  `${name[0].toUpperCase()}${name.slice(1)}${title && `: ${title}`}`;

/** The same in front of what is said of it: a title that asks has its mark already. */
const before = (/** @type {Parameters<typeof headingOf>[0]} */ task) =>
  headingOf(task).replace(/[^?!]$/, '$&:');

/**
 * What else fails, or is undecided where nothing does, a line each.
 * @param {import('./outcome.js').PromiseRecord[]} others
 * @param {Pick<Result, 'tasks'>} result
 * @param {Style} style
 * @param {number} columns
 * @returns {string[]}
 */
export function alsoLines(others, { tasks = [] }, style, columns) {
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
