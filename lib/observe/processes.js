/**
 * The machine's processes, as far as "nothing left behind" needs them: who descends from whom, who carries a run's
 * mark, and whether a pid is still the process that it was. On Linux from /proc; elsewhere from `ps`.
 *
 * @typedef {object} Process
 * @property {number} pid
 * @property {number} ppid
 * @property {number} pgid
 * @property {string} born  when it started; with the pid it names one process for ever, although pids are used again
 * @property {number} rssBytes
 * @property {string} [state]  a letter, on Linux: R runs or wants to, S sleeps, T was stopped; see proc(5)
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { uptime } from 'node:os';

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
    return { pid, ppid: +ppid, pgid: +pgid, born: rest[16], rssBytes, state };
  } catch {
    return undefined; // it ended while we were looking
  }
}

function fromPs() {
  const columns = 'pid=,ppid=,pgid=,rss=,state=,lstart=';
  const text = execFileSync('ps', ['-axo', columns], { encoding: 'utf8' });
  return text.split('\n').flatMap((line) => {
    const [pid, ppid, pgid, rss, state, ...born] = line.trim().split(/\s+/);
    if (!pid || state.startsWith('Z')) return [];
    return [{ pid: +pid, ppid: +ppid, pgid: +pgid, born: born.join(' '), rssBytes: +rss * 1024 }];
  });
}

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
 * @param {{ pid: number, born: string }} known
 */
export function isAlive({ pid, born }) {
  const found =
    process.platform === 'linux' ? readStat(pid) : listProcesses().find((one) => one.pid === pid);
  return found?.born === born;
}

/**
 * How long ago the process was started.
 * @param {{ born: string }} one
 * @returns {number}  milliseconds, give or take the 10 ms (elsewhere than on Linux: the second) in which births are told
 */
export function ageMs({ born }) {
  return process.platform === 'linux'
    ? uptime() * 1000 - Number(born) * TICK_MS
    : Date.now() - Date.parse(born);
}

/**
 * Does the process carry `name=value` in the environment that it was started with? Linux only; elsewhere false.
 * @param {number} pid
 * @param {string} entry  `name=value`
 */
export function wasStartedWith(pid, entry) {
  if (process.platform !== 'linux') return false;
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(entry);
  } catch {
    return false;
  }
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
 * The name of a process's program, as the system has it: 'nginx', 'sh'. Linux only; elsewhere 'process'.
 * @param {number} pid
 */
export function titleOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return 'process';
  }
}

/**
 * Does the process work in this folder? Linux only; elsewhere false.
 * @param {number} pid
 * @param {string} folder
 */
export function worksIn(pid, folder) {
  try {
    const [its, that] = [`/proc/${pid}/cwd`, folder].map((path) => statSync(path));
    return its.dev === that.dev && its.ino === that.ino;
  } catch {
    return false;
  }
}

/**
 * Is there such a text in the process's environment or command line, as it was started or as it now calls itself?
 * Linux only; elsewhere false.
 * @param {number} pid
 * @param {string} text
 */
export function speaksOf(pid, text) {
  if (process.platform !== 'linux') return false;
  return ['environ', 'cmdline'].some((name) => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, 'utf8').includes(text);
    } catch {
      return false;
    }
  });
}

/**
 * Was it started from a terminal, whose kind its environment tells? Linux only; elsewhere false.
 * @param {number} pid
 */
export function isFromTerminal(pid) {
  try {
    return /(^|\0)TERM=/.test(readFileSync(`/proc/${pid}/environ`, 'latin1'));
  } catch {
    return false;
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
