/** Cleans up after a process of ours that was killed together with its keeper or guard, by the folders that they left. */
import { rmSync } from 'node:fs';
import { basename } from 'node:path';
import { endRun } from './run-processes.js';
import { abandonedHomes } from './temporary-folder.js';

/** Ends all abandoned runs, perhaps beside a keeper that does the same. Never rejects: the next start tries again. */
export async function sweep() {
  try {
    for (const { home, born } of abandonedHomes()) await endHome(home, born);
  } catch {
    // no file descriptor left
  }
}

/**
 * Kills every process that carries the mark of a folder, then removes the folder.
 * @param {string} home  absolute path @param {number} [born]  of the process that made it, see processes.js
 */
export async function endHome(home, born) {
  const left = await endRun({ id: basename(home), born, known: new Map() });
  if (left.length === 0) removeHome(home);
}

/** @param {string} home  absolute path of a runner's folder; it may not exist */
export const removeHome = (home) => rmSync(home, { recursive: true, force: true, maxRetries: 3 });
