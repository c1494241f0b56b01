/**
 * What a process of ours and its keeper or guard have left, if both were killed: the next start finds it by the folder that is
 * still there.
 */
import { rmSync } from 'node:fs';
import { basename } from 'node:path';
import { endRun } from './ending.js';
import { abandonedHomes } from './temporary.js';

/**
 * Ends every process that carries the mark of an abandoned folder, its keeper too if that stands still, and removes the
 * folder. A keeper that is at it does no harm: both end the same processes. Never rejects: what stays is for the next start.
 */
export async function sweep() {
  try {
    for (const { home, born } of abandonedHomes()) await endHome(home, born);
  } catch {
    // no room for one more open file just now
  }
}

/**
 * Ends every process that carries the mark of a folder, and removes the folder if none is left.
 * @param {string} home  absolute path
 * @param {number} [born]  when the process that made it was started, see processes.js
 */
export async function endHome(home, born) {
  const left = await endRun({ id: basename(home), born, known: new Map() });
  if (left.length === 0) removeHome(home);
}

/** @param {string} home  absolute path of a runner's folder, which may be gone */
export const removeHome = (home) => rmSync(home, { recursive: true, force: true, maxRetries: 3 });
