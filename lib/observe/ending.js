/**
 * Ending a run, with all that belongs to it: its process group, its descendants (a detached one too), what carries its
 * mark in the environment, what the probe reported as a child of one of these, and who listens on the run's port or
 * works in its folder without a parent: a daemon such as nginx leaves its group and its parent, and writes over its
 * environment.
 *
 * @typedef {object} Started
 * @property {string} id  the value of FORKSHOP_RUN in the environment of every process of the run
 * @property {number} [pid]  the first process, which leads the group
 * @property {string} folder  its timeline and its output
 * @property {string} cwd  where it was started
 * @property {number} [port]  which was free before; undefined when the run was given another one
 * @property {boolean} [isTheirs]  a program of somebody's own: what it leaves behind as a daemon is theirs, too
 * @property {number} sinceMs  when it began, by the clock of its timeline
 * @property {Map<number, string>} known  every pid seen so far in the family, and when it was born
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from './clock.js';
import { ageMs, familyOf, isAlive, listProcesses } from './processes.js';
import { isFromTerminal, speaksOf, titleOf, wasStartedWith, worksIn } from './processes.js';
import { holdersOf } from './sockets.js';
import { isContended } from './turn.js';

const DEADLINE_MS = 5_000;
const PATIENCE_MS = 60_000; // where others want the cores: who was killed needs one to end, for each of its threads
const RUN_FOLDER = '/forkshop-'; // in the path of every run's files, see run.js
const TICK_MS = process.platform === 'linux' ? 20 : 1_000; // births are told in ticks of 10 ms, or in seconds

/**
 * The living processes of a run. What is found once stays known, also when its parent has gone.
 * @param {Started} run
 * @param {{ thoroughly?: boolean, atPort?: boolean, all?: import('./processes.js').Process[] }} [options]  thoroughly: look
 *   into every process's environment and into the timeline too (slower); atPort: and for daemons (slower by far);
 *   all: the machine's processes, if they were just listed
 */
export function findFamily(
  run,
  { thoroughly = false, atPort = thoroughly, all = listProcesses() } = {},
) {
  const mark = `FORKSHOP_RUN=${run.id}`;
  const reported = thoroughly ? childrenReported(run) : new Map();
  const isReported = (one) => ageMs(one) >= nowMs() - reported.get(one.pid) - TICK_MS;
  const isRoot = (/** @type {import('./processes.js').Process} */ one) =>
    one.pgid === run.pid ||
    run.known.get(one.pid) === one.born ||
    (reported.has(one.pid) && isReported(one)) || // and not a later one with the same pid
    (thoroughly && wasStartedWith(one.pid, mark));
  let family = familyOf(all, isRoot);
  const daemons = atPort ? daemonsOf(run, all, family) : [];
  if (daemons.length > 0) family = familyOf(all, (one) => isRoot(one) || daemons.includes(one));
  for (const { pid, born } of family) run.known.set(pid, born);
  return family;
}

/**
 * Who was born since the run began, speaks of no other run, nor does a descendant (a port that is free again may soon be
 * another's; and a check that has lost its parent has a keeper which names its run), and listens on the run's port, or has
 * lost its parent and works in the run's folder: it listens elsewhere, or not yet.
 * @param {Started} run
 * @param {import('./processes.js').Process[]} all
 * @param {import('./processes.js').Process[]} family
 */
function daemonsOf({ id, port, cwd, sinceMs, isTheirs }, all, family) {
  if (isTheirs) return [];
  const isNew = (one) => !family.includes(one) && ageMs(one) <= nowMs() - sinceMs + TICK_MS;
  const strangers = all.filter(isNew);
  const listening = port ? holdersOf(port, () => strangers.map(({ pid }) => pid)) : [];
  const isOrphan = ({ pid, ppid }) => isReaper(ppid) && worksIn(pid, cwd) && !isFromTerminal(pid); // somebody may open one meanwhile
  const isOurs = ({ pid }) => speaksOf(pid, id) || !speaksOf(pid, RUN_FOLDER);
  const areOurs = (one) => familyOf(all, ({ pid }) => pid === one.pid).every(isOurs);
  return strangers.filter((one) => (listening.includes(one.pid) || isOrphan(one)) && areOurs(one));
}

/** Does the system give it the children of those that have ended? */
function isReaper(pid) {
  return pid === 1 || titleOf(pid) === 'systemd';
}

/**
 * A child that left the group, the environment and its parent in a moment is known from the probe alone.
 * @returns {Map<number, number>}  pid → when it was reported
 */
function childrenReported({ folder }) {
  try {
    const text = readAtOnce(join(folder, 'timeline.jsonl'));
    const found = text.matchAll(/^{"t":([\d.]+),.*"what":"child","childPid":(\d+)/gm);
    return new Map([...found].map(([, t, pid]) => [Number(pid), Number(t)]));
  } catch {
    return new Map(); // no timeline, or too long a one
  }
}

/** What is in a file; in a pipe that the program put in its place nothing, and nobody waits for it. */
function readAtOnce(path) {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    return fstatSync(fd).isFile() ? readFileSync(fd, 'utf8') : '';
  } finally {
    closeSync(fd);
  }
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
  /** @type {import('./processes.js').Process[]} */
  let held;
  do {
    held = holdStill(run);
    for (const { pid } of held.filter(isAlive)) sendSignal(pid, 'SIGKILL');
    if (held.length > 0) await sleep(3);
  } while (held.length > 0 && Date.now() - since < limitMs());
  return held.filter(isAlive).map(({ pid }) => pid);
}

/**
 * Stops the whole family, until a look finds nobody new: one that stands still can neither respawn a worker nor end
 * and leave a child of whom nobody would know whose it was. Daemons are looked for when nobody else is left.
 * @returns {import('./processes.js').Process[]}  all that were found, those too that have ended meanwhile: what one of
 *   them has left is for the next look
 */
function holdStill(run) {
  const still = new Map();
  let family;
  do {
    if (run.pid && process.platform !== 'win32') sendSignal(-run.pid, 'SIGSTOP');
    const options = { thoroughly: true, atPort: false };
    family = findFamily(run, options).filter(({ pid }) => !still.has(pid));
    if (family.length + still.size === 0) family = findFamily(run, { ...options, atPort: true });
    for (const { pid } of family) sendSignal(pid, 'SIGSTOP');
    for (const one of family) still.set(one.pid, one);
  } while (family.length > 0);
  return [...still.values()];
}

/**
 * @param {number} pid  negative: a process group
 * @param {NodeJS.Signals} name
 * @returns {boolean}  false when it is gone already
 */
export function sendSignal(pid, name) {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
