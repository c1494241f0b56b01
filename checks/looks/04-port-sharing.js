/**
 * What the check of lesson 4 does with the learner's program, which it calls a door, and sees of it: clients from its
 * first moment on, crowds, clients that are gone, a child that dies. At the end the speedup, and what is only shown.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  Undecided,
  acceptQueueOf,
  askAtOnce,
  createLoad,
  disturbanceOf,
  eventsOf,
  get,
  hasPid,
  speedupOfBlocking,
  watchMachine,
} from '../../lib/checking.js';

export const CHILDREN = 4;
export const CROWD = 60;
const VISIT_EVERY_MS = 15;
const MANY_WAITING = 30 * CHILDREN; // more than a parent with a limit would let wait
export const DEADLINE_MS = 8_000;
const HELD_MS = 1_000; // well below the patience of a client
const LEAST_SPEEDUP = 0.7 * CHILDREN;
const CLUSTER = fileURLToPath(
  new URL('../../solutions/02-cluster-fork/server.js', import.meta.url),
);
const env = { NODE_CLUSTER_WORKERS: String(CHILDREN) };

/**
 * Starts the program, while clients come from its very first moment on; then, when all is calm, a crowd.
 * @returns {Promise<any>}
 */
export async function openDoors({ launch, ready, isQuick }, give) {
  const program = await launch({ env, args: ['--give', give] });
  const early = receiveEarly(program);
  try {
    await ready(program, give === 'listener' ? 1 + CHILDREN : 1);
    await early.answered;
  } catch (/** @type {any} */ fault) {
    if (!fault.story) throw fault;
    return { give, program, fault };
  } finally {
    early.stop();
  }
  await program.settled(() => false, DEADLINE_MS); // children that are still on their way
  const crowd = await (give === 'connections' ? askHeld : askAtOnce)(program, '/pid', CROWD);
  const isWhole = crowd.answers.every(({ error }) => !error);
  const busy = isQuick || !isWhole ? undefined : await askAtOnce(program, '/', CROWD);
  return { give, program, crowd, busy, lostEarly: early.countUnanswered() };
}

/** Asks while the children are stopped: a parent that reads has the requests before it can pass the connections on. */
async function askHeld(program, path, times) {
  const children = childrenOf(program);
  const before = eventsOf(program.events, 'connection').length;
  signalAll(program, children, 'SIGSTOP');
  const asked = askAtOnce(program, path, times);
  await program.until(
    () => eventsOf(program.events, 'connection').length >= before + times,
    HELD_MS,
  );
  await program.until(hasTurned(program), HELD_MS);
  signalAll(program, children, 'SIGCONT');
  return asked;
}

/** Clients that come one after the other, without waiting for each other, until three have been answered. */
function receiveEarly(program) {
  let [waiting, served, isOver] = [0, 0, false];
  const visit = async () => {
    waiting += 1;
    const { error } = await get(`${program.url}/pid`, { timeoutMs: 3 * DEADLINE_MS });
    waiting -= 1; // it is answered, or it has been refused or sent away: it knows
    if (!error) served += 1;
  };
  const visitAll = async () => {
    const deadline = performance.now() + DEADLINE_MS;
    while (served < 3 && !isOver && !program.fate && performance.now() < deadline) {
      visit();
      await sleep(VISIT_EVERY_MS);
    }
  };
  return { answered: visitAll(), stop: () => (isOver = true), countUnanswered: () => waiting };
}

/** The Node processes that the parent has started. */
export function childrenOf(program) {
  const started = new Set(eventsOf(program.events, 'start').map(({ pid }) => pid));
  const children = eventsOf(program.events, 'child').filter(({ pid }) => pid === program.pid);
  return children.map(({ childPid }) => childPid).filter((pid) => started.has(pid));
}

export const socketsOpened = (program) =>
  eventsOf(program.events, 'listening').filter(
    ({ handle, port }) => handle === 'kernel' && port !== undefined,
  );

/** One client after the other, and which child served each. */
export async function takeTurns(program, count) {
  const turns = [];
  while (turns.length < count) {
    const { requests } = await askAtOnce(program, '/pid', 1);
    turns.push(requests.find(({ pid }) => pid !== program.pid)?.pid);
  }
  return turns;
}

/** Clients that are gone before they are accepted, and clients that are gone while they wait for a child. */
export async function sendGoneClients({ give, program }) {
  const children = childrenOf(program);
  const all = [program.pid, ...children];
  signalAll(program, all, 'SIGSTOP');
  for (const client of await connectAll(program, 3 * CHILDREN)) client.resetAndDestroy();
  signalAll(program, all, 'SIGCONT');

  signalAll(program, children, 'SIGSTOP');
  const clients = await connectAll(program, MANY_WAITING);
  if (give === 'connections') await program.until(hasAccepted(program, clients), DEADLINE_MS);
  for (const client of clients) client.resetAndDestroy();
  signalAll(program, children, 'SIGCONT');

  const { answers } = await askAtOnce(program, '/pid', 3 * CHILDREN); // they come after all of those
  const ended = all.filter((pid) =>
    program.events.some((event) => event.pid === pid && ['crash', 'exit'].includes(event.what)),
  );
  return { answers, ended };
}

