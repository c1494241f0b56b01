/** What lesson 4 demands of what was seen, in the order of its promises. */
import {
  Undecided,
  deepestOverlap,
  demand,
  demandSpeedup,
  eventsOf,
  faultOfRandomHex,
  groupBy,
  momentOf,
  quickestOf,
  requestsOf,
  whyOfCrash,
} from '../../lib/check/checking.js';
import { CHILDREN, CROWD, NO_ANSWER, TOO_BUSY, childrenOf, socketsOpened } from './looks.js';

const MARKED = 3; // moments, of many of a kind
const LEAST_MS = 9.5; // of a /
const MOST_LATE = 1; // of those that step through a file, or the like, before they deal

const crashIn = ({ events }) => momentOf(eventsOf(events, 'crash')[0], 'throws');

/** The first of some events or requests. */
const firstShown = (seen, says) => seen.slice(0, MARKED).map((one) => momentOf(one, says));

/** For a door that is not open: adds which task is next. */
export function tellClosed(door) {
  if (door.fault) Object.assign(door.fault.story, whyClosed(door));
  return door;
}

const NOT_OPEN = {
  connections: {
    why: 'Task 1 opens nothing: when all children have said that they are ready, it is done.',
    try: "task 2; if it is there, process.send('ready') in child.js and 'message' in the parent",
  },
  listener: {
    why: 'Task 3 has not been started, or the server is closed before it is open, which takes a moment.',
    try: 'task 3; if it is there, server.close() in the callback of listen(), after the sends',
  },
};

/** Why nobody can connect to a program that has its children: which task is next. */
function whyClosed({ program, give }) {
  const children = childrenOf(program).length;
  if (program.fate || children === 0 || eventsOf(program.events, 'listening').length > 0) return {};
  const got = `With --give ${give} ${children} children were started, and the port is not open.`;
  const why = whyOfCrash(program.events);
  return { got, ...(why ? { why, try: undefined } : NOT_OPEN[give]) };
}

