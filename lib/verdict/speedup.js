/** The verdict on a measured speedup. */
import { Undecided, demand } from './outcome.js';
import { blockedByOwnWork } from './blocked-by-own-work.js';

/** Share of the ceiling below which no disturbance is to blame: 4 workers beside 6 CPU hogs reached 3.7 times; at a load of 20 on
 * two cores a right answer once fell below half of the ceiling. */
const PLAIN = 0.35;

/** Times an even share. If the operating system distributes connections, one worker may get all of them for a while. */
const UNEVEN = 2;

/**
 * @param {import('../measure/speedup.js').Speedup & { target: number }} speedup @param {string} [disturbance]  of the machine, in words
 * @throws {Broken}  if the whole interval is below the target, or the program's own work kept it there
 * @throws {Undecided}  if the interval contains the target, or the disturbance may be the cause
 */
export function demandSpeedup({ side, value, low, high, target, ceiling, ...more }, disturbance) {
  if (side === 'above') return;
  const { errors, own, busiest = 0 } = more;
  const story = {
    expected: `At least ${target.toFixed(1)} times as fast as one process; ${ceiling} times is the ceiling.`,
    got: Number.isFinite(high)
      ? `${value.toFixed(2)} times (95 % interval ${low.toFixed(2)} to ${high.toFixed(2)}).`
      : 'In some stretches of time nothing was served, so the speedup is unknown.',
  };
  demand(!own, { ...story, ...(own && blockedByOwnWork(own)) });
  if (busiest > UNEVEN / ceiling) {
    const why = `One worker executed ${Math.round(100 * busiest)} % of the requests: it got most of the connections this time.`;
    throw new Undecided({ ...story, why, try: 'check again' });
  }
  if (side === 'open' || (disturbance && high >= PLAIN * ceiling)) {
    const why = disturbance
      ? `In the meantime ${disturbance}.`
      : 'The interval is too wide for a verdict: something is disturbing it.';
    throw new Undecided({ ...story, why, try: 'close other programs, then check again' });
  }
  const why =
    errors > 0
      ? `${errors} requests failed in the meantime.`
      : 'The workers are waiting for something that they share.';
  demand(false, {
    ...story,
    why,
    try: 'npm run check -- --timeline, which draws which process worked when',
  });
}
