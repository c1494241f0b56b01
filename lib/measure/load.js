/**
 * Load for a server on this machine, from a process of its own.
 *
 * @typedef {{ sentMs: number, doneMs: number, status: number, bytes: number }} Answer  times of observe/clock.js
 * @typedef {object} Window  what one stretch of load brought
 * @property {number} startMs
 * @property {number} endMs
 * @property {Answer[]} answers  in the order in which they were complete
 * @property {number} errors  connections refused or broken
 * @property {number} timeouts
 *
 * @typedef {object} LoadOptions
 * @property {string} url  on 127.0.0.0/8, always
 * @property {number} connections
 * @property {number} durationMs
 * @property {number} [ratePerSecond]  autocannon's overallRate: not more than that
 * @property {boolean} [isFresh]  a new connection for each request, instead of keep-alive
 * @property {string} [method]  GET unless told otherwise
 * @property {Record<string, string>} [headers]
 * @property {string} [body]
 * @property {number} [timeoutMs]  must be longer than the window: a starved connection is slow, not broken
 *
 * @typedef {object} Load  the load generator
 * @property {(options: LoadOptions) => Promise<Window>} fire  rejects when the generator fails, never because the server does
 * @property {() => void} close
 */
import { createSender } from './generator.js';

/**
 * Starts the load generator; it is ready when the first window is asked for.
 * @returns {Load}
 */
export function createLoad() {
  const { fire, close } = createSender('load-process.js');
  return {
    fire: ({ isFresh = false, timeoutMs = 30_000, ...options }) =>
      fire({ isFresh, timeoutMs, ...options }),
    close,
  };
}
