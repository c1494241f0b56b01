/** Lesson 4: a crowd, clients one after the other, clients that hang up, a killed child, a killed parent; then measurements. */
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
  outliving,
  repeatUntil,
  requestsOf,
  speedupOfBlocking,
  untilAtRest,
  watchMachine,
  whileFrozen,
} from '../../lib/check/checking.js';

export const CHILDREN = 4;
export const FEW = 2; // children, if their number doesn't matter
export const CROWD = 60;
const ROUNDS = 3; // equal rounds by chance are improbable
const TRIES = 3; // on a busy machine a child may confirm too late and miss its turn
const WAIT_MS = 2_000; // the longest wait for an event, also while processes are frozen
const PATIENCE_MS = 30_000; // of a client: the program is at rest long before
const READ_MS = 50; // for our own event loop to read the answers
const GONE_MS = 3_000; // a child exits within milliseconds after its channel has closed
const LEAST_SPEEDUP = 0.7 * CHILDREN;
const LIMITS = { target: LEAST_SPEEDUP, windowMs: 80, budgetMs: 3_000 };
const CLUSTER = fileURLToPath(
  new URL('../../solutions/02-cluster-fork/server.js', import.meta.url),
);

/**
 * Starts the program, and waits until its port is open, in each process that listens, or it is at rest.
 * @param {any} lesson @param {number} children @param {'' | 'connections' | 'listener'} [give]  '': without the flag --give
 */
export async function launchParent({ launch }, children, give = '') {
  const args = give ? ['--give', give] : [];
  const env = { NODE_CLUSTER_WORKERS: String(children) };
  const program = await launch({ args, env, followsChildren: true });
  await program.ready(give === 'listener' ? 1 + children : 1);
  return program;
}

export const childrenOf = ({ events, pid: parent }) =>
  eventsOf(events, 'child').flatMap(({ pid, childPid }) => (pid === parent ? [childPid] : []));

export const socketsOpened = ({ events }) =>
  eventsOf(events, 'listening').filter(
    ({ handle, port }) => handle === 'kernel' && port !== undefined,
  );

/** Clients that all ask at once; which sockets listen on the port, if the system can say; and whether the parent has exited. */
export async function sendCrowd(program) {
  const crowd = await askForPids(program, CROWD);
  return { ...crowd, holders: listeningSockets(program) ?? [], fate: program.fate };
}

/** A crowd while the children are frozen: a parent that reads from its connections then has all requests. */
export const sendCrowdWhileFrozen = (program) =>
  askForPids(program, CROWD, () =>
    whileFrozen(program, childrenOf(program), async () => {
      const sinceMs = nowMs();
      const accepted = () => eventsOf(program.events, 'connection').filter(({ t }) => t > sinceMs);
      await program.until(() => accepted().length >= CROWD, WAIT_MS);
      await program.until(turnedFromNow(program), WAIT_MS);
    }),
  );

/** Which child served each of several rounds of clients, one after the other. */
export const askInRounds = (program) =>
  repeatUntil(TRIES, () => askInTurn(program, ROUNDS * CHILDREN), areEqualTurns);

/** @returns {Promise<any[]>}  pids */
async function askInTurn(program, count) {
  const pids = [];
  while (pids.length < count) {
    const { requests } = await askForPids(program, 1);
    pids.push(requests.at(-1)?.pid);
    if (requests.length === 0) break; // no child has served it
  }
  return pids;
}

/** In every round each child serves once. */
export const areEqualTurns = (pids) =>
  pids.length === ROUNDS * CHILDREN &&
  Array.from({ length: ROUNDS }, (_, round) =>
    pids.slice(round * CHILDREN, (round + 1) * CHILDREN),
  ).every((round) => new Set(round).size === CHILDREN);

/**
 * Requests /pid from many clients at once.
 * @returns {Promise<{ lost: any[], requests: any[], isFinal: boolean }>}  lost: unanswered; requests: what the processes recorded;
 *   isFinal: the program is at rest, so what is lost stays unanswered
 */
