/**
 * Finds the function that blocks an event loop: a thread beside each process reads the stack when the loop is silent. That costs memory
 * and time, so it takes a second start, and all numbers are from the first.
 * @typedef {{ pid: number, t: number, calls: string[], under?: string }} Stack  calls: the innermost first:
 *   "isPlain (/shop/server.js:14:9)"; under: path of the last request that it began and hadn't answered
 * @typedef {{ seconds: number, seen: Stack[] }} Stacks  seconds: how long the second start ran
 */
import { startTraffic } from '../measure/traffic.js';
import { createStreams } from '../observe/client.js';
import { nowMs } from '../observe/clock.js';
import { eventsOf, requestsOf } from '../observe/timeline.js';
import { ignoreStarved } from '../observe/cpu-time.js';
import { NotUp, launch } from './launch.js';
import { lastBegun } from './report/silences.js';

const LONG_MS = 100; // as in stacks.cjs
const OFTEN = 3; // once may be a cache that fills
const ENOUGH = 5; // stacks
const MOST_PER_SECOND = 200; // this process sends them itself
const MOST_STREAMS = 20;

/** Worth a second start? @param {import('./report/facts.js').Facts} facts */
export const isSilent = ({ silences, hangs }) =>
  silences.filter(({ ms }) => ms >= LONG_MS).length >= OFTEN ||
  hangs.some(({ fd }) => fd === undefined);

/** @param {import('../observe/runner.js').Runner} runner @param {import('./launch.js').Order} order @param {import('./load.js').Plan} plan @returns {Promise<Stacks>} */
export async function tryStacks(runner, order, plan) {
  const sinceMs = nowMs();
  try {
    const { program } = await launch(runner, { ...order, seesStacks: true }, plan);
    const seen = await underTraffic(program, plan);
    return { seconds: Math.round((nowMs() - sinceMs) / 1000), seen };
  } catch (error) {
    if (!(error instanceof NotUp)) ignoreStarved(error);
    return { seconds: Math.round((nowMs() - sinceMs) / 1000), seen: [] };
  }
}

/** @param {import('./launch.js').Program} program @param {import('./load.js').Plan} plan */
async function underTraffic(program, { rate = MOST_PER_SECOND, connections, seconds, ...what }) {
  const { path, method, headers, body } = what;
  const perSecond = Math.min(rate, MOST_PER_SECOND);
  const streams = createStreams(MOST_STREAMS);
  const kind = { path, method, headers, body, perSecond, connections, streams, isBodyKept: false };
  const traffic = startTraffic(program.url, [kind]);
  try {
    const isEnough = (/** @type {import('../observe/timeline.js').Event[]} */ events) =>
      eventsOf(events, 'stack').length >= ENOUGH;
    await program.until(isEnough, seconds * 1000).catch(ignoreStarved);
  } finally {
    traffic.close();
    await program.stop();
    await traffic.stop();
  }
  const requests = requestsOf(program.events);
  return eventsOf(program.events, 'stack').flatMap(({ pid, t, calls }) =>
    Array.isArray(calls)
      ? { pid, t, calls: calls.map(String), under: lastBegun(requests, pid, t) }
      : [],
  );
}
