// How long a test may wait for what it waits for. No limit here decides a test: each is there only so that a test
// ends where what it waits for never comes. So all of them are generous, and a multiple of what this machine needs to
// start a process: measured once, by test/run.js for all tests or here for a file that is run by itself.
import { spawnSync } from '../lib/common/child.js';

const TRIES = 3;
const USUAL_START_MS = 50; // of `node -e 0`, on a machine with little else to do
const GENEROUS = 4;

/** What `node -e 0` takes here, the median of a few. @returns {number} */
export function measureStartMs() {
  const env = { ...process.env, NODE_V8_COVERAGE: undefined, NODE_OPTIONS: undefined };
  const takes = Array.from({ length: TRIES }, () => {
    const sinceMs = performance.now();
    spawnSync(process.execPath, ['-e', '0'], { env });
    return performance.now() - sinceMs;
  });
  return takes.sort((a, b) => a - b)[Math.floor(TRIES / 2)];
}

/** @type {number | undefined} */
let startMs;

/**
 * The limit for what takes at most so long on a usual machine with much else to do.
 * @param {number} seconds
 * @returns {number} milliseconds, on this machine
 */
export function limitMs(seconds) {
  startMs ??= Number(process.env.FORKSHOP_START_MS) || measureStartMs();
  return Math.round(seconds * 1000 * GENEROUS * Math.max(1, startMs / USUAL_START_MS));
}
