/**
 * One of several like processes executed nearly all requests. That is right for a program that deals by address, or to the process with
 * the fewest connections, so we count again with many clients at once, each from its own address.
 */
import http from 'node:http';
import net from 'node:net';
import { get } from '../observe/client.js';
import { nowMs } from '../observe/clock.js';
import { groupBy, requestsOf } from '../observe/timeline.js';
import { ignoreStarved } from '../observe/cpu-time.js';
import { NEARLY_ALL } from './report/findings-processes.js';

const CLIENTS = 16;
const CONNECTS_WITHIN_MS = 2_000; // to the accept queue: no process needs to be awake
const FEW = 100; // requests, for a statement about shares

/**
 * @typedef {{ pid: number, peers: number[], requests: number, own: number, clients?: number, ownAtOnce?: number }} Spread  pid: of the
 *   process that executed nearly all; peers: the like processes, with that pid; requests: of the load, by all of them; own: of these, by
 *   that pid; clients: at once, missing if this system has one address only; ownAtOnce: of these, by that pid
 */

/** Looks at processes that get connections from another one. @param {Omit<import('./report/facts.js').Facts, 'spread'>} facts */
export function unevenOf({ processes, load }) {
  if (!load.isFresh) return undefined;
  const there = processes.filter(
    (one) =>
      one.isNode &&
      one.ppid !== undefined &&
      one.endMs === undefined &&
      one.startMs < load.fromMs &&
      one.listenedMs === undefined,
  );
  const groups = [...groupBy(there, ({ ppid, name }) => `${ppid} ${name}`).values()];
  return groups.map(nearlyAllByOne).find((one) => one !== undefined);
}

function nearlyAllByOne(alike) {
  const [top] = [...alike].sort((a, b) => b.requests - a.requests);
  const isPeer = (/** @type {import('./report/facts.js').Seen} */ { requests, role, given }) =>
    requests > 0 || (role === 'worker' && given !== undefined && given === top.given);
  const peers = alike.filter(isPeer);
  const requests = peers.reduce((sum, one) => sum + one.requests, 0);
  if (peers.length < 2 || requests < FEW || top.requests < NEARLY_ALL * requests) return undefined;
  return { pid: top.pid, peers: peers.map(({ pid }) => pid), requests, own: top.requests };
}

/**
 * Sends many clients at once, from many addresses.
 * @param {import('./launch.js').Program} program @param {import('./load.js').Plan} plan @param {Spread} spread @returns {Promise<Spread>}
 */
export async function tryApart(program, { path, method, headers, body }, spread) {
  const sinceMs = nowMs();
  const sockets = await Promise.all(
    Array.from({ length: CLIENTS }, (_, index) => connect(program.port, `127.0.0.${index + 2}`)),
  );
  const open = sockets.filter((socket) => socket !== undefined);
  if (open.length === CLIENTS) {
    const what = { method, headers, body, isBodyKept: false };
    await Promise.all(
      open.map((socket) => get(program.url + path, { ...what, agent: over(socket) })),
    );
    await program.drained().catch(ignoreStarved);
  }
  for (const socket of open) socket.destroy();
  const since = requestsOf(program.events.filter(({ t }) => t >= sinceMs));
  const pids = since.map(({ pid }) => pid).filter((pid) => spread.peers.includes(pid));
  if (pids.length < CLIENTS) return spread;
  const own = pids.filter((pid) => pid === spread.pid).length;
  return { ...spread, clients: pids.length, ownAtOnce: own };
}

/** @returns {Promise<net.Socket | undefined>} */
const connect = (/** @type {number} */ port, /** @type {string} */ localAddress) =>
  new Promise((resolve) => {
    const socket = net.connect({ host: '127.0.0.1', port, localAddress });
    socket.once('connect', () => resolve(socket.setTimeout(0)));
    socket.setTimeout(CONNECTS_WITHIN_MS, () => socket.destroy(new Error('not accepted')));
    socket.on('error', () => resolve(undefined)); // macOS has no such address by default
  });

/** An agent for a connection that is open already. */
const over = (/** @type {net.Socket} */ socket) =>
  Object.assign(new http.Agent(), { createConnection: () => socket });
