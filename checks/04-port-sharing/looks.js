/**
 * What the check of lesson 4 does with the learner's program, which it calls a door, and sees of it: clients from its
 * first moment, crowds, clients that leave, a child that dies. At the end, the speedup, and what is only shown.
 */
import { Agent } from 'node:http';
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
  hasStopped,
  haveTurned,
  isCrowded,
  listeningSockets,
  nowMs,
  requestsOf,
  speedupOfBlocking,
  watchMachine,
} from '../../lib/check/checking.js';

export const CHILDREN = 4;
const FEW = 2; // children, when their number is not the point
export const CROWD = 60;
export const NO_ANSWER = 'no answer'; // and we have stopped waiting
const VISIT_EVERY_MS = 5;
const AT_THE_DOOR = 4; // clients at a time, once it is open
const EARLY = 12; // when so many are answered, it is enough
const MOST_WAITING = 60; // of the first to come: so many fit into any queue
const PAUSE_MS = { usual: 200, crowded: 1_000 }; // of a child that has said that it is ready: whoever comes is there before what it does next
const SLOWER = {
  listener: { pretendTimers: [10, 100, 1 / 10] }, // who closes its copy 30 ms late does so 300 ms late, while clients come
  connections: { pretendTimersBelow: [10_000, 10_000, 1 / 10, 50] }, // what a child looks at once a second it looks at in ten
};
/** The first door: whoever gathers clients for a few ms does so for longer than an event loop takes to turn, and less than it takes to rest. */
export const GATHERING = { pretendTimers: [1, 100, 1 / 100, 1, 100], pretendCores: FEW };
const HURRIED = { pretendTimers: [100, 10_001, 1, 100, 20] }; // whoever waits for some seconds waits for 20 ms: no child has started by then
const STUCK_MS = 2_000; // of its own time, in which an event loop turns a hundred times
const ROUNDS = 6; // of those that are left: no dice fall so
const MANY_WAITING = 30; // for each child: more than a parent with a limit would let wait
const DEADLINE_MS = 8_000;
const PATIENCE_MS = 3 * DEADLINE_MS; // of a client: the program's rest decides, well before that
const HELD_MS = 1_000;
const STOPS = 6; // of the parent: one may come late, when a timer has just fired
const UP_TURNS = 2; // of all event loops: what was started is there
const REST_TURNS = 8; // nothing more will come of what was asked; what comes then does not come at once
const OWN_TURNS = 5;
const LET_GO_MS = { first: 5, later: 50 };
const HELD_UP_MS = 1_000; // of a limit of eight seconds: so long others kept the program from running
const LEAST_TURN_MS = 19;
const LOOK_EVERY_MS = 15;
const PARTING_MS = 3_000; // for children that are busy
const BUSY = 0.5; // share of the time in which an event loop was busy
const LEAST_SPEEDUP = 0.7 * CHILDREN;
const CHILDREN_TOO = { haltsChildren: true, followsChildren: true }; // whatever environment they are given
const CLUSTER = fileURLToPath(
  new URL('../../solutions/02-cluster-fork/server.js', import.meta.url),
);

/**
 * Starts the program, while clients come from its very first moment.
 * @param {any} lesson
 * @param {string} give  what it is to give
 * @param {number} [children]
 * @param {Partial<import('../../lib/check/programs.js').LaunchOptions>} [special]  how else it is launched
 * @returns {Promise<any>}  a door; fault: why it is not open
 */
export async function openDoor({ launch, ready }, give, children = FEW, special = SLOWER[give]) {
  const args = ['--give', give];
  const env = { NODE_CLUSTER_WORKERS: String(children) };
  const pretendPause = isCrowded() ? PAUSE_MS.crowded : PAUSE_MS.usual;
  const program = await launch({ env, args, pretendPause, ...CHILDREN_TOO, ...special });
  const early = receiveEarly(program);
  const door = { give, children, program, early, isLetGo: false, isOpenEarly: false };
  letGoOn(program, door);
  const held = holdOne(program, door).finally(() => (door.isLetGo = true));
  try {
    await Promise.all([ready(program, give === 'listener' ? 1 + children : 1), held]);
    await program.until(() => early.isDone() || hasRested(program, REST_TURNS), DEADLINE_MS);
  } catch (/** @type {any} */ fault) {
    if (fault.name !== 'Broken') throw fault;
    return { ...door, fault };
  } finally {
    early.stop();
  }
  await program.until(() => hasRested(program, UP_TURNS), DEADLINE_MS); // children that are still on their way
  return door;
}

