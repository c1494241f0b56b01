/** Lesson 8: what is demanded of a stop, and of what clients hear meanwhile. */
import { demand, eventsOf, exitsOf, requestsOf } from '../../../lib/check/checking.js';
import { busy, heardBy, isHung } from '../looks/reload.js';
import { ANSWERED, ASK_EVERY_MS, BEGUN } from '../looks/stop.js';
import {
  crashOfWorker,
  firstOf,
  whyOfPrimary,
  demandCalm,
  demandUndisturbed,
  demandMoves,
  demandUnbroken,
  endsShown,
  SECONDS,
} from './reload.js';

const LEAST_GOODBYE_MS = 100;
const MOST_PAUSE_MS = 2.5 * ASK_EVERY_MS; // a client that asked no more for so long had no turn itself
const MOST_KEPT = BEGUN / 3; // the last ones may still be needed

/** [condition, got, why, try]: what to fix first in a stop. */
const STOP_FAULTS = [
  [
    ({ fate }) => fate?.signal,
    ({ fate }) => `it was ended by ${fate.signal}.`,
    'Without a handler a process dies of these signals at once, and everything under way with it.',
    "process.on('SIGTERM', stop); and process.on('SIGINT', stop); in the primary, where stop tells each worker to drain",
  ],
  [
    ({ how, exits }) => how === 'Ctrl-C' && exits.some(({ signal }) => signal === 'SIGINT'),
    ({ losses }) => `SIGINT killed the workers; ${losses}.`,
    'Ctrl-C sends SIGINT to the whole group, the workers too.',
    "process.on('SIGINT', () => {}); in worker.js: the primary tells it when to drain",
  ],
  [
    ({ fate, left, timers }) => !fate && left === 0 && timers > 0,
    () =>
      `all workers had ended, and ${SECONDS} s later the primary was still running: it has a timer.`,
    'A timer keeps a process alive until it has run, unless it is told not to.',
    'setTimeout(...).unref() for the timer of SIGKILL, or clearTimeout() when the worker has ended',
  ],
  [
    ({ fate, left }) => !fate && left === 0,
    () =>
      `all workers had ended, and ${SECONDS} s later the primary was still running, without a timer.`,
    'It was started with a channel to its parent, as a process manager does. Listening for messages there keeps that channel open, and that keeps the process alive.',
    "process.channel?.unref() in the primary, after process.on('message', ...)",
  ],
  [
    ({ fate, isTimed }) => !fate && isTimed,
    ({ left }) =>
      `${SECONDS} s later ${left === 1 ? 'a worker was' : `${left} workers were`} still running, each with a timer.`,
    'A timer keeps a process alive until it has run, unless it is told not to. Then it ends a worker that has answered everything, with exit code 1.',
    'in drain(): setTimeout(() => process.exit(1), limitMs).unref();',
  ],
  [
    ({ fate }) => !fate,
    () => `it was still running ${SECONDS} s later.`,
    'A worker ends on its own when it no longer listens, no connection is open, and its channel to the primary is closed.',
    'cluster.worker.disconnect() in drain(): it closes the servers, waits for their connections, closes the channel',
  ],
  [
    ({ lost }) => lost.length > 0,
    ({ losses }) => `${losses}.`,
    'A process that is killed, or calls process.exit() too early, no longer answers anything.',
    'let the workers drain: they end on their own, and then the primary does, with no process.exit()',
  ],
  [
    () => true,
    ({ fate }) => `it ended with exit code ${fate.code}.`,
    "Stopping when told to isn't a failure, and whatever started the server reads its exit code.",
    'let the primary end on its own, when its last worker has left',
  ],
];

/** The program by SIGTERM; if that was in order, one worker by SIGTERM, and the program by Ctrl-C. */
export function demandAllStops(terminated, interrupted) {
  demandStops(terminated);
  demandOneStops(interrupted.one);
  demandStops(interrupted);
}

export const isInOrder = ({ fate, lost }) => fate?.code === 0 && lost.length === 0;

function demandStops(stop) {
  const { program, how, signalMs, fate, output } = stop;
  if (!fate) demandMoves(program, signalMs, `${how}: it is still running.`);
  demand(isInOrder(stop), {
    expected: 'The workers answer what they have begun, all of them end, and the exit code is 0.',
    ...storyOfStop(stop),
    shows: endsShown(program, eventsOf(program.events, 'exit')),
    output,
  });
}

