/**
 * Kills a run: all processes that belong to it, and no others. A process belongs to a run if one of these holds:
 * - the keeper has started it, and noted its pid and birth;
 * - it descends from a process of the run, now or at an earlier look;
 * - it is in the process group of the first process, which leads its own session, while a known member is in that group: a process
 *   can't join a group of another session;
 * - it carries the run's mark (mark.js).
 * The output and reports of a program prove nothing.
 * @typedef {{ id: string, pid?: number, born?: number, known: Map<number, number> }} Started  id: see mark.js; that of a home means
 *   all its runs; pid: the first process; born: an older process isn't of this run; known: pid → birth of every proved member
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { hasMark } from './mark.js';
import { ancestorsOf, familyOf, isAlive, listProcesses, processAt, signal } from './processes.js';
import { isContended } from './cpu-time.js';

const DEADLINE_MS = 5_000;
const PATIENCE_MS = 60_000; // on a contended machine: a killed process needs a core to exit, once for each thread

/**
 * The living processes of a run.
 * @param {Started} run
 * @param {{ thoroughly?: boolean, all?: import('./processes.js').Process[] }} [options]  thoroughly: also look for the mark, which is
 *   slower; all: the machine's processes, if just listed
 */
export function findFamily(run, { thoroughly = false, all = listProcesses() } = {}) {
  const { id, pid: leader, born = 0, known } = run;
  const spared = new Set([0, 1, process.pid, ...ancestorsOf(process.pid, all)]);
  const candidates = all.filter((one) => one.born >= born && !spared.has(one.pid));
  const isKnown = (one) => known.get(one.pid) === one.born;
  const hasGroup = candidates.some((one) => one.pgid === leader && isKnown(one));
  const isProved = (one) =>
    isKnown(one) || (hasGroup && one.pgid === leader) || (thoroughly && hasMark(one.pid, id));
  const family = familyOf(candidates, isProved);
  for (const one of family) known.set(one.pid, one.born);
  return family;
}

/**
 * Verifies a reported pid. @param {Started} run @param {number} pid
 * @returns {import('./processes.js').Process | undefined}  undefined if it has exited or doesn't provably belong to the run
 */
export function findMember(run, pid) {
  const one = processAt(pid);
  if (!one || run.known.get(pid) === one.born) return one;
  const all = hasMark(pid, run.id) ? [one] : listProcesses();
  return findFamily(run, { thoroughly: true, all }).find((member) => member.pid === pid);
}

/**
 * Signals the run's group, as Ctrl-C does. @param {Started} run @param {NodeJS.Signals} name @returns {boolean}  false if none is left
 */
export function signalGroup(run, name) {
  if (signalLed(run, name)) return true;
  const left = findFamily(run).filter(({ pgid }) => pgid === run.pid);
  return left.map((one) => signal(one, name)).includes(true);
}

/** Signals the group at once while its first process lives; later its number may belong to another group. */
function signalLed({ pid = 0, known }, name) {
  const born = known.get(pid);
  return born !== undefined && signal({ pid, born }, name, process.platform !== 'win32');
}

/**
 * Kills a run's processes and waits until they are gone. @param {Started} run
 * @returns {Promise<number[]>}  the pids still alive after five seconds, or a minute on a contended machine: the system is at fault
 */
export async function endRun(run) {
  const since = Date.now();
  const limitMs = () => (isContended() ? PATIENCE_MS : DEADLINE_MS);
  let isGone = false;
  for (;;) {
    const held = holdStill(run);
    if (held.length === 0 && isGone) return []; // twice: during a look a process may start another and exit
    isGone = held.length === 0;
    for (const one of held) signal(one, 'SIGKILL');
    if (Date.now() - since > limitMs()) return held.filter(isAlive).map(({ pid }) => pid);
    if (!isGone) await sleep(3);
  }
}

/**
 * Stops all processes until a look finds no new one: a stopped process can't restart a worker or exit. @param {Started} run
 * @returns {import('./processes.js').Process[]}  even those that have exited in the meantime
 */
function holdStill(run) {
  const still = new Map();
  for (;;) {
    signalLed(run, 'SIGSTOP'); // a fork bomb can't outrun it
    const fresh = findFamily(run, { thoroughly: true }).filter(({ pid }) => !still.has(pid));
    if (fresh.length === 0) return [...still.values()];
    for (const one of fresh) {
      signal(one, 'SIGSTOP');
      still.set(one.pid, one);
    }
  }
}
