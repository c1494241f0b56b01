/**
 * Lesson 3: which process accepts forty connections, what the primary prints about them, and which policy wins when variable and
 * option disagree. The shares and the cost of each policy decide nothing.
 */
import { Agent } from 'node:http';
import { fileURLToPath } from 'node:url';
import {
  aliveIn,
  mapConcurrently,
  askOnce,
  createLoad,
  eventsOf,
  forksOf,
  groupBy,
  haveTurned,
  interleave,
  mean,
  nowMs,
  ratioOf,
  requestsOf,
} from '../../lib/check/checking.js';

export const WORKERS = 4;
export const CONNECTIONS = 40;
const KEPT = 3; // requests on one more connection, so that the workers' counts differ
const NO_PAGE = '/favicon.ico'; // browsers request it unasked
const HEARD_TURNS = 75; // of each event loop, 1.5 s: long enough for a primary that prints once a second
const VARIABLE = 'NODE_CLUSTER_SCHED_POLICY';
const CHOICES = [
  { env: { [VARIABLE]: 'none' }, wanted: 'kernel' },
  { env: { [VARIABLE]: 'none' }, args: ['--policy', 'rr'], wanted: 'handed' },
  { args: ['--policy', 'rrr'], wanted: 'refused' },
];
const WINDOW_MS = 50; // many short windows are more exact than a few long ones
const WARM_UPS = 2; // compiled code is faster
const UNDER_LOAD = 16; // connections
const BRIEF = { budgetMs: 500, exact: 0.1 }; // exact: half an interval, of the ratio
const LONGER = { budgetMs: 4_000, exact: 0.03 };
const WIDE = 2; // high end / low end of an interval that says nothing
const TINY = new URL('../../lessons/03-scheduling-policies/small/tiny.js', import.meta.url);

/** Requests / on new connections until one fails: which process accepted each, and how. */
export async function askInTurn(program) {
  const first = program.events.length;
  const answers = [];
  while (answers.length < CONNECTIONS && !answers.at(-1)?.error)
    answers.push(await askOnce(program, '/'));
  await program.drained();
  return { answers, connections: eventsOf(program.events.slice(first), 'connection') };
}

/**
 * Asks one worker for some more pages, and reads what the primary prints.
 * @returns {Promise<{ answers: any[], had: Map<number, number>, others: Map<number, number>, table: any, line: string | undefined,
 *   named: Set<string>, isFinal: boolean }>}  had: requests of each worker for /; others: for another page; table: the last line of
 *   JSON; line: its text, or else the last line; named: what any line of JSON counts; isFinal: all messages have been received and
 *   printed
 */
export async function readTable(program) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const answers = [];
  for (const path of [NO_PAGE, ...Array(KEPT).fill('/')])
    answers.push(await askOnce(program, path, { agent }));
  agent.destroy();
  await program.drained();
  const sinceMs = nowMs();
  const had = countByProcess(requestsOf(program.events, '/'));
  const others = countByProcess(requestsOf(program.events, NO_PAGE));
  const isFinal = () => haveTurned(program.events, aliveIn(program.events), HEARD_TURNS, sinceMs);
  await program.until(() => isRight(lastTable(program.output()).table, had) || isFinal());
  return {
    answers: answers.slice(1),
    had,
    others,
    isFinal: isFinal(),
    ...lastTable(program.output()),
  };
}

const countByProcess = (requests) =>
  new Map([...groupBy(requests, ({ pid }) => pid)].map(([pid, { length }]) => [pid, length]));

const isRight = (table, had) => [...had].every(([pid, count]) => table?.[pid] === count);

function lastTable(output) {
  const lines = output.trimEnd().split('\n');
  const tables = lines.map((line) => ({ line, table: parseObject(line) }));
  const named = new Set(tables.flatMap(({ table }) => Object.keys(table ?? {})));
  const last = tables.findLast(({ table }) => table);
  if (last) return { ...last, named };
  return { table: undefined, named, line: lines.findLast((line) => !line.includes('listens')) };
}

