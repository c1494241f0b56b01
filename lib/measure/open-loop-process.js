/** The open-loop generator's process. Its result has every client, including those that still wait when the last request is sent. */
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStreams, isEventStream } from '../observe/client.js';
import { nowMs } from '../observe/clock.js';
import { answerParent } from './generator.js';

const IDLE_MS = 4_000; // a Node server closes a connection after 5 s idle, and resets a client that sends at that moment
const MOST_IDLE = 10_000; // keep-alive connections, as vegeta's
const COMES_AGAIN_MS = 100; // after a connection was refused or broken
const STILL_COMES_MS = 2_000; // an answer that brought data so recently is a stream, not a timeout

answerParent(fire);

/** @param {import('./open-loop.js').OpenLoopOptions & { isFresh: boolean, timeoutMs: number }} options */
async function fire(options) {
  const { connections: count, isFresh } = options;
  const keeping = { keepAlive: true, maxFreeSockets: MOST_IDLE, timeout: IDLE_MS };
  const agentOf = (/** @type {number | undefined} */ maxSockets) =>
    new http.Agent({ maxSockets, ...(!isFresh && keeping) });
  const agents = options.isClosed
    ? Array.from({ length: count ?? 1 }, () => agentOf(1))
    : [agentOf(count)];
  const load = { ...options, agents, streams: createStreams(), startMs: nowMs() };
  const answers = options.isClosed ? await takeTurns(load) : await keepSchedule(load);
  const endMs = nowMs();
  for (const agent of agents) agent.destroy();
  return { startMs: load.startMs, endMs, answers };
}

/** Open loop. @returns {Promise<import('./open-loop.js').Sent[]>}  in the order in which they were due */
async function keepSchedule({ agents, streams, startMs, ratePerSecond = 1, durationMs, ...how }) {
  const times = Math.round((ratePerSecond * durationMs) / 1000);
  const offsetsMs = how.isRandom ? randomOffsets(times, durationMs) : undefined;
  const dueMs = (/** @type {number} */ index) =>
    startMs + (offsetsMs?.[index] ?? (index * 1000) / ratePerSecond);
  const answers = [];
  while (answers.length < times) {
    while (answers.length < times && dueMs(answers.length) <= nowMs())
      answers.push(ask({ ...how, agent: agents[0], streams, dueMs: dueMs(answers.length) }));
    if (answers.length < times) await sleep(Math.max(0, dueMs(answers.length) - nowMs()));
  }
  streams.end();
  return Promise.all(answers);
}

/**
 * Closed loop: each client sends its next request when it has its answer. A client without any answer yet keeps the others at work, up to
 * the time limit: if they left, their place might become free for it.
 */
async function takeTurns({ agents, streams, startMs, durationMs, timeoutMs, ...how }) {
  const untilMs = startMs + durationMs;
  const waiting = new Set(agents.keys());
  const isOver = () => nowMs() >= untilMs && (waiting.size === 0 || nowMs() >= startMs + timeoutMs);
  const answers = [];
  const follow = async (/** @type {http.Agent} */ agent, /** @type {number} */ visitor) => {
    while (!isOver()) {
      const answer = await ask({ ...how, agent, streams, timeoutMs });
      answers.push({ ...answer, dueMs: answer.sentMs, visitor });
      waiting.delete(visitor);
      if (answer.isStream) return; // the stream stayed open until the load ended
      const isBroken = answer.error !== undefined && answer.error !== 'timeout';
      if (isBroken) await sleep(COMES_AGAIN_MS);
    }
  };
  const timer = setTimeout(streams.end, durationMs);
  await Promise.all(agents.map(follow));
  clearTimeout(timer);
  return answers.sort((a, b) => a.sentMs - b.sentMs);
}

function randomOffsets(/** @type {number} */ times, /** @type {number} */ durationMs) {
  return Array.from({ length: times }, () => Math.random() * durationMs).sort((a, b) => a - b);
}

/** Sends one request; never rejects. @returns {Promise<import('./open-loop.js').Sent>} */
function ask(
  /** @type {any} */ { url, agent, streams, timeoutMs, dueMs = nowMs(), method, headers, body },
) {
  let sentMs = nowMs();
  let begun;
  return new Promise((resolve) => {
    const finish = (/** @type {{ status?: number, error?: string, isStream?: true }} */ how) => {
      clearTimeout(timer);
      const doneMs = how.isStream && begun ? begun.atMs : nowMs();
      resolve({ dueMs, sentMs, doneMs, status: undefined, error: undefined, ...how });
    };
    const leave = () => {
      finish({ status: begun?.status, isStream: true });
      request.destroy();
    };
    const request = http.request(url, { agent, method, headers }, (response) => {
      const { statusCode: status } = response;
      const answer = (begun = { status, atMs: nowMs(), dataMs: nowMs() });
      const broken = () => finish({ error: 'ECONNRESET' });
      response.on('data', () => (answer.dataMs = nowMs()));
      response.on('end', () => (response.complete ? finish({ status }) : broken()));
      response.on('error', broken);
      if (!isEventStream(response.headers)) return;
      clearTimeout(timer);
      streams.add(leave);
    });
    request.on('socket', () => (sentMs = nowMs())); // it may have waited for a free connection
    const timer = setTimeout(() => {
      if (begun && nowMs() - begun.dataMs < STILL_COMES_MS) return leave();
      finish({ error: 'timeout' });
      request.destroy();
    }, timeoutMs);
    request.on('error', (/** @type {NodeJS.ErrnoException} */ { code, message }) =>
      finish({ error: code ?? message }),
    );
    request.end(body);
  });
}
