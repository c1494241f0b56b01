/** Both ends of the channel to a load generator's process, which gets one order after another and answers each. */
import { forkOurs } from '../common/child.js';
import { closeAtEnd } from '../common/run-and-close.js';
import { sendToParent } from '../common/send-to-parent.js';
import { environmentOfOurs } from '../observe/environment.js';
import { noteShortage, shortOf, watchShortages } from '../observe/shortage.js';

/**
 * Starts an idle generator.
 * @param {string} file  in this folder; it answers each message { id, ...order } with { id, result, short } or { id, error }
 * @param {{ args?: string[], detached?: boolean }} [options]
 * @returns {{ ask: (order: object) => Promise<any>, close: () => void }}  ask rejects if the generator fails, with Shortage if it
 *   has exited or was short of something, and never because of the server; after close() or Ctrl-C it may stay pending
 */
export function createGenerator(file, options = {}) {
  const env = environmentOfOurs();
  const generator = forkOurs(new URL(file, import.meta.url), { env, ...options });
  const orders = createOrders(generator);
  let isClosed = false;
  let shortage;
  const fail = () => {
    shortage ??= shortOf('LOAD');
    orders.rejectAll(shortage);
  };
  generator.once('error', fail);
  generator.once('exit', (code, signal) => {
    if (isClosed) return; // a look that no promise awaits may still have an order open
    if (signal === 'SIGINT') return; // Ctrl-C has reached the command as well, which ends everything
    fail();
  });
  return {
    async ask(order) {
      if (shortage) throw shortage;
      return orders.send(order, () => isClosed);
    },
    close: closeAtEnd(() => {
      isClosed = true;
      if (generator.connected) generator.disconnect();
    }),
  };
}

/** Open orders, but not an idle generator, keep this process alive. @param {import('node:child_process').ChildProcess} generator */
function createOrders(generator) {
  const waiting = new Map();
  let lastId = 0;
  const keepAlive = () => {
    const hold = waiting.size > 0 ? 'ref' : 'unref';
    generator[hold]();
    generator.channel?.[hold]();
  };
  keepAlive();
  generator.on('message', (/** @type {any} */ { id, result, error, short }) => {
    const wait = waiting.get(id);
    if (short) wait?.reject(shortOf(short));
    else if (error) wait?.reject(new Error(error));
    else wait?.resolve(result);
  });
  return {
    rejectAll: (/** @type {Error} */ error) => waiting.forEach((wait) => wait.reject(error)),
    async send(/** @type {object} */ order, /** @type {() => boolean} */ isClosed) {
      lastId += 1;
      const id = lastId;
      try {
        return await new Promise((resolve, reject) => {
          waiting.set(id, { resolve, reject });
          keepAlive();
          generator.send({ id, ...order }, (error) => {
            if (error && isClosed()) reject(new Error('The load generator is closed.'));
          });
        });
      } finally {
        waiting.delete(id);
        keepAlive();
      }
    },
  };
}

/**
 * A generator that sends requests. @param {string} file  in this folder
 * @returns {{ fire: (options: { url: string, [option: string]: unknown }) => Promise<any>, close: () => void }}
 */
export function createSender(file) {
  const { ask, close } = createGenerator(file);
  return {
    async fire(options) {
      if (!/^http:\/\/127\./.test(options.url))
        throw new Error(`No load is sent to ${options.url}: it is not on 127.0.0.0/8.`);
      return ask(options);
    },
    close,
  };
}

/** In the generator's process: does the work for each order, and answers. @param {(order: any) => Promise<any>} work */
export function answerParent(work) {
  process.on('message', async (/** @type {any} */ { id, ...order }) => {
    const shortage = watchShortages();
    await work(order).then(
      (result) => sendToParent({ id, result, short: shortage()?.what }),
      (error) => sendToParent({ id, error: error.message, short: noteShortage(error) }),
    );
  });
}
