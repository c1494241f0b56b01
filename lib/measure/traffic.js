/**
 * Steady traffic of single clients on schedule, some with keep-alive. It runs in this process, for a few hundred requests a second.
 *
 * A server may close an idle connection while a client is sending on it. Then the client sees a reset before any byte of an answer,
 * and repeats an idempotent request on a new connection (RFC 9112, 9.3.1 and 9.5); so do our clients, with `isRepeated` set.
 * @typedef {import('../observe/client.js').Answer} Answer
 * @typedef {{ path: string, perSecond: number, method?: string, headers?: Record<string, string>, body?: string, isBodyKept?: boolean,
 *   timeoutMs?: number, streams?: import('../observe/client.js').Streams, connections?: number }} Kind  of request; isBodyKept: of the
 *   answer, true by default and up to 1 MB; timeoutMs: 10 s by default; streams: take endless answers, no client starts while
 *   they are full, and stop() ends them; connections: keep-alive, used in turn, otherwise a new one for each request
 * @typedef {{ path: string, first: Answer, answer: Answer, isRepeated: boolean, isKept?: boolean }} Sent  answer: that of the
 *   repetition, if any; isKept: sent over a keep-alive connection
 */
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeAtEnd } from '../common/run-and-close.js';
import { get, isReset } from '../observe/client.js';
import { nowMs } from '../observe/clock.js';

/** 100 requests a second, fresh and keep-alive, quick and slow. @type {Kind[]} */
export const MIXED = [
  { path: '/', perSecond: 40 },
  { path: '/', perSecond: 40, connections: 4 },
  { path: '/slow', perSecond: 12 },
  { path: '/slow', perSecond: 8, connections: 4 },
];

const TIMEOUT_MS = 10_000; // a lost connection is silent forever
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']); // idempotent: RFC 9110, 9.2.2

/**
 * @param {string} url  of the server, without a path @param {Kind[]} kinds
 * @returns {{ stop: () => Promise<Sent[]>, close: () => void, count: () => number }}  stop: sends no more and waits for all answers;
 *   close: only sends no more; count: sent so far
 */
export function startTraffic(url, kinds) {
  let isOn = true;
  let count = 0;
  const follow = async (/** @type {Kind} */ { path, perSecond, connections = 0, ...what }) => {
    const clients = Array.from({ length: connections }, createClient);
    const startMs = nowMs();
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
  const end = closeAtEnd(() => (isOn = false));
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

const createClient = () => ({
  agent: new http.Agent({ keepAlive: true, maxSockets: 1 }),
  isWaiting: false,
});

/**
 * @param {string} url @param {Pick<Kind, 'method' | 'headers' | 'body' | 'isBodyKept' | 'timeoutMs' | 'streams'>} what
 * @param {{ agent: http.Agent | false, isWaiting: boolean }} [client]  with keep-alive @returns {Promise<Sent>}
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
 * Requests unanswered, or answered only when repeated although a process had begun the first attempt, as only the server's record shows.
 * @param {Sent[]} sent @param {import('../observe/timeline.js').Request[]} requests  as the server's processes saw them
 * @param {(answer: Answer) => boolean} [isServed]  status 200 by default @returns {Sent[]}
 */
export function lostOf(sent, requests, isServed = ({ status }) => status === 200) {
  return sent.filter(
    ({ first, answer, isRepeated }) =>
      answer.error || !isServed(answer) || (isRepeated && isBegun(first, requests)),
  );
}

/**
 * Did a process begin this request and never answer? @param {Answer} answer
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