function demandOneStops({ program, workerPid, signalMs, isTwice, exit, lost, output }) {
  const got = `Process ${workerPid}, a worker, was sent SIGTERM${isTwice ? ', and a moment later once more' : ''}, and`;
  if (!exit) demandCalm(program, signalMs, `${got} is still running.`, [workerPid]);
  // the second signal may come when it is just ending: then nothing is lost by that
  const hasLeft = exit && (!exit.signal || isTwice) && lost.length === 0;
  const end = exit?.signal ? `died of ${exit.signal}` : 'ended';
  const losses = lost.length > 0 ? `; requests under way there were lost: ${lost.length}` : '';
  demand(hasLeft, {
    expected:
      'A worker that gets SIGTERM answers what it has begun, and ends. A second SIGTERM changes nothing.',
    got: exit ? `${got} ${end}${losses}.` : `${got} was still running ${SECONDS} s later.`,
    why: 'Somebody who uses kill may mean one worker, and may lose patience.',
    shows: endsShown(program, exit ? [exit] : []),
    try: "process.on('SIGTERM', drain); in worker.js, not once(); and if (isDraining) return; at the top of drain()",
    ...crashOfWorker(program),
    output,
  });
  demand(exit.code === 0 || exit.signal, {
    expected:
      'A worker that gets SIGTERM, and has answered all that it had begun, ends with exit code 0.',
    got: `${got} ended with exit code ${exit.code}.`,
    why: 'An exit code other than 0 says that something was cut. If all end with it, it says nothing.',
    try: 'cluster.worker.disconnect() when the last connection is closed; process.exit(1) only at the limit',
    shows: endsShown(program, [exit]),
    output,
  });
}

function storyOfStop({ how, program, fate, lost, left, timers, isTimed, of }) {
  const error = lost.length > 0 ? ` (${lost[0].error})` : '';
  const losses = `of ${of} requests under way ${lost.length} were lost${error}`;
  const facts = { how, fate, lost, losses, left, timers, isTimed, exits: exitsOf(program.events) };
  const [, got, why, repair] = firstOf(STOP_FAULTS, facts);
  const crash = crashOfWorker(program);
  const story = { got: `${how}: ${got(facts)}`, why, try: repair, ...crash };
  return { ...story, why: whyOfPrimary(program) ?? story.why };
}

/** [condition, got, why, try]: what to fix first with clients that stay. */
const CLIENT_FAULTS = [
  [
    ({ fate, isIdleHeld }) => !fate && isIdleHeld,
    () => `${SECONDS} s later an unused connection was still open.`,
    'A client keeps its connection for the next request, maybe for minutes. Until it is closed the worker has something to wait for.',
    'server.close() closes the idle ones at once, as does cluster.worker.disconnect(), which calls it; for those that become idle later use server.closeIdleConnections()',
  ],
  [
    ({ fate, later, told }) => !fate && told.length < later.length,
    ({ later, told }) =>
      `${SECONDS} s later a client that asks again and again on one connection was still served; of its ${later.length} answers after the signal ${told.length} said "Connection: close".`,
    'close() and disconnect() take no new connections, but go on serving whatever comes on the open ones.',
    "response.setHeader('Connection', 'close') on every response while draining, even to requests that come later on an old connection",
  ],
  [
    ({ fate }) => !fate,
    () => `${SECONDS} s later it was still running.`,
    'A worker ends when its last connection and its channel to the primary are closed.',
    'cluster.worker.disconnect() in drain()',
  ],
  [
    ({ cut, told }) => cut?.asBefore.length > 0 && told.length > 0,
    ({ cut }) =>
      `A client asked on one connection when its worker had been told to leave. It was answered ${times(cut.asBefore.length)}, never with "Connection: close", and then its connection was closed.`,
    'Other answers said it. An application may answer at once, and an answer that has begun can say nothing more.',
    "server.prependListener('request', ...): it sees each request before the application does; and set the header there, at once",
  ],
  [
    ({ cutMs, told }) => cutMs !== undefined && told.length > 0,
    ({ cutMs }) =>
      `A client that asked a few times a second on one connection had it closed after ${Math.round(cutMs)} ms, between two requests. No answer on it had said "Connection: close".`,
    'Its next request may be on the way at that very moment, and is reset. A client that hears "this was the last one" leaves in time.',
    'for a few hundred ms only say "Connection: close" with each answer; then server.closeIdleConnections(), in a timer. http\'s server.close() and cluster.worker.disconnect() do it at once',
  ],
  [
    ({ untold, told }) => untold.length > 0 && told.length > 0,
    ({ untold, underWay }) =>
      `Of the ${underWay.length} answers that were under way at the signal ${underWay.length - untold.length} said "Connection: close".`,
    "A client that isn't told asks again on the same connection, once more than needed.",
    "keep the responses under way in a Set, and in drain(): if (!response.headersSent) response.setHeader('Connection', 'close') for each",
  ],
  [
    () => true,
    ({ later }) =>
      `Of the ${later.length} answers that its clients had after the signal none said "Connection: close".`,
    "A client that isn't told may send its next request just when the connection is closed, and has to find out whether it was carried out.",
    "response.setHeader('Connection', 'close') on every response while draining",
  ],
];

