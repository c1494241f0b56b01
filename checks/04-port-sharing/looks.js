/**
 * What the check of lesson 4 does with the learner's programs and sees of them: a crowd, clients one after the other, clients
 * that hang up, a child that dies, a parent that is killed. At the end, the speedup, and what is only shown.
 */
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  acceptQueueOf,
  askAtOnce,
  createLoad,
  disturbanceOf,
  eventsOf,
  get,
  hasPid,
  haveTurned,
  isAtRest,
  kill,
  listeningSockets,
  nowMs,
  repeatUntil,
  requestsOf,
  speedupOfBlocking,
  untilAtRest,
  watchMachine,
  whileFrozen,
} from '../../lib/check/checking.js';

export const CHILDREN = 4;
export const FEW = 2; // children, when their number is not the point
export const CROWD = 60;
const ROUNDS = 3; // a die does not fall like that
const TRIES = 3; // on a busy machine a child may confirm too late to get its turn
const HELD_MS = 2_000; // the longest that processes are frozen
const PATIENCE_MS = 30_000; // of a client: long before that the program is at rest
const READ_MS = 50; // by then our own event loop has read what has been answered
const LEFT_MS = 3_000; // a child whose channel has closed exits within milliseconds
const ORPHAN_TURNS = 50; // of an event loop, a second: a child that heard of it would be gone
const LEAST_SPEEDUP = 0.7 * CHILDREN;
const LIMITS = { target: LEAST_SPEEDUP, windowMs: 80, budgetMs: 3_000 };
const CLUSTER = fileURLToPath(
  new URL('../../solutions/02-cluster-fork/server.js', import.meta.url),
);

/** Starts the program and waits until its port is open, or never will be. */
export async function launchParent({ launch }, children, give = '') {
  const args = give ? ['--give', give] : [];
  const env = { NODE_CLUSTER_WORKERS: String(children) };
  const program = await launch({ args, env, followsChildren: true });
  await program.ready(give === 'listener' ? 1 + children : 1);
  return program;
}

/** The processes that the parent has started. */
export const childrenOf = ({ events, pid: parent }) =>
  eventsOf(events, 'child').flatMap(({ pid, childPid }) => (pid === parent ? [childPid] : []));

export const socketsOpened = ({ events }) =>
  eventsOf(events, 'listening').filter(
    ({ handle, port }) => handle === 'kernel' && port !== undefined,
  );

/** Clients that all ask at once; and which sockets listen on the port then, where the system tells. */
export async function meetCrowd(program) {
  return { ...(await askAll(program, CROWD)), holders: listeningSockets(program) ?? [] };
}

/** A crowd, while the children stand still: a parent that reads has all requests before it can pass a connection on. */
export const meetCrowdWhileFrozen = (program) =>
  askAll(program, CROWD, () =>
    whileFrozen(program, childrenOf(program), async () => {
      const sinceMs = nowMs();
      const met = () => eventsOf(program.events, 'connection').filter(({ t }) => t > sinceMs);
      await program.until(() => met().length >= CROWD, HELD_MS);
      await program.until(hasTurned(program), HELD_MS);
    }),
  );

/** Several rounds, one client after the other: which child served each. */
export const takeTurns = (program) =>
  repeatUntil(TRIES, () => askInTurn(program, ROUNDS * CHILDREN), areTurns);

/** @returns {Promise<any[]>}  pids */
async function askInTurn(program, count) {
  const pids = [];
  while (pids.length < count) {
    const { requests } = await askAll(program, 1);
    pids.push(requests.at(-1)?.pid);
    if (requests.length === 0) break; // no child serves it
  }
  return pids;
}

/** In each round every child has its turn. */
export const areTurns = (pids) =>
  pids.length === ROUNDS * CHILDREN &&
  Array.from({ length: ROUNDS }, (_, round) =>
    pids.slice(round * CHILDREN, (round + 1) * CHILDREN),
  ).every((round) => new Set(round).size === CHILDREN);

/**
 * So many clients for /pid at once.
 * @returns {Promise<{ answers: any[], lost: any[], requests: any[], isFinal: boolean }>}  lost: no process has answered them;
 *   isFinal: nor ever will, for the program is at rest
 */
async function askAll(program, times, afterwards = async () => {}) {
  const first = program.events.length;
  const agent = new Agent();
  let waiting = times;
  const options = { agent, timeoutMs: PATIENCE_MS };
  const ask = () => get(`${program.url}/pid`, options).finally(() => (waiting -= 1));
  const asked = Promise.all(Array.from({ length: times }, ask));
  let isFinal = true;
  try {
    await afterwards();
    const sinceMs = nowMs();
    if (!(await untilAtRest(program, () => waiting === 0))) {
      isFinal = isAtRest(program, { sinceMs });
      await sleep(READ_MS);
    }
  } finally {
    agent.destroy();
  }
  const answers = await asked;
  const seen = () => requestsOf(program.events.slice(first), '/pid');
  const answered = () => seen().filter(({ endMs }) => endMs);
  const good = answers.filter(({ error }) => !error).length;
  await program.until(() => answered().length >= good, HELD_MS);
  const served = new Set(answered().map(({ client }) => client));
  const lost = answers.filter(({ error, client }) => error && !served.has(client ?? null));
  return { answers, lost, requests: seen(), isFinal };
}

/** The parent's event loop has turned since: it has heard what there was to hear. */
function hasTurned(program) {
  const sinceMs = nowMs();
  return (events) => haveTurned(events, [program.pid], 2, sinceMs);
}