export function demandByHand({ program, fault }, one) {
  const story = {
    expected: `NODE_CLUSTER_WORKERS=${CHILDREN}: ${CHILDREN} calls of fork(), imported from node:child_process`,
    try: "const child = fork(new URL('child.js', import.meta.url));",
  };
  demand(eventsOf(program.events, 'fork').length === 0, {
    ...story,
    got: 'cluster.fork() was called.',
    shows: { program, moments: firstShown(eventsOf(program.events, 'fork'), 'cluster.fork()') },
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
  const why = 'NODE_CLUSTER_WORKERS says how many; unset, there is one for each core.';
  const begun = eventsOf(program.events, 'child');
  const shown = children > CHILDREN ? begun.slice(CHILDREN) : begun.slice(-1);
  const says = children > CHILDREN ? 'a child too many' : 'the last child';
  const shows = { program, moments: [crashIn(program), ...firstShown(shown, says)] };
  demand(children === CHILDREN, { ...story, got, why: crash ?? why, shows });
  demandOne(one);
}

/** As many as it is told, also where that is hardly worth it. */
function demandOne({ program, started, fault }) {
  if (program.fate) throw fault;
  demand(started === 1, {
    expected: 'NODE_CLUSTER_WORKERS=1: one child',
    got: started === 0 ? 'It started none.' : `It started ${started}.`,
    why: 'NODE_CLUSTER_WORKERS says how many, and whoever sets it to 1 has a reason: little memory, or only one core.',
    try: 'const count = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());',
    shows: {
      program,
      moments: firstShown(eventsOf(program.events, 'child').slice(1), 'a child too many'),
    },
  });
}

export function demandOneOpener(door, one) {
  const { program, fault } = door;
  if (fault) throw fault;
  const opened = socketsOpened(program);
  const names = opened.map(({ pid, port }) => `${nameOf(program, pid)} opens port ${port}`);
  const [first] = opened;
  demand(opened.length === 1 && first.pid === program.pid && first.port === program.port, {
    expected: `The parent opens PORT, which is ${program.port} here, and nobody opens anything else.`,
    got: `It doesn't: ${names.join(', ') || 'nobody opens a port'}.`,
    why: 'A child that opens a port itself competes for it, or needs somebody to pass the bytes on.',
    try: "no listen(port) in child.js: it serves what process.on('message', ...) brings",
    shows: {
      program,
      moments: opened
        .filter(({ pid, port }) => pid !== program.pid || port !== program.port)
        .slice(0, MARKED)
        .map((one) => momentOf(one, `opens port ${one.port}`)),
    },
  });
  demandReadyBefore(door, first);
  demandNoTimer(one);
}

/**
 * No child can have been ready before it had begun to run. And the last one has stood still before its first line until the
 * others were ready.
 */
function demandReadyBefore({ program, isOpenEarly }, opening) {
  if (eventsOf(program.events, 'fork').length > 0) return; // a cluster's, and it was told already
  const children = childrenOf(program);
  const later = eventsOf(program.events, 'start').filter(
    ({ pid, t }) => children.includes(pid) && t > opening.t,
  );
  const number = Math.max(later.length, isOpenEarly ? 1 : 0);
  demand(number === 0, {
    expected: 'The parent opens the port when all children are ready.',
    got: `It opened the port, and ${number} of ${children.length} children began to run after that.`,
    why: 'Clients connect as soon as the port is open, and nobody can serve them yet, or not all who should.',
    try: "child.on('message', ...): count who is ready; listen() when all are",
    shows: {
      program,
      moments: [momentOf(opening, 'opens the port'), ...firstShown(later, 'begins to run')],
    },
  });
}

/** The only child stood still before its first line, and timers of some seconds fired at once. */
function demandNoTimer({ program, isOpenEarly }) {
  demand(!isOpenEarly, {
    expected:
      'NODE_CLUSTER_WORKERS=1: the parent opens the port when that child is ready, however long it takes.',
    got: 'The child stood still (by SIGSTOP) before its first line, and the port was opened. (Timers were much quicker here.)',
    why: 'A fixed wait fits the machine on which it was tried. Elsewhere a child takes longer, and clients are let in whom nobody can serve yet.',
    try: "child.on('message', ...): count who is ready; listen() when all are, and no timer",
    output: program.output(),
    shows: { program, moments: firstShown(socketsOpened(program), 'opens the port') },
  });
}

const nameOf = (program, pid) => (pid === program.pid ? 'the parent' : `child ${pid}`);

export function demandNoneLost(door, crowd) {
  demandAnswers(door, crowd, {
    taken: {
      why: 'A server reads from a connection as soon as it has accepted it. What the parent has read, the child never sees.',
      try: 'createServer({ pauseOnConnect: true }, ...) in the parent',
    },
    closed: {
      why: "The parent has closed them. send() returning false isn't an error: only its callback reports one.",
      try: "child.send('connection', socket, (error) => { ... }); and nothing closed unless there is an error",
    },
    left: {
      why: 'They were not sent, or arrived but were not given to an http server.',
      try: "child.send('connection', socket); in the child httpServer.emit('connection', handle); and both words spelt right",
    },
  });
  demandNoneTurnedAway(door, crowd);
  demandEarly(door, crowd);
}

/** Of clients that were all there before the first of them asked. */
function demandNoneTurnedAway({ give, program }, { turnedAway = 0 }) {
  demand(turnedAway === 0, {
    expected: `--give ${give}: ${CROWD} clients connect, none of them asks for anything until all are there, and all are answered.`,
    got: `${turnedAway} of them got no answer.`,
    why:
      whyOfCrash(program.events) ??
      'A browser opens a connection before it needs it, and keeps it. A limit for how many are open at once turns clients away while nobody has anything to do.',
    try: 'no maxConnections, and no destroy() because there are many',
    shows: { program, moments: [crashIn(program)] },
  });
}

/**
 * All of the crowd are answered; if not, taken: the children had the connections, but no request; left: not even
 * those; closed: not even those, and the parent has closed them.
 */
function demandAnswers({ program }, { answers, requests }, { taken, left, closed = left }) {
  const lost = answers.filter(({ error }) => error);
  const isIn = (events, { client }) => events.some((event) => event.client === client);
  const inChildren = eventsOf(program.events, 'connection').filter(
    ({ pid }) => pid !== program.pid,
  );
  const came = lost.filter((one) => isIn(inChildren, one));
  const crash = whyOfCrash(program.events);
  const isHeard = lost.some((one) => isIn(requests, one));
  demandRead(lost, requests);
  const isClosed = lost.every(({ error }) => error === 'ECONNRESET');
  const repair = came.length > 0 ? taken : isClosed ? closed : left;
  demand(lost.length === 0, {
    expected: `${CROWD} clients at once, ${CROWD} answers`,
    got: `${lost.length} got none: ${lost[0]?.error}. ${came.length} of their connections reached a server in a child.`,
    ...(crash ? { why: crash } : isHeard ? UNANSWERED : repair),
    shows: { program, moments: lostShown(program, lost) },
  });
}

const UNANSWERED = {
  why: 'A child has begun to execute a request of theirs, and has not answered it.',
  try: 'leave both pages in child.js as they were',
};

/** We have stopped waiting, and the program has answered: then it was we who had no turn. */
function demandRead(lost, requests) {
  const answered = requests.filter(({ endMs }) => endMs).map(({ client }) => client);
  const unread = lost.filter(
    ({ error, client }) => error === NO_ANSWER && answered.includes(client),
  );
  if (unread.length === 0) return;
  const got = `${unread.length} clients had no time to read the answers that the children had sent.`;
  throw new Undecided({ got, ...TOO_BUSY });
}

/** What was thrown; else the connections of those who got no answer, wherever they came. */
function lostShown(program, lost) {
  const crash = crashIn(program);
  if (crash) return [crash];
  const clients = lost.map(({ client }) => client).filter((client) => client !== undefined);
  const theirs = eventsOf(program.events, 'connection').filter(({ client }) =>
    clients.includes(client),
  );
  return firstShown(theirs, 'the connection of a client without an answer');
}

function demandEarly({ give }, { lostEarly, keptEarly, othersEarly }) {
  const expected = 'Clients that come while the program starts are answered, or refused.';
  const kept = Math.min(lostEarly, keptEarly);
  demand(kept === 0, {
    expected,
    got: `The parent accepted ${kept} of them, sent them to no child, and they are still waiting.`,
    ...KEPT[give],
  });
  demand(lostEarly === 0, {
    expected,
    got: `${lostEarly} ${lostEarly === 1 ? 'client was' : 'clients were'} let in then, and still wait.`,
    ...TOO_SOON,
  });
  demand(othersEarly.length === 0, {
    expected,
    got: `${othersEarly.length} of them asked for /pid and got status ${othersEarly[0]}.`,
    ...TOO_SOON,
  });
}

const TOO_SOON = {
  why: 'A connection or a listener was sent to a child that could not serve it yet.',
  try: "process.send('ready') at the end of child.js, when the app is loaded and all is there, and nothing sent to a child before that",
};

/** What a parent that keeps clients to itself has missed. */
const KEPT = {
  connections: {
    why: 'What the parent accepts, it has to give away. It still holds any that no child could take.',
    try: 'the port opened only when all children are ready, and each connection sent, or closed',
  },
  listener: {
    why: 'From listen() until its server is closed the parent accepts too, and it answers nobody.',
    try: 'server.close() in the callback of listen(), right after the sends, which no longer need it',
  },
};

export function demandParentRests({ program }, { answers, requests, silent = [] }) {
  const parents = requests.filter(({ pid }) => pid === program.pid);
  const own = parents.length;
  const story = { expected: 'Each child serves its clients directly; the parent only deals.' };
  const isProxy = own === CROWD && requests.length > CROWD;
  demand(own === 0 || isProxy, {
    ...story,
    got: `The parent executed ${own} of ${CROWD} requests.`,
    shows: { program, moments: firstShown(parents, 'a request, in the parent') },
    why: 'While the parent works it deals to nobody, however idle the children are.',
    try: 'a net server in the parent; the http server and the app only in child.js',
  });
  const met = new Set(requests.filter(({ pid }) => pid !== program.pid).map((one) => one.client));
  const strangers = answers.filter(({ error, client }) => !error && !met.has(client)).length;
  demand(strangers === 0, {
    ...story,
    got: `${strangers} answers did not come from a child that had the client's connection: the parent passed the bytes on.`,
    why: 'A proxy reads and writes every byte twice. A connection that is given away costs the parent nothing more.',
    try: "child.send('connection', socket)",
    shows: { program, moments: firstShown(parents, 'the parent reads a request') },
  });
  demand(silent.length === 0, {
    expected: 'A client that has said nothing yet is given to a child at once.',
    got: 'The parent has kept it, and seems to wait for its first bytes.',
    why: 'A parent that reads has a part of each request, and keeps every client that takes its time.',
    try: "createServer({ pauseOnConnect: true }, deal) in the parent, and nothing there that listens for 'data'",
    shows: { program, moments: firstShown(silent, 'a client that says nothing') },
  });
  demandPids(program, answers, requests);
}

/** Who answers /pid says who it is. */
function demandPids(program, answers, requests) {
  const of = new Map(requests.map((request) => [request.client, request]));
  const isTrue = ({ body, client }) => body.trim() === String(of.get(client).pid);
  const odd = answers.find((answer) => of.has(answer.client) && !isTrue(answer));
  const request = of.get(odd?.client);
  demand(!odd, {
    expected: '/pid returns the pid of the child that executes the request.',
    got: `Child ${request?.pid} answered "${odd?.body.trim().slice(0, 40)}".`,
    why: 'It shows who has served a client, so it has to stay as it was.',
    try: "app.get('/pid', (request, response) => { response.type('text').send(`${process.pid}\\n`); });",
    shows: { program, moments: [momentOf(request, 'this request')] },
  });
}

export function demandTurns(door, turns, beside, stopped) {
  demand(areTurnsOf(CHILDREN, turns), {
    expected: `One client after the other, of which the first says nothing and stays: each child gets one turn in each round of ${CHILDREN}.`,
    got: `They went to child ${inNumbers(turns)}.`,
    why: 'Dealt in turn, every child gets the same share of the connections, whatever it still has from before.',
    try: 'take the first child that is ready, send to it, and put it at the end',
  });
  demand(!beside || beside.served >= beside.due, {
    expected:
      'Each client is dealt at once: when one child stands still (by SIGSTOP), the others serve their clients.',
    got: `One stood still, and of ${beside?.due} clients of the others ${beside?.served} were served meanwhile.`,
    why: "The callback of send() comes when the connection is on its way, and for a child that hasn't taken its last one it is late. Waiting for it makes everybody wait for the slowest child.",
    try: 'move on to the next child before send(), and wait for nothing; the callback is only for errors',
  });
  demandAtOnce(stopped);
}

/** Each of so many children has its turn once in each round, always in the same order. */
const areTurnsOf = (size, turns) =>
  new Set(turns).size === size &&
  turns.every((pid, index) => index < size || pid === turns[index - size]);

/** The first child is 1, the next one that comes is 2. */
function inNumbers(turns) {
  const children = [...new Set(turns)];
  return turns.map((pid) => children.indexOf(pid) + 1).join(' ');
}

/** One that was stopped before its event loop had turned tells nothing. */
function demandAtOnce(stopped) {
  if (!stopped) return;
  const { dealt, late, of } = stopped;
  const got = `Its parent was stopped (by SIGSTOP) after its event loop had turned once more, ${of} times: ${late} of these clients had not been dealt.`;
  demand(late <= MOST_LATE, {
    expected: 'A client is dealt at once, when the parent has accepted it.',
    got,
    why: 'Gathering clients, or waiting before dealing them, makes each of them wait, even on an idle machine.',
    try: 'createServer({ pauseOnConnect: true }, deal).listen(port): no timer in between',
  });
  if (late > 0 || dealt === 0) throw new Undecided({ got, ...TOO_BUSY });
}

export function demandShared(door, crowd) {
  const { program, children, fault } = door;
  if (fault) throw fault;
  const isHeir = (pid) =>
    program.events.some((event) => event.handle === 'received' && event.pid === pid);
  const heirs = childrenOf(program).filter(isHeir).length;
  const opened = socketsOpened(program);
  const crash = whyOfCrash(program.events);
  demand(heirs === children && opened.length === 1, {
    expected: `The parent opens the port and sends its server; each of ${children} children listens with that.`,
    got: `${heirs} of ${children} listen with a socket that came by message. Sockets opened with listen(port): ${opened.length}.`,
    ...(heirs > 0 && opened.length === 1 ? SOME_LISTEN : NONE_LISTENS),
    ...(crash && { why: crash }),
  });
  demandReadyBefore(door, opened[0]);
  demandClosed(program, crowd);
  const unserved = {
    why: 'The server that comes by message accepts in the child, but it is a net server and knows no HTTP.',
    try: "httpServer.listen(handle) in child.js, when the message is 'listener'; both words spelt alike",
  };
  demandAnswers(door, crowd, { taken: unserved, left: unserved });
  demandNoneTurnedAway(door, crowd);
  demandEarly(door, crowd);
}

const NONE_LISTENS = {
  why: 'A message carries the socket itself: parent and child then listen on the very same one.',
  try: "child.send('listener', server); and in the child httpServer.listen(handle);",
};
const SOME_LISTEN = {
  why: "A child that isn't ready when the listener is sent, or is left out of the loop, gets none.",
  try: "when all are ready, and not before: for (const child of ready) child.send('listener', server);",
};

/** The parent's own copy of the listener: who accepts with it, and on Linux whether it is there at all. */
function demandClosed(program, { answers, holders }) {
  const clients = new Set(answers.map(({ client }) => client));
  const kept = eventsOf(program.events, 'connection').filter(
    ({ pid, client }) => pid === program.pid && clients.has(client),
  );
  const swallowed = kept.length;
  const holds = holders.some(({ pid }) => pid === program.pid);
  demand(swallowed === 0 && !holds, {
    expected: 'Once the children have the listener the parent accepts nothing.',
    got: `The parent still holds the listening socket; it accepted ${swallowed} of ${CROWD} connections.`,
    why: 'Whichever process is first gets the connection, and an idle parent is often first.',
    try: 'server.close() in the parent when every child has been sent the listener; it closes only its own copy',
    shows: { program, moments: firstShown(kept, 'the parent accepts') },
  });
  const sockets = new Set(holders.map(({ inode }) => inode)).size;
  demand(sockets <= 1, {
    expected: 'one listening socket, held by all children',
    got: `There are ${sockets} listening sockets.`,
  });
}

export function demandUnharmed({ give, program, fault }, seen) {
  if (fault) throw fault;
  const { answers, ended } = seen;
  const lost = answers.filter(({ error }) => error).length;
  demand(ended.length === 0 && lost === 0, {
    expected: `--give ${give}: once they are gone all processes are still there, and the next clients are answered.`,
    got: `${ended.map((pid) => nameOf(program, pid)).join(', ') || 'None'} ended; ${lost} of the next ${answers.length} clients got no answer.`,
    why:
      whyOfCrash(program.events) ??
      'A client that is gone may have no address, and no connection that could be sent.',
    try: 'if (!handle) return; in the child, and nothing in the parent that needs the client',
    shows: { program, moments: endedShown(program, ended) },
  });
}

/** What they threw, or their ends. */
function endedShown({ events }, pids) {
  const crashes = eventsOf(events, 'crash').filter(({ pid }) => pids.includes(pid));
  const exits = eventsOf(events, 'exit').filter(({ pid }) => pids.includes(pid));
  return crashes.length > 0 ? firstShown(crashes, 'throws') : firstShown(exits, 'ends');
}

export function demandSurvivors({ give, program, fault }, seen) {
  if (fault) throw fault;
  if (seen instanceof Undecided) throw seen;
  const { victims, answers, unanswered, left, turns, fate, isStuck } = seen;
  const story = {
    expected: `--give ${give}: ${inWords(victims)} killed. The parent and the others go on serving.`,
    shows: { program, moments: [] },
  };
  demand(!isStuck, {
    ...story,
    got: "The parent's event loop has not turned since: it no longer serves anybody.",
    why:
      "It has an endless loop, perhaps one that offers a client to the same child again until 'exit' comes: a send " +
      'that fails calls back before any event.',
    try: 'in the callback of send() forget the child first: ready.delete(next); then deal(socket);',
  });
  demand(!fate, {
    ...story,
    got: 'The parent ended as well.',
    shows: { program, moments: endedShown(program, [program.pid]) },
    why: whyOfCrash(program.events) ?? 'It ends when a child does.',
    try: "child.on('error', ...): a send to a child that has just died is reported there",
  });
  const lost = answers.filter(({ error }) => error);
  demand(lost.length === 0, {
    ...story,
    got: `${lost.length} of the next ${answers.length} clients got no answer: ${lost[0]?.error}.`,
    why: 'The parent knows by then that the child is dead, but still gives it its share.',
    try: "child.on('exit', () => ready.delete(child));",
  });
  const isKnown = process.platform === 'linux'; // elsewhere it may be sent on its way, and lost in every answer
  demand(unanswered === 0 || !isKnown, {
    ...story,
    got: `Clients that came just then and are never answered: ${unanswered}. Later ones were.`,
    why: "It was the dead child's turn. The send fails, and the parent still has the connection.",
    try: "child.send('connection', socket, (error) => { if (error) { ready.delete(next); deal(socket); } });",
  });
  demand(!turns || areTurnsOf(left, turns), {
    expected: `--give ${give}: ${inWords(victims)} killed. The ${left} that are left take turns from then on.`,
    got: `Of the next clients, one after the other, they served: ${inNumbers(turns ?? [])}.`,
    why: "A child that has ended still has its turn, and a neighbour serves that client, too: it gets the dead child's share beside its own.",
    try: "child.on('exit', () => ready.delete(child)); and turns only for those in ready",
  });
}

const inWords = (pids) =>
  pids.length > 1 ? `children ${pids.join(' and ')} are` : `child ${pids[0]} is`;

export function demandNoOrphans({ give, program, fault }, seen) {
  if (fault) throw fault;
  if (!seen) throw new Undecided(NOT_TRIED);
  const { length } = seen.orphans;
  const port = seen.isOpen ? `, and port ${program.port} is still open` : '';
  demand(length === 0, {
    expected: `--give ${give}: the parent is killed (kill -9) while clients are in the middle of a request, and its children end with it.`,
    got: `${length === 1 ? 'One of its children went' : `${length} of its children went`} on${port}.`,
    why: "The channel closes, and 'disconnect' comes in each child. One that does not listen for it lives on, alone; one that waits for its clients lives as long as they like, and one that only looks now and then whether its parent is there lives until then.",
    try: "process.on('disconnect', () => process.exit()); in child.js, where it stood",
    shows: {
      program,
      moments: eventsOf(program.events, 'start')
        .filter(({ pid }) => seen.orphans.includes(pid))
        .map((start) => momentOf(start, 'a child that outlives its parent starts')),
    },
  });
}

const NOT_TRIED = {
  got: 'The parent could not be killed.',
  why: 'An earlier test of the same program could not be decided.',
  try: 'close other programs, then check again',
};

export function demandFaster({ program }, { answers, speedup, disturbance }) {
  demandBlocking(program, answers);
  demandSpeedup(speedup, disturbance);
}

function demandBlocking(program, answers) {
  const soonest = Math.min(...answers.map(({ sentMs, doneMs }) => doneMs - sentMs));
  const fault =
    faultOfRandomHex(answers, { isTyped: false }) ??
    (soonest < LEAST_MS ? `A client had its answer after ${soonest.toFixed(1)} ms.` : undefined);
  demand(!fault, {
    expected: '/ blocks, then it returns 5,000 to 10,000 random bytes as hex text, as in lesson 1.',
    got: fault,
    why: "A server that does less work isn't a speedup.",
    try: 'keep the pages in child.js as they were',
  });
  const requests = requestsOf(program.events, '/');
  const depth = Math.max(...[...groupBy(requests, ({ pid }) => pid).values()].map(deepestOverlap));
  const quickest = quickestOf(requests);
  demand(depth === 1 && quickest > LEAST_MS, {
    expected: 'Each child executes one / at a time, and each blocks for 10 to 20 ms.',
    got: `Up to ${depth} were under way in one child at once; the quickest took ${quickest.toFixed(1)} ms.`,
    why: "A server that does less work isn't a speedup.",
    try: 'blockFor(between(10, 20)); without await, before the answer',
  });
}
