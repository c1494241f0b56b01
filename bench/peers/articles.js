/**
 * The tables of the two articles from which the workshop grew, measured again: 100 clients that wait for their answers, and
 * 200 requests a second regardless of the answers. The articles' tools were Siege and vegeta; the load here is our own.
 *
 * @typedef {object} Closed  one row of the first
 * @property {string} name
 * @property {import('../../lib/measure/stats.js').Interval} perSecond
 * @property {number} meanMs  of an answer
 * @property {number} errors
 */
import { join } from 'node:path';
import { rootFolder } from '../../lib/lessons/catalog.js';
import { measureAtRate } from '../../lib/measure/constant-rate.js';
import { createLoad } from '../../lib/measure/load.js';
import { createOpenLoop } from '../../lib/measure/open-loop.js';
import { mean, meanInterval } from '../../lib/measure/stats.js';

const WORKERS = 4;
const CLIENTS = 100;
const SLICE_MS = 1_000;
const RATE = 200;
const LESSON_1 = 'solutions/01-blocking-server/server.js';
const LESSON_2 = 'solutions/02-cluster-fork/server.js';
const STARTER_7 = 'checks/07-open-loop/starter/server.js';
const LESSON_7 = 'solutions/07-open-loop/server.js';

/**
 * @param {import('../../lib/observe/runner.js').Runner} runner
 * @param {{ closedMs: number, openMs: number, say: (what: string) => void }} options
 */
export async function measureArticles(runner, { closedMs, openMs, say }) {
  const [load, openLoop] = [createLoad(), createOpenLoop()];
  const start = async (/** @type {string} */ file, workers = 1) => {
    const env = { NODE_CLUSTER_WORKERS: String(workers) };
    const entry = join(rootFolder, file);
    const program = await runner.start({ entry, env, probe: 'life' });
    if (!(await program.ready(workers))) throw new Error(`${file} did not start.`);
    await openLoop.fire({ url: `${program.url}/`, ratePerSecond: 50, durationMs: 400 }); // its first page is slow
    return program;
  };
  try {
    say('100 clients');
    const closed = [
      await withClients(load, await start(LESSON_1), 'one process', closedMs),
      await withClients(load, await start(LESSON_2, WORKERS), `${WORKERS} workers`, closedMs),
    ];
    say('200 a second');
    const how = { ratePerSecond: RATE, durationMs: openMs };
    const open = {
      'one process': await atRate(openLoop, await start(STARTER_7), how),
      [`${WORKERS} workers`]: await atRate(openLoop, await start(LESSON_7, WORKERS), how),
    };
    return { closed, open };
  } finally {
    load.close();
    openLoop.close();
    await runner.clear();
  }
}

/** @returns {Promise<Closed>}  the first second, in which connections are made, left out */
async function withClients(load, program, name, durationMs) {
  const window = await load.fire({ url: `${program.url}/`, connections: CLIENTS, durationMs });
  await program.stop();
  const slices = Math.floor((durationMs - SLICE_MS) / SLICE_MS);
  const rates = Array.from({ length: slices }, (_, index) => {
    const fromMs = window.startMs + (index + 1) * SLICE_MS;
    return window.answers.filter(({ doneMs }) => doneMs >= fromMs && doneMs < fromMs + SLICE_MS)
      .length;
  });
  const waits = window.answers.map(({ sentMs, doneMs }) => doneMs - sentMs);
  const errors = window.errors + window.timeouts;
  return { name, perSecond: meanInterval(rates), meanMs: mean(waits), errors };
}

async function atRate(openLoop, program, how) {
  const { report, coresBusy, processes } = await measureAtRate(openLoop, program, how);
  await program.stop();
  return { report, coresBusy, processes };
}
