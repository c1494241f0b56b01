/**
 * What the check of lesson 3 does with the learner's program and sees of it: who accepts a connection, who executes its
 * requests. At the end, what is shown and decides nothing: the shares, and what each policy costs.
 */
import { Agent } from 'node:http';
import { fileURLToPath } from 'node:url';
import {
  AS_BROWSER,
  asCoresAllow,
  askOnce,
  closedMeanwhile,
  createLoad,
  eventsOf,
  forksOf,
  get,
  groupBy,
  interleave,
  mayBeClosed,
  mean,
  nowMs,
  ratioOf,
  requestsOf,
} from '../../../lib/check/checking.js';

export const WORKERS = 4;
export const CONNECTIONS = 40;
export const KEPT = 6; // requests on a connection
const BUSY = ['/block', '/wait']; // each for 500 ms
const CLIENTS = 3; // one may be dealt to the worker in /block, one to a worker in /wait that blocks
const CLIENT_ASKS = 8;
export const LEAST_BUSY_MS = 450;
export const MOST_BUSY_MS = 2_000;
const TRIES = 3;
const SEEN_WITHIN_MS = 3_000;
const WINDOW_MS = 50; // many short windows tell more than a few long ones
const WARM_UPS = 2; // compiled code is faster
const UNDER_LOAD = 16; // connections
const BRIEF = { budgetMs: 700, exact: 0.1 }; // half an interval, of the ratio
const LONGER = { budgetMs: 4_000, exact: 0.03 };
const WIDE = 2; // an interval that tells nothing
const TINY = new URL('../../../lessons/03-scheduling-policies/small/tiny.js', import.meta.url);
const BY_VARIABLE = { NODE_CLUSTER_SCHED_POLICY: 'none' };
const CHOICES = [
  { name: 'NODE_CLUSTER_SCHED_POLICY=none', env: BY_VARIABLE, wanted: 'kernel' },
  {
    name: 'NODE_CLUSTER_SCHED_POLICY=none and --policy rr',
    env: BY_VARIABLE,
    args: ['--policy', 'rr'],
    wanted: 'handed',
  },
  {
    name: 'NODE_CLUSTER_SCHED_POLICY=rr',
    env: { NODE_CLUSTER_SCHED_POLICY: 'rr' },
    wanted: 'handed',
  },
  {
    name: 'NODE_CLUSTER_SCHED_POLICY=rr and --policy none',
    env: { NODE_CLUSTER_SCHED_POLICY: 'rr' },
    args: ['--policy', 'none'],
    wanted: 'kernel',
  },
  {
    name: 'NODE_CLUSTER_SCHED_POLICY=roundrobin and --policy none',
    env: { NODE_CLUSTER_SCHED_POLICY: 'roundrobin' },
    args: ['--policy', 'none'],
    wanted: 'kernel',
  },
];
const byOption = (value) => ({ name: `--policy "${value}"`, args: ['--policy', value] });
const byVariable = (value) => ({
  name: `NODE_CLUSTER_SCHED_POLICY="${value}"`,
  env: { NODE_CLUSTER_SCHED_POLICY: value },
});
/** Each is mistaken for a policy by a different bug. */
const NONSENSE = [
  byOption('rrr'),
  byOption(''),
  {
    name: '--policy "RR" and NODE_CLUSTER_SCHED_POLICY=none',
    args: ['--policy', 'RR'],
    env: BY_VARIABLE,
  },
  byOption('round-robin'),
  byOption(' none'),
  byOption('rr '),
  { name: '--policy without a name', args: ['--policy'] },
  byOption('toString'), // every object has it
  byVariable('roundrobin'),
  byVariable('None'),
  byVariable('RR'),
  byVariable('none '),
  byVariable(' rr'),
];

/** Requests on new connections, one after the other: who accepted each connection, and who executed the request. */
export async function askInTurn(program, times) {
  const first = program.events.length;
  const answers = [];
  while (answers.length < times && !answers.at(-1)?.error) {
    const headers = answers.length % 2 === 0 ? {} : AS_BROWSER; // it makes no difference
    answers.push(await askOnce(program, '/', { headers }));
  }
  await program.drained();
  const isSeen = () => requestsOf(program.events.slice(first), '/').length >= answers.length;
  if (!answers.at(-1)?.error) await program.until(isSeen, SEEN_WITHIN_MS);
  const events = program.events.slice(first);
  const accepted = eventsOf(events, 'connection').map(({ t, ...one }) => ({ ...one, startMs: t }));
  return {
    answers,
    hows: joined(answers, accepted).map((one) => one?.how),
    pids: pidsOf(events, answers),
    requests: joined(answers, requestsOf(events, '/')),
  };
}

