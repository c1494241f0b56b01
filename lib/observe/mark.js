/**
 * The mark of a run: a secret that its processes inherit, whatever they do to their parent, group, environment, folder or
 * files, and that no other process has. The environment carries it, and on Linux so does a resource limit: the soft limit on
 * the number of file locks, which the kernel has not enforced since 2.4.25, hands down at each fork and exec, and tells in
 * /proc/PID/limits. A process loses it only where it sets that very limit anew. The program prlimit sets it, where there is
 * one.
 *
 * The id of a run is `<home>/<number>`: the name of the runner's folder, which ends in eight random hexadecimal digits, and
 * which of its programs it is. The id of all that a runner has started is `<home>`.
 */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { spawnSync } from '../common/child.js';

const VARIABLE = 'FORKSHOP_RUN';
const RUNS_PER_HOME = 2 ** 20; // with 32 random bits before it, a number that JavaScript tells exactly

/** A way to start programs that sets the limit; undefined where the system has none. */
export function findMarker() {
  if (process.platform !== 'linux') return undefined;
  const folders = (process.env.PATH ?? '').split(delimiter);
  const file = folders.map((folder) => join(folder, 'prlimit')).find((path) => existsSync(path));
  if (file === undefined) return undefined;
  const { status } = spawnSync(file, ['--locks=1:']); // its own limit: a sandbox may forbid that
  return status === 0 ? file : undefined;
}

/**
 * @param {string} id  of a run
 * @param {{ command: string, args: string[], env: NodeJS.ProcessEnv }} order
 * @param {string} [marker]  what findMarker() has found; without it the environment alone carries the mark
 * @returns {{ command: string, args: string[], env: NodeJS.ProcessEnv }}  the same program, in the same process, marked
 * @throws {Error}  when there is a marker, and the command cannot be executed: the marker would only exit
 */
export function withMark(id, { command, args, env }, marker) {
  const marked = { ...env, [VARIABLE]: id };
  if (marker === undefined) return { command, args, env: marked };
  accessSync(command, constants.X_OK);
  return { command: marker, args: [`--locks=${limitOf(id)}:`, command, ...args], env: marked };
}

/** What the environment of a process carries that has this mark. @param {string} id */
export const markInEnvironment = (id) => ({ [VARIABLE]: id });

/**
 * Does a process carry the mark of this run, or of a run of this home? Linux only; elsewhere false.
 * @param {number} pid
 * @param {string} id
 */
export function hasMark(pid, id) {
  if (process.platform !== 'linux') return false;
  const isHome = !id.includes('/');
  const limit = Number(/^Max file locks +(\d+)/m.exec(read(pid, 'limits'))?.[1]);
  const asked = isHome ? Math.floor(limit / RUNS_PER_HOME) * RUNS_PER_HOME : limit;
  if (asked === limitOf(id)) return true;
  const entry = `\0${read(pid, 'environ')}`;
  const start = `\0${VARIABLE}=${id}`;
  return entry.includes(`${start}\0`) || (isHome && entry.includes(`${start}/`));
}

/** The number that is set as the limit; that of a home is a multiple of RUNS_PER_HOME. */
function limitOf(/** @type {string} */ id) {
  const [home, number = 0] = id.split('/');
  return parseInt(home.slice(-8), 16) * RUNS_PER_HOME + Number(number);
}

function read(/** @type {number} */ pid, /** @type {string} */ name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return ''; // it has ended, or its environment is another user's
  }
}
