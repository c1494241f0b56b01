/** Lesson 4: judges what looks.js saw, in the sentences that a learner reads. */
import {
  demand,
  demandInTime,
  demandSpeedup,
  eventsOf,
  momentOf,
  describeCrash,
} from '../../lib/check/checking.js';
import { CHILDREN, CROWD, areEqualTurns, childrenOf, socketsOpened } from './looks.js';

const MARKED = 3; // moments of a kind in the X-ray, at most

const crashIn = ({ events }) => momentOf(eventsOf(events, 'crash')[0], 'throws');

const firstShown = (seen, says) => seen.slice(0, MARKED).map((one) => momentOf(one, says));

const nameOf = (program, pid) => (pid === program.pid ? 'the parent' : `child ${pid}`);

const NOT_OPEN = {
  connections: {
    why: 'It opens when all children have said that they are ready: has each said so, and has the parent heard it? Task 1 alone opens nothing.',
    try: 'task 2; if it is there, look at how a child says that it is ready, and where the parent hears it',
  },
  listener: {
    why: 'Task 3 has not been started, or the server is closed before it is open, which takes a moment.',
    try: 'task 3; if it is there, look at when the server is closed: is it open by then?',
  },
};

/** Adds which task is next if the program has children but no open port. @returns {never} */
export function rethrowWithHint(error, program, give) {
  const { events, fate } = program;
  const { length } = childrenOf(program);
  const isOpen = eventsOf(events, 'listening').length > 0;
  if (error.story && !fate && length > 0 && !isOpen) {
    const got = `With --give ${give} it started ${length} children, and its port is not open.`;
    const why = describeCrash(events);
    Object.assign(error.story, { got, ...(why ? { why, try: undefined } : NOT_OPEN[give]) });
  }
  throw error;
}

export function demandByHand(program) {
  const { events } = program;
  const story = {
    expected: `NODE_CLUSTER_WORKERS=${CHILDREN}: four calls of fork(), imported from node:child_process`,
    try: 'look at how a child is started: by which module, and which file?',
  };
  const forks = eventsOf(events, 'fork');
  demand(forks.length === 0, {
    ...story,
    got: 'It called cluster.fork().',
    why: 'This lesson builds by hand what the cluster module does, to see how it works.',
    shows: { program, moments: firstShown(forks, 'cluster.fork()') },
  });
  const crash = describeCrash(events);
  const isFileMissing = `${crash}\n${program.output()}`.includes('Cannot find module');
  demand(!isFileMissing, {
    ...story,
    got: 'A child found no file to run.',
    why: 'A path is looked up from the folder in which you start the program, not from the file that forks.',
    shows: { program, moments: [crashIn(program)] },
  });
  const begun = eventsOf(events, 'child').filter(({ pid }) => pid === program.pid);
  const shown = begun.length > CHILDREN ? begun.slice(CHILDREN) : begun.slice(-1);
  const says = begun.length > CHILDREN ? 'a child too many' : 'the last child';
  const wrong = {
    ...story,
    got: begun.length === 0 ? 'It started no child.' : `It started ${begun.length}.`,
    why:
      crash ??
      (begun.length === 0
        ? 'As long as server.js imports child.js, one process does everything.'
        : 'NODE_CLUSTER_WORKERS says how many children there are.'),
    shows: { program, moments: [crashIn(program), ...firstShown(shown, says)] },
  };
  demand(begun.length <= CHILDREN, wrong);
  const isFinal = crash || program.fate || eventsOf(events, 'listening').length > 0;
  demandInTime(begun.length === CHILDREN, { isFinal, ...wrong });
}

export function demandOneOpener(program) {
  const opened = socketsOpened(program);
  const [first] = opened;
  const names = opened.map(({ pid, port }) => `${nameOf(program, pid)} opens port ${port}`);
  const others = opened.filter(({ pid, port }) => pid !== program.pid || port !== program.port);
  demand(opened.length === 1 && others.length === 0 && first, {
    expected: `The parent opens PORT, which is ${program.port} here, and no process opens another one.`,
    got: `It doesn't: ${names.join(', ') || 'no process opens a port'}.`,
    why: 'A child that opens a port itself competes for it, or needs a parent that passes the bytes on.',
    try: 'look in child.js for what opens a port',
    shows: { program, moments: firstShown(others, 'opens a port') },
  });
}

