/** Lesson 6, what is only shown: the event-loop delay, and what a worker of each kind costs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { get, mean, meanOf, parseBody } from '../../../lib/check/checking.js';
import { askAtOnce } from './jobs.js';

const REST_MS = 15; // the histogram behind /health needs a turn of its timer, of 5 ms, before and after a delay
const ROWS = 50_000;
const TIMES = 3;

/** The longest delay of the event loop while two reports are built: in children, where it varies, more often. */
export async function measureDelays({ isLonger }, candidate, control) {
  /** @type {number[][]} */
  const [yours, before] = [[], []];
  const measureYours = async () => {
    for (let time = 0; time < TIMES; time += 1) yours.push(await delayOf(candidate));
  };
  for (let round = 0; round < (isLonger ? 8 : 1); round += 1) {
    await measureYours();
    before.push(await delayOf(control));
    await measureYours();
  }
  return { yours, before };
}

/** What /health says after two reports at once. */
async function delayOf(program) {
  await get(`${program.url}/health`);
  await sleep(REST_MS);
  await askAtOnce(program, ['a', 'b'], ROWS);
  await sleep(REST_MS);
  return parseBody((await get(`${program.url}/health`)).body).eventLoopDelayMs;
}

export function tellOfDelays({ measured, drawn }, { yours, before }) {
  const label = `longest event-loop delay while two reports of ${ROWS.toLocaleString('en')} rows are built`;
  const rows = [
    { name: 'job in the server', value: mean(before) },
    { name: 'job in children', value: mean(yours) },
  ];
  drawn('delays', { label, unit: 'ms', rows });
  const told = { label: `${label}: your server`, ...meanOf(yours), unit: 'ms', isHeadline: true };
  measured('delay', told);
}

const KINDS = { cluster: 'cluster worker', fork: 'forked child', thread: 'thread' };
const COSTS = '../../../lessons/06-child-process-fork/cost/start.js';

/** The three kinds of worker, each started and weighed by the little program of the lesson, without the probe. */
export async function measureCosts(launch) {
  const costs = [];
  for (const [kind, name] of Object.entries(KINDS)) {
    const entry = fileURLToPath(new URL(COSTS, import.meta.url));
    const program = await launch({ entry, args: [kind], env: { NODE_OPTIONS: '' } });
    await program.ended();
    const numbers = program.output().match(/[\d.]+|NaN/g) ?? [];
    const [ms, uss, rss] = numbers.map(Number);
    costs.push({ name, ms, uss, rss });
  }
  return costs;
}

export function tellOfCosts({ drawn }, costs) {
  const isUss = costs.every(({ uss }) => Number.isFinite(uss));
  const rowsOf = (tell, once) => [
    ...costs.map((cost) => ({ name: cost.name, value: tell(cost) })),
    { name: 'as Node 0.12 said', value: once },
  ];
  const startUps = rowsOf(({ ms }) => ms, 30);
  drawn('start-up', { label: 'from start to first message', unit: 'ms', rows: startUps });
  const label = `memory of one more (${isUss ? 'USS, its own' : 'RSS'})`;
  const note = isUss ? undefined : 'RSS counts shared memory in each process: too much.';
  const memory = rowsOf(({ uss, rss }) => (isUss ? uss : rss), 10);
  drawn('memory', { label, unit: 'MB', rows: memory, note });
}
