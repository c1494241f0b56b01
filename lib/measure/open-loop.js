/**
 * Open-loop load: requests are sent on schedule, whatever comes back, from a process of its own. So a server that is
 * slow or gone does not slow the load down, and nothing of its silence is lost from the numbers.
 *
 * @typedef {object} Sent  times of observe/clock.js
 * @property {number} dueMs  when it was to be sent: latency counts from here
 * @property {number} sentMs
 * @property {number} doneMs
 * @property {number | undefined} status  missing when no whole answer came
 * @property {string | undefined} error  a code such as ECONNRESET, or 'timeout'
 *
 * @typedef {object} OpenLoopOptions
 * @property {string} url  on 127.0.0.0/8, always
 * @property {number} ratePerSecond
 * @property {number} durationMs
 * @property {boolean} [isFresh]  a new connection for each request (unless told otherwise), instead of keep-alive
 * @property {number} [timeoutMs]
 * @property {number} [connections]  at most, and who is due waits for a free one; without a limit unless told
 * @property {string} [method]  GET unless told otherwise
 * @property {Record<string, string>} [headers]
 * @property {string} [body]
 * @property {boolean} [isRandom]  at random moments, so many in all, instead of evenly spaced
 *
 * @typedef {{ startMs: number, endMs: number, answers: Sent[] }} OpenWindow  answers in the order in which they were due
 */
import { createSender } from './generator.js';

/**
 * Starts the open-loop generator; it is ready when the first window is asked for.
 * @returns {{ fire: (options: OpenLoopOptions) => Promise<OpenWindow>, close: () => void }}
 */
export function createOpenLoop() {
  const { fire, close } = createSender('open-loop-process.js');
  return {
    fire: ({ isFresh = true, timeoutMs = 5_000, ...options }) =>
      fire({ isFresh, timeoutMs, ...options }),
    close,
  };
}