export function demandDealt(program, crowd, turns) {
  const byParent = crowd.requests.filter(({ pid }) => pid === program.pid);
  demand(byParent.length === 0, {
    expected: 'The children execute all requests; the parent only deals.',
    got: `The parent executed ${byParent.length} of ${CROWD} requests.`,
    why: 'It has an http server, which reads the requests itself. While the parent works it deals to no child, however idle they are.',
    try: 'look at which kind of server the parent has, and which process reads from its connections',
    shows: { program, moments: firstShown(byParent, 'a request, in the parent') },
  });
  demandAnswered(program, crowd, {
    taken: {
      why: 'A server reads from a connection as soon as it has accepted it. What the parent has read, the child never sees.',
      try: 'look at how the parent makes its server: when does it begin to read?',
    },
    left: isOpenEarly(program) ? OPEN_EARLY : NO_HANDLE,
  });
  const children = [...new Set(turns)];
  const numbers = turns.map((pid) => children.indexOf(pid) + 1).join(' ');
  const isOneTwice = turns.some((pid, index) => index > 0 && pid === turns[index - 1]); // lateness can't cause that
  demandInTime(areEqualTurns(turns), {
    isFinal: isOneTwice,
    expected: 'Clients that come one after the other: 1 2 3 4, 1 2 3 4.',
    got: `They went to child ${numbers}.`,
    why: 'When connections are dealt in turn, every child gets the same share of them.',
    try: 'look at how the next child is chosen: when does its turn end?',
    shows: { program, moments: [] },
  });
}

const NO_HANDLE = {
  why: "The parent didn't send them as send()'s second argument, or the child gave them to no http server.",
  try: 'look at both ends: what the parent sends beside the message, and to which server the child gives it',
};
const OPEN_EARLY = {
  why: "The port was open before all children had even started. A client that comes before they are ready meets no child, or one that doesn't hear messages yet.",
  try: 'look at when the port is opened: which children have said by then that they are ready?',
};

/** Was the port open before every child ran its first line? */
function isOpenEarly(program) {
  const { events } = program;
  const [opened] = eventsOf(events, 'listening');
  const begun = eventsOf(events, 'start').filter(({ t }) => t < opened?.t);
  return childrenOf(program).some((child) => !begun.some(({ pid }) => pid === child));
}

/** taken: a child has accepted the connection and doesn't answer; left: no child has accepted it. */
function demandAnswered(program, { lost, isFinal }, { taken, left }) {
  const clients = new Set(lost.map(({ client }) => client));
  const theirs = eventsOf(program.events, 'connection').filter(({ client }) => clients.has(client));
  const came = theirs.filter(({ pid }) => pid !== program.pid);
  const crash = describeCrash(program.events);
  demandInTime(lost.length === 0, {
    isFinal: isFinal || crash,
    expected: `${CROWD} clients at once, ${CROWD} answers`,
    got: `${lost.length} got none. ${came.length} of their connections reached a server in a child.`,
    ...(came.length > 0 ? taken : left),
    ...(crash && { why: describeSecondListen(program) ?? crash }),
    shows: {
      program,
      moments: [crashIn(program), ...firstShown(theirs, 'a client that gets no answer')],
    },
  });
}

/** The parent has opened the port, and found it taken when it called listen() again. */
function describeSecondListen({ events, pid, port }) {
  const crash = eventsOf(events, 'crash').find((event) => event.pid === pid);
  const hasOpened = eventsOf(events, 'listening').some((event) => event.pid === pid);
  if (!hasOpened || !crash?.error.includes(`EADDRINUSE: address already in use :::${port}`))
    return undefined;
  return 'The parent called listen() once more and threw EADDRINUSE: it has opened this port itself.';
}

export function demandShared(program, crowd) {
  const { events } = program;
  const children = childrenOf(program);
  const heirs = children.filter((pid) =>
    events.some((event) => event.handle === 'received' && event.pid === pid),
  );
  const opened = socketsOpened(program);
  const crash = describeCrash(events);
  const story = {
    expected: `The parent opens the port and sends its server; each of ${children.length} children listens with that.`,
    got: `${heirs.length} of ${children.length} listen with a socket that came by message. Sockets opened with listen(port): ${opened.length}.`,
    ...(heirs.length > 0 ? (SOME_LISTEN[opened.length] ?? NONE_LISTENS) : NONE_LISTENS),
    ...(crash && { why: crash }),
    shows: { program, moments: [crashIn(program), ...firstShown(opened, 'opens a port')] },
  };
  demand(opened.length === 1, story);
  demandInTime(heirs.length === children.length, { isFinal: crowd.isFinal, ...story });
  const kept = eventsOf(events, 'connection').filter(({ pid }) => pid === program.pid);
  demand(kept.length === 0 && !crowd.holders.some(({ pid }) => pid === program.pid), {
    expected: 'Once the children have the listener the parent accepts nothing.',
    got: `The parent still holds the listening socket; it accepted ${kept.length} of ${CROWD} connections.`,
    why: 'Whichever process is first gets the connection, and an idle parent is often first.',
    try: 'look at what the parent does with its own copy of the listener once every child has one',
    shows: { program, moments: firstShown(kept, 'the parent accepts') },
  });
  const unserved = crowd.fate ? PARENT_GONE : NO_HTTP;
  demandAnswered(program, crowd, { taken: unserved, left: unserved });
}

