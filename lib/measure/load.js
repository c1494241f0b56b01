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
 * @property {boolean} [isFresh]  a new connection for each request, instead of keep-alive
 * @property {number} [timeoutMs]  must be longer than the window: a starved connection is slow, not broken
 *
 * @typedef {object} Load  the load generator
 * @property {(options: LoadOptions) => Promise<Window>} fire  rejects when the generator fails, never because the server does
 * @property {() => void} close
 */
import { fork } from 'node:child_process';

/**
 * Starts the load generator; it is ready when the first window is asked for.
 * @returns {Load}
 */
export function createLoad() {
  const generator = fork(new URL('load-process.js', import.meta.url), { execArgv: [] });
  generator.unref();
  generator.channel?.unref(); // a check that fails elsewhere does not hang on it: it ends with its parent
  const waiting = new Map();
  let lastId = 0;
  const isReady = new Promise((resolve, reject) => {
    generator.once('message', resolve);
    generator.once('exit', (code, signal) => {
      const error = new Error(`The load generator ended (${signal ?? `exit code ${code}`}).`);
      reject(error);
      waiting.forEach((wait) => wait.reject(error));
    });
  });
  isReady.catch(() => {}); // whoever fires is told
  generator.on('message', (/** @type {any} */ { id, result, error }) => {
    const wait = waiting.get(id);
    waiting.delete(id);
    if (error) wait?.reject(new Error(error));
    else wait?.resolve(result);
  });
  return {
    async fire({ isFresh = false, timeoutMs = 30_000, ...options }) {
      if (!/^http:\/\/127\./.test(options.url))
        throw new Error(`No load is sent to ${options.url}: it is not on 127.0.0.0/8.`);
      await isReady;
      lastId += 1;
      const id = lastId;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        generator.send({ id, isFresh, timeoutMs, ...options });
      });
    },
    close: () => generator.connected && generator.disconnect(),
  };
}
