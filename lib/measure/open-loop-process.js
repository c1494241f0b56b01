/** The open-loop generator's process: it sends on schedule, as told by open-loop.js, and ends with its parent. */
import http from 'node:http';
import { nowMs } from '../observe/clock.js';
import { answerParent } from './generator.js';

answerParent(fire);

/**
 * @param {Required<import('./open-loop.js').OpenLoopOptions>} options
 * @returns {Promise<import('./open-loop.js').OpenWindow>}
 */
async function fire({ url, ratePerSecond, durationMs, isFresh, timeoutMs }) {
  const agent = new http.Agent({ keepAlive: !isFresh });
  const times = Math.round((ratePerSecond * durationMs) / 1000);
  const startMs = nowMs();
  const dueMs = (/** @type {number} */ index) => startMs + (index * 1000) / ratePerSecond;
  /** @type {Promise<import('./open-loop.js').Sent>[]} */
  const answers = [];
  await new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
    const sendWhatIsDue = () => {
      while (answers.length < times && dueMs(answers.length) <= nowMs())
        answers.push(ask({ url, agent, timeoutMs, dueMs: dueMs(answers.length) }));
      if (answers.length === times) resolve();
      else setTimeout(sendWhatIsDue, Math.max(0, dueMs(answers.length) - nowMs()));
    };
    sendWhatIsDue();
  });
  const window = { startMs, answers: await Promise.all(answers), endMs: nowMs() };
  agent.destroy();
  return window;
}

/** One request. Never rejects. @returns {Promise<import('./open-loop.js').Sent>} */
function ask({ url, agent, timeoutMs, dueMs }) {
  const sentMs = nowMs();
  return new Promise((resolve) => {
    const finish = (/** @type {{ status?: number, error?: string }} */ { status, error }) => {
      clearTimeout(timer);
      resolve({ dueMs, sentMs, doneMs: nowMs(), status, error });
    };
    const request = http.get(url, { agent }, (response) => {
      const broken = () => finish({ error: 'ECONNRESET' });
      response.on('end', () =>
        response.complete ? finish({ status: response.statusCode }) : broken(),
      );
      response.on('error', broken);
      response.resume();
    });
    const timer = setTimeout(() => {
      finish({ error: 'timeout' });
      request.destroy();
    }, timeoutMs);
    request.on('error', (/** @type {NodeJS.ErrnoException} */ { code, message }) =>
      finish({ error: code ?? message }),
    );
  });
}
