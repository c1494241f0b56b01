/**
 * The plain objects that the page gets of a check, promise by promise.
 *
 * @typedef {{ id: string, task?: number, sentence: string, verdict: import('../verdict/outcome.js').Verdict | 'waiting' | 'held',
 *   shows?: { program: number, moments: import('../verdict/outcome.js').Moment[] }, programs?: number[], isAgain?: boolean } &
 *   Partial<Record<'expected' | 'got' | 'why' | 'try' | 'output', string>>} PromiseView  a promise, as the page shows it; waiting:
 *   not judged yet, or not this time; held: the same, and it held when last judged; programs: started for it; isAgain: it
 *   failed the last time as well, so the page shows at once what to try
 *
 * @typedef {object} Known  a lesson, before its check
 * @property {{ key: string, number: number, title: string }} lesson
 * @property {Record<string, string>} promises  id → sentence
 * @property {import('../lessons/tasks.js').Task[]} [tasks]
 * @property {Record<string, string>} [before]  the last verdict on each promise
 *
 * @typedef {Record<string, any> & { at: string, promises: import('../verdict/outcome.js').PromiseRecord[],
 *   before?: Record<string, string> }} SavedVerdict  a verdict
 *   of an earlier npm start, or of another terminal; at: of its end, ISO 8601; before: as in Known
 */
import { taskHeading } from '../verdict/other-promises.js';
import { outputLines } from '../verdict/program-output.js';
import { countsInWords } from '../verdict/tally.js';
import { allVisible, cut } from '../verdict/visible.js';

const MOST_MOMENTS = 12;
const MOST_PRINTED = 40; // lines
const LONGEST_WORDS = 120; // the program may have written them

/** A lesson's promises before its check. @param {Known} known */
export function unjudgedCheck({
  lesson: { key, number, title },
  promises,
  tasks = [],
  before = {},
}) {
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
 * A verdict from elsewhere, on the lesson's present promises.
 * @param {Known} known @param {SavedVerdict} saved @param {string} [root]  cut from paths
 */
export function savedCheck(known, saved, root) {
  const { promises, before, ...rest } = allVisible(saved);
  const own = unjudgedCheck({ ...known, before });
  const judged = new Map(promises.map((one) => [one.id, promiseView(one, [], root)]));
  const all = own.promises.map((one) => ({ ...one, ...judged.get(one.id) }));
  return withoutPrograms({ ...rest, ...own, promises: all, isOver: true, isSaved: true });
}

/** An older check has lost its programs, so nothing may point at them. */
export const withoutPrograms = (/** @type {any} */ check) => ({
  ...check,
  promises: check.promises.map((one) => ({ ...one, shows: undefined, programs: undefined })),
});

/** The tally of a check, in the terminal's words. @param {Pick<PromiseView, 'verdict'>[]} promises */
export function tallyInWords(promises) {
  const count = (/** @type {string[]} */ ...wanted) =>
    promises.filter(({ verdict }) => wanted.includes(verdict)).length;
  return countsInWords({
    ...{ held: count('passed', 'held'), failed: count('failed') },
    ...{ undecided: count('inconclusive'), toCome: count('waiting', 'skipped') },
  });
}

/**
 * A promise as the page shows it: without control characters, and shortened.
 * @param {import('../verdict/outcome.js').PromiseRecord} promise
 * @param {number[]} programs  the numbers of the programs started for it @param {string} [root]  cut from paths
 */
export function promiseView(promise, programs, root) {
  const record = { ...allVisible(promise), programs };
  if (record.got) record.got = cut(record.got);
  if (record.output)
    record.output = outputLines(record.output, { most: MOST_PRINTED, root }).join('\n');
  if (record.shows) record.shows.moments = record.shows.moments.slice(0, MOST_MOMENTS).map(short);
  return record;
}

const short = (moment) => ({ ...moment, says: moment.says.slice(0, LONGEST_WORDS) });