function parseObject(line) {
  try {
    const value = JSON.parse(line);
    return typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The policy with the variable, with an option that contradicts it, and with an invalid name. */
export const tryPolicyChoices = ({ launch }) =>
  mapConcurrently(CHOICES, async ({ args = [], env = {}, wanted }) => {
    const program = await launch({ args, env: { NODE_CLUSTER_WORKERS: '1', ...env } });
    const forked = () => eventsOf(program.events, 'child')[0];
    const listener = () =>
      eventsOf(program.events, 'listening').find(({ pid }) => pid === forked()?.childPid);
    await program.settled(() => Boolean(wanted === 'refused' ? forked() : listener()));
    const { fate, events } = program;
    await program.stop();
    const settings = Object.entries(env).map((pair) => pair.join('='));
    const name = [...settings, ...args].join(' ');
    return { name, wanted, program, events, fate, forked: forked(), listener: listener() };
  });

export function chartShares({ drawn }, policy, label, { events }, { connections }) {
  const rows = forksOf(events).map(({ worker, workerPid }) => ({
    name: `worker ${worker}`,
    value: connections.filter(({ pid }) => pid === workerPid).length,
  }));
  drawn(`shares-${policy}`, { label, unit: 'connections', rows });
}

/** The smallest server under each policy. */
export async function startSmallestServer({ launch, ready }) {
  const load = createLoad();
  const start = async (policy) => {
    const env = { NODE_CLUSTER_WORKERS: '2', [VARIABLE]: policy };
    const program = await launch({ entry: fileURLToPath(TINY), env, probe: 'life' });
    return (await ready(program, 2)).url;
  };
  const [rr, none] = await Promise.all([start('rr'), start('none')]);
  return { load, rr, none };
}

/** The cost of each policy; decides nothing. */
export async function measureCost({ measured, isLonger }, { load, rr, none }) {
  const [fresh, kept] = ['a new connection for each', 'on connections that stay open'];
  for (const kind of isLonger ? [fresh, kept] : [fresh]) {
    const isHeadline = kind === fresh;
    const window = (url) => () => perSecond(load, { url, isFresh: kind === fresh });
    const cost = await compare({ rr: window(rr), none: window(none) }, isLonger);
    const label = `tiny requests, ${kind}: none against rr`;
    measured(kind === fresh ? 'fresh' : 'kept', { label, unit: 'times', isHeadline, ...cost });
  }
}

async function perSecond(load, options) {
  const window = await load.fire({ connections: UNDER_LOAD, durationMs: WINDOW_MS, ...options });
  const answers = Math.max(1, window.answers.length); // on a busy machine there may be none, and a ratio needs a number
  return (1000 * answers) / (window.endMs - window.startMs);
}

/** The geometric mean, because the reported number is a ratio. */
const typical = (rates) => Math.exp(mean(rates.map(Math.log)));

/** The speedup of none over rr, in interleaved windows. */
async function compare(sides, isLonger) {
  for (let count = 0; count < WARM_UPS; count += 1)
    for (const warmUp of Object.values(sides)) await warmUp();
  const { budgetMs, exact } = isLonger ? LONGER : BRIEF;
  const ratio = (/** @type {Record<string, number[]>} */ { rr, none }) => ratioOf(rr, none);
  const isEnough = (rates) => {
    const { value, low, high } = ratio(rates);
    return (high - low) / 2 <= exact * value;
  };
  const rates = await interleave(sides, { isEnough, budgetMs });
  const { value, low, high } = ratio(rates);
  const note = high > WIDE * low ? 'inconclusive: other programs were using the cores' : undefined;
  const [controlPerSecond, candidatePerSecond] = [typical(rates.rr), typical(rates.none)];
  return { value, low, high, note, controlPerSecond, candidatePerSecond };
}
