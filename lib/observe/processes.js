/**
 * The machine's processes, as far as "nothing left behind" needs them: which descends from which, whether a pid is still
 * the process that it was, and signals to that one only. On Linux from /proc; elsewhere from `ps`.
 *
 * @typedef {object} Process
 * @property {number} pid
 * @property {number} ppid
 * @property {number} pgid
 * @property {number} born  when it started, on a scale of the system's own; with the pid it names one process, although pids
 *   are used again
 * @property {number} rssBytes
 * @property {string} [state]  a letter, on Linux: R runs or wants to, S sleeps, T was stopped; see proc(5)
 */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { uptime } from 'node:os';
import { spawnSync } from '../common/child.js';

const PAGE_BYTES = 4096;
const TICK_MS = 10; // of /proc/PID/stat: sysconf(_SC_CLK_TCK) is 100 on every Linux of today

/**
 * Every process that is alive; a zombie, which only waits for its parent to notice its end, is not.
 * @returns {Process[]}
 */
export function listProcesses() {
  return process.platform === 'linux' ? fromProc() : fromPs();
}

function fromProc() {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const found = readStat(Number(name));
    return found ? [found] : [];
  });
}

/** The fields are named in proc(5); the command's name, in parentheses, may itself hold blanks and parentheses. */
function readStat(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, ppid, pgid, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const threads = Number(rest[14]); // its first thread may be a zombie while others still hold files and ports
    if (state === 'X' || (state === 'Z' && threads <= 1)) return undefined;
    const rssBytes = +rest[18] * PAGE_BYTES;
    return { pid, ppid: +ppid, pgid: +pgid, born: +rest[16], rssBytes, state };
  } catch {
    return undefined; // it ended while we were looking
  }
}

function fromPs(which = '-ax') {
  const columns = 'pid=,ppid=,pgid=,rss=,state=,lstart=';
  const env = { ...process.env, LC_ALL: 'C' }; // else dates are in the user's language
  const { stdout, error } = spawnSync('ps', [which, '-o', columns], { encoding: 'utf8', env });
  if (error) throw error;
  return stdout.split('\n').flatMap((line) => {
    const [pid, ppid, pgid, rss, state, ...started] = line.trim().split(/\s+/);
    if (!pid || state.startsWith('Z')) return [];
    const born = Date.parse(started.join(' '));
    return [{ pid: +pid, ppid: +ppid, pgid: +pgid, born, rssBytes: +rss * 1024 }];
  });
}

/**
 * The process that has this pid now, if it is alive.
 * @param {number} pid
 * @returns {Process | undefined}
 */
export const processAt = (pid) =>
  process.platform === 'linux' ? readStat(pid) : fromPs(`-p${pid}`)[0];

/**
 * Does the system still keep this pid: of a process that is alive, or dead and not yet noticed by its parent?
 * @param {number} pid
 * @returns {boolean}
 */
export function hasPid(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * Is it alive? Quick enough to be asked again and again; unlike hasPid() it does not take a zombie for alive, on Linux.
 * @param {number} pid
 */
export const isLiving = (pid) =>
  process.platform === 'linux' ? readStat(pid) !== undefined : hasPid(pid);

/**
 * Does it stand still? A process that was sent SIGSTOP runs on until it gets a core. Linux only; elsewhere true.
 * @param {number} pid
 */
export const hasStopped = (pid) => process.platform !== 'linux' || readStat(pid)?.state === 'T';

/**
 * Is this still the same process, alive?
 * @param {{ pid: number, born: number }} known
 */
export const isAlive = ({ pid, born }) => processAt(pid)?.born === born;

/**
 * Sends a signal to a process, and to no later one with the same pid: it is looked at in the last moment before. In between
 * are microseconds, in which the system would have to give away all its other pids.
 * @param {{ pid: number, born: number }} known
 * @param {NodeJS.Signals} name
 * @param {boolean} [isGroup]  to the whole process group that it leads
 * @returns {boolean}  false when it has ended
 */
export function signal(known, name, isGroup = false) {
  try {
    return isAlive(known) && process.kill(isGroup ? -known.pid : known.pid, name);
  } catch {
    return false;
  }
}

/**
 * A process's parent, that one's parent, and so on.
 * @param {number} pid
 * @param {Process[]} all
 * @returns {Set<number>}
 */
export function ancestorsOf(pid, all) {
  const parents = new Map(all.map((one) => [one.pid, one.ppid]));
  const found = new Set();
  for (let one = parents.get(pid); one && !found.has(one); one = parents.get(one)) found.add(one);
  return found;
}

/**
 * How long ago the process was started.
 * @param {{ born: number }} one
 * @returns {number}  milliseconds, give or take the 10 ms (elsewhere than on Linux: the second) in which births are told
 */
export const ageMs = ({ born }) =>
  process.platform === 'linux' ? uptime() * 1000 - born * TICK_MS : Date.now() - born;

/**
 * The PID namespace in which this process has its pid: in another one the same number is another process.
 * @returns {string}  '' where the system has none, or doesn't tell
 */
export function pidNamespace() {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/**
 * The CPU time that processes have taken so far, with that of their children that have exited and were waited for: see
 * proc(5), stat. Linux only; elsewhere NaN.
 * @param {Iterable<number>} pids
 * @returns {number}  in ticks, as /proc/stat counts them
 */
export function cpuTicksOf(pids) {
  if (process.platform !== 'linux') return NaN;
  let ticks = 0;
  for (const pid of new Set(pids)) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      ticks += fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    } catch {
      // it has exited: its parent has its time
    }
  }
  return ticks;
}

/**
 * How many processes and threads of the machine run or want to, the one that asks included: see proc(5), loadavg.
 * @returns {number}  NaN where the system does not tell
 */
export function countRunnable() {
  try {
    return Number(/(\d+)\//.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1]);
  } catch {
    return NaN;
  }
}

/**
 * The name of a process's program, as the system has it: 'nginx', 'sh'. Linux only; elsewhere 'process'. Newer Node.js calls
 * its first thread 'MainThread', and with it the process.
 * @param {number} pid
 */
export function titleOf(pid) {
  try {
    const name = readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
    return name === 'MainThread' ? 'node' : name;
  } catch {
    return 'process';
  }
}

/**
 * These processes and all that descend from them, found among `all`.
 * @param {Process[]} all
 * @param {(one: Process) => boolean} isRoot
 * @returns {Process[]}
 */
export function familyOf(all, isRoot) {
  const family = new Set(all.filter(isRoot).map(({ pid }) => pid));
  for (let size = -1; size !== family.size;) {
    size = family.size;
    for (const { pid, ppid } of all) if (family.has(ppid)) family.add(pid);
  }
  return all.filter(({ pid }) => family.has(pid));
}
