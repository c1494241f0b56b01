/**
 * What the learner's pages know of the last check of each lesson: small enough to be sent whole at every change, so that a
 * page which missed some of them needs only the next one. Programs are kept of the newest check only.
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
import { headingOf } from '../verdict/around.js';
import { printedLines } from '../verdict/printed.js';
import { countsInWords } from '../verdict/tally.js';
import { allVisible, cut } from '../verdict/visible.js';
import { createWatched } from './watched.js';

const MOST_MOMENTS = 12;
const MOST_PRINTED = 40; // lines
const LONGEST_WORDS = 120; // some of them may be the program's

/**
 * @param {() => void} onChange
 * @param {string} [root]  is left out of paths
 */
export function createCheckState(onChange, root) {
  let id = 0;
  /** @type {Map<string, any>} by the lesson's key */
  const checks = new Map();
  /** @type {any} the newest check; one of those */
  let check;
  /** @type {any} what was known of its lesson before it */
  let earlier;
  const momentsIn = (/** @type {number} */ number) =>
    check.promises.flatMap(({ shows }) => (shows?.program === number ? shows.moments : []));
  let programs = createWatched(momentsIn);
  const running = new Set(); // programs of which is told what they do

  const put = (/** @type {any} */ fresh) => checks.set(fresh.lesson.key, fresh);
  const update = (/** @type {object} */ more) => {
    check = { ...check, ...more };
    put(check);
    onChange();
  };
  /** A check that was not over when another lesson was saved has no verdict: the one before it counts. */
  const replace = (/** @type {any} */ fresh) => {
    const { key } = fresh.lesson;
    if (check && !check.isOver && check.lesson.key !== key) {
      if (earlier) put(earlier);
      else checks.delete(check.lesson.key);
    } else if (check) put(withoutPrograms(check));
    earlier = checks.get(key);
    programs = createWatched(momentsIn);
    running.clear();
    check = fresh;
    put(check);
    onChange();
  };

  return {
    /** What is known of a lesson: its last check, or its promises. @param {string} key */
    told(key) {
      const one = checks.get(key);
      if (!one) return null;
      const started = one === check ? programs.told() : [];
      return { ...one, said: countsInWords(countsOf(one.promises)), programs: started };
    },
    /** The check that has begun last, or came last from another terminal, while this process ran. */
    newest: () => (check ? { id: check.id, lesson: check.lesson, isOver: check.isOver } : null),
    /**
     * Of a lesson that was not checked as yet.
     * @param {Known} known
     * @param {Kept} [kept]  its last verdict, of an earlier npm start
     * @param {string} [passedAt]  ISO 8601
     */
    know(known, kept, passedAt) {
      if (checks.has(known.lesson.key)) return;
      if (kept) put({ ...keptCheck(known, kept, root), id: (id += 1) });
      else put({ ...blank(known), id: 0, isOver: true, isIdle: true, passedAt });
    },
    /** @param {Known & { file: string }} begun */
    begin({ file, ...known }) {
      replace({ ...blank(known), id: (id += 1), file, isOver: false });
    },
    /** A verdict came from another terminal: of no use while its lesson is checked here. @param {Known} known @param {Kept} kept */
    adopt(known, kept) {
      const { key } = known.lesson;
      if (checks.get(key)?.at === kept.at) return;
      const fresh = { ...keptCheck(known, kept, root), id: (id += 1), isElsewhere: true };
      if (!check || check.isOver) replace(fresh);
      else if (check.lesson.key !== key) put(fresh);
    },
    /**
     * @param {{ name: string, isReference?: boolean, doing?: string, program: { events: any[], stopped?: Promise<unknown> } }} started
     *   doing: what is told until it has been stopped
     */
    program(started) {
      programs.add(started);
      const { doing, program } = started;
      if (!doing || !program.stopped) return;
      const mine = check.id;
      running.add(program);
      update({ doing });
      program.stopped.then(() => {
        running.delete(program);
        if (check.id === mine && running.size === 0) update({ doing: undefined });
      });
    },
    /** @param {{ promise: import('../verdict/outcome.js').PromiseRecord, programs?: number[] }} decided */
    promise({ promise, programs: started = [] }) {
      const known = check.promises.find(({ id: each }) => each === promise.id);
      const own = recordOf(promise, started.filter(programs.has), root);
      const record = { ...own, isAgain: known?.isAgain };
      const all = known ? check.promises : [...check.promises, record];
      update({ promises: all.map((one) => (one.id === record.id ? record : one)) });
    },
    /** @param {object} result  what is told of the whole check */
    end(result) {
      programs.settle();
      const { tasks } = check; // with their headings
      update({ ...allVisible(result), tasks, isOver: true, at: new Date().toISOString() });
    },
    /** The evidence that one program of one check is; undefined when there is no such program any more. */
    evidence(of, number) {
      return check && of === check.id ? programs.evidence(number) : undefined;
    },
  };
}

/** A lesson's promises, none of them judged. @param {Known} known */
function blank({ lesson: { key, number, title }, promises, tasks = [], before = {} }) {
  const headed = tasks.map((task) => ({ ...task, heading: headingOf(task) }));
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

/** A verdict from elsewhere, on the promises that the lesson has today. */
function keptCheck(/** @type {Known} */ known, /** @type {Kept} */ kept, root) {
  const { promises, heldBefore = [], ...told } = allVisible(kept);
  const before = Object.fromEntries(heldBefore.map((/** @type {string} */ id) => [id, 'passed']));
  const own = blank({ ...known, before });
  const judged = new Map(promises.map((one) => [one.id, recordOf(one, [], root)]));
  const all = own.promises.map((one) => judged.get(one.id) ?? one);
  return withoutPrograms({ ...told, ...own, promises: all, isOver: true, isKept: true });
}

/** The programs of an older check are gone, and what points at them. */
const withoutPrograms = (/** @type {any} */ check) => ({
  ...check,
  promises: check.promises.map((one) => ({ ...one, shows: undefined, programs: undefined })),
});

/** @param {Told[]} promises */
function countsOf(promises) {
  const count = (/** @type {string[]} */ ...wanted) =>
    promises.filter(({ verdict }) => wanted.includes(verdict)).length;
  return {
    ...{ held: count('passed', 'held'), failed: count('failed') },
    ...{ undecided: count('inconclusive'), toCome: count('waiting', 'skipped') },
  };
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
    record.output = printedLines(record.output, { most: MOST_PRINTED, root }).join('\n');
  if (record.shows) record.shows.moments = record.shows.moments.slice(0, MOST_MOMENTS).map(short);
  return record;
}

const short = (moment) => ({ ...moment, says: moment.says.slice(0, LONGEST_WORDS) });
