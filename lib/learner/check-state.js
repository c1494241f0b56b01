/**
 * What the pages show of the last check of each lesson: small enough to be sent whole at every change, so that a page that
 * missed some changes needs only the next one. Only the newest check keeps its programs.
 */
import { allVisible } from '../verdict/visible.js';
import {
  unjudgedCheck,
  tallyInWords,
  savedCheck,
  promiseView,
  withoutPrograms,
} from './check-records.js';
import { createRunningPrograms } from './running-programs.js';

/** @typedef {import('./check-records.js').Known} Known */
/** @typedef {import('./check-records.js').SavedVerdict} SavedVerdict */
/** @typedef {{ name: string, isReference?: boolean, doing?: string, program: import('./running-programs.js').Running }} Started */

/** @typedef {{ promise: import('../verdict/outcome.js').PromiseRecord, programs?: number[] }} Decided */

/**
 * @typedef {object} Store
 * @property {Map<string, any>} checks  the last one of each lesson, by its key
 * @property {any} newest  the newest of them
 * @property {any} previous  the check that the newest replaced
 * @property {ReturnType<typeof createRunningPrograms>} programs  of the newest
 * @property {Set<object>} busy  programs that have a `doing` and have not stopped
 * @property {string} [root] @property {() => void} onChange
 */

/** @param {() => void} onChange  @param {string} [root]  cut from paths */
export function createCheckState(onChange, root) {
  let lastId = 0;
  const programs = createRunningPrograms(() => []);
  /** @type {Store} */
  const store = {
    ...{ checks: new Map(), newest: undefined, previous: undefined },
    ...{ programs, busy: new Set(), root, onChange },
  };
  const { checks } = store;
  return {
    /** The last check of a lesson, or its promises before the first one. @param {string} key */
    snapshot: (key) => snapshotOf(store, checks.get(key)),
    /** The last check that began, or came from another terminal, while this process ran. */
    newest: () => (store.newest ? idOf(store.newest) : null),
    /** Fills in a lesson without a check. @param {Known} known @param {SavedVerdict} [saved] @param {string} [passedAt]  ISO 8601 */
    fillIn(known, saved, passedAt) {
      if (checks.has(known.lesson.key)) return;
      if (saved) put(store, { ...savedCheck(known, saved, root), id: (lastId += 1) });
      else put(store, { ...unjudgedCheck(known), id: 0, isOver: true, isIdle: true, passedAt });
    },
    /** @param {Known & { file: string }} begun */
    begin: ({ file, ...known }) =>
      replace(store, { ...unjudgedCheck(known), id: (lastId += 1), file, isOver: false }),
    /** Takes in a verdict from another terminal, unless its lesson is being checked here. @param {Known} known @param {SavedVerdict} saved */
    adopt(known, saved) {
      if (checks.get(known.lesson.key)?.at === saved.at) return;
      const check = savedCheck(known, saved, root);
      adoptCheck(store, { ...check, id: (lastId += 1), isElsewhere: true });
    },
    /** @param {Started} started  doing: shown until the program has stopped */
    program: (started) => addProgram(store, started),
    promise: (/** @type {Decided} */ decided) => addPromise(store, decided),
    /** @param {object} result  of the whole check */
    end: (result) => endCheck(store, result),
    evidence: (/** @type {number} */ of, /** @type {number} */ number) =>
      store.newest && of === store.newest.id ? store.programs.evidence(number) : undefined,
  };
}

const idOf = ({ id, lesson, isOver }) => ({ id, lesson, isOver });

function snapshotOf(/** @type {Store} */ { newest, programs }, check) {
  if (!check) return null;
  const started = check === newest ? programs.list() : [];
  return { ...check, said: tallyInWords(check.promises), programs: started };
}

const put = (/** @type {Store} */ { checks }, check) => checks.set(check.lesson.key, check);

function update(/** @type {Store} */ store, more) {
  store.newest = { ...store.newest, ...more };
  put(store, store.newest);
  store.onChange();
}

/** A check cut off by a save in another lesson has no verdict, so the check before it counts again. */
function replace(/** @type {Store} */ store, fresh) {
  const { checks, newest, previous } = store;
  const { key } = fresh.lesson;
  if (newest && !newest.isOver && newest.lesson.key !== key) {
    if (previous) put(store, previous);
    else checks.delete(newest.lesson.key);
  } else if (newest) put(store, withoutPrograms(newest));
  store.previous = checks.get(key);
  store.programs = createRunningPrograms(() => store.newest.promises);
  store.busy.clear();
  store.newest = fresh;
  put(store, fresh);
  store.onChange();
}

function adoptCheck(/** @type {Store} */ store, fresh) {
  const { newest } = store;
  if (!newest || newest.isOver) return replace(store, fresh);
  if (newest.lesson.key === fresh.lesson.key) return;
  put(store, fresh);
  store.onChange();
}

function addProgram(/** @type {Store} */ store, /** @type {Started} */ started) {
  store.programs.add(started);
  const { doing, program } = started;
  if (!doing || !program.stopped) return;
  const { id } = store.newest;
  store.busy.add(program);
  update(store, { doing });
  program.stopped.then(() => {
    store.busy.delete(program);
    if (store.newest.id === id && store.busy.size === 0) update(store, { doing: undefined });
  });
}

function addPromise(/** @type {Store} */ store, /** @type {Decided} */ { promise, programs = [] }) {
  const { promises } = store.newest;
  const known = promises.find(({ id }) => id === promise.id);
  const own = promiseView(promise, programs.filter(store.programs.has), store.root);
  const record = { ...own, isAgain: known?.isAgain };
  const all = known ? promises : [...promises, record];
  update(store, { promises: all.map((one) => (one.id === record.id ? record : one)) });
}

function endCheck(/** @type {Store} */ store, result) {
  store.programs.settle();
  const { tasks } = store.newest; // with their headings, which the result's lack
  update(store, { ...allVisible(result), tasks, isOver: true, at: new Date().toISOString() });
}
