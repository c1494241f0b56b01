/** Several programs of a check at the same time, but no more than can run. */
import { availableParallelism } from 'node:os';

/**
 * Acts on each, on as many at once as there are cores: more would only wait for each other.
 * @template T, R
 * @param {T[]} all
 * @param {(one: T) => Promise<R>} act
 * @returns {Promise<R[]>}  in the order of `all`; rejects with what the first that failed threw
 */
export async function asCoresAllow(all, act) {
  /** @type {R[]} */
  const done = [];
  const rest = all.entries();
  const take = async () => {
    for (const [index, one] of rest) done[index] = await act(one);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, take));
  return done;
}
