import { createHash, randomBytes } from 'node:crypto';
import { accessSync, constants, lstatSync, readFileSync, readdirSync, statfsSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { EnvironmentError } from '../common/usage-error.js';
import { LIMITS } from './limits.js';
import { isAlive, pidNamespace, processAt } from './processes.js';

const IN_MEMORY = '/dev/shm'; // on Linux
const MEGABYTE = 1024 ** 2;
/** A flooding program writes that much before it is killed; on a full disk the probe falls silent. */
const LEAST_MB = (LIMITS.output + LIMITS.timeline) / MEGABYTE;
const HOME = /^forkshop-([\da-f]{8})-(\d+)-(\d+)-[\da-f]{8}$/;

/**
 * TMPDIR, or a folder in memory: on a disk, what the probe writes in a flood of requests would keep a core busy afterwards.
 * @returns {string}  absolute path @throws {EnvironmentError}  when it doesn't exist, isn't writable, or is full
 */
export function temporaryFolder() {
  if (!process.env.TMPDIR && !obstacleIn(IN_MEMORY)) return IN_MEMORY;
  return demandRoom(resolve(tmpdir()));
}

/** A name for a runner's folder that identifies its process: machine, boot, PID namespace, pid and birth; the last part is random. */
export function nameHome() {
  const { pid } = process;
  const secret = randomBytes(4).toString('hex');
  return `forkshop-${thisPlace()}-${pid}-${processAt(pid)?.born}-${secret}`;
}

/**
 * This user's folders whose process has exited. Processes of another machine, boot or PID namespace are invisible from here, so their
 * folders are left out. @returns {{ home: string, born: number }[]}  home: absolute path; born: of its process, see processes.js
 */
export function abandonedHomes() {
  const place = thisPlace();
  const folders = new Set([temporaryFolder(), resolve(tmpdir())]); // a browser's is in the second, see export.js
  return [...folders].flatMap(pathsIn).flatMap((home) => {
    const [, where, pid, birth] = HOME.exec(basename(home)) ?? [];
    const born = Number(birth);
    const isGone = where === place && !isAlive({ pid: Number(pid), born });
    return isGone && isOurs(home) ? [{ home, born }] : [];
  });
}

function pathsIn(/** @type {string} */ folder) {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return []; // not readable, or no file descriptor left
  }
}

function isOurs(/** @type {string} */ home) {
  const stats = lstatSync(home, { throwIfNoEntry: false }); // its own sweep may have been quicker
  return stats?.isDirectory() && stats.uid === process.getuid?.();
}

/** Within a place, pid and birth identify a process. */
function thisPlace() {
  const text = `${bootOf() ?? hostname()} ${pidNamespace()}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

function bootOf() {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1');
  } catch {
    return undefined; // another system than Linux
  }
}

/** @param {string} folder  absolute path @returns {string}  the same @throws {EnvironmentError}  when temporary files can't be there */
export function demandRoom(folder) {
  const obstacle = obstacleIn(folder);
  if (!obstacle) return folder;
  throw new EnvironmentError(
    `Temporary files belong in ${folder}, but ${obstacle}.`,
    `Fix that, or name another folder, as in: TMPDIR=/var/tmp npm run check`,
  );
}

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