/**
 * How many it starts when it is told to start one, and whether it opens the port while that one stands still. It may have a
 * limit for the start of a child, which is over at once here: then it starts once more, with all the time it wants.
 * @returns {Promise<any>}
 */
export async function startOne(lesson) {
  const seen = await startHeld(lesson, HURRIED);
  const isAsTold = seen.started === 1 && !seen.fault && !seen.program.fate;
  return seen.isOpenEarly || isAsTold ? seen : startHeld(lesson);
}

/** @returns {Promise<any>} */
async function startHeld({ launch, ready }, special = {}) {
  const env = { NODE_CLUSTER_WORKERS: '1' };
  const program = await launch({ env, ...CHILDREN_TOO, ...special });
  const door = { give: 'connections', children: 1, program, isLetGo: false, isOpenEarly: false };
  letGoOn(program, door);
  const held = holdOne(program, door).finally(() => (door.isLetGo = true));
  const tell = () => ({ ...door, started: childrenOf(program).length });
  try {
    await Promise.all([ready(program), held]);
  } catch (/** @type {any} */ fault) {
    if (fault.name !== 'Broken') throw fault;
    return { ...tell(), fault };
  }
  await program.until(() => hasRested(program, UP_TURNS), DEADLINE_MS);
  return tell();
}

/** A crowd, when all is calm; and who holds the port then. */
export async function meetCrowd({ give, program, early, fault }) {
  if (fault) return undefined;
  const seenEarly = eventsOf(program.events, 'connection');
  const crowd = await (give === 'connections' ? askHeld : askAll)(program, '/pid', CROWD);
  await untilRested(program, () => early.waiting() === 0);
  const lostEarly = early.waiting();
  const keptEarly = keptBy(program, seenEarly).length;
  const isWhole = crowd.answers.every(({ error }) => !error); // else that is the fault
  return {
    ...crowd,
    ...(isWhole && (await meetSilent(program))),
    lostEarly,
    keptEarly,
    othersEarly: early.others,
    holders: listeningSockets(program) ?? [],
  };
}

/**
 * A crowd that connects and says nothing: a parent that waits for their first bytes keeps them. Then all of them ask: whoever
 * has only so many at a time has turned some away.
 * @returns {Promise<{ silent: any[], turnedAway: number }>}  silent: their connections, if the parent has kept them
 */
async function meetSilent(program) {
  const sinceMs = nowMs();
  const first = program.events.length;
  const clients = await connectAll(program, CROWD);
  const ports = new Set(clients.map(({ localPort }) => localPort));
  const its = () =>
    eventsOf(program.events.slice(first), 'connection').filter(({ client }) => ports.has(client));
  const areGiven = () =>
    new Set(its().flatMap(({ pid, client }) => (pid === program.pid ? [] : [client]))).size >=
    clients.filter(({ destroyed }) => !destroyed).length;
  const isOver = await program.until(nothingMore(program, areGiven), DEADLINE_MS);
  const silent = isOver ? keptBy(program, its()) : [];
  const isLate = nowMs() - sinceMs > HELD_MS; // who hears nothing for so long may hang up
  let answered = 0;
  for (const client of clients) client.once('data', () => (answered += 1));
  const waiting = askOn(clients);
  await untilRested(program, () => waiting.size === 0);
  for (const client of clients) client.destroy();
  if (answered < CROWD && isLate)
    throw new Undecided({
      got: 'Clients had said nothing for a while before they asked.',
      ...TOO_BUSY,
    });
  return { silent, turnedAway: CROWD - answered };
}

/** The connections among these that the parent has accepted, and no child has ever had. */
function keptBy({ events, pid: parent }, connections) {
  const given = new Set(
    eventsOf(events, 'connection').flatMap(({ pid, client }) => (pid === parent ? [] : [client])),
  );
  return connections.filter(({ pid, client }) => pid === parent && !given.has(client));
}

