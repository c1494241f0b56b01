/**
 * Looks at programs, as lazy tasks: each is made once, when it is first needed, and all that need it get its result.
 * @template T
 * @typedef {object} Look
 * @property {Look<any>[]} needs  looks whose results its body gets
 * @property {'untouched' | 'begun' | 'done'} state
 * @property {boolean} isSlow  it mostly waits, so it begins ahead of others
 * @property {Set<number>} programs  the numbers of the programs that it has started
 * @property {() => Promise<T>} see  makes the look, once; rejects with the error of a need or its body
 * @property {() => void} forget  the next see() makes it again
 */

import { AsyncLocalStorage } from 'node:async_hooks';

/** @typedef {(needs: Look<any>[], body: (...seen: any[]) => any, options?: { isSlow?: boolean }) => Look<any>} Declare */

/** @type {AsyncLocalStorage<Look<any>>} the look whose body is running */
const making = new AsyncLocalStorage();

/** Records a program for the look that is being made. @param {number} number */
export const noteProgram = (number) => void making.getStore()?.programs.add(number);

/** @returns {{ observe: Declare, observeInParallel: Declare, forgetAll: (looks: Look<any>[]) => void }} */
export function createLookGraph() {
  /** @type {Look<any>[]} each after those it needs */
  const all = [];
  let last = Promise.resolve();
  /** @type {<T>(body: () => Promise<T>) => Promise<T>} */
  const runExclusively = (body) => {
    const mine = last.then(body);
    last = mine.then(ignore, ignore);
    return mine;
  };
  const declare = (/** @type {Look<any>} */ look) => (all.push(look), look);
  return {
    observe: (needs, body, options) => declare(createLook(needs, body, runExclusively, options)),
    observeInParallel: (needs, body, options) =>
      declare(createLook(needs, body, (run) => run(), options)),
    /** Forgets these looks, their needs, and all looks that need one of them, so that their programs start again. */
    forgetAll(looks) {
      const again = new Set(looks.flatMap(withNeeds));
      for (const look of all) if (look.needs.some((need) => again.has(need))) again.add(look);
      for (const look of again) look.forget();
    },
  };
}

function createLook(needs, body, begin, { isSlow = false } = {}) {
  let seen;
  const make = async () => {
    const found = await Promise.all(needs.map((need) => need.see()));
    return begin(() => making.run(look, async () => body(...found)));
  };
  const look = {
    needs,
    isSlow,
    programs: new Set(),
    state: /** @type {'untouched' | 'begun' | 'done'} */ ('untouched'),
    see() {
      if (!seen) {
        look.state = 'begun';
        seen = make().finally(() => (look.state = 'done'));
        seen.catch(ignore); // the caller that awaits `seen` gets the error
      }
      return seen;
    },
    forget() {
      seen = undefined;
      look.state = 'untouched';
      look.programs.clear();
    },
  };
  return look;
}

/**
 * The look to make ahead of time: the first whose needs are done, slow ones before the others.
 * @param {Look<any>[]} wanted  in the order in which promises will need them @returns {Look<any> | undefined}
 */
export function nextLook(wanted) {
  const open = [...new Set(wanted.flatMap(withNeeds))].filter(
    ({ state, needs }) => state === 'untouched' && needs.every((need) => need.state === 'done'),
  );
  return open.find(({ isSlow }) => isSlow) ?? open[0];
}

/** @param {Look<any>[]} looks @returns {number[]}  the programs they started, before those of the looks they need */
export function programsOf(looks) {
  if (looks.length === 0) return [];
  const needs = looks.flatMap((look) => look.needs);
  return [...new Set([...looks.flatMap(({ programs }) => [...programs]), ...programsOf(needs)])];
}

const withNeeds = (/** @type {Look<any>} */ look) => [...look.needs.flatMap(withNeeds), look];

const ignore = () => {};