/** The parent has met all of these clients. */
const hasAccepted = (program, clients) => () => {
  const met = new Set(eventsOf(program.events, 'connection').map(({ client }) => client));
  return clients.every(({ localPort }) => met.has(localPort));
};

const signalAll = (program, pids, signal) => pids.forEach((pid) => program.kill(pid, signal));

/** Connections without a request. They are made by the kernel, also while nobody accepts them. */
const connectAll = (program, count) =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const client = connect(program.port, '127.0.0.1');
      client.on('error', () => {}); // the server may end it
      await new Promise((resolve) => client.once('connect', resolve).once('close', resolve));
      return client;
    }),
  );

/**
 * Kills the child that is next in turn, while the parent is stopped and clients queue up. When the parent goes on it
 * finds the channel closed first and then a client, and only afterwards the system tells it that a child has ended: so
 * it deals to a dead child. (Linux reports descriptors in the order in which they became ready, and libuv signals last.)
 */
export async function killNext({ give, program }) {
  const [victim] = await takeTurns(program, CHILDREN);
  await orUndecided(program, hasTurned(program)); // nothing old is left to be read
  program.kill(program.pid, 'SIGSTOP');
  program.kill(victim, 'SIGKILL');
  await orUndecided(program, () => !program.survivors().includes(victim)); // then its channel is closed
  const callers = await connectAll(program, 2 * CHILDREN);
  const waiting = askOn(callers);
  if (give === 'connections')
    await orUndecided(program, () => (acceptQueueOf(program.port) ?? Infinity) >= callers.length);
  program.kill(program.pid, 'SIGCONT');
  await orUndecided(program, hasNoticed(program, victim));
  return { victim, callers, waiting };
}

/** Waits until it is so, or the program is at its end. */
async function orUndecided(program, isSo) {
  if ((await program.until(isSo, DEADLINE_MS)) || program.fate) return;
  throw new Undecided({
    got: `In ${DEADLINE_MS / 1000} s a child could not be killed before the parent's eyes.`,
    why: 'Other programs use the machine.',
    try: 'close other programs, then check again',
  });
}

/** Sends a request on each connection. @returns the clients that still wait for an answer, or to be sent away */
function askOn(clients) {
  const waiting = new Set(clients);
  for (const client of clients) {
    const done = () => waiting.delete(client);
    client.once('data', done).once('close', done);
    client.write('GET /pid HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  }
  return waiting;
}

/** The parent's event loop has turned since. */
function hasTurned(program) {
  const first = program.events.length;
  const isBeat = ({ what, pid }) => what === 'beat' && pid === program.pid;
  return (events) => events.slice(first).filter(isBeat).length >= 2;
}

/** The system has told the parent (no zombie is left), and its event loop has turned since. */
function hasNoticed(program, victim) {
  let isLater;
  return (events) => !hasPid(victim) && (isLater ??= hasTurned(program))(events);
}

/** The same work on both sides: four children in fresh health, and the single process that the lesson began with. */
export async function prepareContest({ launch, ready, isQuick }, dealing, sharing) {
  const { program, fault } = await dealing;
  if (fault || (await sharing).fault || childrenOf(program).length !== CHILDREN) return undefined;
  const candidate = await ready(await launch({ env, args: ['--give', 'connections'] }));
  const control = await ready(await launch({ isReference: true }));
  const cluster = isQuick
    ? undefined
    : await ready(await launch({ entry: CLUSTER, env }), CHILDREN);
  return { load: createLoad(), control, candidate, cluster, workers: CHILDREN, path: '/' };
}

const LIMITS = { target: LEAST_SPEEDUP, windowMs: 180, budgetMs: 3_000 };

export async function measureBlocking({ measured, conditionsWere }, contest) {
  const machine = watchMachine();
  const speedup = await speedupOfBlocking({ ...contest, ...LIMITS });
  const conditions = conditionsWere(machine());
  const label = `blocking work, ${CHILDREN} children against one process`;
  measured('blocking', { label, unit: 'times', isHeadline: true, ...speedup });
  return { speedup, disturbance: disturbanceOf(conditions) };
}

export async function measureCluster({ measured }, contest) {
  const speedup = await speedupOfBlocking({ ...contest, ...LIMITS, candidate: contest.cluster });
  const label = 'the same by the cluster module (the solution of lesson 2)';
  measured('cluster', { label, unit: 'times', ...speedup });
}

/** How evenly a crowd that gives each child more than enough to do was spread. */
export function drawShares({ drawn }, { give, program, busy }) {
  const rows = childrenOf(program).map((child, index) => ({
    name: `child ${index + 1}`,
    value: busy.requests.filter(({ pid }) => pid === child).length,
  }));
  const label = `who served ${CROWD} clients for / at once, --give ${give}`;
  drawn(`shares-${give}`, { label, unit: 'clients', rows });
}
