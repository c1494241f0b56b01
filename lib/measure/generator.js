/** A load generator's process: one window of load after another, told and answered by messages. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { fork } from 'node:child_process';
import { environmentOfOurs } from '../observe/environment.js';
import { tellParent } from '../common/tell-parent.js';

/** @type {AsyncLocalStorage<Set<() => void>>} how to end each generator of the check that opened it */
const ownOf = new AsyncLocalStorage();

/** Remembers how to end one, for closingGenerators. @param {() => void} close @returns {() => void} ends it now */
export function keepTrack(close) {
  const own = ownOf.getStore();
  own?.add(close);
  return () => {
    own?.delete(close);
    close();
  };
}

/**
 * Does some work, and ends every generator that it has left open, because it broke off or needed it to its end. Those of
 * others in this process go on: a slide judges a program while another shows its demo.
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function closingGenerators(work) {
  const own = new Set();
  try {
    return await ownOf.run(own, work);
  } finally {
    for (const close of own) close();
  }
}

/**
 * Starts a generator; it is ready when the first window is asked for.
 * @param {string} file  in this folder; it answers each message { id, ...options } with { id, result } or { id, error }
 * @returns {{ fire: (options: { url: string, [option: string]: unknown }) => Promise<any>, close: () => void }}
 *   fire rejects when the generator fails, never because the server does; what is under way when it is closed, or ended by
 *   Ctrl-C, stays so
 */
export function createGenerator(file) {
  const options = { env: environmentOfOurs(), execArgv: [] };
  const generator = fork(new URL(file, import.meta.url), options);
  const waiting = new Map();
  /** Whoever waits for a window is kept alive by it; a check that fails elsewhere does not hang on an idle generator. */
  const keepAlive = (/** @type {boolean} */ isNeeded) => {
    if (isNeeded) generator.ref();
    else generator.unref();
    if (isNeeded) generator.channel?.ref();
    else generator.channel?.unref();
  };
  let windows = 0;
  keepAlive(false);
  let lastId = 0;
  let isClosed = false;
  const isReady = new Promise((resolve, reject) => {
    generator.once('message', resolve);
    generator.once('exit', (code, signal) => {
      if (isClosed) return; // a look that nobody waits for may still have a window under way
      if (signal === 'SIGINT') return; // Ctrl-C: the command has got it too, perhaps later, and ends everything
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
    async fire(options) {
      if (!/^http:\/\/127\./.test(options.url))
        throw new Error(`No load is sent to ${options.url}: it is not on 127.0.0.0/8.`);
      windows += 1;
      keepAlive(true);
      try {
        await isReady;
        lastId += 1;
        const id = lastId;
        return await new Promise((resolve, reject) => {
          waiting.set(id, { resolve, reject });
          generator.send({ id, ...options }, (error) => {
            if (error) reject(new Error('The load generator is closed.'));
          });
        });
      } finally {
        windows -= 1;
        if (windows === 0) keepAlive(false);
      }
    },
    close: keepTrack(() => {
      isClosed = true;
      if (generator.connected) generator.disconnect();
    }),
  };
}

/**
 * The generator's own side: fires as told, until its parent is gone.
 * @param {(options: any) => Promise<any>} fire
 */
export function answerParent(fire) {
  process.on('disconnect', () => process.exit());
  process.on('message', async (/** @type {any} */ { id, ...options }) => {
    await fire(options).then(
      (result) => tellParent({ id, result }),
      (error) => tellParent({ id, error: error.message }),
    );
  });
  tellParent({ ready: true });
}
