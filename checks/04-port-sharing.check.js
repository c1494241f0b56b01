import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  Undecided,
  askAtOnce,
  check,
  createLoad,
  deepestOverlap,
  demand,
  demandSpeedup,
  disturbanceOf,
  get,
  groupBy,
  listeningSockets,
  requestsOf,
  speedupOfBlocking,
  watchMachine,
  whyOfCrash,
} from '../lib/checking.js';

const promises = {
  'one-opener': 'the port is opened once, by the parent',
  'by-hand': 'four children are started by child_process.fork(), without the cluster module',
  'parent-rests': 'the children execute the requests, on the very connections of the clients',
  'none-lost': '--give connections: 60 clients at once, and the first to come, are all answered',
  'connections-in-turn': '--give connections: the children take turns: 1 2 3 4, 1 2 3 4',
  'listener-shared': '--give listener: the children accept by themselves, the parent no more',
  'gone-clients': 'clients that connect and are gone at once harm nobody',
  'death-survived': 'when a child dies, the parent and the others go on',
  speedup: 'four children serve blocking work about four times as fast as one process',
};
const CHILDREN = 4;
const CROWD = 60;
const VISIT_EVERY_MS = 15;
const MANY_LOST = 3; // of the first to come; one may have met a gap of some milliseconds
const MANY_WAITING = 30 * CHILDREN; // more than a parent with a limit would let wait
const DEADLINE_MS = 8_000;
const LEAST_SPEEDUP = 0.7 * CHILDREN;
const CLUSTER = fileURLToPath(new URL('../solutions/02-cluster-fork/server.js', import.meta.url));
const env = { NODE_CLUSTER_WORKERS: String(CHILDREN) };

check('04-port-sharing', promises, async (lesson) => {
  const { hold, observe, meanwhile } = lesson;
  const dealing = observe(() => openDoors(lesson, 'connections'));
  const sharing = meanwhile(() => openDoors(lesson, 'listener'));
  /** @type {Promise<any>} */
  const contest = meanwhile(() => prepareContest(lesson, dealing, sharing));

  await hold('one-opener', async () => demandOneOpener((await dealing).program), { isGate: true });
  await hold('by-hand', async () => demandByHand((await dealing).program), { isGate: true });
  await hold('parent-rests', async () => demandParentRests(await dealing));
  await hold('none-lost', async () => demandNoneLost(await dealing));
  await hold('connections-in-turn', async () => demandTurns((await dealing).program), {
    needs: ['parent-rests', 'none-lost'],
  });
  await hold('listener-shared', async () => demandShared(await sharing));

  const both = async (look) => {
    const looks = [look(await dealing), look(await sharing)];
    for (const fault of await Promise.all(looks)) demand(!fault, fault || {});
  };
  const needs = ['parent-rests', 'none-lost', 'listener-shared'];
  await hold('gone-clients', () => both(sendGoneClients), { needs });
  await hold('death-survived', () => both(killOne), { needs: [...needs, 'gone-clients'] });

  await hold('speedup', async () => measureBlocking(lesson, await contest), {
    needs: Object.keys(promises).slice(0, -1),
  });
  if (lesson.isQuick || !lesson.allHold()) return;
  await measureCluster(lesson, await contest);
  for (const door of [await dealing, await sharing]) drawShares(lesson, door);
});