const NO_HTTP = {
  why: 'The server that comes by message accepts in the child, but it is a net server and knows no HTTP.',
  try: 'look in child.js at what it does with a listener, and whether both files spell the message alike',
};
const PARENT_GONE = {
  why: "The parent has exited. Its channels close with it, and 'disconnect' makes each child exit, too.",
  try: 'look at what the parent does once its own copy is closed: it has to stay',
};
const NONE_LISTENS = {
  why: 'The message came without the server (it was not sent along, or was closed before that), or the child does not listen with it.',
  try: 'look at both ends: what the parent sends beside the message, and what the child does with it',
};
/** By the number of sockets that were opened with listen(port). */
const SOME_LISTEN = [
  {
    why: 'It was sent before it was open: listen() returns at once, and its callback says when it is done.',
    try: 'look at when the listener is sent, and when it is open',
  },
  {
    why: "A child that isn't ready when the listener is sent, or is left out of the loop, gets none.",
    try: 'look at when the listener is sent, and to which children',
  },
];

export function demandUnharmed(program, { lost, isFinal, ended }) {
  const story = {
    expected:
      'Clients hang up before they are dealt. All processes stay, and the next clients are answered.',
    got: `${ended.map((pid) => nameOf(program, pid)).join(', ') || 'No process'} exited; ${lost.length} of the next clients got no answer.`,
    why:
      describeUnserved(program) ??
      describeCrash(program.events) ??
      'A client that is gone may have no address, and no connection that could be sent.',
    try: 'look in the child at what it does when the handle has not arrived, and in the parent for what needs the client',
    shows: { program, moments: endShown(program, ended) },
  };
  demand(ended.length === 0, story);
  demandInTime(lost.length === 0, { isFinal, ...story });
}

/** A child threw outside of its own lines, and no server in it had a connection: nothing listened for what it was sent. */
function describeUnserved({ events, pid: parent }) {
  const crash = eventsOf(events, 'crash')[0];
  const how = describeCrash(crash ? [crash] : []);
  const hasOne = eventsOf(events, 'connection').some(({ pid }) => pid === crash?.pid);
  if (!how || crash.pid === parent || hasOne || /line \d+\)$/.test(how)) return undefined;
  return `${how}. No server in that child had a connection yet: was one sent before the child said that it is ready?`;
}

/** Crashes, or else exits. */
function endShown({ events }, pids) {
  const of = (kind) => eventsOf(events, kind).filter(({ pid }) => pids.includes(pid));
  const crashes = of('crash');
  return crashes.length > 0 ? firstShown(crashes, 'throws') : firstShown(of('exit'), 'exits');
}

export function demandSurvivors(program, { victim, isWaiting, isFinal, later, fate }) {
  const expected = `Child ${victim} is killed. The parent and the other child keep serving.`;
  const shows = { program, moments: endShown(program, [program.pid]) };
  const crash = describeCrash(program.events);
  const isSend = /ERR_IPC_CHANNEL_CLOSED|EPIPE/.test(crash ?? '');
  demand(!fate, {
    expected,
    got: 'The parent exited as well.',
    why: crash
      ? `${crash}.${isSend ? " It was the dead child's turn." : ''}`
      : 'It exits when a child does.',
    try: 'look at what happens when a message is sent to a child that has just died',
    shows,
  });
  demandInTime(later.lost.length === 0, {
    isFinal: later.isFinal,
    expected,
    got: `${later.lost.length} of the next clients got no answer.`,
    why: 'The parent knows by then that the child is dead, and still gives it its share.',
    try: 'look at how a child that has exited leaves the list of children that get connections',
    shows,
  });
  demandInTime(!isWaiting, {
    isFinal,
    expected,
    got: 'A client that connected at that moment is never answered. Later ones are.',
    why: "It was the dead child's turn. The send fails, and the parent still has the connection.",
    try: 'look at what happens to a connection when sending it fails: which process has it then?',
    shows,
  });
}

export function demandNoOrphans(program, { left, haveStayed }) {
  const starts = eventsOf(program.events, 'start').filter(({ pid }) => left.includes(pid));
  demandInTime(left.length === 0, {
    isFinal: haveStayed,
    expected: 'The parent is killed (kill -9), and its children exit.',
    got: `${left.length} of its children are still there three seconds later, and hold the port.`,
    why: "The channel closes, and 'disconnect' comes in each child. A child that does nothing then lives on, alone.",
    try: 'look in child.js at what it does when its parent is gone; the starter had a line for that',
    shows: { program, moments: firstShown(starts, 'a child that outlives its parent starts') },
  });
}

export const demandFaster = ({ speedup, disturbance }) => demandSpeedup(speedup, disturbance);