/** Asks while the children are stopped: a parent that reads has the requests before it can pass the connections on. */
async function askHeld(program, path, times) {
  const children = childrenOf(program);
  const before = eventsOf(program.events, 'connection').length;
  signalAll(program, children, 'SIGSTOP');
  const asked = askAll(program, path, times, async () => {
    await program.until(
      () => eventsOf(program.events, 'connection').length >= before + times,
      HELD_MS,
    );
    await program.until(hasTurned(program), HELD_MS);
    signalAll(program, children, 'SIGCONT');
  });
  return asked;
}

/** So many clients at once. A client with no answer when the program is idle again will never get one. */
export async function askAll(program, path, times, afterwards = async () => {}) {
  const first = program.events.length;
  const agent = new Agent();
  let waiting = times;
  const options = { agent, timeoutMs: PATIENCE_MS };
  const ask = () => get(program.url + path, options).finally(() => (waiting -= 1));
  const asked = Promise.all(Array.from({ length: times }, ask));
  let isLost = false;
  try {
    await afterwards();
    await untilRested(program, () => waiting === 0);
    isLost = waiting > 0;
  } finally {
    agent.destroy();
  }
  const answers = (await asked).map((one) =>
    isLost && one.error ? { ...one, error: NO_ANSWER } : one,
  );
  const answered = answers.filter(({ error }) => !error).length;
  const seen = () => requestsOf(program.events.slice(first), path);
  await program.until(() => seen().filter(({ endMs }) => endMs).length >= answered, HELD_MS);
  return { answers, requests: seen() };
}

const listens = (events) => eventsOf(events, 'listening').some(({ port }) => port !== undefined);
const LIFE = ['start', 'child', 'listening', 'exit'];
const TRAFFIC = ['connection', 'request', 'response'];

/**
 * Since the last such event every process's event loop has turned so many times, with little to do; a child that has
 * been forked and has not started yet has not turned.
 */
function hasRested({ events, pid }, turns, kinds = LIFE, fromMs = 0) {
  if (pid === undefined) return false;
  const { t: lastMs } = events.findLast(({ what }) => kinds.includes(what)) ?? { t: 0 };
  if (nowMs() < Math.max(lastMs, fromMs) + turns * LEAST_TURN_MS) return false;
  const turned = new Map([[pid, 0]]);
  for (const { t, what, pid, tid, childPid, elu } of events) {
    if (tid !== undefined) continue;
    if (what === 'child' && !turned.has(childPid)) turned.set(childPid, 0);
    if (what === 'exit') turned.delete(pid);
    const times = turned.get(pid);
    const isTurn = t > fromMs && times !== undefined && elu < BUSY;
    if (what === 'beat' && isTurn) turned.set(pid, times + 1);
    else if (what === 'beat' || kinds.includes(what))
      for (const each of turned.keys()) turned.set(each, 0);
  }
  return [...turned].every(([each, count]) => count >= turns || !hasPid(each));
}

/**
 * All are answered, or nothing more comes of what they have asked from now on: the program has rested, and our own event
 * loop, which may have had to wait for a core, has turned since and found no answer either.
 */
function nothingMore(program, isDone) {
  const fromMs = nowMs();
  let looks = 0;
  return () => {
    const isIdle = hasRested(program, REST_TURNS, [...LIFE, ...TRAFFIC], fromMs);
    looks = isIdle ? looks + 1 : 0;
    return isDone() || looks > OWN_TURNS;
  };
}

/**
 * Waits until it is so, or nothing more comes, of the program or of those of its processes that are seen. A limit that is
 * reached before says something of a program that had its turn, and whose clients had theirs: nothing on a busy machine.
 */
async function untilRested(program, isDone, seen = program) {
  const sinceMs = nowMs();
  if ((await program.until(nothingMore(seen, isDone), DEADLINE_MS)) || program.fate) return;
  demandTurn(program, sinceMs, DEADLINE_MS);
}

/** A limit that was reached decides nothing where others took the cores, from the program or from us. */
function demandTurn(program, sinceMs, limitMs) {
  if (isCrowded() || program.turn.starvedSince(sinceMs) > HELD_UP_MS)
    throw new Undecided({
      got: `After ${limitMs / 1000} s the program was still at it.`,
      ...TOO_BUSY,
    });
}

export const TOO_BUSY = {
  why: 'The machine is too busy.',
  try: 'close other programs, then check again',
};

/**
 * Clients that come one after the other, without waiting for each other, and several at a time when the port is open,
 * until enough have been answered, or it is clear that none will be.
 */
