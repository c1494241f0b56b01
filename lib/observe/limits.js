/** How much of the machine a started program may take; one that takes more is ended, and told so. */
import { MOST_BYTES } from './timeline.js';

/**
 * @typedef {object} Limits
 * @property {number} processes
 * @property {number} memory  bytes of all its processes, shared pages counted in each
 * @property {number} output  bytes
 * @property {number} timeline  bytes
 */

/** More than any lesson needs and less than hurts a laptop. @type {Limits} */
export const LIMITS = {
  processes: 40,
  memory: 2 * 1024 ** 3,
  output: 16 * 1024 ** 2,
  timeline: MOST_BYTES,
};

/** For the programs of others: a runaway is ended, and what a large machine runs every day is not. @type {Limits} */
export const THEIR_LIMITS = {
  processes: 600,
  memory: Number.MAX_SAFE_INTEGER,
  output: 64 * 1024 ** 2,
  timeline: 4 * MOST_BYTES,
};