const times = (count) => (count === 1 ? 'once' : `${count} times`);

/** Had its worker been told to drain when it was answered, without saying so? */
function isAnsweredLater({ events, pid: primary }, { client, sentMs, headers }, orderMs) {
  const isIt = (one) => one.client === client && one.startMs > sentMs;
  const { pid, endMs = 0 } = requestsOf(events).find(isIt) ?? {};
  const isLate = endMs > heardBy(events, [primary, pid], orderMs);
  return isLate && !/close/i.test(headers.connection ?? '');
}

export function demandClientsLetGo(stop) {
  const { program, fate, told, untold, cut, cutMs, isAskedLater, signalMs, signalledMs, output } =
    stop;
  demandKept(stop);
  demandForgotten(stop);
  demandAbortedForgotten(stop);
  const expected =
    'After SIGTERM every response says "Connection: close", idle connections are closed soon, and the server ends.';
  demandUnbroken(program, { expected, output });
  const isKind = fate && told.length > 0 && untold.length === 0 && cutMs === undefined;
  const [, got, why, repair] = firstOf(CLIENT_FAULTS, stop);
  const isUnsaid =
    fate && stop.underWay.some((answer) => isAnsweredLater(program, answer, signalledMs));
  const isSure =
    isUnsaid ||
    untold.length > 0 ||
    cut?.asBefore.length > 0 ||
    cutMs < LEAST_GOODBYE_MS ||
    (!fate && isHung(program, signalMs));
  if (!isKind && !isSure && cut?.closedMs - cut?.askedMs > MOST_PAUSE_MS) throw busy(got(stop));
  if (!isKind && !isSure && !fate) demandCalm(program, signalMs, got(stop));
  if (!isKind && !isSure && fate && !fate.signal) demandUndisturbed(program, signalMs, got(stop));
  if (fate?.code === 0 && told.length === 0 && !isAskedLater && !isUnsaid)
    throw busy('No client asked again before its connection was closed.');
  demand(isKind, {
    expected,
    got: got(stop),
    why,
    try: repair,
    output,
  });
}

/** Before anybody wants to leave, connections are kept. */
function demandKept({ isKept, output }) {
  demand(isKept, {
    expected: 'Until the signal comes clients may keep their connections.',
    got: `Of ${ANSWERED} answers on one connection some said "Connection: close" long before it.`,
    why: 'With no connection to keep there is little to drain; but each request pays for a new connection, all year, for a moment at the end.',
    try: "if (isDraining) response.setHeader('Connection', 'close')",
    output,
  });
}

/** One whose client has hung up never finishes, it is only closed. */
function demandAbortedForgotten({ aborted, output }) {
  demand(!(aborted > MOST_KEPT), {
    expected: 'A response whose client has hung up before its end is forgotten, too.',
    got: `Of about ${BEGUN} that a worker had begun, and whose clients had hung up, ${Math.min(aborted, BEGUN)} were still in its memory.`,
    why: "'finish' comes only when all has been sent; 'close' comes in any case. What is remembered for ever takes memory, and a drain that waits for it waits until the limit.",
    try: "response.on('close', () => open.delete(response)): 'close', not 'finish', nor what the application does",
    output,
  });
}

function demandForgotten({ inMemory, output }) {
  demand(!(inMemory > MOST_KEPT), {
    expected: 'A response that has been sent is forgotten.',
    got: `Of ${ANSWERED} that a worker had sent, one after the other, ${inMemory} were still in its memory.`,
    why: 'Whatever remembers the responses under way has to forget them when they are closed, or memory grows with each request.',
    try: "response.on('close', () => open.delete(response)); beside open.add(response)",
    output,
  });
}
