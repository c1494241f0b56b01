/** A cluster's state from a run's events: which workers are alive, which serve, how each exited. */
import { hasPid } from '../observe/processes.js';
import { eventsOf, exitsOf, forksOf, turnedMs } from '../observe/timeline.js';
import { momentOf } from '../verdict/outcome.js';

/** @typedef {import('../observe/timeline.js').Event} Event */

/** Has the primary received this worker's 'exit'? @param {Event[]} events @param {number} pid */
export const hasExited = (events, pid) => exitsOf(events).some((exit) => exit.workerPid === pid);

/** Has the primary received this worker's 'listening'? @param {Event[]} events @param {number} pid */
export const hasListened = (events, pid) =>
  events.some(({ what, workerPid }) => what === 'worker-listening' && workerPid === pid);

/**
 * Workers that the primary knows to be listening, not disconnected or exited. @param {Event[]} events @returns {number[]}  newest pid last
 */
export function servingIn(events) {
  const serving = new Set();
  for (const event of events) follow(serving, event);
  return [...serving];
}

/** @param {Set<number>} serving @param {Event} event */
function follow(serving, { what, workerPid }) {
  if (what === 'worker-listening') serving.add(workerPid);
  else if (what === 'disconnect' || what === 'worker-exit') serving.delete(workerPid);
}

/** Living processes, including children that have not started yet. @param {Event[]} events @returns {number[]}  pids */
export function aliveIn(events) {
  const started = eventsOf(events, 'start').map(({ pid }) => pid);
  const children = eventsOf(events, 'child').map(({ childPid }) => childPid);
  return [...new Set([...started, ...children])].filter(
    (pid) => !hasExited(events, pid) && hasPid(pid),
  );
}

/** The smallest number of workers that served at once. @param {Event[]} events @param {number} first  index of the event to begin with */
export function fewestServing(events, first) {
  const serving = new Set(servingIn(events.slice(0, first)));
  let fewest = serving.size;
  for (const event of events.slice(first)) {
    follow(serving, event);
    fewest = Math.min(fewest, serving.size);
  }
  return fewest;
}

/** In words: "SIGKILL", "exit code 1". @param {{ code?: number | null, signal?: string | null, [other: string]: any }} end */
export const howItEnded = ({ code, signal }) => signal ?? `exit code ${code}`;

/** @param {Event | undefined} fork @param {string} says */
export const forkMoment = (fork, says) => momentOf(fork, `${says} (process ${fork?.workerPid})`);

/** In the worker's own lane of the X-ray. @param {Event} exit */
export const exitMoment = ({ workerPid: pid, t, ...end }) => ({
  pid,
  t,
  says: `exits (${howItEnded(end)})`,
});

/** Undefined while the primary runs. @param {import('../observe/program.js').Program} program */
export function primaryExitMoment({ events, pid: primary }) {
  const exit = eventsOf(events, 'exit').find(({ pid }) => pid === primary);
  return momentOf(exit, `the primary exits (exit code ${exit?.code})`);
}

/**
 * Forks by a primary after a signal has certainly reached it: its event loop has turned since.
 * @param {import('../observe/program.js').Program} program @param {number} signalMs @param {number} [turns] @returns {Event[]}
 */
export function forkedAfter({ events, pid }, signalMs, turns = 2) {
  const heardMs = turnedMs(events, Number(pid), turns, signalMs);
  return forksOf(events).filter(({ t }) => t > heardMs);
}
