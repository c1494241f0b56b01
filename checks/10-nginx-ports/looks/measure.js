/** What is only shown, and decides nothing: ports behind nginx beside one process, how fast and how late. */
import { Agent } from 'node:http';
import { fileURLToPath } from 'node:url';
import {
  createLoad,
  disturbanceOf,
  get,
  interleave,
  mean,
  ratioOf,
  saturate,
  watchMachine,
} from '../../../lib/check/checking.js';
import { listenersIn, serversIn } from './nginx.js';

const WORK_MS = 90; // a window of blocking work
const BUDGET = { usualMs: 1_000, longerMs: 6_000 };
const NARROW = 1.2; // the high end of an interval of 10 % up and down, by its low end
const LATENCY = { warmUp: 30, rounds: 60 };

/**
 * The ports behind nginx, and one of them alone, with the same work; with more time, also as many workers of a cluster.
 * Then how long an answer takes each way.
 */
export async function measureWays(
  { launch, isLonger, measured, drawn, conditionsWere },
  /** @type {import('./nginx.js').Door} */ { program: ports, count },
  /** @type {any} */ { door: machines },
) {
  const load = createLoad();
  const one = aloneOf(ports);
  const cluster = isLonger && (await startCluster(launch, count));
  const side = (program, processes) => async () =>
    (await saturate(load, program, { path: '/', processes, durationMs: WORK_MS })).perSecond;
  const sides = {
    one: side(one, 1),
    ports: side(ports, count),
    ...(cluster && { cluster: side(cluster, count) }),
  };
  const machine = watchMachine();
  const rates = await interleave(sides, {
    isEnough: ({ one: control, ports: candidate }) => isNarrow(control, candidate),
    budgetMs: isLonger ? BUDGET.longerMs : BUDGET.usualMs,
  });
  const note = disturbanceOf(conditionsWere(machine()));
  load.close();
  for (const [name, label] of [
    ['ports', `blocking work, ${count} ports behind nginx against one process`],
    ['cluster', `the same by the cluster module, with ${count} workers`],
  ]) {
    if (!rates[name]) continue;
    const ratio = ratioOf(rates.one, rates[name]);
    const [controlPerSecond, candidatePerSecond] = [rates.one, rates[name]].map(mean);
    const both = { controlPerSecond, candidatePerSecond, ceiling: count, unit: 'times' };
    measured(name, { label, isHeadline: name === 'ports', note, ...both, ...ratio });
  }
  await drawLatency(drawn, {
    'one process': one.url,
    'through nginx': ports.url,
    cluster: urlOf(listenersIn(machines.program.events)[0]),
  });
}

const urlOf = (/** @type {any} */ { address, port }) =>
  `http://${address.includes(':') ? `[${address}]` : address}:${port}`;

/** One of the servers behind nginx, without nginx. @returns {any} */
function aloneOf(program) {
  return {
    url: urlOf(serversIn(program)[0]),
    drained: () => program.drained(),
    get events() {
      return program.events;
    },
  };
}

async function startCluster(launch, count) {
  const entry = fileURLToPath(new URL('../starter/machine.js', import.meta.url));
  const program = await launch({ entry, env: { NODE_CLUSTER_WORKERS: String(count) } });
  await program.ready(count);
  return program;
}

function isNarrow(control, candidate) {
  const { low, high } = ratioOf(control, candidate);
  return high < NARROW * low;
}

/** What the way costs: one client with a connection to each, which asks them in turn. */
async function drawLatency(drawn, urls) {
  const agent = new Agent({ keepAlive: true });
  const sides = Object.entries(urls).map(([name, url]) => ({
    name,
    url,
    waitsMs: /** @type {number[]} */ ([]),
  }));
  for (let round = 0; round < LATENCY.warmUp + LATENCY.rounds; round += 1)
    for (const { url, waitsMs } of [...sides, ...[...sides].reverse()]) {
      const { sentMs, doneMs } = await get(`${url}/pid`, { agent });
      if (round >= LATENCY.warmUp) waitsMs.push(doneMs - sentMs);
    }
  agent.destroy();
  drawn('latency', {
    label: 'an answer of /pid on an idle server, half are quicker',
    unit: 'µs',
    rows: sides.map(({ name, waitsMs }) => ({ name, value: Math.round(median(waitsMs) * 1_000) })),
  });
}

function median(/** @type {number[]} */ values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}
