/**
 * The ceiling: how much faster several threads compute together than one on this machine. Two free cores give 2; with a busy
 * neighbour it may be 1, and then no cluster can be faster than 1 either.
 * @typedef {{ spin: (threads: number, durationMs: number) => Promise<number>, close: () => void }} Spinners  spin: resolves to the
 *   rounds a second that the threads did together; rejects with Shortage when the spinners are gone
 */
import { createGenerator } from './generator.js';

/** Detached like the learner's program: Linux may share the CPU among sessions first. @param {number} count  threads @returns {Spinners} */
export function createSpinners(count) {
  const how = { args: [String(count)], detached: true };
  const { ask, close } = createGenerator('spinner-process.js', how);
  return { spin: (threads, durationMs) => ask({ threads, durationMs }), close };
}