/** Which process executed each of these requests for /. */
const pidsOf = (events, answers) => joined(answers, requestsOf(events, '/')).map((one) => one?.pid);

/** To each answer what was seen of it, by the client's port, which may come again: then it is the next of that port. */
function joined(answers, seen) {
  const inOrder = [...seen].sort((a, b) => a.startMs - b.startMs);
  const ofClient = groupBy(inOrder, ({ client }) => client);
  return answers.map(({ client }) => ofClient.get(client)?.shift());
}

export const isCycle = (pids) =>
  new Set(pids.slice(0, WORKERS)).size === WORKERS &&
  pids.every((pid, index) => pid === pids[index % WORKERS]);

/** What is dealt in turn is dealt so each time; a worker that comes late, on a busy machine, disturbs only one look. */
export async function askInTurnTwice(program) {
  const look = await askInTurn(program, CONNECTIONS);
  return isCycle(look.pids) || look.answers.at(-1).error ? look : askInTurn(program, CONNECTIONS);
}

/** How many workers listen on a socket that the primary opened for all: only then does it hear of it. */
export async function sharedListeners(program) {
  const heard = () =>
    eventsOf(program.events, 'worker-listening').filter(({ port }) => port === program.port);
  const workers = () => new Set(heard().map(({ workerPid }) => workerPid)).size; // each may listen at several addresses
  await program.until(() => workers() >= WORKERS, 3_000);
  return workers();
}

/**
 * Starts the program with one worker, waits until `isDone` or nothing more happens, and ends it.
 * @param {any} lesson
 * @param {{ args?: string[], env?: Record<string, string> }} choice
 * @param {(events: any[]) => boolean} isDone
 */
async function startBriefly({ launch }, { args, env }, isDone) {
  const environment = { NODE_CLUSTER_WORKERS: '1', ...env };
  const program = await launch({ args, env: environment, isErrorApart: true });
  await program.settled(isDone);
  const { fate, events } = program;
  const [output, errors] = [program.output(), program.errors()];
  await program.stop();
  return { program, fate, events, output, errors };
}

/** Who accepts when the environment speaks, and when the option speaks against it. */
export const chooseInEveryWay = (lesson) =>
  asCoresAllow(CHOICES, async (choice) => {
    const listener = (events) => {
      const workers = forksOf(events).map(({ workerPid }) => workerPid);
      return eventsOf(events, 'listening').find(({ pid }) => workers.includes(pid));
    };
    const end = await startBriefly(lesson, choice, (seen) => Boolean(listener(seen)));
    const found = listener(end.events);
    return { ...choice, ...end, listener: found, how: found?.handle };
  });

/** A child is seen even when the primary ends in the same moment. */
export const hasForked = (events) => eventsOf(events, 'child').length > 0;

export const isUp = (events) => hasForked(events) || eventsOf(events, 'listening').length > 0;

/** Starts the program with policies that do not exist; a program that accepts the first is not asked about more. */
export async function tryAllNonsense(lesson) {
  const tryIt = async (choice) => ({ ...choice, ...(await startBriefly(lesson, choice, isUp)) });
  const [first, ...others] = NONSENSE;
  const end = await tryIt(first);
  if (isUp(end.events)) return [end];
  return [end, ...(await asCoresAllow(others, tryIt))];
}

/** Some requests on one connection, then as many on another while the first is still open. */
export async function askOnTwoConnections(program) {
  const first = program.events.length;
  const agents = [1, 2].map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
  const all = [];
  for (const agent of agents)
    for (let count = 0; count < KEPT; count += 1) all.push(await askOnce(program, '/', { agent }));
  agents.forEach((agent) => agent.destroy());
  await program.drained();
  const pids = pidsOf(program.events.slice(first), all);
  const opened = new Set(all.map(({ client }) => client)).size;
  const isLate = all.slice(1).some(({ doneMs }, index) => mayBeClosed(all[index].sentMs, doneMs));
  const isSilent = all.some(({ limitMs }) => limitMs); // then a client hung up
  if (opened > agents.length && isLate && !isSilent) throw closedMeanwhile();
  const requests = joined(all, requestsOf(program.events.slice(first), '/'));
  return { answers: all, pids, opened, requests };
}

