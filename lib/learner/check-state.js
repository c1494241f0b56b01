/**
 * What the learner's pages know of the last check of each lesson: small enough to be sent whole at every change, so that a
 * page which missed some of them needs only the next one. Programs are kept of the newest check only.
 */
import { allVisible } from '../verdict/visible.js';
import { blank, inWords, keptCheck, recordOf, withoutPrograms } from './check-records.js';
import { createRunningPrograms } from './running-programs.js';

/** @typedef {import('./check-records.js').Known} Known */
/** @typedef {import('./check-records.js').Kept} Kept */

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
  let programs = createRunningPrograms(momentsIn);
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
    programs = createRunningPrograms(momentsIn);
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
      return { ...one, said: inWords(one.promises), programs: started };
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
      if (!check || check.isOver) return replace(fresh);
      if (check.lesson.key === key) return;
      put(fresh);
      onChange();
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
