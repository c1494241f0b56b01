/** How much of the machine a started program may use before it is killed. */
import { MOST_BYTES } from './timeline.js';

/**
 * @typedef {{ processes: number, memory: number, output: number, timeline: number }} Limits  all but processes in bytes; memory: of all
 *   its processes, shared pages counted in each
 */

/** More than any lesson needs, less than hurts a laptop. @type {Limits} */
export const LIMITS = {
  processes: 40,
  memory: 2 * 1024 ** 3,
  output: 16 * 1024 ** 2,
  timeline: MOST_BYTES,
};

/** For the user's own programs: stops a runaway, allows everyday use of a large machine. @type {Limits} */
export const EXTERNAL_LIMITS = {
  processes: 600,
  memory: Number.MAX_SAFE_INTEGER,
  output: 64 * 1024 ** 2,
  timeline: 4 * MOST_BYTES,
};
