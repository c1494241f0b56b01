/** The open-loop generator's process: it sends on schedule, as told by open-loop.js, and ends with its parent. */
import http from 'node:http';
import { nowMs } from '../observe/clock.js';
import { answerParent } from './generator.js';

const IDLE_MS = 4_000; // a Node server closes a connection that was idle for 5 s, and resets whoever sends just then
const MOST_IDLE = 10_000; // of the connections kept alive, as vegeta's

answerParent(fire);

/**
 * @param {import('./open-loop.js').OpenLoopOptions & { isFresh: boolean, timeoutMs: number }} options
 * @returns {Promise<import('./open-loop.js').OpenWindow>}
 */
async function fire({ url, ratePerSecond, durationMs, isFresh, timeoutMs, ...how }) {
  const { connections, isRandom, method, headers, body } = how;
  const keeping = { keepAlive: true, maxFreeSockets: MOST_IDLE, timeout: IDLE_MS };
  const agent = new http.Agent({ maxSockets: connections, ...(!isFresh && keeping) });
  const times = Math.round((ratePerSecond * durationMs) / 1000);
  const offsetsMs = isRandom ? randomOffsets(times, durationMs) : undefined;
  const what = { url, agent, timeoutMs, method, headers, body };
  const startMs = nowMs();
  const dueMs = (/** @type {number} */ index) =>
    startMs + (offsetsMs?.[index] ?? (index * 1000) / ratePerSecond);
  /** @type {Promise<import('./open-loop.js').Sent>[]} */
  const answers = [];
  await new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
    const sendWhatIsDue = () => {
      while (answers.length < times && dueMs(answers.length) <= nowMs())
        answers.push(ask({ ...what, dueMs: dueMs(answers.length) }));
      if (answers.length === times) resolve();
      else setTimeout(sendWhatIsDue, Math.max(0, dueMs(answers.length) - nowMs()));
    };
    sendWhatIsDue();
  });
  const window = { startMs, answers: await Promise.all(answers), endMs: nowMs() };
  agent.destroy();
  return window;
}

/** When independent clients come: each at a moment of its own, whatever the others do. */
function randomOffsets(/** @type {number} */ times, /** @type {number} */ durationMs) {
  return Array.from({ length: times }, () => Math.random() * durationMs).sort((a, b) => a - b);
}

/** One request. Never rejects. @returns {Promise<import('./open-loop.js').Sent>} */
function ask({ url, agent, timeoutMs, dueMs, method, headers, body }) {
  let sentMs = nowMs();
  return new Promise((resolve) => {
    const finish = (/** @type {{ status?: number, error?: string }} */ { status, error }) => {
      clearTimeout(timer);
      resolve({ dueMs, sentMs, doneMs: nowMs(), status, error });
    };
    const request = http.request(url, { agent, method, headers }, (response) => {
      const broken = () => finish({ error: 'ECONNRESET' });
      response.on('end', () =>
        response.complete ? finish({ status: response.statusCode }) : broken(),
      );
      response.on('error', broken);
      response.resume();
    });
    request.on('socket', () => (sentMs = nowMs())); // where connections are few it has waited for one
    const timer = setTimeout(() => {
      finish({ error: 'timeout' });
      request.destroy();
    }, timeoutMs);
    request.on('error', (/** @type {NodeJS.ErrnoException} */ { code, message }) =>
      finish({ error: code ?? message }),
    );
    request.end(body);
  });
}
