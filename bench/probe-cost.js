// What the probe costs under `npm run xray`: throughput of an empty Express handler with and without it, on a machine that
// should have nothing else to do. `node bench/probe-cost.js [PAIRS]`
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnOurs } from '../lib/common/child.js';
import { interleave } from '../lib/measure/compare.js';
import { disturbanceOf, conditionsNow } from '../lib/measure/conditions.js';
import { createLoad } from '../lib/measure/load.js';
import { mean, meanInterval } from '../lib/measure/stats.js';
import { reservePort } from '../lib/observe/ports.js';
import { temporaryFolder } from '../lib/observe/temporary-folder.js';
import { countGiven } from './argument.js';

const MOST_COST = 0.03;
const PAIRS = countGiven(1, 10, 'pairs');
const WINDOWS = 6; // a side, for each pair
const WINDOW_MS = 500;
const CONNECTIONS = 10;

const here = (/** @type {string} */ file) => fileURLToPath(new URL(file, import.meta.url));

/** A server in a new session: Linux may share the CPU by sessions. @param {Record<string, string>} more */
async function startServer(more) {
  const port = await reservePort();
  const env = { ...process.env, PORT: String(port), ...more };
  /** @type {any[]} */
  const stdio = ['ignore', 'pipe', 'inherit'];
  const server = spawnOurs([here('empty-server.js')], { env, detached: true, stdio });
  await Promise.race([
    once(server.stdout, 'data'),
    once(server, 'exit').then(() => Promise.reject(new Error('The server exited.'))),
  ]);
  return { url: `http://127.0.0.1:${port}/`, stop: () => server.kill('SIGKILL') };
}

/**
 * The ratio of one pair of servers. @param {string} timeline
 * @returns {Promise<{ bare: number, probed: number }>}  requests a second
 */
async function measurePair(timeline) {
  const load = createLoad();
  const probe = `--require=${JSON.stringify(here('../lib/observe/preload/probe.cjs'))}`;
  const bare = await startServer({ NODE_OPTIONS: '' });
  const asByXray = { FORKSHOP_TIMELINE: timeline, FORKSHOP_FOLLOWS: '1' };
  const probed = await startServer({ NODE_OPTIONS: probe, ...asByXray });
  const rate =
    (/** @type {string} */ url, durationMs = WINDOW_MS) =>
    async () => {
      const { answers, startMs, endMs } = await load.fire({
        ...{ url, connections: CONNECTIONS, durationMs },
      });
      return (answers.length / (endMs - startMs)) * 1000;
    };
  try {
    for (const { url } of [bare, probed]) await rate(url, 2_000)(); // until the code is compiled
    const sides = { bare: rate(bare.url), probed: rate(probed.url) };
    const isEnough = (/** @type {any} */ rates) => rates.bare.length >= WINDOWS;
    const rates = await interleave(sides, { isEnough, budgetMs: Infinity });
    return { bare: mean(rates.bare), probed: mean(rates.probed) };
  } finally {
    for (const server of [bare, probed]) server.stop();
    load.close();
  }
}

const percent = (/** @type {number} */ share) => `${(share * 100).toFixed(1)} %`;

/** Two processes of the same program differ by some percent by chance: so several pairs, and each pair is one value. */
async function main() {
  const folder = mkdtempSync(join(temporaryFolder(), 'probe-cost-'));
  const timeline = join(folder, 'timeline.jsonl');
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const disturbance = disturbanceOf(conditionsNow());
  const pairs = [];
  for (let count = 0; count < PAIRS; count += 1) {
    pairs.push(await measurePair(timeline));
    rmSync(timeline, { force: true });
  }
  const cost = meanInterval(pairs.map(({ bare, probed }) => 1 - probed / bare));
  const [from, to] = [pairs.map((one) => one.bare), pairs.map((one) => one.probed)].map(mean);
  console.log(`Node ${process.versions.node}, ${os.availableParallelism()} cores`);
  console.log(`${PAIRS} pairs of servers, ${2 * WINDOWS} windows of ${WINDOW_MS} ms each`);
  console.log(`without the probe ${from.toFixed(0)} requests/s, with it ${to.toFixed(0)}`);
  console.log(
    `cost ${percent(cost.value)} (95 % interval ${percent(cost.low)} to ${percent(cost.high)})`,
  );
  console.log(`bar: at most ${percent(MOST_COST)}`);
  if (disturbance) console.log(`Do not trust it: ${disturbance}.`);
  if (cost.low > MOST_COST) process.exitCode = 1; // surely too much
}

await main();
