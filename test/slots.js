// A machine is divided into slots: small work takes one, work that must have it to itself takes all.

/**
 * @param {number} count
 * @returns {{ take<T>(wanted: number, work: () => Promise<T>): Promise<T> }}  in the order in which they were asked for,
 *   but what wants all of them goes before what wants fewer
 */
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
  return {
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
  };
}
