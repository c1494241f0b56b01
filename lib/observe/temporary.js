/** Where the files of a run are while it lasts. */
import { accessSync, constants } from 'node:fs';
import { tmpdir } from 'node:os';

const IN_MEMORY = '/dev/shm'; // on Linux

/**
 * A folder that is kept in memory, where there is one: what a probe writes in a flood of requests would else keep the
 * disk, and with it a core, busy for a while after. TMPDIR, when somebody has set it, is obeyed.
 * @returns {string}  absolute path
 */
export function temporaryFolder() {
  if (process.env.TMPDIR) return tmpdir();
  try {
    accessSync(IN_MEMORY, constants.W_OK);
    return IN_MEMORY;
  } catch {
    return tmpdir();
  }
}
