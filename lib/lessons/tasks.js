/**
 * The tasks of a lesson: numbered in its text, and in its check with their promises.
 * @typedef {{ number: number, name: string, title: string, promises: string[] }} Task  number: of several tasks with common promises, the
 *   last; name: 'task 2', or 'tasks 1 and 2' if the first one can be judged only with the second; title: the text's heading, '' for
 *   several tasks; promises: ids, in the order of judging
 */
import { join } from 'node:path';
import { readIfThere } from '../common/files.js';
import { lessonPaths } from './lesson-paths.js';

/** @typedef {import('./compare-rooms.js').Problem} Problem */

const GROUP = /^ {2,4}(\d+): \{/gm; // in a check's file
const HEADING = /^###[ \t]+Task[ \t]+(\d+):[ \t]*(\S.*?)[ \t]*\r?$/gm;

/** @returns {Map<number, string>}  number → title */
const titlesIn = (text) =>
  new Map([...text.matchAll(HEADING)].map(([, number, title]) => [Number(number), title]));

/** @param {Record<string, number>} taskOf  id of a promise → its task @param {string} text  of the lesson, Markdown @returns {Task[]} */
export function tasksOf(taskOf, text) {
  const titles = titlesIn(text);
  const numbers = [...new Set(Object.values(taskOf))];
  return numbers.map((number, index) => {
    const first = (numbers[index - 1] ?? 0) + 1;
    const title = first === number ? (titles.get(number) ?? '') : '';
    const promises = Object.keys(taskOf).filter((id) => taskOf[id] === number);
    return { number, name: nameOf(first, number), title, promises };
  });
}

function nameOf(first, last) {
  if (first === last) return `task ${last}`;
  return `tasks ${first} ${last - first === 1 ? 'and' : 'to'} ${last}`;
}

/**
 * Do the check's groups of promises and the hints match the tasks of the text? @returns {Generator<Problem>}
 * @param {string} root @param {Pick<import('./catalog.js').Lesson, 'key' | 'text' | 'hints'>} lesson
 */
export function* taskProblems(root, { key, text, hints }) {
  const places = lessonPaths(key);
  const { check: where } = places;
  const source = readIfThere(join(root, where));
  if (source === undefined) return; // partProblems() reports that
  const groups = [...source.matchAll(GROUP)].map(([, number]) => Number(number));
  const titles = titlesIn(text);
  const strange = groups.find((each) => !titles.has(each));
  if (strange !== undefined) {
    const problem = `It has promises of task ${strange}, which ${places.text} does not have.`;
    yield { where, problem, mend: 'Number the groups of its promises as the text does.' };
    return;
  }
  const last = Math.max(0, ...titles.keys());
  if (!groups.includes(last)) {
    const problem = `It has no promise of the text's last task, which is ${last}.`;
    yield { where, problem, mend: `Group its promises by task: { ${last}: { ... } }.` };
  }
  const hinted = hints.map(({ task }) => task);
  if (String(hinted) === String(groups)) return;
  const problem = `It has hints for the tasks ${hinted.join(', ')}, and the check has promises of ${groups.join(', ')}.`;
  yield { where: places.hints, problem, mend: 'Give each group of promises its hints.' };
}
