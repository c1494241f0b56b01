/**
 * Looks at programs, made when somebody wants to know: a look is made once, for the first that asks, and all get what it saw.
 *
 * @template T
 * @typedef {object} Look
 * @property {Look<any>[]} needs  looks that are made before it, whose findings its body gets
 * @property {'untouched' | 'begun' | 'done'} state
 * @property {boolean} isSlow  it mostly waits, so it is begun ahead of others
 * @property {() => Promise<T>} see  makes the look, or remembers; rejects with what one of its needs, or its body, threw
 *
 */

/** @typedef {(needs: Look<any>[], body: (...seen: any[]) => any, options?: { isSlow?: boolean }) => Look<any>} Declare */

/** @returns {{ observe: Declare, meanwhile: Declare }} */
export function createLooks() {
  let turn = Promise.resolve();
  /** One after the other. @type {<T>(body: () => Promise<T>) => Promise<T>} */
  const inTurn = (body) => {
    const mine = turn.then(body);
    turn = mine.then(ignore, ignore);
    return mine;
  };
  return {
    observe: (needs, body, options) => createLook(needs, body, inTurn, options),
    meanwhile: (needs, body, options) => createLook(needs, body, (run) => run(), options),
  };
}

function createLook(needs, body, begin, { isSlow = false } = {}) {
  /** @type {Promise<any> | undefined} */
  let seen;
  const make = async () => {
    const found = await Promise.all(needs.map((need) => need.see()));
    return begin(async () => body(...found));
  };
  const look = {
    needs,
    isSlow,
    state: /** @type {'untouched' | 'begun' | 'done'} */ ('untouched'),
    see() {
      if (!seen) {
        look.state = 'begun';
        seen = make().finally(() => (look.state = 'done'));
        seen.catch(ignore); // the one who awaits it is told
      }
      return seen;
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

/** @returns {Look<any>[]} */
const withNeeds = (/** @type {Look<any>} */ look) => [...look.needs.flatMap(withNeeds), look];

const ignore = () => {};
