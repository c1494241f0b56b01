/**
 * The ceiling: how much more CPU work this machine does when several do it at once. Two cores that are ours give 2;
 * with a busy neighbour it may be 1, and then no cluster can be faster than 1 either.
 *
 * @typedef {object} Spinners
 * @property {(threads: number, durationMs: number) => Promise<number>} spin
 *   lets so many threads spin and resolves to the rounds of work that they did together in a second
 * @property {() => void} close
 */
import { fork } from 'node:child_process';
import { environmentOfOurs } from '../observe/environment.js';
import { keepTrack } from './generator.js';

/**
 * Starts the spinners, idle at first: a process with `count` threads. It is detached, as the learner's program is,
 * because Linux may share the CPU among sessions before it does among processes.
 * @param {number} count
 * @returns {Spinners}
 */
export function createSpinners(count) {
  const file = new URL('spinner-process.js', import.meta.url);
  const options = { detached: true, env: environmentOfOurs(), execArgv: [] };
  const spinners = fork(file, [String(count)], options);
  spinners.unref();
  spinners.channel?.unref(); // as in load.js
  const isReady = new Promise((resolve) => spinners.once('message', resolve));
  return {
    async spin(threads, durationMs) {
      await isReady;
      return new Promise((resolve, reject) => {
        const onExit = () => reject(new Error('The spinners ended.'));
        spinners.once('exit', onExit);
        spinners.once('message', (/** @type {any} */ { perSecond }) => {
          spinners.off('exit', onExit);
          resolve(perSecond);
        });
        spinners.send({ threads, durationMs });
      });
    },
    close: keepTrack(() => spinners.connected && spinners.disconnect()),
  };
}
