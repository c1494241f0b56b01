/**
 * The machine's processes, and signals to exactly one of them. On Linux from /proc, elsewhere from `ps`.
 * @typedef {{ pid: number, ppid: number, pgid: number, born: number, rssBytes: number, state?: string }} Process  born: when it started, on
 *   the system's own scale: pids are reused, and pid and born identify a process; state: on Linux, R, S, T and so on, see proc(5)
 */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { uptime } from 'node:os';
import { spawnSync } from '../common/child.js';

const PAGE_BYTES = 4096;
const TICK_MS = 10; // of /proc/PID/stat: sysconf(_SC_CLK_TCK) is 100 on every current Linux

/** All living processes; a zombie, which only waits for its parent, isn't one. @returns {Process[]} */
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

/** The fields are in proc(5); the command, in parentheses, may itself contain blanks and parentheses. */
function readStat(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, ppid, pgid, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const threads = Number(rest[14]); // the first thread may be a zombie while others hold files and ports
    if (state === 'X' || (state === 'Z' && threads <= 1)) return undefined;
    const rssBytes = +rest[18] * PAGE_BYTES;
    return { pid, ppid: +ppid, pgid: +pgid, born: +rest[16], rssBytes, state };
  } catch {
    return undefined; // it has exited in the meantime
  }
}

function fromPs(which = '-ax') {
  const columns = 'pid=,ppid=,pgid=,rss=,state=,lstart=';
  const env = { ...process.env, LC_ALL: 'C' }; // for dates in English
  const { stdout, error } = spawnSync('ps', [which, '-o', columns], { encoding: 'utf8', env });
  if (error) throw error;
  return stdout.split('\n').flatMap((line) => {
    const [pid, ppid, pgid, rss, state, ...started] = line.trim().split(/\s+/);
    if (!pid || state.startsWith('Z')) return [];
    const born = Date.parse(started.join(' '));
    return [{ pid: +pid, ppid: +ppid, pgid: +pgid, born, rssBytes: +rss * 1024 }];
  });
}

/** @param {number} pid @returns {Process | undefined}  the living process that has this pid now */
export const processAt = (pid) =>
  process.platform === 'linux' ? readStat(pid) : fromPs(`-p${pid}`)[0];

/** Does the system still know this pid: a living process, or a zombie? @param {number} pid @returns {boolean} */
export function hasPid(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Is it alive? Cheap; unlike hasPid(), false for a zombie on Linux. @param {number} pid */
export const isLiving = (pid) =>
  process.platform === 'linux' ? readStat(pid) !== undefined : hasPid(pid);

/** Is it stopped? After SIGSTOP a process runs until it next gets a core. True outside Linux. @param {number} pid */
export const hasStopped = (pid) => process.platform !== 'linux' || readStat(pid)?.state === 'T';

/** Is it alive, and still the same process? @param {{ pid: number, born: number }} known */
export const isAlive = ({ pid, born }) => processAt(pid)?.born === born;

/**
 * Sends a signal to a process, but not to a later one with the same pid. @returns {boolean}  false if it has exited
 * @param {{ pid: number, born: number }} known @param {NodeJS.Signals} name @param {boolean} [isGroup]  to the group that it leads
 */
export function signal(known, name, isGroup = false) {
  try {
    return isAlive(known) && process.kill(isGroup ? -known.pid : known.pid, name);
  } catch {
    return false;
  }
}

/** A process's parent, grandparent and so on. @param {number} pid @param {Process[]} all @returns {Set<number>} */
export function ancestorsOf(pid, all) {
  const parents = new Map(all.map((one) => [one.pid, one.ppid]));
  const found = new Set();
  for (let one = parents.get(pid); one && !found.has(one); one = parents.get(one)) found.add(one);
  return found;
}

/** @param {{ born: number }} one @returns {number}  milliseconds since it was started, to within 10 ms (1 s outside Linux) */
export const ageMs = ({ born }) =>
  process.platform === 'linux' ? uptime() * 1000 - born * TICK_MS : Date.now() - born;

/** The PID namespace of this process. @returns {string}  '' if the system has no namespaces, or doesn't say */
export function pidNamespace() {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/**
 * CPU time, with exited children: proc(5), stat. @param {Iterable<number>} pids @returns {number}  ticks as in /proc/stat; NaN outside Linux
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
      // it has exited, and its time counts for its parent
    }
  }
  return ticks;
}

/** How many threads run or want to, including the caller: see proc(5), loadavg. @returns {number}  NaN if the system doesn't say */
export function countRunnable() {
  try {
    return Number(/(\d+)\//.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1]);
  } catch {
    return NaN;
  }
}

/**
 * The program of a process, such as 'nginx'; outside Linux 'process'. Newer Node.js calls itself 'MainThread'. @param {number} pid
 */
export function titleOf(pid) {
  try {
    const name = readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
    return name === 'MainThread' ? 'node' : name;
  } catch {
    return 'process';
  }
}

/** These processes and their descendants. @param {Process[]} all @param {(one: Process) => boolean} isRoot @returns {Process[]} */
export function familyOf(all, isRoot) {
  const family = new Set(all.filter(isRoot).map(({ pid }) => pid));
  for (let size = -1; size !== family.size;) {
    size = family.size;
    for (const { pid, ppid } of all) if (family.has(ppid)) family.add(pid);
  }
  return all.filter(({ pid }) => family.has(pid));
}
