// A machine is divided into slots: small work takes one, work that must have it to itself takes all.

const TRIES = 3;

/**
 * @typedef {object} Slots
 * @property {<T>(wanted: number, work: () => Promise<T>) => Promise<T>} take  in the order in which they were asked for, but
 *   what wants all of them goes before what wants fewer
 * @property {<T>(wanted: number, work: () => Promise<T>, isUnsure: (result: T) => boolean, tell?: (result: T) => void) => Promise<T>} takeUntilSure
 *   the work is done again, with the machine to itself, when its result is unsure: three times at most; each time it is told
 */

/** @param {number} count @returns {Slots} */
export function createSlots(count) {
  let free = count;
  /** @type {{ wanted: number, go: () => void }[]} */
  const waiting = [];
  const next = () => {
    while (waiting.length > 0 && waiting[0].wanted <= free) {
      const { wanted, go } = /** @type {typeof waiting[0]} */ (waiting.shift());
      free -= wanted;
      go();
    }
  };
  /** @type {Slots} */
  const slots = {
    async take(wanted, work) {
      await new Promise((/** @type {(nothing?: any) => void} */ go) => {
        const entry = { wanted, go };
        if (wanted === count) waiting.unshift(entry);
        else waiting.push(entry);
        next();
      });
      try {
        return await work();
      } finally {
        free += wanted;
        next();
      }
    },
    async takeUntilSure(wanted, work, isUnsure, tell = () => {}) {
      let result = await slots.take(wanted, work);
      for (let tries = 1; tries < TRIES && isUnsure(result); tries += 1) {
        tell(result);
        result = await slots.take(count, work);
      }
      return result;
    },
  };
  return slots;
}
