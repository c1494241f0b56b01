/** What a run's events say of a cluster: which workers are alive, which serve, how each ended; and moments of that for an X-ray. */
import { hasPid } from '../observe/processes.js';
import { eventsOf, exitsOf, forksOf, turnedMs } from '../observe/timeline.js';
import { momentOf } from '../verdict/outcome.js';

/** @typedef {import('../observe/timeline.js').Event} Event */

/** Has the primary heard that this worker exited? @param {Event[]} events @param {number} pid */
export const hasExited = (events, pid) => exitsOf(events).some((exit) => exit.workerPid === pid);

/** Has the primary heard that this worker listens? @param {Event[]} events @param {number} pid */
export const hasListened = (events, pid) =>
  events.some(({ what, workerPid }) => what === 'worker-listening' && workerPid === pid);

/**
 * The workers that the primary knows to listen, and not to be leaving or gone; the newest is last.
 * @param {Event[]} events
 * @returns {number[]}  pids
 */
export function servingIn(events) {
  const serving = new Set();
  for (const event of events) follow(serving, event);
  return [...serving];
}

/** Who serves after one more event. @param {Set<number>} serving @param {Event} event */
function follow(serving, { what, workerPid }) {
  if (what === 'worker-listening') serving.add(workerPid);
  else if (what === 'disconnect' || what === 'worker-exit') serving.delete(workerPid);
}

/**
 * The processes of a run that are alive, the first one included, and children that are only about to start.
 * @param {Event[]} events
 * @returns {number[]}  pids
 */
export function aliveIn(events) {
  const started = eventsOf(events, 'start').map(({ pid }) => pid);
  const children = eventsOf(events, 'child').map(({ childPid }) => childPid);
  return [...new Set([...started, ...children])].filter(
    (pid) => !hasExited(events, pid) && hasPid(pid),
  );
}

/**
 * How many workers served at least, from an event on.
 * @param {Event[]} events
 * @param {number} first  the number of that event
 */
export function fewestServing(events, first) {
  const serving = new Set(servingIn(events.slice(0, first)));
  let fewest = serving.size;
  for (const event of events.slice(first)) {
    follow(serving, event);
    fewest = Math.min(fewest, serving.size);
  }
  return fewest;
}

/**
 * How a process ended, in words: "SIGKILL", "exit code 1".
 * @param {{ code?: number | null, signal?: string | null, [other: string]: any }} end
 */
export const howItEnded = ({ code, signal }) => signal ?? `exit code ${code}`;

/** The fork of a worker, as a moment. @param {Event | undefined} fork @param {string} says */
export const forkMoment = (fork, says) => momentOf(fork, `${says} (process ${fork?.workerPid})`);

/** The exit of a worker, as a moment in its own lane. @param {Event} exit */
export const exitMoment = ({ workerPid: pid, t, ...end }) => ({
  pid,
  t,
  says: `exits (${howItEnded(end)})`,
});

/** The exit of a run's first process, as a moment; none while it runs. @param {import('../observe/program.js').Program} program */
export function primaryExitMoment({ events, pid: primary }) {
  const exit = eventsOf(events, 'exit').find(({ pid }) => pid === primary);
  return momentOf(exit, `the primary exits (exit code ${exit?.code})`);
}

/** What a primary forked once it had surely heard a signal. @param {import('../observe/program.js').Program} program */
export function forkedAfter({ events, pid }, signalMs, turns = 2) {
  const heardMs = turnedMs(events, Number(pid), turns, signalMs);
  return forksOf(events).filter(({ t }) => t > heardMs);
}
