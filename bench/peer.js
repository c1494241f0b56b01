// Ours beside vegeta, on the same server at the same rate: used by bench/vegeta.js and test/peers/vegeta.test.js.
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { spawnGuarded } from '../lib/common/child.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { createOpenLoop } from '../lib/measure/open-loop.js';
import { reportOf } from '../lib/measure/load-report.js';
import { createRunner } from '../lib/observe/runner.js';
import { temporaryFolder } from '../lib/observe/temporary-folder.js';

const WORKERS = 4;
const RATE = 200;
const TIMEOUT_MS = 30_000;
const NS = 1e6; // in a millisecond

/** Allowed differences: throughput by a share; latencies by a share or by a number of milliseconds. */
export const BAR = { throughput: 0.02, latency: 0.1, latencyMs: 2 };

/**
 * @typedef {{ throughputPerSecond: number, p50: number, p90: number, p99: number, success: number, lateMs?: number }} Figures
 *   latencies in milliseconds; lateMs: only ours: how late 1 % of the requests were sent, at least
 */

/**
 * Runs ours and vegeta in turn, A B B A, on lesson 7's solution.
 * @param {string} vegeta  its path
 * @param {{ rounds: number, durationMs: number }} options
 * @returns {Promise<{ ours: Figures[], theirs: Figures[] }>}
 */
export async function compareWith(vegeta, { rounds, durationMs }) {
  const runner = createRunner();
  const openLoop = createOpenLoop();
  const folder = mkdtempSync(join(temporaryFolder(), 'forkshop-vegeta-'));
  try {
    const entry = join(rootFolder, 'solutions/07-open-loop/server.js');
    const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
    const program = await runner.start({ entry, env, probe: 'life' });
    if (!(await program.ready(WORKERS))) throw new Error('The solution did not start.');
    const url = `${program.url}/`;
    const options = { url, ratePerSecond: RATE, isFresh: false, timeoutMs: TIMEOUT_MS };
    const fireOurs = async () => figuresOf(await openLoop.fire({ ...options, durationMs }));
    const fireTheirs = () => attack(vegeta, { url, durationMs, folder });
    await openLoop.fire({ ...options, durationMs: 500 }); // a worker's first page is slow
    const ours = [];
    const theirs = [];
    for (let round = 0; round < rounds; round += 1) {
      ours.push(await fireOurs());
      theirs.push(await fireTheirs(), await fireTheirs());
      ours.push(await fireOurs());
    }
    return { ours, theirs };
  } finally {
    openLoop.close();
    await runner.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {import('../lib/measure/open-loop.js').OpenWindow} window @returns {Figures} */
function figuresOf(window) {
  const { throughputPerSecond, latencyMs, success, lateMs } = reportOf(window);
  const { p50, p90, p99 } = latencyMs;
  return { throughputPerSecond, p50, p90, p99, success, lateMs: lateMs.p99 };
}

/** `echo "GET url" | vegeta attack > file; vegeta report -type=json file` @returns {Promise<Figures>} */
async function attack(vegeta, { url, durationMs, folder }) {
  const file = join(folder, 'results.bin');
  const output = openSync(file, 'w');
  const limits = [`-rate=${RATE}/s`, `-duration=${durationMs}ms`, `-timeout=${TIMEOUT_MS}ms`];
  await run(vegeta, ['attack', ...limits], { input: `GET ${url}\n`, output });
  closeSync(output);
  const { throughput, success, latencies } = JSON.parse(
    await run(vegeta, ['report', '-type=json', file], {}),
  );
  const [p50, p90, p99] = ['50th', '90th', '99th'].map((name) => latencies[name] / NS);
  return { throughputPerSecond: throughput, p50, p90, p99, success };
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {{ input?: string, output?: number }} options  output: a file, instead of the answer
 * @returns {Promise<string>}  what it printed
 */
async function run(command, args, { input = '', output }) {
  const stdio = ['pipe', output ?? 'pipe', 'inherit'];
  const { guard, ended } = spawnGuarded(command, args, { stdio });
  guard.stdin?.end(input);
  const printed = guard.stdout ? text(guard.stdout) : '';
  const { code, signal } = await ended;
  if (code !== 0) throw new Error(`${command} ${args[0]} exited with ${signal ?? code}.`);
  return printed;
}

/** @param {number[]} values */
function medianOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

/**
 * The medians of both, and whether they differ by more than the bar allows.
 * @param {{ ours: Figures[], theirs: Figures[] }} both
 */
export function differencesOf({ ours, theirs }) {
  const names = /** @type {const} */ (['throughputPerSecond', 'p50', 'p90']);
  return names.map((name) => {
    const [a, b] = [ours, theirs].map((side) => medianOf(side.map((figures) => figures[name])));
    const share = Math.abs(a - b) / b;
    const isNear =
      name === 'throughputPerSecond'
        ? share <= BAR.throughput
        : share <= BAR.latency || Math.abs(a - b) <= BAR.latencyMs;
    return { name, ours: a, theirs: b, share, isNear };
  });
}
