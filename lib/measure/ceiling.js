/**
 * The ceiling: how much more CPU work this machine does when several do it at once. Two cores that are ours give 2;
 * with a busy neighbour it may be 1, and then no cluster can be faster than 1 either.
 *
 * @typedef {object} Spinners
 * @property {(threads: number, durationMs: number) => Promise<number>} spin
 *   lets so many threads spin and resolves to the rounds of work that they did together in a second; rejects with Shortage
 *   when the spinners are gone
 * @property {() => void} close
 */
import { createGenerator } from './generator.js';

/**
 * Starts the spinners, idle at first: a process with `count` threads. It is detached, as the learner's program is,
 * because Linux may share the CPU among sessions before it does among processes.
 * @param {number} count
 * @returns {Spinners}
 */
export function createSpinners(count) {
  const how = { args: [String(count)], detached: true };
  const { ask, close } = createGenerator('spinner-process.js', how);
  return { spin: (threads, durationMs) => ask({ threads, durationMs }), close };
}
