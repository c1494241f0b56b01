// How long a test may wait. No limit here decides a test: each only ends a test whose event never happens. So all are
// generous multiples of the time that this machine needs to start a process, measured once, by test/run.js for all tests or
// here for a single file.
import { spawnSync } from '../lib/common/child.js';

const TRIES = 3;
const USUAL_START_MS = 50; // of `node -e 0`, on an idle machine
const GENEROUS = 4;

/** The time of `node -e 0` here, the median of a few. @returns {number} */
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
 * The limit for something that takes at most that long on a usual, busy machine.
 * @param {number} seconds
 * @returns {number} milliseconds, on this machine
 */
export function limitMs(seconds) {
  startMs ??= Number(process.env.FORKSHOP_START_MS) || measureStartMs();
  return Math.round(seconds * 1000 * GENEROUS * Math.max(1, startMs / USUAL_START_MS));
}
