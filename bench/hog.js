// CPU hogs: processes that spin for as long as their parent lives, each in its own session, like a neighbour's program.
import { once } from 'node:events';
import { forkOurs } from '../lib/common/child.js';

/** @param {number} count @returns {() => Promise<void>} kills them */
export function startHogs(count) {
  const file = new URL('hog-process.js', import.meta.url);
  const hogs = Array.from({ length: count }, () => forkOurs(file, { detached: true }));
  const ended = Promise.all(hogs.map((hog) => once(hog, 'exit')));
  return async () => {
    for (const hog of hogs) hog.kill('SIGKILL');
    await ended;
  };
}
