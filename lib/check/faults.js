/** What a check does to a program's processes, each fault in a few lines, for every lesson the same. */

/** @typedef {import('../observe/program.js').Program} Program */

/**
 * Sends a signal to some processes of a program.
 * @param {Program} program
 * @param {number[]} pids
 * @param {NodeJS.Signals} [signal]
 * @returns {number[]}  those that were still there
 */
export const kill = (program, pids, signal = 'SIGKILL') =>
  pids.filter((pid) => program.kill(pid, signal));

/**
 * Does something while processes of a program stand still (SIGSTOP); they go on afterwards, whatever happens.
 * @template T
 * @param {Program} program
 * @param {number[]} pids
 * @param {(frozen: number[]) => Promise<T>} work  gets those that were still there
 * @returns {Promise<T>}
 */
export async function whileFrozen(program, pids, work) {
  const frozen = kill(program, pids, 'SIGSTOP');
  try {
    return await work(frozen);
  } finally {
    kill(program, frozen, 'SIGCONT');
  }
}

/**
 * Does the same again until what comes of it tells something.
 * @template T
 * @param {number} times  at most
 * @param {(attempt: number) => Promise<T>} act
 * @param {(seen: T) => unknown} isTelling
 * @returns {Promise<T>}  what came of the last attempt
 */
export async function repeatUntil(times, act, isTelling) {
  for (let attempt = 1; ; attempt += 1) {
    const seen = await act(attempt);
    if (attempt >= times || isTelling(seen)) return seen;
  }
}
