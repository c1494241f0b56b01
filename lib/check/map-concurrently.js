import { availableParallelism } from 'node:os';

/**
 * Calls `act` on each item, on as many at once as there are cores.
 * @template T, R @param {T[]} all @param {(one: T) => Promise<R>} act
 * @returns {Promise<R[]>}  in the order of `all`; rejects with the first error
 */
export async function mapConcurrently(all, act) {
  /** @type {R[]} */
  const done = [];
  const rest = all.entries();
  const take = async () => {
    for (const [index, one] of rest) done[index] = await act(one);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, take));
  return done;
}