/** Connections without a request. The kernel makes them, even while no process accepts them. */
const connectAll = (program, count) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const client = connect(program.port, '127.0.0.1');
      client.on('error', () => {}); // the server may close it
      await new Promise((resolve) => client.once('connect', resolve).once('close', resolve));
      return client;
    }),
  );

/** Clients that hang up before they are accepted, and clients that hang up while they wait for a child; then some that stay. */
export async function sendGoneClients(program) {
  const children = childrenOf(program);
  const all = [program.pid, ...children];
  const hangUp = (clients) => clients.forEach((client) => client.resetAndDestroy());
  await whileFrozen(program, all, async () => hangUp(await connectAll(program, 3 * FEW)));
  await whileFrozen(program, children, async () => {
    const clients = await connectAll(program, 3 * FEW);
    const ports = new Set(clients.map(({ localPort }) => localPort));
    const met = (events) =>
      eventsOf(events, 'connection').filter(({ client }) => ports.has(client));
    await program.until((events) => met(events).length >= clients.length, HELD_MS);
    hangUp(clients);
  });
  const { lost, isFinal } = await askAll(program, 3 * FEW);
  return { lost, isFinal, ended: endedIn(program, all) };
}

const endedIn = ({ events }, pids) =>
  pids.filter((pid) =>
    events.some((one) => one.pid === pid && ['crash', 'exit'].includes(one.what)),
  );

/**
 * Kills the child that is next in turn while the parent is frozen and a client connects. When the parent resumes it finds the
 * channel closed and a client, and only afterwards the system tells it that a child has ended: so it deals to the dead. (Linux
 * reports descriptors in the order in which they became ready, and libuv signals last.)
 */
export async function killNext(program) {
  const [next = childrenOf(program)[0]] = await askInTurn(program, FEW);
  await program.until(hasTurned(program), HELD_MS); // nothing old is left to be read
  let caller;
  await whileFrozen(program, [program.pid], async () => {
    kill(program, [next]);
    await program.until(() => !program.survivors().includes(next), HELD_MS); // its channel is closed
    [caller] = await connectAll(program, 1);
    caller.write('GET /pid HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    await program.until(() => (acceptQueueOf(program.port) ?? 1) > 0, HELD_MS);
  });
  let isServed = false; // or sent away: it knows, and can ask elsewhere
  const isOver = () => (isServed = true);
  caller.once('data', isOver).once('close', isOver);
  const hasHeard = hasTurned(program);
  await program.until((events) => !hasPid(next) && hasHeard(events), HELD_MS); // the parent has, of its end
  const sinceMs = nowMs();
  await untilAtRest(program, () => isServed);
  const isFinal = isAtRest(program, { sinceMs });
  const isWaiting = !isServed;
  caller.destroy();
  const { fate } = program;
  const later = fate ? { lost: [], isFinal: true } : await askAll(program, 3 * FEW);
  return { victim: next, isWaiting, isFinal, later, fate };
}

/** Kills the parent. @returns {Promise<{ orphans: number[], isFinal: boolean }>}  the children that outlive it */
export async function killParent(program) {
  kill(program, [program.pid]);
  const sinceMs = nowMs();
  await program.ended(LEFT_MS);
  const orphans = await program.gone(LEFT_MS);
  return { orphans, isFinal: haveTurned(program.events, orphans, ORPHAN_TURNS, sinceMs) };
}

/** The same work on both sides: four children, and the single process that the lesson started from. */
export async function prepareContest({ launch, ready, isLonger }) {
  const control = await ready(await launch({ isReference: true }));
  return { load: createLoad(), control, workers: CHILDREN, path: '/', isLonger };
}

export async function measureBlocking({ measured, addConditions }, contest) {
  const machine = watchMachine();
  const speedup = await speedupOfBlocking({ ...contest, ...LIMITS });
  const conditions = addConditions(machine());
  const label = `blocking work, ${CHILDREN} children against one process`;
  measured('blocking', { label, unit: 'times', isHeadline: true, ...speedup });
  return { speedup, disturbance: disturbanceOf(conditions) };
}

/** What takes longer, and decides nothing: the cluster module under the same load, and both ways under a crowd. */
export async function measureMore(lesson, dealing, contest) {
  const { launch, ready, measured } = lesson;
  const env = { NODE_CLUSTER_WORKERS: String(CHILDREN) };
  const cluster = await ready(await launch({ entry: CLUSTER, env }), CHILDREN);
  const speedup = await speedupOfBlocking({ ...contest, ...LIMITS, candidate: cluster });
  const label = 'the same by the cluster module (the solution of lesson 2)';
  measured('cluster', { label, unit: 'times', ...speedup });
  const sharing = await launchParent(lesson, CHILDREN, 'listener');
  await drawShares(lesson, 'connections', dealing);
  await drawShares(lesson, 'listener', sharing);
}

/** How evenly a crowd that gives each child more than enough to do was spread. */
async function drawShares({ drawn }, give, program) {
  const { requests } = await askAtOnce(program, '/', CROWD);
  const rows = childrenOf(program).map((child, index) => ({
    name: `child ${index + 1}`,
    value: requests.filter(({ pid }) => pid === child).length,
  }));
  const label = `who served ${CROWD} clients for / at once, --give ${give}`;
  drawn(`shares-${give}`, { label, unit: 'clients', rows });
}