function receiveEarly(program) {
  let [waiting, served, isOver] = [0, 0, false];
  const others = []; // their status, where that is not 200
  const visit = async () => {
    waiting += 1;
    const { error, status } = await get(`${program.url}/pid`, { timeoutMs: PATIENCE_MS });
    waiting -= 1; // it is answered, or it has been refused or sent away: it knows
    if (error) return;
    served += 1;
    if (status !== 200) others.push(status);
  };
  const visitAll = async () => {
    const deadline = performance.now() + 2 * DEADLINE_MS;
    const isHopeless = () =>
      program.fate || (listens(program.events) && hasRested(program, REST_TURNS));
    while (served < EARLY && !isOver && !isHopeless() && performance.now() < deadline) {
      for (let left = listens(program.events) ? AT_THE_DOOR : 1; left > 0; left -= 1)
        if (waiting < MOST_WAITING) visit();
      await sleep(VISIT_EVERY_MS);
    }
  };
  visitAll();
  return {
    others,
    stop: () => (isOver = true),
    isDone: () => served >= EARLY,
    waiting: () => waiting,
  };
}

/**
 * One child stands still before its first line until the others are ready: nobody has a reason to open the port yet. With the
 * listener it is the first, and another one stands still after that, when the listener is sent, while clients come: a parent
 * that closes its copy when all children have got it has not closed it by then.
 */
async function holdOne(program, door) {
  const { children, give } = door;
  const haveRested = (events, apart, turns) =>
    hasRested({ events: events.filter((one) => one.childPid !== apart), pid: program.pid }, turns);
  const areForked = () => forkedBy(program).length >= children;
  await program.until((events) => areForked() || listens(events), DEADLINE_MS);
  if (!areForked() || process.platform === 'win32') return;
  const held = heldOf(program, door);
  await program.until(
    (events) => listens(events) || haveRested(events, held, OWN_TURNS),
    DEADLINE_MS,
  );
  door.isOpenEarly = listens(program.events);
  const other = forkedBy(program).find((pid) => pid !== held) ?? held;
  if (door.isOpenEarly || give === 'connections' || !program.kill(other, 'SIGSTOP')) return;
  door.isLetGo = true;
  try {
    await awaitSent(program, (events) => haveRested(events, other, REST_TURNS));
  } finally {
    program.kill(other, 'SIGCONT');
  }
}

/** Who stands still, once all are forked: the first only if it has not begun by then, as where one is forked after the other. */
function heldOf(program, door) {
  const [first, ...others] = forkedBy(program).slice(0, door.children);
  if (door.held || others.length < door.children - 1) return door.held;
  const isFirst = door.give === 'listener' && !program.lastBeats.has(first);
  return (door.held = isFirst ? first : (others.at(-1) ?? first));
}

/** Lets each child that stands still before its first line go on, as long as the program lives; the one that is held when it is time. */
async function letGoOn(program, door) {
  while (!program.fate && !program.closed) {
    const held = door.isLetGo ? undefined : heldOf(program, door);
    for (const pid of childrenOf(program))
      if (pid !== held && !program.lastBeats.has(pid)) program.kill(pid, 'SIGCONT');
    await sleep(door.isLetGo ? LET_GO_MS.later : LET_GO_MS.first);
  }
}

/** The port is open, and what is sent then has been sent; or it never will be. */
async function awaitSent(program, hasEnded) {
  const isOpen = await program.until((events) => listens(events) || hasEnded(events), DEADLINE_MS);
  const sinceMs = nowMs();
  const hasSent = (events) => haveTurned(events, [program.pid], OWN_TURNS, sinceMs);
  if (isOpen) await program.until(hasSent, HELD_MS);
}

/** The Node processes that the parent has started. */
export function childrenOf(program) {
  const started = new Set(eventsOf(program.events, 'start').map(({ pid }) => pid));
  return forkedBy(program).filter((pid) => started.has(pid));
}

const forkedBy = ({ events, pid: parent }) =>
  eventsOf(events, 'child').flatMap(({ pid, childPid }) => (pid === parent ? [childPid] : []));

export const socketsOpened = (program) =>
  eventsOf(program.events, 'listening').filter(
    ({ handle, port }) => handle === 'kernel' && port !== undefined,
  );

/** One client after the other, and which child served each. */
export async function takeTurns(program, count) {
  const turns = [];
  while (turns.length < count) {
    const { requests } = await askAll(program, '/pid', 1);
    turns.push(requests.find(({ pid }) => pid !== program.pid)?.pid);
  }
  return turns;
}

