/**
 * Looks at programs, made when somebody wants to know: a look is made once, for the first that asks, and all get what it saw.
 *
 * @template T
 * @typedef {object} Look
 * @property {Look<any>[]} needs  looks that are made before it, whose findings its body gets
 * @property {'untouched' | 'begun' | 'done'} state
 * @property {boolean} isSlow  it mostly waits, so it is begun ahead of others
 * @property {Set<number>} programs  those that it has started, by their number in the check
 * @property {() => Promise<T>} see  makes the look, or remembers; rejects with what one of its needs, or its body, threw
 * @property {() => void} forget  the next see() makes it again
 */

import { AsyncLocalStorage } from 'node:async_hooks';

/** @typedef {(needs: Look<any>[], body: (...seen: any[]) => any, options?: { isSlow?: boolean }) => Look<any>} Declare */

/** @type {AsyncLocalStorage<Look<any>>} whose body is running */
const making = new AsyncLocalStorage();

/** A look that is being made has started a program. @param {number} number */
export const noteProgram = (number) => void making.getStore()?.programs.add(number);

/** @returns {{ observe: Declare, meanwhile: Declare, retake: (looks: Look<any>[]) => void }} */
export function createLooks() {
  /** @type {Look<any>[]} needs before those that need them */
  const all = [];
  let turn = Promise.resolve();
  /** One after the other. @type {<T>(body: () => Promise<T>) => Promise<T>} */
  const inTurn = (body) => {
    const mine = turn.then(body);
    turn = mine.then(ignore, ignore);
    return mine;
  };
  const declare = (/** @type {Look<any>} */ look) => (all.push(look), look);
  return {
    observe: (needs, body, options) => declare(createLook(needs, body, inTurn, options)),
    meanwhile: (needs, body, options) => declare(createLook(needs, body, (run) => run(), options)),
    /** Forgets these looks, those that they need, and those that need one of them: their programs are started afresh. */
    retake(looks) {
      const again = new Set(looks.flatMap(withNeeds));
      for (const look of all) if (look.needs.some((need) => again.has(need))) again.add(look);
      for (const look of again) look.forget();
    },
  };
}

function createLook(needs, body, begin, { isSlow = false } = {}) {
  /** @type {Promise<any> | undefined} */
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
        seen.catch(ignore); // the one who awaits it is told
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
 * Which look to begin next, ahead of being asked for: the first that nobody has begun and whose needs have been seen to;
 * slow ones before the others.
 * @param {Look<any>[]} wanted  in the order in which they will be asked for
 * @returns {Look<any> | undefined}
 */
export function nextLook(wanted) {
  const open = [...new Set(wanted.flatMap(withNeeds))].filter(
    ({ state, needs }) => state === 'untouched' && needs.every((need) => need.state === 'done'),
  );
  return open.find(({ isSlow }) => isSlow) ?? open[0];
}

/**
 * The programs that were started for some looks: their own before those of the looks that they need.
 * @param {Look<any>[]} looks
 * @returns {number[]}
 */
export function programsOf(looks) {
  if (looks.length === 0) return [];
  const needs = looks.flatMap((look) => look.needs);
  return [...new Set([...looks.flatMap(({ programs }) => [...programs]), ...programsOf(needs)])];
}

/** @returns {Look<any>[]} */
const withNeeds = (/** @type {Look<any>} */ look) => [...look.needs.flatMap(withNeeds), look];

const ignore = () => {};
