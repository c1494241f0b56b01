/**
 * Draws from a seed: the same seed gives the same order of faults and the same victims.
 * @typedef {{ below: (limit: number) => number, pick: <T>(all: T[]) => T, shuffle: <T>(all: T[]) => T[] }} Draw  below: an integer from
 *   0 up to the limit, excluded
 */
import { randomInt } from 'node:crypto';

const MOST = 10_000;

/** A short one, to be typed again. */
export const randomSeed = () => randomInt(1, MOST);

/** @param {number} seed  an integer @returns {Draw} */
export function createDraw(seed) {
  const next = mulberry32(seed);
  const below = (/** @type {number} */ limit) => Math.floor(next() * limit);
  return {
    below,
    pick: (all) => all[below(all.length)],
    shuffle(all) {
      const rest = [...all];
      return all.map(() => rest.splice(below(rest.length), 1)[0]);
    },
  };
}

/** Numbers from 0 up to 1, excluded; by Tommy Ettinger, in the public domain. */
function mulberry32(/** @type {number} */ seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
