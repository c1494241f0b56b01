/**
 * Compares two rates on a shared machine. Work that burns CPU is measured in interleaved windows (A B B A), so that drift affects both
 * sides alike; work that only waits is measured on both sides at once.
 */
import { requestsOf } from '../observe/timeline.js';
import { servedWithin } from './stats.js';

/** Connections are opened first; the server isn't at full load yet. */
const RAMP_MS = 20;
const CONNECTIONS_PER_PROCESS = 3;

/**
 * Runs the windows of all sides forth and back, round after round. @returns {Promise<Record<Side, number[]>>}  two rates a side for each
 * @template {string} Side @param {Record<Side, () => Promise<number>>} sides  each runs one window and resolves to its rate
 * @param {{ isEnough: (rates: Record<Side, number[]>) => boolean, budgetMs: number }} options  isEnough: asked after each round;
 *   budgetMs: no round begins later
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
 * @typedef {{ perSecond: number, requests: import('../observe/timeline.js').Request[], answers: import('./load.js').Answer[],
 *   errors: number }} Saturated  perSecond: requests served; requests: as the server saw them
 */

/**
 * Runs one window of closed-loop load that keeps every process busy, and waits until its queue is empty. @returns {Promise<Saturated>}
 * @param {import('./load.js').Load} load @param {import('../observe/program.js').Program} program  with a probe that reports requests
 * @param {{ path: string, processes: number, durationMs: number }} options
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

/**
 * Runs closed-loop load on several programs at once, cut into slices: for work that blocks but burns no CPU.
 * @template {string} Side @param {import('./load.js').Load} load
 * @param {Record<Side, { program: import('../observe/program.js').Program, processes: number }>} sides
 * @param {{ path: string, sliceMs: number, slices: number }} options
 * @returns {Promise<{ rates: Record<Side, number[]>, errors: number }>}  rates: requests a second, for each slice
 */
export async function sideBySide(load, sides, { path, sliceMs, slices }) {
  const names = /** @type {Side[]} */ (Object.keys(sides));
  const firsts = names.map((name) => sides[name].program.events.length);
  const durationMs = RAMP_MS + slices * sliceMs;
  const windows = await Promise.all(
    names.map((name) => {
      const { program, processes } = sides[name];
      const connections = processes * CONNECTIONS_PER_PROCESS;
      return load.fire({ url: program.url + path, connections, durationMs });
    }),
  );
  await Promise.all(names.map((name) => sides[name].program.drained()));
  const sinceMs = Math.max(...windows.map(({ startMs }) => startMs)) + RAMP_MS;
  const rates = names.map((name, index) => {
    const requests = requestsOf(sides[name].program.events.slice(firsts[index]), path);
    return Array.from({ length: slices }, (_, slice) => {
      const fromMs = sinceMs + slice * sliceMs;
      return (servedWithin(requests, fromMs, fromMs + sliceMs) / sliceMs) * 1000;
    });
  });
  const errors = windows.reduce((sum, window) => sum + window.errors + window.timeouts, 0);
  return { rates: /** @type {any} */ (zip(names, rates)), errors };
}

const zip = (names, values) =>
  Object.fromEntries(names.map((name, index) => [name, values[index]]));
