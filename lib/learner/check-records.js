/**
 * What is told of a check, promise by promise: plain objects, as they are sent to a page.
 *
 * @typedef {object} Told  one promise, as the page shows it
 * @property {string} id
 * @property {number} [task]  the number that its task has in the text
 * @property {string} sentence
 * @property {import('../verdict/outcome.js').Verdict | 'waiting' | 'held'} verdict  waiting: not judged as yet, or not this
 *   time; held: the same, and it held when it was judged last
 * @property {string} [expected]
 * @property {string} [got]
 * @property {string} [why]
 * @property {string} [try]
 * @property {string} [output]
 * @property {{ program: number, moments: import('../verdict/outcome.js').Moment[] }} [shows]
 * @property {number[]} [programs]  those that were started for it
 * @property {boolean} [isAgain]  it failed when it was judged before, too: what to try is told at once
 *
 * @typedef {object} Known  of a lesson, before it is checked
 * @property {{ key: string, number: number, title: string }} lesson
 * @property {Record<string, string>} promises  id → sentence
 * @property {import('../lessons/tasks.js').Task[]} [tasks]
 * @property {Record<string, string>} [before]  the verdict on each promise when it was judged last
 *
 * @typedef {Record<string, any> & { at: string, promises: import('../verdict/outcome.js').PromiseRecord[] }} Kept  a verdict
 *   from elsewhere: of an earlier npm start, or of another terminal; at: when it was over, ISO 8601
 */
import { taskHeading } from '../verdict/other-promises.js';
import { outputLines } from '../verdict/program-output.js';
import { countsInWords } from '../verdict/tally.js';
import { allVisible, cut } from '../verdict/visible.js';

const MOST_MOMENTS = 12;
const MOST_PRINTED = 40; // lines
const LONGEST_WORDS = 120; // some of them may be the program's

/** A lesson's promises, none of them judged. @param {Known} known */
export function blank({ lesson: { key, number, title }, promises, tasks = [], before = {} }) {
  const headed = tasks.map((task) => ({ ...task, heading: taskHeading(task) }));
  const taskOf = (/** @type {string} */ id) => tasks.find((task) => task.promises.includes(id));
  return {
    lesson: { key, number, title },
    tasks: headed,
    promises: Object.entries(promises).map(([id, sentence]) => ({
      ...{ id, task: taskOf(id)?.number, sentence },
      verdict: before[id] === 'passed' ? 'held' : 'waiting',
      isAgain: before[id] === 'failed',
    })),
  };
}

/**
 * A verdict from elsewhere, on the promises that the lesson has today.
 * @param {Known} known
 * @param {Kept} kept
 * @param {string} [root]  is left out of paths
 */
export function keptCheck(known, kept, root) {
  const { promises, heldBefore = [], ...told } = allVisible(kept);
  const before = Object.fromEntries(heldBefore.map((/** @type {string} */ id) => [id, 'passed']));
  const own = blank({ ...known, before });
  const judged = new Map(promises.map((one) => [one.id, recordOf(one, [], root)]));
  const all = own.promises.map((one) => judged.get(one.id) ?? one);
  return withoutPrograms({ ...told, ...own, promises: all, isOver: true, isKept: true });
}

/** The programs of an older check are gone, and what points at them. */
export const withoutPrograms = (/** @type {any} */ check) => ({
  ...check,
  promises: check.promises.map((one) => ({ ...one, shows: undefined, programs: undefined })),
});

/** How far a lesson is, as the terminal says it. @param {Pick<Told, 'verdict'>[]} promises */
export function inWords(promises) {
  const count = (/** @type {string[]} */ ...wanted) =>
    promises.filter(({ verdict }) => wanted.includes(verdict)).length;
  return countsInWords({
    ...{ held: count('passed', 'held'), failed: count('failed') },
    ...{ undecided: count('inconclusive'), toCome: count('waiting', 'skipped') },
  });
}

/**
 * A promise as the page shows it: made visible, and not too long.
 * @param {import('../verdict/outcome.js').PromiseRecord} promise
 * @param {number[]} programs  the numbers of those that were started for it
 * @param {string} [root]  is left out of paths
 */
export function recordOf(promise, programs, root) {
  const record = { ...allVisible(promise), programs };
  if (record.got) record.got = cut(record.got);
  if (record.output)
    record.output = outputLines(record.output, { most: MOST_PRINTED, root }).join('\n');
  if (record.shows) record.shows.moments = record.shows.moments.slice(0, MOST_MOMENTS).map(short);
  return record;
}

const short = (moment) => ({ ...moment, says: moment.says.slice(0, LONGEST_WORDS) });
