/** What is marked in the X-ray as having decided a promise of lesson 10. nginx itself is not seen: only who started it. */
import { eventsOf, momentOf, requestsOf } from '../../../lib/check/checking.js';
import { listenersIn, serversIn } from '../looks/nginx.js';

/**
 * @typedef {import('../../../lib/observe/program.js').Program} Program
 * @typedef {import('../../../lib/observe/timeline.js').Event} Event
 */

const MARKED = 6; // moments of a kind

/**
 * @param {Program} program
 * @param {any[]} seen  events, or requests
 * @param {string} says
 */
export const shown = (program, seen, says) => ({
  program,
  moments: seen.slice(0, MARKED).map((one) => momentOf(one, says)),
});

/** Where its servers listen; or, when none does, how it ended. */
export function serversShown(/** @type {Program} */ program) {
  const servers = serversIn(program);
  return servers.length > 0 ? listeningShown(program, servers) : endShown(program);
}

/** @param {Program} program @param {Event[]} listeners */
export const listeningShown = (program, listeners) => ({
  program,
  moments: listeners
    .slice(0, MARKED)
    .map((one) => momentOf(one, `listens on ${one.address ?? 'every address'}, port ${one.port}`)),
});

/** All that listen, the first process included. */
export const doorsShown = (/** @type {Program} */ program) =>
  listeningShown(program, listenersIn(program.events));

/** The end of the first process. */
export const endShown = (/** @type {Program} */ program) => endsShown(program, [program.pid]);

/** The ends of these processes, or of all. @param {Program} program @param {(number | undefined)[]} [pids] */
export const endsShown = (program, pids) => ({
  program,
  moments: eventsOf(program.events, 'exit')
    .filter(({ pid, tid }) => tid === undefined && (!pids || pids.includes(pid)))
    .slice(0, MARKED)
    .map((end) => momentOf(end, `ends with exit code ${end.code}`)),
});

/** When the first process started one that isn't Node.js, which is nginx here; or else how it ended. */
export function nginxShown(/** @type {Program} */ program) {
  const nodes = new Set(eventsOf(program.events, 'start').map(({ pid }) => pid));
  const natives = eventsOf(program.events, 'child').filter(({ childPid }) => !nodes.has(childPid));
  return natives.length > 0 ? shown(program, natives, 'starts nginx') : endShown(program);
}

/** What it started after a moment. @param {Program} program @param {number} t */
export const startedShown = (program, t) =>
  shown(
    program,
    eventsOf(program.events, 'child').filter((child) => child.t > t),
    'starts a process',
  );

/** Requests for a path: those that were not answered with 200, if there are any. @param {Program} program @param {string} path */
export function requestsShown(program, path) {
  const requests = requestsOf(program.events, path);
  const lost = requests.filter(({ status }) => status !== 200);
  return lost.length > 0
    ? shown(program, lost, 'a request that is lost')
    : shown(program, requests, 'a request');
}

/**
 * A signal of the check, what was lost by it, and who ended.
 * @param {{ door: { program: Program }, how: string, signalMs?: number }} stop
 */
export function stopShown({ door: { program }, how, signalMs: t }) {
  if (t === undefined || program.pid === undefined) return nginxShown(program);
  const lost = requestsOf(program.events, '/report').filter(({ status }) => status !== 200);
  return {
    program,
    moments: [
      { pid: program.pid, t, says: how },
      ...shown(program, lost, 'a request that is lost').moments,
      ...endsShown(program).moments,
    ],
  };
}

/** A machine is killed. @param {Program} program @param {number[]} pids @param {number} t */
export const killShown = (program, pids, t) => pids.map((pid) => ({ pid, t, says: 'SIGKILL' }));
