/** Where the files of a run are while it lasts. */
import { accessSync, constants, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { EnvironmentError } from '../common/usage-error.js';
import { LIMITS } from './limits.js';

const IN_MEMORY = '/dev/shm'; // on Linux
const MEGABYTE = 1024 ** 2;
/** A check writes one or two, but a flooding program so much before it is ended; on a full disk the probe falls silent. */
const LEAST_MB = (LIMITS.output + LIMITS.timeline) / MEGABYTE;

/**
 * A folder that is kept in memory, where there is one: what a probe writes in a flood of requests would else keep the
 * disk, and with it a core, busy for a while after. TMPDIR, when somebody has set it, is obeyed.
 * @returns {string}  absolute path
 * @throws {EnvironmentError}  when it is not there, may not be written, or is full
 */
export function temporaryFolder() {
  if (!process.env.TMPDIR && !obstacleIn(IN_MEMORY)) return IN_MEMORY;
  return demandRoom(resolve(tmpdir()));
}

/**
 * @param {string} folder  absolute path
 * @returns {string}  the same
 * @throws {EnvironmentError}  when temporary files cannot be there
 */
export function demandRoom(folder) {
  const obstacle = obstacleIn(folder);
  if (!obstacle) return folder;
  throw new EnvironmentError(
    `Temporary files belong in ${folder}, but ${obstacle}.`,
    `Fix that, or name another folder, as in: TMPDIR=/var/tmp npm run check`,
  );
}

/** Why temporary files cannot be in a folder, if so. */
function obstacleIn(folder) {
  try {
    accessSync(folder + '/.', constants.W_OK | constants.X_OK);
    const { bavail, bsize, files, ffree } = statfsSync(folder);
    const freeMb = (bavail * bsize) / MEGABYTE;
    if (files > 0 && ffree === 0) return 'no more files fit there';
    if (freeMb >= LEAST_MB) return undefined;
    return `only ${Math.floor(freeMb)} MB are free there, and a check wants ${LEAST_MB} MB`;
  } catch (/** @type {any} */ error) {
    if (error.code === 'ENOENT') return 'there is no such folder';
    if (error.code === 'ENOTDIR') return "that isn't a folder";
    return `they cannot be written there (${error.code})`;
  }
}
