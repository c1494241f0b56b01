/** The faults that checks inject into a program's processes. */

/** @typedef {import('../observe/program.js').Program} Program */

/** Signals processes. @param {Program} program @param {number[]} pids @param {NodeJS.Signals} [signal] @returns {number[]}  those alive */
export const kill = (program, pids, signal = 'SIGKILL') =>
  pids.filter((pid) => program.kill(pid, signal));

/**
 * Stops processes, works, and continues them even after an error.
 * @template T @param {Program} program @param {number[]} pids @param {(frozen: number[]) => Promise<T>} work  gets the pids still alive
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
 * Repeats an act until its result is good enough, or `times` times. @returns {Promise<T>}  the last result
 * @template T @param {number} times @param {(attempt: number) => Promise<T>} act @param {(seen: T) => unknown} isEnough
 */
export async function repeatUntil(times, act, isEnough) {
  for (let attempt = 1; ; attempt += 1) {
    const seen = await act(attempt);
    if (attempt >= times || isEnough(seen)) return seen;
  }
}