/** Looks up to three times, until it is as it should be, or there is a clear fault. */
export async function dealMeanwhile(program) {
  const isPlain = ({ blocked, waiting, isThrough }) =>
    [blocked, waiting].some(({ fault, tookMs }) => fault || tookMs < LEAST_BUSY_MS) ||
    blocked.own > 0 ||
    (isThrough && waiting.own > 0);
  let look = await dealOnce(program);
  for (let tries = 1; tries < TRIES && !isPlain(look); tries += 1) look = await dealOnce(program);
  return look;
}

/** A worker in /block and one in /wait; and meanwhile clients that ask again as soon as they are answered. */
async function dealOnce(program) {
  const sinceMs = nowMs();
  const first = program.events.length;
  const seen = (path) => requestsOf(program.events.slice(first), path);
  let isOver = false;
  const held = BUSY.map((path) => get(program.url + path).finally(() => (isOver = true)));
  await program.until(() => isOver || BUSY.every((path) => seen(path).length > 0));
  const client = async () => {
    let left = CLIENT_ASKS;
    for (; left > 0 && !isOver; left -= 1) await get(`${program.url}/`);
    return left === 0 && !isOver; // it got through
  };
  const clients = await Promise.all(Array.from({ length: CLIENTS }, client));
  const answers = await Promise.all(held);
  await program.drained();
  const isThrough = clients.includes(true);
  const others = seen('/');
  const [blocked, waiting] = BUSY.map((path, index) => {
    const { sentMs, doneMs } = answers[index];
    const [request] = seen(path);
    const { pid, startMs = 0, endMs = 0 } = request ?? {};
    const here = others.filter((one) => one.pid === pid && one.startMs > startMs);
    const own = here.filter((one) => one.startMs < endMs).length;
    const fault = faultOfBusy(path, answers[index], pid);
    const tookMs = Math.min(endMs - startMs, doneMs - sentMs); // it blocks first, then it answers
    return { request, fault, own, trapped: here.length - own, tookMs };
  });
  return { blocked, waiting, isThrough, starvedMs: program.turn.starvedSince(sinceMs) };
}

/** These two were given, and are to stay as they are. */
function faultOfBusy(path, { status, error, body }, pid) {
  if (status !== 200 || error)
    return `A request for ${path} failed: ${error ?? `status ${status}`}.`;
  const isAsGiven = pid === undefined || body === String(pid);
  return isAsGiven ? undefined : `${path} answered "${body.slice(0, 40)}", not the pid.`;
}

export function drawShares({ drawn }, policy, { events }, { pids }) {
  const rows = forksOf(events).map(({ worker, workerPid }) => ({
    name: `worker ${worker}`,
    value: pids.filter((pid) => pid === workerPid).length,
  }));
  const label = `${policy}: ${CONNECTIONS} new connections, one after the other`;
  drawn(`shares-${policy}`, { label, unit: 'connections', rows });
}

/** The smallest server under each policy: nothing but the policy differs. */
export async function startTiny({ launch, ready }) {
  const load = createLoad();
  const start = async (policy) => {
    const env = { NODE_CLUSTER_WORKERS: '2', NODE_CLUSTER_SCHED_POLICY: policy };
    const program = await launch({ entry: fileURLToPath(TINY), env, probe: 'life' });
    return (await ready(program, 2)).url;
  };
  const [rr, none] = await Promise.all([start('rr'), start('none')]);
  return { load, rr, none };
}

/** What each policy costs. It decides nothing. */
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
  const answers = Math.max(1, window.answers.length); // none, on a busy machine: a ratio needs a number
  return (1000 * answers) / (window.endMs - window.startMs);
}

/** The geometric mean: the ratio of two is the ratio that is reported. */
const typical = (rates) => Math.exp(mean(rates.map(Math.log)));

/** How many times as fast none is as rr, in interleaved windows. */
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
