import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  Undecided,
  acceptQueueOf,
  askAtOnce,
  check,
  createLoad,
  deepestOverlap,
  demand,
  demandSpeedup,
  disturbanceOf,
  get,
  groupBy,
  hasPid,
  listeningSockets,
  requestsOf,
  speedupOfBlocking,
  watchMachine,
  whyOfCrash,
} from '../lib/checking.js';

const promises = {
  'by-hand': 'four children are started by child_process.fork(), without the cluster module',
  'one-opener': 'the port is opened once, by the parent',
  'none-lost': '--give connections: 60 clients at once, and the first to come, are all answered',
  'parent-rests': 'the children execute the requests, on the very connections of the clients',
  'connections-in-turn': '--give connections: the children take turns: 1 2 3 4, 1 2 3 4',
  'listener-shared': '--give listener: the children accept by themselves, the parent no more',
  'gone-clients': 'clients that connect and are gone at once harm nobody',
  'death-survived': 'when a child dies, the parent, the others and its next client go on',
  speedup: 'four children serve blocking work about four times as fast as one process',
};
const CHILDREN = 4;
const CROWD = 60;
const VISIT_EVERY_MS = 15;
const MANY_LOST = 3; // of the first to come; one may have met a gap of some milliseconds
const MANY_WAITING = 30 * CHILDREN; // more than a parent with a limit would let wait
const DEADLINE_MS = 8_000;
const HELD_MS = 1_000; // well below the patience of a client
const LEAST_SPEEDUP = 0.7 * CHILDREN;
const CLUSTER = fileURLToPath(new URL('../solutions/02-cluster-fork/server.js', import.meta.url));
const env = { NODE_CLUSTER_WORKERS: String(CHILDREN) };

check('04-port-sharing', promises, async (lesson) => {
  const { hold, observe, meanwhile } = lesson;
  const dealing = observe(() => openDoors(lesson, 'connections'));
  const sharing = meanwhile(() => openDoors(lesson, 'listener'));
  /** @type {Promise<any>} */
  const contest = meanwhile(() => prepareContest(lesson, dealing, sharing));

  const holdOf = (id, door, look, options) => hold(id, () => judge(door, look), options);
  await holdOf('by-hand', dealing, demandByHand);
  await holdOf('one-opener', dealing, demandOneOpener, { isGate: true });
  await holdOf('none-lost', dealing, demandNoneLost, { needs: ['by-hand'] });
  await holdOf('parent-rests', dealing, demandParentRests, { needs: ['none-lost'] });
  await holdOf('connections-in-turn', dealing, demandTurns, { needs: ['parent-rests'] });
  await holdOf('listener-shared', sharing, demandShared, { needs: ['by-hand'] });

  const both = async (look) => {
    const looks = [judge(dealing, look), judge(sharing, look)];
    const faults = (await Promise.allSettled(looks)).flatMap(
      (/** @type {any} */ { reason }) => reason ?? [],
    );
    if (faults.length > 0) throw faults.find((one) => !(one instanceof Undecided)) ?? faults[0];
  };
  const needs = ['parent-rests', 'listener-shared'];
  await hold('gone-clients', () => both(sendGoneClients), { needs });
  const all = [...needs, 'connections-in-turn', 'gone-clients'];
  await hold('death-survived', () => both(killNext), { needs: all });

  await hold('speedup', async () => measureBlocking(lesson, await contest), {
    needs: Object.keys(promises).slice(0, -1),
  });
  if (lesson.isQuick || !lesson.allHold()) return;
  await measureCluster(lesson, await contest);
  for (const door of [await dealing, await sharing]) drawShares(lesson, door);
});

/** What fails tells what this very program printed. */
async function judge(opened, look) {
  const door = await opened;
  try {
    await look(door);
  } catch (/** @type {any} */ error) {
    if (error.story) error.story.output ??= door.program.output();
    throw error;
  }
}

