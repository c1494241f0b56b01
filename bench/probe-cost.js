// What the probe costs: throughput of an empty Express handler with and without it, on a machine that should have
// nothing else to do. `node bench/probe-cost.js [seconds at the most]`
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { interleave } from '../lib/measure/compare.js';
import { disturbanceOf, conditionsNow } from '../lib/measure/conditions.js';
import { createLoad } from '../lib/measure/load.js';
import { mean, ratioOf } from '../lib/measure/stats.js';
import { freePort } from '../lib/observe/ports.js';

const MOST_COST = 0.03;
const NARROW = 0.01; // half of the interval that is enough
const FEWEST_WINDOWS = 16;
const WINDOW_MS = 500;
const CONNECTIONS = 10;

const here = (/** @type {string} */ file) => fileURLToPath(new URL(file, import.meta.url));
const budgetMs = Number(process.argv[2] ?? 120) * 1000;

/** A server in a session of its own: Linux may share the CPU by sessions. @param {Record<string, string>} more */
async function startServer(more) {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), ...more };
  const options = { env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] };
  const server = spawn(process.execPath, [here('empty-server.js')], /** @type {any} */ (options));
  await Promise.race([
    once(/** @type {any} */ (server).stdout, 'data'),
    once(server, 'exit').then(() => Promise.reject(new Error('The server ended.'))),
  ]);
  return { url: `http://127.0.0.1:${port}/`, stop: () => server.kill('SIGKILL') };
}

/** @param {string} timeline */
async function measure(timeline) {
  const load = createLoad();
  const probe = `--require=${JSON.stringify(here('../lib/observe/probe.cjs'))}`;
  const bare = await startServer({ NODE_OPTIONS: '' });
  const probed = await startServer({ NODE_OPTIONS: probe, FORKSHOP_TIMELINE: timeline });
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
    return await interleave(sides, { isEnough, budgetMs });
  } finally {
    for (const server of [bare, probed]) server.stop();
    load.close();
  }
}

/** @param {{ bare: number[], probed: number[] }} rates */
function isEnough({ bare, probed }) {
  const { value, low, high } = ratioOf(bare, probed);
  return bare.length >= FEWEST_WINDOWS && high - low <= 2 * NARROW * value;
}

const percent = (/** @type {number} */ share) => `${(share * 100).toFixed(2)} %`;

async function main() {
  const folder = mkdtempSync(join(tmpdir(), 'probe-cost-'));
  const timeline = join(folder, 'timeline.jsonl');
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const disturbance = disturbanceOf(conditionsNow());
  const rates = await measure(timeline);
  const { value, low, high } = ratioOf(rates.bare, rates.probed);
  const [from, to] = [mean(rates.bare), mean(rates.probed)].map(Math.round);
  const size = (statSync(timeline).size / 2 ** 20).toFixed(0);
  console.log(`Node ${process.versions.node}, ${os.availableParallelism()} cores`);
  console.log(`${2 * rates.bare.length} windows of ${WINDOW_MS} ms, ${CONNECTIONS} connections`);
  console.log(`without the probe ${from} requests/s, with it ${to}; its timeline: ${size} MB`);
  console.log(`ratio ${value.toFixed(4)}, 95 % interval ${low.toFixed(4)} to ${high.toFixed(4)}`);
  console.log(`cost  ${percent(1 - value)} (${percent(1 - high)} to ${percent(1 - low)})`);
  console.log(`bar:  at most ${percent(MOST_COST)}`);
  if (disturbance) console.log(`Do not trust it: ${disturbance}.`);
  if (1 - high > MOST_COST) process.exitCode = 1; // surely too much
}

await main();
