/** The verdict on a measured speedup: passed, failed, or inconclusive with its cause. */
import { Undecided, demand } from './outcome.js';
import { blockedByOwnWork } from './blocked-by-own-work.js';

/** Of the ceiling. Work that burns no CPU never fell below it for lack of cores: 4 workers beside 6 CPU hogs gave 3.7, and a
 * right answer at a load of 20 on two cores once gave less than half. */
const PLAIN = 0.35;

/** Of an even share. Where the operating system deals, one worker may get all connections for a while. */
const UNEVEN = 2;

/**
 * Throws Broken when the whole interval is below the target, or work of the program's own kept it from being above; Undecided
 * when it is still on both sides of it, or when something disturbed the machine and it is not so far below that this could not
 * be the cause.
 * @param {import('../measure/speedup.js').Speedup & { target: number }} speedup
 * @param {string} [disturbance]  what could have spoilt it, in words
 */
export function demandSpeedup({ side, value, low, high, target, ceiling, ...more }, disturbance) {
  if (side === 'above') return;
  const { errors, own, busiest = 0 } = more;
  const story = {
    expected: `At least ${target.toFixed(1)} times as fast as one process; ${ceiling} times is the ceiling.`,
    got: Number.isFinite(high)
      ? `${value.toFixed(2)} times (95 % interval ${low.toFixed(2)} to ${high.toFixed(2)}).`
      : 'There were stretches of time when nothing was served, so there is no telling.',
  };
  demand(!own, { ...story, ...(own && blockedByOwnWork(own)) });
  if (busiest > UNEVEN / ceiling) {
    const why = `One worker executed ${Math.round(100 * busiest)} % of the requests: it got most of the connections this time.`;
    throw new Undecided({ ...story, why, try: 'check again' });
  }
  if (side === 'open' || (disturbance && high >= PLAIN * ceiling)) {
    const why = disturbance
      ? `Meanwhile ${disturbance}.`
      : 'The interval is too wide to tell: something is disturbing it.';
    throw new Undecided({ ...story, why, try: 'close other programs, then check again' });
  }
  const why =
    errors > 0
      ? `${errors} requests failed meanwhile.`
      : 'The workers are waiting for something that they share.';
  demand(false, { ...story, why, try: 'npm run check -- --timeline, which draws who worked when' });
}
