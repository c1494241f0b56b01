// Divides a machine into slots: small work takes one, work that needs the machine to itself takes all.

const TRIES = 3;

/**
 * @typedef {object} Slots
 * @property {<T>(wanted: number, work: () => Promise<T>) => Promise<T>} take  in the order of the requests, but
 *   work that wants all of them goes first
 * @property {<T>(wanted: number, work: () => Promise<T>, isUnsure: (result: T) => boolean, tell?: (result: T) => void) => Promise<T>} takeUntilSure
 *   repeats work with an unsure result, with the machine to itself, up to three times; calls tell for each
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
