/**
 * Ending a run, with all that belongs to it: its process group, its descendants (a detached one too), and what carries
 * its mark in the environment.
 *
 * @typedef {object} Started
 * @property {string} id  the value of FORKSHOP_RUN in the environment of every process of the run
 * @property {number} [pid]  the first process, which leads the group
 * @property {string} folder  its timeline and its output; removed at the end
 * @property {Map<number, string>} known  every pid seen so far in the family, and when it was born
 */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { familyOf, isAlive, listProcesses, wasStartedWith } from './processes.js';

const DEADLINE_MS = 5_000;

/**
 * The living processes of a run. What is found once stays known, also when its parent has gone.
 * @param {Started} run
 * @param {{ byMark?: boolean, all?: import('./processes.js').Process[] }} [options]  byMark: look into every process's
 *   environment too (slower); all: the machine's processes, if they have just been listed
 */
export function findFamily(run, { byMark = false, all = listProcesses() } = {}) {
  const mark = `FORKSHOP_RUN=${run.id}`;
  const isRoot = ({ pid, pgid, born }) =>
    pgid === run.pid || run.known.get(pid) === born || (byMark && wasStartedWith(pid, mark));
  const family = familyOf(all, isRoot);
  for (const { pid, born } of family) run.known.set(pid, born);
  return family;
}

/**
 * Kills a run's processes, waits until they are gone, and removes its folder.
 * @param {Started} run
 * @param {{ keepFolder?: boolean }} [options]
 * @returns {Promise<number[]>}  the pids that could not be ended within five seconds: none, but for a fault of the system
 */
export async function endRun(run, { keepFolder = false } = {}) {
  const deadline = Date.now() + DEADLINE_MS;
  let family;
  do {
    if (run.pid && process.platform !== 'win32') kill(-run.pid); // at once, before a primary can respawn a worker
    family = findFamily(run, { byMark: true });
    for (const { pid } of family) kill(pid);
    if (family.length > 0) await sleep(3);
  } while (family.length > 0 && Date.now() < deadline);
  if (!keepFolder) rmSync(run.folder, { recursive: true, force: true, maxRetries: 3 });
  return family.filter(isAlive).map(({ pid }) => pid);
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}
