// Crashes a program at a chosen moment: crashes.test.js writes a call of crashAt() into each file of a solution.
import { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync, closeSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';

const BLOCK_BYTES = 256 * 1024 ** 2;
const BLOCKS = 12; // more than the keeper allows

/** Countable moments, and how to get a call at each. @type {Record<string, (see: () => void) => void>} */
const watching = {
  request: (see) => subscribe('http.server.request.start', see),
  response: (see) => subscribe('http.server.response.finish', see),
  fork: (see) => subscribe('child_process', see),
  message: (see) => [process, ChildProcess.prototype].forEach((one) => watch(one, isMessage, see)),
  signal: (see) => watch(process, isSignal, see),
  millisecond: () => {},
};

/** @type {Record<string, () => void>} */
const ways = {
  'exit 0': () => process.exit(0),
  'exit 1': () => process.exit(1),
  throw: () =>
    process.nextTick(() => {
      throw new Error('It crashes as planned.');
    }),
  abort: () => process.abort(),
  kill: () => process.kill(process.pid, 'SIGKILL'),
  memory: () => {
    const kept = Array.from({ length: BLOCKS }, () => Buffer.alloc(BLOCK_BYTES, 1));
    throw new Error(`It was not stopped when it had ${kept.length} blocks.`);
  },
};

export const MOMENTS = Object.keys(watching);
export const WAYS = Object.keys(ways);

let isArmed = false;

/**
 * @param {object} plan
 * @param {string} plan.moment  one of MOMENTS
 * @param {number} plan.nth  which occurrence, counted in each process
 * @param {string} plan.way  one of WAYS
 * @param {boolean} plan.isOnce  only the first process that gets there; else each, including replacements
 * @param {string} plan.log  a file that gets a line for each crash
 */
export function crashAt({ moment, nth, way, isOnce, log }) {
  if (isArmed) return; // by another file of this process
  isArmed = true;
  const crash = () => {
    if (isOnce && !isFirst()) return;
    appendFileSync(log, `${process.pid}\n`);
    ways[way]();
  };
  let count = 0;
  watching[moment](() => {
    count += 1;
    if (count === nth) crash();
  });
  if (moment === 'millisecond') setTimeout(crash, nth).unref();
}

/** Of the processes of this run. */
function isFirst() {
  const { FORKSHOP_TIMELINE } = process.env;
  if (!FORKSHOP_TIMELINE) return true;
  const folder = dirname(FORKSHOP_TIMELINE);
  try {
    closeSync(openSync(join(folder, 'crashed'), 'wx'));
    return true;
  } catch {
    return false;
  }
}

const isMessage = (/** @type {string} */ event) => event === 'message';
const isSignal = (/** @type {string} */ event) => /^SIG[A-Z]/.test(event);

/** Sees events without being a listener, which would keep the process alive. */
function watch(/** @type {any} */ emitter, /** @type {(event: any) => boolean} */ isIt, see) {
  const { emit } = emitter;
  emitter.emit = function (event, ...args) {
    if (isIt(event)) see();
    return emit.call(this, event, ...args);
  };
}
