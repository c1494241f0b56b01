/**
 * Ending a run, with all that belongs to it, and nothing else. A process belongs to a run when that is proved:
 * - the keeper has started it, and noted its pid and when it was born;
 * - or it descends from one that belongs, as the system's table of processes says, now or at an earlier look;
 * - or it is in the process group that the first process leads. A process cannot join a group from another session, and the
 *   first process has a session of its own; the group keeps its number while one that is known to belong is in it;
 * - or it carries the run's mark (mark.js).
 * What a program prints, reports or resembles proves nothing.
 *
 * @typedef {object} Started
 * @property {string} id  of the run, or of a home: then all its runs; see mark.js
 * @property {number} [pid]  the first process, which leads the group
 * @property {number} [born]  nothing that was born before this belongs to it
 * @property {Map<number, number>} known  every process that was proved to belong: its pid, and when it was born
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { hasMark } from './mark.js';
import { ancestorsOf, familyOf, isAlive, listProcesses, processAt, signal } from './processes.js';
import { isContended } from './turn.js';

const DEADLINE_MS = 5_000;
const PATIENCE_MS = 60_000; // where others want the cores: who was killed needs one to end, for each of its threads

/**
 * The living processes of a run.
 * @param {Started} run
 * @param {{ thoroughly?: boolean, all?: import('./processes.js').Process[] }} [options]  thoroughly: look for the mark, too
 *   (slower); all: the machine's processes, if they were just listed
 */
export function findFamily(run, { thoroughly = false, all = listProcesses() } = {}) {
  const { id, pid: leader, born = 0, known } = run;
  const spared = ancestorsOf(process.pid, all).add(process.pid).add(1);
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
 * The process of a run that has this pid: what a program reports is looked up, not believed.
 * @param {Started} run
 * @param {number} pid
 * @returns {import('./processes.js').Process | undefined}  undefined when it has ended, or isn't proved to belong
 */
export function findMember(run, pid) {
  const one = processAt(pid);
  if (!one || run.known.get(pid) === one.born) return one;
  const all = hasMark(pid, run.id) ? [one] : listProcesses();
  return findFamily(run, { thoroughly: true, all }).find((member) => member.pid === pid);
}

/**
 * Sends a signal to the run's process group, as Ctrl-C in a terminal does.
 * @param {Started} run
 * @param {NodeJS.Signals} name
 * @returns {boolean}  false when nothing is left of it
 */
export function signalGroup(run, name) {
  if (signalLed(run, name)) return true;
  const left = findFamily(run).filter(({ pgid }) => pgid === run.pid);
  return left.map((one) => signal(one, name)).includes(true);
}

/** To the group at once, which is possible while its first process lives: afterwards its number may be another's. */
function signalLed({ pid = 0, known }, name) {
  const born = known.get(pid);
  return born !== undefined && signal({ pid, born }, name, process.platform !== 'win32');
}

/**
 * Kills a run's processes and waits until they are gone.
 * @param {Started} run
 * @returns {Promise<number[]>}  the pids that could not be ended within five seconds, or within a minute where others keep
 *   them from running: none, but for a fault of the system
 */
export async function endRun(run) {
  const since = Date.now();
  const limitMs = () => (isContended() ? PATIENCE_MS : DEADLINE_MS);
  let isGone = false;
  for (;;) {
    const held = holdStill(run);
    if (held.length === 0 && isGone) return []; // twice: while one looks, a process may start the next, and exit
    isGone = held.length === 0;
    for (const one of held) signal(one, 'SIGKILL');
    if (Date.now() - since > limitMs()) return held.filter(isAlive).map(({ pid }) => pid);
    if (!isGone) await sleep(3);
  }
}

/**
 * Stops the whole family, until a look finds none that is new: a process that stands still can neither respawn a worker nor
 * exit.
 * @param {Started} run
 * @returns {import('./processes.js').Process[]}  all that were found, those too that have ended meanwhile: what one of
 *   them has left is for the next look
 */
function holdStill(run) {
  /** @type {Map<number, import('./processes.js').Process>} */
  const still = new Map();
  for (;;) {
    signalLed(run, 'SIGSTOP'); // what forks without end cannot outrun it
    const fresh = findFamily(run, { thoroughly: true }).filter(({ pid }) => !still.has(pid));
    if (fresh.length === 0) return [...still.values()];
    for (const one of fresh) {
      signal(one, 'SIGSTOP');
      still.set(one.pid, one);
    }
  }
}