/**
 * Starts the program, while clients come from its very first moment on; then, when all is calm, a crowd.
 * @returns {Promise<any>}
 */
async function openDoors({ launch, ready, isQuick }, give) {
  const program = await launch({ env, args: ['--give', give] });
  const early = receiveEarly(program);
  try {
    await ready(program, give === 'listener' ? 1 + CHILDREN : 1);
    await early.answered;
  } catch (/** @type {any} */ fault) {
    if (!fault.story) throw fault;
    Object.assign(fault.story, whyClosed(program, give));
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

const NOT_OPEN = {
  connections: {
    why: 'Task 1 opens nothing: when all children have said that they are ready, it is done.',
    try: "task 2; if it is there, process.send('ready') in child.js and 'message' in the parent",
  },
  listener: {
    why: 'Task 3 is not begun, or the server is closed before it is open, which takes a moment.',
    try: 'task 3; if it is there, server.close() in the callback of listen(), after the sends',
  },
};

/** Why nobody can connect to a program that has its children: which task is next. */
function whyClosed(program, give) {
  const children = childrenOf(program).length;
  if (program.fate || children === 0 || eventsOf(program, 'listening').length > 0) return {};
  const got = `With --give ${give} ${children} children were started, and the port is not open.`;
  const why = whyOfCrash(program.events);
  return { got, ...(why ? { why, try: undefined } : NOT_OPEN[give]) };
}

/** Asks while the children are stopped: a parent that reads has the requests before it can pass the connections on. */
async function askHeld(program, path, times) {
  const children = childrenOf(program);
  const before = eventsOf(program, 'connection').length;
  signalAll(program, children, 'SIGSTOP');
  const asked = askAtOnce(program, path, times);
  await program.until(() => eventsOf(program, 'connection').length >= before + times, HELD_MS);
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

const eventsOf = ({ events }, kind) => events.filter(({ what }) => what === kind);

/** The Node processes that the parent has started. */
function childrenOf(program) {
  const started = new Set(eventsOf(program, 'start').map(({ pid }) => pid));
  const children = eventsOf(program, 'child').filter(({ pid }) => pid === program.pid);
  return children.map(({ childPid }) => childPid).filter((pid) => started.has(pid));
}

const socketsOpened = (program) =>
  eventsOf(program, 'listening').filter(
    ({ handle, port }) => handle === 'kernel' && port !== undefined,
  );

function demandByHand({ program, fault }) {
  const story = {
    expected: `NODE_CLUSTER_WORKERS=${CHILDREN}: ${CHILDREN} calls of fork(), imported from node:child_process`,
    try: "const child = fork(new URL('child.js', import.meta.url));",
  };
  demand(eventsOf(program, 'fork').length === 0, {
    ...story,
    got: 'cluster.fork() was called.',
    why: 'This lesson builds by hand what the cluster module does, to see how it is done.',
  });
  const crash = whyOfCrash(program.events);
  if (fault && crash?.includes('Cannot find module'))
    Object.assign(fault.story, story, {
      got: 'A child found no file to run.',
      why: `${crash}. A path is looked up from the folder in which you start, not from the file that forks.`,
    });
  if (fault && (program.fate || fault.story.expected === story.expected)) throw fault;
  const children = childrenOf(program).length;
  const got = children === 0 ? 'It started no child.' : `It started ${children}.`;
  const why = 'NODE_CLUSTER_WORKERS tells how many; unset, there is one for each core.';
  demand(children === CHILDREN, { ...story, got, why: crash ?? why });
}

function demandOneOpener({ program, fault }) {
  if (fault) throw fault;
  const opened = socketsOpened(program);
  const names = opened.map(({ pid, port }) => `${nameOf(program, pid)} opens port ${port}`);
  const [first] = opened;
  demand(opened.length === 1 && first.pid === program.pid && first.port === program.port, {
    expected: `The parent opens PORT, which is ${program.port} here, and nobody opens anything else.`,
    got: `It is not so: ${names.join(', ') || 'nobody opens a port'}.`,
    why: 'A child that opens a port itself competes for it, or needs somebody who passes the bytes on.',
    try: "no listen(port) in child.js: it serves what process.on('message', ...) brings",
  });
}

const nameOf = (program, pid) => (pid === program.pid ? 'the parent' : `child ${pid}`);

function demandParentRests({ program, crowd: { answers, requests } }) {
  const own = requests.filter(({ pid }) => pid === program.pid).length;
  const story = { expected: 'Each child serves its clients directly; the parent only deals.' };
  const isProxy = own === CROWD && requests.length > CROWD;
  demand(own === 0 || isProxy, {
    ...story,
    got: `The parent executed ${own} of ${CROWD} requests.`,
    why: 'While the parent works it deals to nobody, however idle the children are.',
    try: 'a net server in the parent; the http server and the app only in child.js',
  });
  const met = new Set(requests.filter(({ pid }) => pid !== program.pid).map((one) => one.client));
  const strangers = answers.filter(({ error, client }) => !error && !met.has(client)).length;
  demand(strangers === 0, {
    ...story,
    got: `${strangers} answers came from no child that had the client's connection: the parent passed the bytes on.`,
    why: 'A proxy reads and writes every byte twice. A connection that is given away costs the parent nothing more.',
    try: "child.send('connection', socket)",
  });
}

function demandNoneLost(door) {
  demandAnswers(door, {
    taken: {
      why: 'A server reads from a connection as soon as it has accepted it. What the parent has read the child never sees.',
      try: 'createServer({ pauseOnConnect: true }, ...) in the parent',
    },
    left: {
      why: 'They were not sent, or arrived and were given to no http server.',
      try: "child.send('connection', socket); in the child httpServer.emit('connection', handle); and both words spelt right",
    },
  });
  demandEarly(door.lostEarly);
}

/** All of the crowd are answered; if not, taken: the children had the connections, but no request; left: nor these. */
function demandAnswers({ program, crowd: { answers, requests } }, { taken, left }) {
  const lost = answers.filter(({ error }) => error);
  const isIn = (events, { client }) => events.some((event) => event.client === client);
  const inChildren = eventsOf(program, 'connection').filter(({ pid }) => pid !== program.pid);
  const came = lost.filter((one) => isIn(inChildren, one));
  const crash = whyOfCrash(program.events);
  const isHeard = lost.some((one) => isIn(requests, one));
  demand(lost.length === 0, {
    expected: `${CROWD} clients at once, ${CROWD} answers`,
    got: `${lost.length} got none: ${lost[0]?.error}. Of their connections ${came.length} came to a server in a child.`,
    ...(crash ? { why: crash } : !isHeard && (came.length > 0 ? taken : left)),
  });
}

function demandEarly(lostEarly) {
  demand(lostEarly < MANY_LOST, {
    expected: 'Who comes while the program starts is answered, or refused.',
    got: `${lostEarly} clients were let in then, and are still waiting.`,
    why: 'A connection or a listener was sent to a child that could not take it yet.',
    try: "process.send('ready') at the end of child.js, and nothing sent to a child before that",
  });
}

/** One client after the other, and which child served each. */
async function takeTurns(program, count) {
  const turns = [];
  while (turns.length < count) {
    const { requests } = await askAtOnce(program, '/pid', 1);
    turns.push(requests.find(({ pid }) => pid !== program.pid)?.pid);
  }
  return turns;
}

async function demandTurns({ program }) {
  const turns = await takeTurns(program, 4 * CHILDREN);
  const numbers = [...new Set(turns)];
  const isCycle = turns.every((pid, index) => index < CHILDREN || pid === turns[index - CHILDREN]);
  demand(isCycle && numbers.length === CHILDREN, {
    expected: `One client after the other: each child has its turn in each round of ${CHILDREN}.`,
    got: `They went to child ${turns.map((pid) => numbers.indexOf(pid) + 1).join(' ')}.`,
    why: 'Dealt in turn, every child gets the same share of the connections.',
    try: 'take the first child that is ready, send to it, and put it at the end',
  });
}

function demandShared(door) {
  const { program, crowd, fault } = door;
  if (fault) throw fault;
  const children = childrenOf(program);
  const isHeir = (pid) =>
    program.events.some((event) => event.handle === 'received' && event.pid === pid);
  const heirs = children.filter(isHeir).length;
  const opened = socketsOpened(program);
  demand(heirs === CHILDREN && opened.length === 1, {
    expected: `The parent opens the port and sends its server; each of ${CHILDREN} children listens with that.`,
    got: `${heirs} of ${CHILDREN} listen with a socket that came by message; ${opened.length} were opened.`,
    why:
      whyOfCrash(program.events) ??
      'A message takes the socket itself along: parent and child then listen on one and the same.',
    try: "child.send('listener', server); and in the child httpServer.listen(handle);",
  });
  demandClosed(program, crowd.answers);
  const unserved = {
    why: 'The server that comes by message accepts in the child, but it is a net server and knows no HTTP.',
    try: "httpServer.listen(handle) in child.js, when the message is 'listener'; both words spelt alike",
  };
  demandAnswers(door, { taken: unserved, left: unserved });
  demandEarly(door.lostEarly);
}

/** The parent's own copy of the listener: who accepts with it, and on Linux whether it is there at all. */
function demandClosed(program, answers) {
  const clients = new Set(answers.map(({ client }) => client));
  const swallowed = eventsOf(program, 'connection').filter(
    ({ pid, client }) => pid === program.pid && clients.has(client),
  ).length;
  const holders = listeningSockets(program) ?? [];
  const holds = holders.some(({ pid }) => pid === program.pid);
  demand(swallowed === 0 && !holds, {
    expected: 'Once the children have the listener the parent accepts nothing.',
    got: `The parent still holds the listening socket; it accepted ${swallowed} of ${CROWD} connections.`,
    why: 'A socket is accepted by whoever is first, and a parent that does nothing is often first.',
    try: 'server.close() in the parent when every child has been sent the listener; it closes only the own copy',
  });
  const sockets = new Set(holders.map(({ inode }) => inode)).size;
  demand(sockets <= 1, {
    expected: 'one listening socket, held by all children',
    got: `There are ${sockets} listening sockets.`,
  });
}

/** Clients that are gone before they are accepted, and clients that are gone while they wait for a child. */
async function sendGoneClients({ give, program }) {
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
  const lost = answers.filter(({ error }) => error).length;
  const ended = all.filter((pid) =>
    program.events.some((event) => event.pid === pid && ['crash', 'exit'].includes(event.what)),
  );
  demand(ended.length === 0 && lost === 0, {
    expected: `--give ${give}: when they are gone all processes are there, and the next clients are answered.`,
    got: `${ended.map((pid) => nameOf(program, pid)).join(', ') || 'None'} ended; ${lost} of the next ${answers.length} clients got no answer.`,
    why:
      whyOfCrash(program.events) ??
      'Of a client that is gone there may be no address, and no connection that could be sent.',
    try: 'if (!handle) return; in the child, and nothing in the parent that needs the client',
  });
}

/** The parent has met all of these clients. */
const hasAccepted = (program, clients) => () => {
  const met = new Set(eventsOf(program, 'connection').map(({ client }) => client));
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
async function killNext(door) {
  const { give, program } = door;
  const [victim] = await takeTurns(program, CHILDREN);
  await orUndecided(program, hasTurned(program)); // nothing old is left to be read
  program.kill(program.pid, 'SIGSTOP');
  program.kill(victim, 'SIGKILL');
  await orUndecided(program, () => !program.survivors().includes(victim));
  const callers = await connectAll(program, 2 * CHILDREN);
  const waiting = askOn(callers);
  if (give === 'connections')
    await orUndecided(program, () => (acceptQueueOf(program.port) ?? Infinity) >= callers.length);
  program.kill(program.pid, 'SIGCONT');
  await orUndecided(program, hasNoticed(program, victim));
  await demandSurvivors(door, victim, waiting);
  for (const caller of callers) caller.destroy();
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

async function demandSurvivors({ give, program }, victim, waiting) {
  const story = {
    expected: `--give ${give}: child ${victim} is killed. The parent and the others serve on.`,
  };
  demand(!program.fate, {
    ...story,
    got: 'The parent ended as well.',
    why: whyOfCrash(program.events) ?? 'It ends when a child does.',
    try: "child.on('error', ...): a send to a child that has just died is reported there",
  });
  const { answers } = await askAtOnce(program, '/pid', 6 * CHILDREN);
  const lost = answers.filter(({ error }) => error);
  demand(lost.length === 0, {
    ...story,
    got: `${lost.length} of the next ${answers.length} clients got no answer: ${lost[0]?.error}.`,
    why: 'The parent knows by then that the child is dead, and still gives it its share.',
    try: "child.on('exit', () => ready.delete(child));",
  });
  if (process.platform !== 'linux') return; // elsewhere it may be sent on its way, and lost in every answer
  demand(await program.until(() => waiting.size === 0, DEADLINE_MS / 2), {
    ...story,
    got: `Clients who came just then and wait in vain: ${waiting.size}. Later ones were answered.`,
    why: 'It was their turn with the dead child. The send fails, and the connection is still in the parent.',
    try: "child.send('connection', socket, (error) => { if (error) { ready.delete(next); deal(socket); } });",
  });
}

/** The same work on both sides: four children in fresh health, and the single process that the lesson began with. */
async function prepareContest({ launch, ready, isQuick }, dealing, sharing) {
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

async function measureBlocking({ measured, conditionsWere }, contest) {
  const machine = watchMachine();
  const speedup = await speedupOfBlocking({ ...contest, ...LIMITS });
  const conditions = conditionsWere(machine());
  const label = `blocking work, ${CHILDREN} children against one process`;
  measured('blocking', { label, unit: 'times', isHeadline: true, ...speedup });
  demandSpeedup(speedup, disturbanceOf(conditions));
  demandBlocking(contest.candidate);
}

function demandBlocking(program) {
  const requests = requestsOf(program.events, '/');
  const depth = Math.max(...[...groupBy(requests, ({ pid }) => pid).values()].map(deepestOverlap));
  const quickest = Math.min(...requests.map(({ startMs, endMs = Infinity }) => endMs - startMs));
  demand(depth === 1 && quickest > 9.5, {
    expected: 'Each child executes one / after the other, and each blocks for 10 to 20 ms.',
    got: `Up to ${depth} were under way in one child at once; the quickest took ${quickest.toFixed(1)} ms.`,
    why: 'A server that does less work is no speedup.',
    try: 'blockFor(between(10, 20)); without await, before the answer',
  });
}

async function measureCluster({ measured }, contest) {
  const speedup = await speedupOfBlocking({ ...contest, ...LIMITS, candidate: contest.cluster });
  const label = 'the same by the cluster module (the solution of lesson 2)';
  measured('cluster', { label, unit: 'times', ...speedup });
}

/** How evenly a crowd that gives each child more than enough to do was spread. */
function drawShares({ drawn }, { give, program, busy }) {
  const rows = childrenOf(program).map((child, index) => ({
    name: `child ${index + 1}`,
    value: busy.requests.filter(({ pid }) => pid === child).length,
  }));
  const label = `who served ${CROWD} clients for / at once, --give ${give}`;
  drawn(`shares-${give}`, { label, unit: 'clients', rows });
}
