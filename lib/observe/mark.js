/**
 * The mark of a run: a secret that its processes inherit, regardless of their parent, group or files. It is in the environment, and on
 * Linux also in the soft limit on file locks, which the kernel hasn't enforced since 2.4.25: each fork and exec inherits it,
 * /proc/PID/limits shows it, prlimit(1) sets it. A process loses it only by setting that limit itself.
 *
 * The id of a run is `<home>/<number>`: the name of the runner's folder, which is partly random, and the number of the program; `<home>`
 * stands for all programs of a runner.
 */
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { spawnSync } from '../common/child.js';

const VARIABLE = 'FORKSHOP_RUN';
const RUNS_PER_HOME = 2 ** 20; // with the home's 32 bits still a safe integer

/** The path of prlimit; undefined if it is missing or may not set limits. */
export function findMarker() {
  if (process.platform !== 'linux') return undefined;
  const folders = (process.env.PATH ?? '').split(delimiter);
  const file = folders.map((folder) => join(folder, 'prlimit')).find((path) => existsSync(path));
  if (file === undefined) return undefined;
  const { status } = spawnSync(file, ['--locks=1:']); // it sets its own limit: a sandbox may forbid that
  return status === 0 ? file : undefined;
}

/**
 * @param {string} id  of a run @param {{ command: string, args: string[], env: NodeJS.ProcessEnv }} order
 * @param {string} [marker]  from findMarker(); without it only the environment carries the mark
 * @returns {{ command: string, args: string[], env: NodeJS.ProcessEnv }}  the same program, in the same process, marked
 * @throws {Error}  when the command isn't executable: prlimit would only exit
 */
export function withMark(id, { command, args, env }, marker) {
  const marked = { ...env, [VARIABLE]: id };
  if (marker === undefined) return { command, args, env: marked };
  accessSync(command, constants.X_OK);
  return { command: marker, args: [`--locks=${limitOf(id)}:`, command, ...args], env: marked };
}

/** @param {string} id */
export const markInEnvironment = (id) => ({ [VARIABLE]: id });

/** Does a process carry the mark of this run or home? False outside Linux. @param {number} pid @param {string} id */
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

/** The limit for an id; that of a home is a multiple of RUNS_PER_HOME. */
function limitOf(/** @type {string} */ id) {
  const [home, number = 0] = id.split('/');
  const digest = createHash('sha256').update(home).digest();
  return digest.readUInt32BE() * RUNS_PER_HOME + Number(number);
}

function read(/** @type {number} */ pid, /** @type {string} */ name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return ''; // it has exited, or belongs to another user
  }
}