async function askForPids(program, clients, meanwhile = async () => {}) {
  const first = program.events.length;
  const agent = new Agent();
  let waiting = clients;
  const options = { agent, timeoutMs: PATIENCE_MS };
  const ask = () => get(`${program.url}/pid`, options).finally(() => (waiting -= 1));
  const asked = Promise.all(Array.from({ length: clients }, ask));
  let isFinal = true;
  try {
    await meanwhile();
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
  await program.until(() => answered().length >= good, WAIT_MS);
  const served = new Set(answered().map(({ client }) => client));
  const lost = answers.filter(({ error, client }) => error && !served.has(client ?? null));
  return { lost, requests: seen(), isFinal };
}

/** A condition to wait for: the parent's event loop has turned from now on, so it has handled what had arrived. */
function turnedFromNow(program) {
  const sinceMs = nowMs();
  return (events) => haveTurned(events, [program.pid], 2, sinceMs);
}

/** Connections without a request, which the kernel completes even if no process accepts them. */
const connectAll = (program, count) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const client = connect(program.port, '127.0.0.1');
      client.on('error', () => {}); // the server may close it
      await new Promise((resolve) => client.once('connect', resolve).once('close', resolve));
      return client;
    }),
  );

/** Clients that hang up before they are accepted, and while they wait for a child; then clients that stay. */
export async function sendGoneClients(program) {
  const children = childrenOf(program);
  const all = [program.pid, ...children];
  const hangUp = (clients) => clients.forEach((client) => client.resetAndDestroy());
  await whileFrozen(program, all, async () => hangUp(await connectAll(program, 3 * FEW)));
  await whileFrozen(program, children, async () => {
    const clients = await connectAll(program, 3 * FEW);
    const ports = new Set(clients.map(({ localPort }) => localPort));
    const accepted = (events) =>
      eventsOf(events, 'connection').filter(({ client }) => ports.has(client));
    await program.until((events) => accepted(events).length >= clients.length, WAIT_MS);
    hangUp(clients);
  });
  const { lost, isFinal } = await askForPids(program, 3 * FEW);
  return { lost, isFinal, ended: endedIn(program, all) };
}

const endedIn = ({ events }, pids) =>
  pids.filter((pid) =>
    events.some((one) => one.pid === pid && ['crash', 'exit'].includes(one.what)),
  );

/**
 * Kills the child that is next in turn while the parent is frozen and a client connects. The resumed parent handles the client
 * before the child's exit, so it sends the connection to a killed child: Linux reports descriptors in the order in which they
 * became ready, and libuv handles signals last.
 */
export async function killNextInTurn(program) {
  const [next = childrenOf(program)[0]] = await askInTurn(program, FEW);
  await program.until(turnedFromNow(program), WAIT_MS); // nothing older is left to be read
  let caller;
  await whileFrozen(program, [program.pid], async () => {
    kill(program, [next]);
    await program.until(() => !program.survivors().includes(next), WAIT_MS); // so its channel is closed
    [caller] = await connectAll(program, 1);
    caller.write('GET /pid HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    await program.until(() => (acceptQueueOf(program.port) ?? 1) > 0, WAIT_MS);
  });
  let isServed = false; // or refused, so that the client can retry
  const isOver = () => (isServed = true);
  caller.once('data', isOver).once('close', isOver);
  const hasHeard = turnedFromNow(program);
  await program.until((events) => !hasPid(next) && hasHeard(events), WAIT_MS); // and the parent has handled its exit
  const sinceMs = nowMs();
  await untilAtRest(program, () => isServed);
  const isFinal = isAtRest(program, { sinceMs });
  const isWaiting = !isServed;
  caller.destroy();
  const { fate } = program;
  const later = fate ? { lost: [], isFinal: true } : await askForPids(program, 3 * FEW);
  return { victim: next, isWaiting, isFinal, later, fate };
}

/** Kills the parent: which children outlive it? */
export async function killParent(program) {
  kill(program, [program.pid]);
  await program.ended(GONE_MS);
  return outliving(program);
}

/** What a contest needs besides its candidate with four children: the starter's single process, with the same work, and a load. */
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

/**
 * The cluster module under the same load, and both ways of --give under a crowd; no promise depends on it.
 * @param {any} lesson @param {any} dealing  the program with --give connections @param {any} contest  of prepareContest
 */
export async function measureOtherWays(lesson, dealing, contest) {
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

/** How evenly a crowd that keeps every child busy was spread. */
async function drawShares({ drawn }, give, program) {
  const { requests } = await askAtOnce(program, '/', CROWD);
  const rows = childrenOf(program).map((child, index) => ({
    name: `child ${index + 1}`,
    value: requests.filter(({ pid }) => pid === child).length,
  }));
  const label = `which child served ${CROWD} clients for / at once, --give ${give}`;
  drawn(`shares-${give}`, { label, unit: 'clients', rows });
}
