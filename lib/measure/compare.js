/**
 * Compares how fast things are on a machine that is not ours alone. Their windows are interleaved, forth and back
 * (A B B A), so that what drifts, drifts for all alike; and we look after each round whether more is needed.
 */
import { requestsOf } from '../observe/timeline.js';
import { servedWithin } from './stats.js';

/** At first connections are made and dealt; what happens then is not yet the server at full load. */
const RAMP_MS = 20;
const CONNECTIONS_PER_PROCESS = 3;

/**
 * Runs the windows of all sides in turn, forth and back, round after round.
 * @template {string} Side
 * @param {Record<Side, () => Promise<number>>} sides  each runs one window and resolves to its rate
 * @param {object} options
 * @param {(rates: Record<Side, number[]>) => boolean} options.isEnough  asked after every round
 * @param {number} options.budgetMs  no round begins after that
 * @returns {Promise<Record<Side, number[]>>}  two rates a side for each round
 */
export async function interleave(sides, { isEnough, budgetMs }) {
  const names = /** @type {Side[]} */ (Object.keys(sides));
  const rates = /** @type {any} */ (Object.fromEntries(names.map((name) => [name, []])));
  const deadline = performance.now() + budgetMs;
  do {
    for (const name of [...names, ...[...names].reverse()]) rates[name].push(await sides[name]());
  } while (!isEnough(rates) && performance.now() < deadline);
  return rates;
}

/**
 * @typedef {object} Saturated  a window in which a server had more to do than it could
 * @property {number} perSecond  requests served a second
 * @property {import('../observe/timeline.js').Request[]} requests  as the server saw them
 * @property {import('./load.js').Answer[]} answers  as the client got them
 * @property {number} errors
 */

/**
 * One window of closed-loop load, enough to keep every process busy, and the wait until its queue is empty.
 * @param {import('./load.js').Load} load
 * @param {import('../observe/program.js').Program} program  its requests are observed, or the rate cannot be known
 * @param {{ path: string, processes: number, durationMs: number }} options
 * @returns {Promise<Saturated>}
 */
export async function saturate(load, program, { path, processes, durationMs }) {
  const first = program.events.length;
  const connections = processes * CONNECTIONS_PER_PROCESS;
  const window = await load.fire({
    url: program.url + path,
    connections,
    durationMs: durationMs + RAMP_MS,
  });
  await program.drained();
  const requests = requestsOf(program.events.slice(first), path);
  const fromMs = window.startMs + RAMP_MS;
  const served = servedWithin(requests, fromMs, fromMs + durationMs);
  const perSecond = (served / durationMs) * 1000;
  return { perSecond, requests, answers: window.answers, errors: window.errors + window.timeouts };
}
