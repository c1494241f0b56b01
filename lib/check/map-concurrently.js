import { availableParallelism } from 'node:os';

/**
 * Calls `act` on each item, on as many at once as there are cores. @returns {Promise<R[]>}  in order; rejects with the first error
 * @template T, R @param {T[]} all @param {(one: T) => Promise<R>} act
 */
export async function mapConcurrently(all, act) {
  const done = [];
  const rest = all.entries();
  const take = async () => {
    for (const [index, one] of rest) done[index] = await act(one);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, take));
  return done;
}