/** The same, but the first client says nothing and stays: whose turn it is does not depend on what a child still has. */
export async function takeTurnsBesideOne({ program }, count) {
  const first = program.events.length;
  const [staying] = await connectAll(program, 1);
  const its = () =>
    eventsOf(program.events.slice(first), 'connection').find(
      ({ pid, client }) => pid !== program.pid && client === staying.localPort,
    );
  await untilRested(program, its);
  const given = its();
  if (given) await program.until(hasTurned(program, given.pid), HELD_MS); // it may confirm that it has it
  const turns = [given?.pid, ...(await takeTurns(program, count - 1))];
  staying.destroy();
  return turns;
}

/**
 * The child whose turn it is stands still while clients come, two for each child. They are dealt at once, whether a child has
 * taken its last one or not: so the others serve theirs meanwhile.
 * @returns {Promise<{ served: number, due: number } | undefined>}  clients of the others; nothing, where none can be stopped
 */
export async function askBesideStopped({ program, children, fault }) {
  if (fault) return undefined;
  const [stopped] = await takeTurns(program, children);
  const isIts = (event) => event.pid === stopped || event.childPid === stopped;
  const others = {
    pid: program.pid,
    get events() {
      return program.events.filter((event) => !isIts(event));
    },
  };
  const first = others.events.length;
  const seen = { served: 0, due: 2 * (children - 1) };
  const count = () =>
    requestsOf(others.events.slice(first), '/pid').filter(({ endMs }) => endMs).length;
  if (!program.kill(stopped, 'SIGSTOP')) return undefined;
  await askAll(program, '/pid', 2 * children, async () => {
    try {
      await untilRested(program, () => count() >= seen.due, others);
      seen.served = count();
    } finally {
      program.kill(stopped, 'SIGCONT');
    }
  });
  return seen;
}

/**
 * The parent stands still when it has accepted a client and its event loop has turned since, a few times. What is dealt at once
 * has been dealt by then, and its child has it when it has turned, too.
 * @returns {Promise<{ dealt: number, late: number, of: number } | undefined>}  late: neither dealt nor about to be; nothing, where
 *   the program is not up
 */
export async function stopParent({ program, fault }) {
  if (fault) return undefined;
  const seen = { dealt: 0, late: 0, of: STOPS };
  for (let count = 0; count < STOPS; count += 1) {
    const first = program.events.length;
    await askAll(program, '/pid', 1, async () => {
      const how = await stopWhenAccepted(program, first);
      if (how) seen[how] += 1;
    });
  }
  return seen;
}

/** @returns {Promise<'dealt' | 'late' | undefined>}  undefined: too early to tell */
async function stopWhenAccepted(program, first) {
  const metBy = (isIt) =>
    eventsOf(program.events.slice(first), 'connection').find(({ pid }) => isIt(pid));
  const isDealt = () => metBy((pid) => pid !== program.pid);
  const hasTurnedSince = ({ t }) => haveTurned(program.events, [program.pid], 1, t);
  const accepted = await program.until(() => metBy((pid) => pid === program.pid), HELD_MS);
  if (accepted) await program.until(() => hasTurnedSince(accepted), HELD_MS);
  program.kill(program.pid, 'SIGSTOP');
  try {
    await program.until(() => hasStopped(program.pid), HELD_MS);
    const isLate = accepted && hasTurnedSince(accepted) && hasStopped(program.pid);
    const sinceMs = nowMs();
    const children = childrenOf(program);
    const haveLooked = (events) => haveTurned(events, children, 2, sinceMs);
    const isKnown = await program.until((events) => isDealt() || haveLooked(events), HELD_MS);
    return isDealt() ? 'dealt' : isKnown && isLate ? 'late' : undefined;
  } finally {
    program.kill(program.pid, 'SIGCONT');
  }
}

