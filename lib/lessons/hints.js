import { UsageError } from '../common/usage-error.js';

/**
 * @typedef {{ task: number, name: string, hints: string[] }} HintsOfTask  task: its number; of several tasks, the last; name: `Task 2`,
 *   or `Tasks 1 and 2`; hints: three, from a nudge to nearly the answer, each in one line, or the lines of
 *   a block of code
 */

const EACH = 3;
const CODE = /^```\w*\n([^]*)\n```$/;
const NAME = /^Tasks? (?:\d+ (?:and|to) )?(\d+)$/;

/**
 * hints.md has a `##` heading for each task, and below it three `###` headings with a hint each.
 * @param {string} source @param {string} file  for messages @returns {HintsOfTask[]} @throws {UsageError}
 */
export function parseHints(source, file) {
  const all = sections(source.replaceAll('\r\n', '\n'), '##').map(([name, text]) => {
    const hints = sections(text, '###').map(([, hint]) => {
      const written = hint.trim();
      return CODE.exec(written)?.[1] ?? written.replaceAll(/\s*\n\s*/g, ' ');
    });
    return { task: Number(NAME.exec(name)?.[1]), name, hints };
  });
  const howToWrite = 'Write them as in: ## Task 1, and below it ### First, ### Second, ### Third';
  if (all.length === 0) throw new UsageError(`${file} has hints for no task.`, howToWrite);
  for (const { task, name, hints } of all) {
    const good = hints.filter((hint) => hint !== '').length;
    if (!task) throw new UsageError(`${file} has "${name}", which names no task.`, howToWrite);
    if (hints.length === EACH && good === EACH) continue;
    const problem = `${file} must have exactly three hints for ${name}; it has ${good}.`;
    throw new UsageError(problem, howToWrite);
  }
  return all;
}

/** @returns {[name: string, text: string][]}  the text below each heading of a level */
function sections(/** @type {string} */ source, /** @type {string} */ level) {
  const [, ...parts] = source.split(new RegExp(`^${level}[ \\t]+(.*)$`, 'm'));
  return parts.flatMap((name, index) =>
    index % 2 === 0 ? [/** @type {[string, string]} */ ([name.trim(), parts[index + 1]])] : [],
  );
}
