/** What is only shown, and decides nothing: ports behind nginx beside a cluster, how fast and how late. */
import { fileURLToPath } from 'node:url';
import {
  createLoad,
  disturbanceOf,
  interleave,
  mean,
  ratioOf,
  saturate,
  watchMachine,
} from '../../lib/checking.js';
import { openDoor } from './10-nginx-ports.js';

const PORTS = 4;
const WORK_MS = 100; // a window of blocking work
const TINY_MS = 50; // a window of tiny answers
const BUDGET_MS = 1_000; // one round, and a second where the first was quick
const WIDE = 2; // an interval whose high end is twice its low end tells little

/** What is measured, which starts while others are waited for: one server, the learner's ports behind nginx, a cluster. */
export async function startSides(launch, nginx) {
  const load = createLoad();
  const given = (name) =>
    fileURLToPath(new URL(`../starters/10-nginx-ports/${name}`, import.meta.url));
  const env = { NODE_CLUSTER_WORKERS: String(PORTS) };
  const [one, cluster, { program: ports }] = await Promise.all([
    launch({ entry: given('backend.js') }),
    launch({ entry: given('machine.js'), env }),
    openDoor(launch, { count: PORTS, nginx }),
  ]);
  await Promise.all([one.ready(1), cluster.ready(PORTS)]);
  return { one, ports, cluster, load };
}

/** Each of them in turn, with the same work. */
export async function measure(
  { measured, drawn, conditionsWere },
  /** @type {any} */ { one, ports, cluster, load },
) {
  const machine = watchMachine();
  const side = (program, processes) => async () =>
    (await saturate(load, program, { path: '/', processes, durationMs: WORK_MS })).perSecond;
  const sides = { one: side(one, 1), ports: side(ports, PORTS), cluster: side(cluster, PORTS) };
  const rates = await interleave(sides, {
    isEnough: (soFar) => [soFar.ports, soFar.cluster].every((some) => isNarrow(soFar.one, some)),
    budgetMs: BUDGET_MS,
  });
  const conditions = conditionsWere(machine());
  const note = disturbanceOf(conditions);
  for (const [name, label] of [
    ['ports', `blocking work, ${PORTS} ports behind nginx against one process`],
    ['cluster', `the same by the cluster module, with ${PORTS} workers`],
  ]) {
    const ratio = ratioOf(rates.one, rates[name]);
    const [controlPerSecond, candidatePerSecond] = [rates.one, rates[name]].map(mean);
    const isHeadline = name === 'ports';
    const both = { controlPerSecond, candidatePerSecond, ceiling: PORTS, unit: 'times' };
    measured(name, { label, isHeadline, note, ...both, ...ratio });
  }
  await drawLatency({ drawn, load, note }, { one, ports, cluster });
  load.close();
}

function isNarrow(control, candidate) {
  const { low, high } = ratioOf(control, candidate);
  return high < WIDE * low;
}

/** What the way through nginx costs: the median of one kept connection's answers, in windows that alternate. */
async function drawLatency({ drawn, load, note }, { one, ports, cluster }) {
  const window = (program) => async () => {
    const url = `${program.url}/pid`;
    const { answers } = await load.fire({ url, connections: 1, durationMs: TINY_MS });
    return median(answers.map(({ sentMs, doneMs }) => doneMs - sentMs));
  };
  const sides = { one: window(one), ports: window(ports), cluster: window(cluster) };
  const medians = await interleave(sides, {
    isEnough: () => true,
    budgetMs: BUDGET_MS,
  });
  const row = (name, side) => ({ name, value: Math.round(median(medians[side]) * 1_000) });
  const rows = [
    row('one process', 'one'),
    row('through nginx', 'ports'),
    row('cluster', 'cluster'),
  ];
  const label = 'an answer of /pid on an idle server, half are quicker';
  drawn('latency', { label, unit: 'µs', rows, note });
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}