/** Clients that are gone before they are accepted, and clients that are gone while they wait for a child. */
export async function sendGoneClients({ give, program, fault }) {
  if (fault) return undefined;
  const children = childrenOf(program);
  const all = [program.pid, ...children];
  signalAll(program, all, 'SIGSTOP');
  for (const client of await connectAll(program, 3 * children.length)) client.resetAndDestroy();
  signalAll(program, all, 'SIGCONT');

  signalAll(program, children, 'SIGSTOP');
  const clients = await connectAll(program, MANY_WAITING * children.length);
  if (give === 'connections') await program.until(hasAccepted(program, clients), DEADLINE_MS);
  for (const client of clients) client.resetAndDestroy();
  signalAll(program, children, 'SIGCONT');

  const { answers } = await askAll(program, '/pid', 3 * children.length); // they come after all of those
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

/** Connections without a request. The kernel makes them, even while nobody accepts them. */
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
 * Kills the children that are next in turn, half of them, while the parent is stopped and a client comes. When the parent
 * goes on it finds the channels closed first and then a client, and only afterwards the system tells it that children have
 * ended: so it deals to the dead. (Linux reports descriptors in the order in which they became ready, and libuv signals last.)
 * Those that are left take turns afterwards; of replacements, if there are any, nobody says when they join.
 */
export async function killNext({ give, children, program, fault }) {
  if (fault) return undefined;
  const victims = (await takeTurns(program, children)).slice(0, children / 2);
  await orUndecided(program, hasTurned(program)); // nothing old is left to be read
  program.kill(program.pid, 'SIGSTOP');
  signalAll(program, victims, 'SIGKILL');
  const isGone = (/** @type {number} */ pid) => !program.survivors().includes(pid);
  await orUndecided(program, () => victims.every(isGone)); // then their channels are closed
  const callers = await connectAll(program, 1); // a second one would take along who waits for the next
  const waiting = askOn(callers);
  if (give === 'connections')
    await orUndecided(program, () => (acceptQueueOf(program.port) ?? Infinity) >= callers.length);
  program.kill(program.pid, 'SIGCONT');
  if (!(await goesOn(program, hasNoticed(program, victims)))) {
    program.kill(program.pid, 'SIGKILL'); // it takes a whole core
    return { victims, isStuck: true };
  }
  await untilRested(program, () => waiting.size === 0); // before anybody else comes
  const unanswered = waiting.size;
  for (const caller of callers) caller.destroy();
  const { answers } = program.fate ? { answers: [] } : await askAll(program, '/pid', 6 * children);
  const seen = { victims, answers, unanswered, fate: program.fate };
  if (give === 'listener' || program.fate || answers.some(({ error }) => error)) return seen;
  const left = children - victims.length;
  const turns = await takeTurns(program, ROUNDS * left);
  return forkedBy(program).length > children ? seen : { ...seen, left, turns };
}

/** Waits until the parent has noticed; false when its event loop has stopped turning, although it had plenty of time. */
async function goesOn(program, isNoticed) {
  if ((await program.until(isNoticed, STUCK_MS)) || program.fate) return true;
  const isBeat = ({ what, pid }) => what === 'beat' && pid === program.pid;
  const isStuck = () => nowMs() - program.events.findLast(isBeat).t > STUCK_MS / 2;
  if (isStuck() && !isCrowded()) return false;
  if ((await program.until(isNoticed, DEADLINE_MS)) || program.fate) return true;
  if (isStuck()) return false;
  throw new Undecided(NOT_KILLED);
}

/**
 * Kills the parent while clients are in the middle of a request, and waits until nothing of it is left, or each child has
 * turned its event loop often enough since to have heard of it, and to have ended at once.
 */
export async function killParent({ program, fault }, death) {
  if (fault || death instanceof Undecided || death?.isStuck || program.fate) return undefined;
  const clients = await askByHalf(program);
  program.kill(program.pid, 'SIGKILL');
  const killedMs = nowMs();
  let goneMs = Infinity;
  const isReached = program.turn.limit(PARTING_MS);
  try {
    for (;;) {
      const left = program.survivors();
      if (!left.includes(program.pid)) goneMs = Math.min(goneMs, nowMs()); // its channels are closed
      const orphans = left.filter((pid) => pid !== program.pid);
      const isOver = isReached();
      const isClear = orphans.length === 0 || haveStayed(program.events, orphans, goneMs);
      if (isOver && !isClear) demandTurn(program, killedMs, PARTING_MS);
      if (isOver || isClear) return { orphans, isOpen: Boolean(listeningSockets(program)?.length) };
      await sleep(LOOK_EVERY_MS);
    }
  } finally {
    for (const client of clients) client.destroy();
  }
}

/** Clients that have sent the first line of a request, each of which a child has: it would wait for the rest. */
async function askByHalf(program) {
  const clients = await connectAll(program, childrenOf(program).length);
  for (const client of clients) client.write('GET /pid HTTP/1.1\r\n');
  const areMet = (events) => {
    const met = eventsOf(events, 'connection').filter(({ pid }) => pid !== program.pid);
    const ports = new Set(met.map(({ client }) => client));
    return clients.every(({ localPort }) => ports.has(localPort));
  };
  await program.until(areMet, DEADLINE_MS);
  return clients;
}

/** They have heard of all that happened until then, and turned often enough since: what ends one now does not end it at once. */
function haveStayed(events, pids, fromMs) {
  return pids.every((pid) => {
    const isIdleBeat = (one) =>
      one.what === 'beat' && one.pid === pid && one.t > fromMs && one.elu < BUSY;
    return events.filter(isIdleBeat).length >= REST_TURNS;
  });
}

/** Waits until it is so, or the program has ended. */
async function orUndecided(program, isSo) {
  if ((await program.until(isSo, DEADLINE_MS)) || program.fate) return;
  throw new Undecided(NOT_KILLED);
}

const NOT_KILLED = {
  got: `In ${DEADLINE_MS / 1000} s a child could not be killed while the parent watched.`,
  why: 'The machine is too busy for this.',
  try: 'close other programs, then check again',
};

/** Sends a request on each connection. @returns the clients that still wait for an answer, or to be sent away */
function askOn(clients) {
  const waiting = new Set(clients.filter(({ destroyed }) => !destroyed));
  for (const client of waiting) {
    const done = () => waiting.delete(client);
    client.once('data', done).once('close', done);
    client.write('GET /pid HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  }
  return waiting;
}

/** The event loop has turned since: the parent's, unless told otherwise. */
function hasTurned(program, pid = program.pid) {
  const sinceMs = nowMs();
  return (events) => haveTurned(events, [pid], 2, sinceMs);
}

/** The system has told the parent (no zombie is left), and its event loop has turned since. */
function hasNoticed(program, victims) {
  let isLater;
  return (events) => !victims.some(hasPid) && (isLater ??= hasTurned(program))(events);
}

/** The same work on both sides: four children, and the single process that the lesson started from. */
export async function prepareContest({ launch, ready, isLonger }) {
  const control = await ready(await launch({ isReference: true }));
  return { load: createLoad(), control, workers: CHILDREN, path: '/', isLonger };
}

const LIMITS = { target: LEAST_SPEEDUP, windowMs: 80, budgetMs: 3_000 };

export async function measureBlocking({ measured, conditionsWere }, contest) {
  const { answers } = await askAtOnce(contest.candidate, '/', CHILDREN);
  const machine = watchMachine();
  const speedup = await speedupOfBlocking({ ...contest, ...LIMITS });
  const conditions = conditionsWere(machine());
  const label = `blocking work, ${CHILDREN} children against one process`;
  measured('blocking', { label, unit: 'times', isHeadline: true, ...speedup });
  return { answers, speedup, disturbance: disturbanceOf(conditions) };
}

/** What takes longer, and decides nothing: the cluster module under the same load, and both ways under a crowd. */
export async function measureMore(lesson, contest, dealing) {
  const { launch, ready, measured } = lesson;
  const env = { NODE_CLUSTER_WORKERS: String(CHILDREN) };
  const cluster = await ready(await launch({ entry: CLUSTER, env }), CHILDREN);
  const speedup = await speedupOfBlocking({ ...contest, ...LIMITS, candidate: cluster });
  const label = 'the same by the cluster module (the solution of lesson 2)';
  measured('cluster', { label, unit: 'times', ...speedup });
  const sharing = await openDoor(lesson, 'listener', CHILDREN);
  for (const door of [dealing, sharing]) await drawShares(lesson, door);
}

/** How evenly a crowd that gives each child more than enough to do was spread. */
async function drawShares({ drawn }, { give, program }) {
  const { requests } = await askAtOnce(program, '/', CROWD);
  const rows = childrenOf(program).map((child, index) => ({
    name: `child ${index + 1}`,
    value: requests.filter(({ pid }) => pid === child).length,
  }));
  const label = `who served ${CROWD} clients for / at once, --give ${give}`;
  drawn(`shares-${give}`, { label, unit: 'clients', rows });
}
