/**
 * Steady traffic of single clients, as a server meets it every day: on schedule, whatever comes back; some open a
 * connection for each request, some keep theirs, and ask again only when they have their answer. It is for a few hundred requests a second, from this very process, and
 * every answer is joined to the server's record by its port.
 *
 * A server may close an idle connection at any moment, also while a client is sending on it. Then the client sees a
 * reset before any byte of an answer, and what can be repeated is sent once more, on a new connection: RFC 9112, 9.3.1
 * and 9.5. Our clients do so, too, and `isRepeated` tells.
 *
 * @typedef {import('../observe/client.js').Answer} Answer
 *
 * @typedef {object} Kind  of request
 * @property {string} path
 * @property {string} [method]  GET unless told otherwise
 * @property {Record<string, string>} [headers]
 * @property {string} [body]
 * @property {boolean} [isBodyKept]  of the answer, which then is not larger than 1 MB; true unless told otherwise
 * @property {number} [timeoutMs]  10 s unless told otherwise
 * @property {import('../observe/client.js').Streams} [streams]  where an answer without an end of its own is no failure; no
 *   client comes while these are full, and stop() ends them
 * @property {number} perSecond
 * @property {number} [connections]  so many are kept, and used in turn; none: a new one for each request
 *
 * @typedef {object} Sent
 * @property {string} path
 * @property {Answer} first
 * @property {Answer} answer  the one that counts: of the repetition, where there was one
 * @property {boolean} isRepeated
 * @property {boolean} [isKept]  it was sent over a connection that its client keeps
 */
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { get, isReset } from '../observe/client.js';
import { nowMs } from '../observe/clock.js';
import { keepTrack } from './generator.js';

/**
 * 100 requests a second, as clients mix them: fresh and kept connections, quick answers and some slow ones.
 * @type {Kind[]}
 */
export const MIXED = [
  { path: '/', perSecond: 40 },
  { path: '/', perSecond: 40, connections: 4 },
  { path: '/slow', perSecond: 12 },
  { path: '/slow', perSecond: 8, connections: 4 },
];

const TIMEOUT_MS = 10_000; // a machine may be busy; a lost connection is silent for ever
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']); // idempotent: RFC 9110, 9.2.2

/**
 * Begins at once.
 * @param {string} url  of the server, without a path
 * @param {Kind[]} kinds
 * @returns {{ stop: () => Promise<Sent[]>, close: () => void, count: () => number }}  stop sends no more, waits for the
 *   answers and tells all; close only sends no more; count: how many were sent up to now
 */
export function startTraffic(url, kinds) {
  let isOn = true;
  let count = 0;
  const follow = async (/** @type {Kind} */ { path, perSecond, connections = 0, ...what }) => {
    const clients = Array.from({ length: connections }, createClient);
    const startMs = nowMs();
    /** @type {Promise<Sent>[]} */
    const asked = [];
    let turn = 0;
    const dueInMs = () => startMs + (turn * 1_000) / perSecond - nowMs();
    while (isOn) {
      for (; dueInMs() <= 0; turn += 1) {
        const client = clients[turn % connections];
        if (client?.isWaiting || what.streams?.isFull()) continue;
        asked.push(ask(url + path, what, client));
        count += 1;
      }
      await sleep(Math.max(0, dueInMs()));
    }
    const sent = await Promise.all(asked);
    for (const { agent } of clients) agent.destroy();
    return sent;
  };
  const all = Promise.all(kinds.map(follow));
  const end = keepTrack(() => (isOn = false));
  return {
    count: () => count,
    close: end,
    async stop() {
      end();
      for (const { streams } of kinds) streams?.end();
      return (await all).flat();
    },
  };
}

/** One that keeps its connection. */
const createClient = () => ({
  agent: new http.Agent({ keepAlive: true, maxSockets: 1 }),
  isWaiting: false,
});

/**
 * @param {string} url
 * @param {Pick<Kind, 'method' | 'headers' | 'body' | 'isBodyKept' | 'timeoutMs' | 'streams'>} what
 * @param {{ agent: http.Agent | false, isWaiting: boolean }} [client]  one that keeps its connection
 * @returns {Promise<Sent>}
 */
async function ask(url, what, client = { agent: false, isWaiting: false }) {
  client.isWaiting = true;
  const { timeoutMs = TIMEOUT_MS } = what;
  const first = await get(url, { ...what, agent: client.agent, timeoutMs });
  const isRepeated = REPEATABLE.has(what.method ?? 'GET') && isReset(first);
  const answer = isRepeated ? await get(url, { ...what, timeoutMs }) : first;
  client.isWaiting = false;
  return { path: new URL(url).pathname, first, answer, isRepeated, isKept: client.agent !== false };
}

/**
 * What a server has lost: what was not answered, and what was answered only when it was repeated though a process had
 * begun it the first time. The client could not know that; the server's record does.
 * @param {Sent[]} sent
 * @param {import('../observe/timeline.js').Request[]} requests  as the server's processes saw them
 * @param {(answer: Answer) => boolean} [isServed]  was it answered as it should be? With status 200, unless told otherwise
 * @returns {Sent[]}
 */
export function lostOf(sent, requests, isServed = ({ status }) => status === 200) {
  return sent.filter(
    ({ first, answer, isRepeated }) =>
      answer.error || !isServed(answer) || (isRepeated && isBegun(first, requests)),
  );
}

/**
 * Did a process begin it, and never answer?
 * @param {Answer} answer
 * @param {import('../observe/timeline.js').Request[]} requests  as the server's processes saw them
 */
export function isBegun({ client, sentMs, doneMs }, requests) {
  return requests.some(
    (one) =>
      one.client === client &&
      one.endMs === undefined &&
      one.startMs >= sentMs &&
      one.startMs <= doneMs,
  );
}
