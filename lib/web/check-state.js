/**
 * What the learner's page knows of the last check: small enough to be sent whole at every change, so that a page which
 * missed some of them needs only the next one. Of older checks nothing is kept.
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
 */
import { allVisible, cut } from '../verdict/visible.js';
import { createWatched } from './watched.js';

const MOST_MOMENTS = 12;
const LONGEST_WORDS = 120; // some of them may be the program's

/**
 * @param {(state: object) => void} onChange
 */
export function createCheckState(onChange) {
  let id = 0;
  /** @type {any} */
  let check = null;
  const momentsIn = (/** @type {number} */ number) =>
    check.promises.flatMap(({ shows }) => (shows?.program === number ? shows.moments : []));
  let programs = createWatched(momentsIn);
  const underWay = new Set(); // programs of which is told what they do

  const told = () => check && { ...check, programs: programs.told() };
  const change = () => onChange(told());

  return {
    told,
    /**
     * @param {{ lesson: { key: string, number: number, title: string }, file: string, promises: Record<string, string>,
     *   taskOf?: Record<string, number>, before?: Record<string, string> }} begun  before: the verdict on each promise when it
     *   was judged last
     */
    begin({ lesson: { key, number, title }, file, promises, taskOf = {}, before = {} }) {
      id += 1;
      programs = createWatched(momentsIn);
      underWay.clear();
      check = {
        ...{ id, lesson: { key, number, title }, file, isOver: false },
        promises: Object.entries(promises).map(([each, sentence]) => ({
          ...{ id: each, task: taskOf[each], sentence },
          verdict: before[each] === 'passed' ? 'held' : 'waiting',
        })),
      };
      change();
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
      underWay.add(program);
      check.doing = doing;
      change();
      program.stopped.then(() => {
        underWay.delete(program);
        if (check.id !== mine || underWay.size > 0) return;
        delete check.doing;
        change();
      });
    },
    /** @param {{ promise: import('../verdict/outcome.js').PromiseRecord, programs?: number[] }} decided */
    promise({ promise, programs: started = [] }) {
      const record = recordOf(promise, started.filter(programs.has));
      const index = check.promises.findIndex((one) => one.id === record.id);
      if (index < 0) check.promises.push(record);
      else check.promises[index] = record;
      change();
    },
    /** @param {object} result  what is told of the whole check */
    end(result) {
      check = { ...check, ...allVisible(result), isOver: true };
      programs.settle();
      change();
    },
    /** The evidence that one program of one check is; undefined when there is no such program any more. */
    evidence(of, number) {
      return check && of === check.id ? programs.evidence(number) : undefined;
    },
  };
}

/**
 * A promise as the page shows it: made visible, and not too long.
 * @param {import('../verdict/outcome.js').PromiseRecord} promise
 * @param {number[]} programs  the numbers of those that were started for it
 */
export function recordOf(promise, programs) {
  const record = { ...allVisible(promise), programs };
  if (record.got) record.got = cut(record.got);
  if (record.shows) record.shows.moments = record.shows.moments.slice(0, MOST_MOMENTS).map(short);
  return record;
}

const short = (moment) => ({ ...moment, says: moment.says.slice(0, LONGEST_WORDS) });