/** Starts the program, while clients come from its very first moment on; then, when all is calm, a crowd. */
async function openDoors({ launch, ready, isQuick }, give) {
  const program = await launch({ env, args: ['--give', give] });
  const early = receiveEarly(program);
  try {
    await ready(program, give === 'listener' ? 1 + CHILDREN : 1);
    await early.answered;
  } finally {
    early.stop();
  }
  await program.settled(() => false, DEADLINE_MS); // children that are still on their way
  const crowd = await askAtOnce(program, '/pid', CROWD);
  const isWhole = crowd.answers.every(({ error }) => !error);
  const busy = isQuick || !isWhole ? undefined : await askAtOnce(program, '/', CROWD);
  return { give, program, crowd, busy, lostEarly: early.countUnanswered() };
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

function demandOneOpener(program) {
  const opened = socketsOpened(program);
  const names = opened.map(({ pid, port }) => `${nameOf(program, pid)} port ${port}`);
  const [first] = opened;
  demand(opened.length === 1 && first.pid === program.pid && first.port === program.port, {
    expected: `The parent opens PORT, which is ${program.port} here, and nobody opens anything else.`,
    got: `It is opened by ${names.join(', ') || 'nobody'}.`,
    why: 'A child that opens a port itself competes for it, or needs somebody who passes the bytes on.',
    try: "no listen(port) in child.js: it serves what process.on('message', ...) brings",
  });
}

function demandByHand(program) {
  const story = {
    expected: `NODE_CLUSTER_WORKERS=${CHILDREN}: ${CHILDREN} calls of fork(), imported from node:child_process`,
    try: "const child = fork(new URL('child.js', import.meta.url));",
  };
  demand(eventsOf(program, 'fork').length === 0, {
    ...story,
    got: 'cluster.fork() was called.',
    why: 'This lesson builds by hand what the cluster module does, to see how it is done.',
  });
  const children = childrenOf(program).length;
  const got = children === 0 ? 'It started no child.' : `It started ${children}.`;
  const why = 'NODE_CLUSTER_WORKERS tells how many; unset, there is one for each core.';
  demand(children === CHILDREN, { ...story, got, why: whyOfCrash(program.events) ?? why });
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

function demandNoneLost({ crowd: { answers }, lostEarly, program }) {
  const lost = answers.filter(({ error }) => error);
  demand(lost.length === 0, {
    expected: `${CROWD} clients at once, ${CROWD} answers`,
    got: `${lost.length} got none: ${lost[0]?.error}.`,
    why:
      whyOfCrash(program.events) ??
      'A server reads from a connection as soon as it has accepted it. What the parent has read the child never sees.',
    try: 'createServer({ pauseOnConnect: true }, ...) in the parent',
  });
  demandEarly(lostEarly);
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

async function demandTurns(program) {
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

function demandShared({ program, crowd: { answers }, lostEarly }) {
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
  demandClosed(program, answers);
  const lost = answers.filter(({ error }) => error);
  demand(lost.length === 0, {
    expected: `${CROWD} clients at once, ${CROWD} answers`,
    got: `${lost.length} got none: ${lost[0]?.error}.`,
    why: whyOfCrash(program.events),
  });
  demandEarly(lostEarly);
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
  return (
    (ended.length > 0 || lost > 0) && {
      expected: 'When they are gone all processes are there, and the next clients are answered.',
      got: `${ended.map((pid) => nameOf(program, pid)).join(', ') || 'None'} ended; ${lost} of the next ${answers.length} clients got no answer.`,
      why:
        whyOfCrash(program.events) ??
        'Of a client that is gone there may be no address, and no connection that could be sent.',
      try: 'if (!handle) return; in the child, and nothing in the parent that needs the client',
    }
  );
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

/** Kills the child that is next in turn. The parent finds its channel closed and the next connections at the same time. */
async function killOne({ program }) {
  const [victim] = await takeTurns(program, CHILDREN);
  program.kill(program.pid, 'SIGSTOP');
  program.kill(victim, 'SIGKILL');
  await program.until(() => !program.survivors().includes(victim), DEADLINE_MS);
  const callers = await connectAll(program, 2 * CHILDREN);
  program.kill(program.pid, 'SIGCONT');
  const isNoticed = await program.until(hasNoticed(program, victim), DEADLINE_MS);
  for (const caller of callers) caller.destroy();
  if (program.fate || isNoticed) return faultOfSurvivors(program, victim);
  throw new Undecided({
    got: `In ${DEADLINE_MS / 1000} s the parent had no time to notice that its child had ended.`,
    why: 'Other programs use the machine.',
    try: 'close other programs, then check again',
  });
}

/** The system has told the parent (no zombie is left), and its event loop has turned since. */
function hasNoticed(program, victim) {
  let reapedAt;
  return (events) => {
    if (isThere(victim)) return false;
    reapedAt ??= events.length;
    const since = events.slice(reapedAt);
    return since.filter(({ what, pid }) => what === 'beat' && pid === program.pid).length >= 2;
  };
}

function isThere(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function faultOfSurvivors(program, victim) {
  const story = { expected: `Child ${victim} is killed. The parent and the others serve on.` };
  if (program.fate) {
    const why = whyOfCrash(program.events);
    return {
      ...story,
      got: 'The parent ended as well.',
      why: why ?? 'It ends when a child does.',
      try: "child.on('error', ...): a send to a child that has just died is reported there",
    };
  }
  const { answers } = await askAtOnce(program, '/pid', 6 * CHILDREN);
  const lost = answers.filter(({ error }) => error);
  return (
    lost.length > 0 && {
      ...story,
      got: `${lost.length} of the next ${answers.length} clients got no answer: ${lost[0].error}.`,
      why: 'The parent knows by then that the child is dead, and still gives it its share.',
      try: "child.on('exit', () => ready.delete(child));",
    }
  );
}

/** The same work on both sides: four children in fresh health, and the single process that the lesson began with. */
async function prepareContest({ launch, ready, isQuick }, dealing, sharing) {
  const { program } = await dealing;
  if (childrenOf(program).length !== CHILDREN) return undefined;
  await sharing;
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
