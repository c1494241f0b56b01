/**
 * How much faster a server is with more workers: the numbers in turn, with a fresh start for each window. Between them as many spinning
 * threads show what this machine is capable of.
 * @typedef {{ asked: number, serve: number, perSecond: number, ratio: import('../measure/stats.js').Interval, ceiling: number,
 *   errors: number }} Step  asked: workers; serve: processes that served; perSecond: the mean of its windows; ratio, ceiling (of CPU
 *   work): to the first step
 * @typedef {object} Scaled
 * @property {'scale'} kind @property {string} variable  for the number of workers
 * @property {boolean} isObeyed  as many served as asked for, each time
 * @property {Step[]} steps  by number; one window each if not obeyed
 * @property {number} [choice]  the fewest workers that no larger number surely beats; missing if intervals are too wide
 */
import { createSpinners } from '../measure/spinners.js';
import { interleave } from '../measure/compare.js';
import { createLoad } from '../measure/load.js';
import { mean, ratioOf, servedWithin } from '../measure/stats.js';
import { launch } from './launch.js';
import { serving } from './under-traffic.js';

const USUAL = { warmMs: 700, windowMs: 1_500, rounds: 2, budgetMs: 60_000 }; // warm: code gets compiled, connections get dealt
const SPIN_MS = 200;
const CONNECTIONS_PER_PROCESS = 3;
const LEAST_CONNECTIONS = 12;
const EXACT = 0.1; // of the ratio: half of its interval
const WIDE = 2; // times its low end: an interval whose high end is larger says nothing
const WORTH = 1.05; // a smaller speedup isn't worth another process

/**
 * @typedef {{ warmMs: number, windowMs: number, rounds: number, budgetMs: number }} Amount  rounds: the fewest; none begins after budgetMs
 * @param {import('../observe/runner.js').Runner} runner @param {import('./launch.js').Order} order @param {import('./load.js').Plan} plan
 * @param {{ counts: number[], variable: string }} what @param {Amount} [amount]
 * @returns {Promise<Scaled>} @throws {import('./launch.js').NotUp}
 */
export async function tryScale(runner, order, plan, { counts, variable }, amount = USUAL) {
  const load = createLoad();
  const most = Math.max(...counts);
  const spinners = createSpinners(most);
  const connections =
    plan.connections ?? Math.max(LEAST_CONNECTIONS, most * CONNECTIONS_PER_PROCESS);
  const served = new Map(counts.map((count) => [count, { serve: count, errors: 0 }]));
  let isObeyed = true;
  const window = async (/** @type {number} */ count) => {
    const env = { ...order.env, [variable]: String(count) };
    const up = await launch(runner, { ...order, env }, plan);
    try {
      const serve = serving(up).length;
      isObeyed &&= serve === count;
      const { errors, perSecond } = await rateOf(load, up.program, plan, connections, amount);
      served.set(count, { serve, errors: errors + (served.get(count)?.errors ?? 0) });
      return perSecond;
    } finally {
      await up.program.stop();
    }
  };
  const sides = Object.fromEntries([
    ...counts.map((count) => [nameOf(count), () => window(count)]),
    ...counts.map((count) => [spunBy(count), () => spinners.spin(count, SPIN_MS)]),
  ]);
  try {
    const isEnough = (rates) => !isObeyed || (hasRounds(rates, amount) && isExact(rates, counts));
    const rates = await interleave(sides, { isEnough, budgetMs: amount.budgetMs });
    const choice = isObeyed ? chosen(counts, rates) : undefined;
    const steps = counts.map((count) => stepOf(count, rates, counts[0], served.get(count)));
    return { kind: 'scale', variable, isObeyed, steps, choice };
  } finally {
    load.close();
    spinners.close();
  }
}

/** @returns {Step} */
const stepOf = (/** @type {number} */ count, rates, /** @type {number} */ first, served) => ({
  ...{ asked: count, ...served },
  perSecond: mean(rates[nameOf(count)]),
  ratio: ratioOf(rates[nameOf(first)], rates[nameOf(count)]),
  ceiling: ratioOf(rates[spunBy(first)], rates[spunBy(count)]).value,
});

const nameOf = (/** @type {number} */ count) => `${count} workers`;
const spunBy = (/** @type {number} */ count) => `${count} spinning`;

/**
 * One window of a closed loop, after a warm-up. @param {import('../measure/load.js').Load} load @param {import('./launch.js').Program} program
 * @param {import('./load.js').Plan} plan @param {number} connections @param {Amount} [amount]
 */
export async function rateOf(load, program, plan, connections, { warmMs, windowMs } = USUAL) {
  const { path, method, headers, body } = plan;
  const { startMs, answers, errors, timeouts } = await load.fire({
    ...{ url: program.url + path, method, headers, body, connections },
    durationMs: warmMs + windowMs,
  });
  const fromMs = startMs + warmMs;
  const good = answers.filter(({ status }) => status < 500);
  const spans = good.map(({ sentMs, doneMs }) => ({ startMs: sentMs, endMs: doneMs }));
  const perSecond = (servedWithin(spans, fromMs, fromMs + windowMs) / windowMs) * 1000;
  return { perSecond, errors: errors + timeouts + answers.length - good.length };
}

const hasRounds = (rates, { rounds }) => Object.values(rates)[0].length >= 2 * rounds;

const isExact = (rates, /** @type {number[]} */ counts) =>
  counts.slice(1).every((count) => {
    const { value, low, high } = ratioOf(rates[nameOf(counts[0])], rates[nameOf(count)]);
    return (high - low) / 2 <= EXACT * value;
  });

/**
 * The fewest workers that no larger number surely beats by 5 %. Pure. @returns {number | undefined}  undefined: the intervals are too wide
 * @param {number[]} counts  ascending @param {Record<string, number[]>} rates  by `N workers`
 */
export function chosen(counts, rates) {
  const ratio = (/** @type {number} */ a, /** @type {number} */ b) =>
    ratioOf(rates[nameOf(a)], rates[nameOf(b)]);
  const isVague = counts.slice(1).some((count) => {
    const { low, high } = ratio(counts[0], count);
    return !(high <= WIDE * low);
  });
  if (isVague) return undefined;
  return counts.find((count) =>
    counts.every((more) => more <= count || ratio(count, more).low <= WORTH),
  );
}
