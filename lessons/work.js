// The simulated work of every lesson: import { blockFor } from '#work'

import { randomBytes } from 'node:crypto';

const never = new Int32Array(new SharedArrayBuffer(4));

/** Waits for `ms` milliseconds and lets nothing else run: a slow synchronous call, such as fs.readFileSync. */
export function blockFor(ms) {
  Atomics.wait(never, 0, 0, ms);
}

/**
 * Burns a fixed amount of CPU: about `ms` milliseconds on one free core of a recent laptop, longer on a slower or
 * busier one. It counts and does not watch a clock: a spin "until 5 ms have passed" would be finished after 5 ms
 * even if it had hardly run, and would fake a speedup. Use the result, so that no compiler removes the work.
 */
export function spinFor(ms) {
  let value = 1;
  for (let count = ms * 800_000; count > 0; count -= 1) {
    value = (Math.imul(value, 1_664_525) + 1_013_904_223) | 0;
  }
  return value >>> 0;
}

let turn = Math.random();

/**
 * A number from `low` up to `high`, a different one on each call. The numbers are spread more evenly than those of
 * Math.random() (each is the last plus the golden ratio), so that short measurements agree with long ones.
 */
export function between(low, high) {
  turn = (turn + 0.618_033_988_749_895) % 1;
  return low + turn * (high - low);
}

/** `bytes` random bytes (rounded down), as a string of twice as many hexadecimal digits. */
export function randomHex(bytes) {
  return randomBytes(Math.floor(bytes)).toString('hex');
}
