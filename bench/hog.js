// CPU hogs: processes that spin for as long as their parent lives, each in a session of its own, as a neighbour's program.
import { once } from 'node:events';
import { forkOurs } from '../lib/common/child.js';

/** Starts so many hogs. @param {number} count @returns {() => Promise<void>} ends them */
export function startHogs(count) {
  const file = new URL('hog-process.js', import.meta.url);
  const hogs = Array.from({ length: count }, () => forkOurs(file, { detached: true }));
  const ended = Promise.all(hogs.map((hog) => once(hog, 'exit')));
  return async () => {
    for (const hog of hogs) hog.kill('SIGKILL');
    await ended;
  };
}
