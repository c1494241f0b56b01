/**
 * Open-loop load: requests are sent on schedule, whatever comes back, from a process of its own. So a server that is
 * slow or gone does not slow the load down, and nothing of its silence is lost from the numbers. Where every client is to be
 * counted, it takes turns instead, as a closed loop: load.js is faster at that, and forgets the clients that still wait at
 * the end.
 *
 * @typedef {object} Sent  times of observe/clock.js
 * @property {number} dueMs  when it was to be sent: latency counts from here
 * @property {number} sentMs
 * @property {number} doneMs
 * @property {number | undefined} status  missing when no whole answer came
 * @property {string | undefined} error  a code such as ECONNRESET, or 'timeout'
 * @property {true} [isStream]  an answer without an end of its own, as an event stream, which our client has ended: doneMs is
 *   when it began
 * @property {number} [visitor]  of a closed loop: which of its clients
 *
 * @typedef {object} OpenLoopOptions
 * @property {string} url  on 127.0.0.0/8, always
 * @property {number} [ratePerSecond]  of an open loop
 * @property {number} durationMs
 * @property {boolean} [isClosed]  so many clients as there are connections, each of which waits for its answer
 * @property {boolean} [isFresh]  a new connection for each request (unless told otherwise), instead of keep-alive
 * @property {number} [timeoutMs]
 * @property {number} [connections]  at most, and what is due waits for a free one; without a limit unless told
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
