/**
 * What the probe costs: the same server with the probe and without it, in turn, with a fresh start for each window.
 * @typedef {{ kind: 'cost', share?: import('../measure/stats.js').Interval, obstacle?: string }} Cost  share: of the server's throughput;
 *   obstacle: why there is no share, in a full sentence
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { interleave } from '../measure/compare.js';
import { createLoad } from '../measure/load.js';
import { ratioOf } from '../measure/stats.js';
import { get } from '../observe/client.js';
import { launch } from './launch.js';
import { rateOf } from './scale.js';

const CONNECTIONS = 10;
const USUAL = { warmMs: 700, windowMs: 1_500, rounds: 2, budgetMs: 40_000 };
const EXACT = 0.02;
const ANSWERS_WITHIN_MS = 15_000;
const POLL_MS = 50;
const SETTLES_MS = 1_000; // its other processes may still be starting
const OTHER_PORT =
  'Without the probe it does not answer on the same port as before: set PORT, or the variable that it obeys, and try again.';

/**
 * @param {import('../observe/runner.js').Runner} runner @param {import('./launch.js').Order} order @param {import('./load.js').Plan} plan
 * @param {import('./scale.js').Amount} [amount] @returns {Promise<Cost>} @throws {import('./launch.js').NotUp}
 */
export async function tryCost(runner, order, plan, amount = USUAL) {
  const load = createLoad();
  const connections = plan.connections ?? CONNECTIONS;
  let port = 0;
  let isLost = false;
  const windowOf = async (/** @type {import('./launch.js').Program} */ program) => {
    const { perSecond } = await rateOf(load, program, plan, connections, amount);
    return perSecond;
  };
  const sides = {
    async seen() {
      const up = await launch(runner, order, plan);
      port = up.port;
      return windowOf(up.program).finally(() => up.program.stop());
    },
    async bare() {
      const program = await startBare(runner, order, port);
      try {
        isLost ||= !(await answers(program, plan));
        return isLost ? 0 : await windowOf(program);
      } finally {
        await program.stop();
      }
    },
  };
  try {
    const isEnough = (/** @type {{ seen: number[], bare: number[] }} */ { seen, bare }) => {
      const { low, high } = ratioOf(bare, seen);
      return isLost || (seen.length >= 2 * amount.rounds && (high - low) / 2 <= EXACT);
    };
    const { seen, bare } = await interleave(sides, { isEnough, budgetMs: amount.budgetMs });
    if (isLost) return { kind: 'cost', obstacle: OTHER_PORT };
    const { value, low, high } = ratioOf(bare, seen);
    return { kind: 'cost', share: { value: 1 - value, low: 1 - high, high: 1 - low } };
  } finally {
    load.close();
  }
}

/** A probe without a timeline does nothing. */
async function startBare(runner, /** @type {import('./launch.js').Order} */ order, port) {
  const { entry, args, isCommand, cwd } = order;
  const env = { ...order.env, FORKSHOP_TIMELINE: '' };
  const program = await runner.start({
    entry,
    args,
    cwd,
    env,
    isNative: isCommand,
    isExternal: true,
  });
  program.port = port;
  return program;
}

/** Does it answer, and still run a moment later? */
async function answers(/** @type {import('./launch.js').Program} */ program, { path, method }) {
  const untilMs = performance.now() + ANSWERS_WITHIN_MS;
  while (!program.fate && performance.now() < untilMs) {
    const { status } = await get(program.url + path, { method, isBodyKept: false });
    if (status !== undefined) {
      await sleep(SETTLES_MS);
      return !program.fate;
    }
    await sleep(POLL_MS);
  }
  return false;
}
