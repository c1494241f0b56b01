/** Lesson 8: what takes long, or for ever: who may cut it, and when. */
import { connect } from 'node:net';
import {
  eventsOf,
  exitsOf,
  forksOf,
  get,
  haveTurned,
  nowMs,
  requestOf,
  requestsOf,
  turnedMs,
  turnsOf,
} from '../../../lib/check/checking.js';
import {
  DEADLINE_MS,
  HELD_TURNS,
  LIMIT_MS,
  WORKERS,
  begin,
  endOf,
  isHeard,
  renew,
  servingOf,
  waitFor,
} from './reload.js';

export const LATE_MS = 1_000; // nobody has to answer this client
const NEARLY = 0.9;
const AGAIN_MS = 0.5 * LIMIT_MS; // the next order comes before the limit of the last one is over
const TIMED = '/timer'; // sets one
const HALF = 'GET / HTTP/1.1\r\nHost: local'; // of a request
const HEARD_AT = 2; // turns of a worker's event loop: by then it has heard the first order, or read what was sent
/** @type {('SIGTERM' | 'Ctrl-C')[]} */
export const AGAIN = ['SIGTERM', 'Ctrl-C', 'Ctrl-C']; // as from somebody who loses patience
export const PUT_OFF = 50; // turns after its limit, a second: its timer has not been set for that

/**
 * Half a request, timers, and responses that never end: when single workers are told to leave, in a reload of the others, and
 * in a stop. In both of these one worker is even blocked. What never ends is in the stop a stream of events: a timer holds its
 * worker, too.
 */
export async function holdForever({ program }) {
  const client = await halfClient(program);
  const timed = await timedClients(program);
  await begin(program, '/forever', WORKERS + 1);
  const one = await endOne(program, client, timed);
  if (!one.areGone) return { program, one, output: program.output() };
  await begin(program, '/blocked', 1);
  const [stuck] = requestsOf(program.events, '/blocked');
  const roll = await renew(program);
  if (!roll.isRenewed) return { program, one, stuck, roll, output: program.output() };
  const begun = await begin(program, '/events', WORKERS);
  await begin(program, '/blocked', 1);
  const signalMs = nowMs();
  program.kill(program.pid, 'SIGTERM');
  const again = await tellAgain(program, roll.last, signalMs);
  const fate = await endOf(program);
  const output = program.output();
  if (!fate) await program.stop();
  const cutsMs = (await begun.answers()).map(({ doneMs }) => doneMs - signalMs);
  const [blocked] = requestsOf(program.events.slice(roll.last), '/blocked');
  const left = servingOf(program.events);
  const firstCutMs = Math.min(...cutsMs);
  const twice = again && { ...again, ...endOfDrain(program, again.workerPid, signalMs) };
  return { program, one, stuck, roll, fate, signalMs, firstCutMs, blocked, left, twice, output };
}

/**
 * The primary has told its workers to leave. One of them, which is not blocked and has a response that never ends, gets
 * SIGTERM as well when its limit is nearly over. Undefined where it has ended by then.
 */
async function tellAgain(program, first, signalMs) {
  const begun = (path) => requestsOf(program.events.slice(first), path).map(({ pid }) => pid);
  const blocked = begun('/blocked');
  const workerPid = begun('/events').find((pid) => !blocked.includes(pid));
  if (workerPid === undefined) return undefined;
  const isNearlyOver = () => nowMs() > signalMs + NEARLY * LIMIT_MS;
  await program.until(isNearlyOver, DEADLINE_MS);
  const againMs = nowMs();
  return program.kill(workerPid, 'SIGTERM') ? { workerPid, againMs } : undefined;
}

/** When it ended, and how late: its limit began when the primary had heard the signal, and it had heard of it from the primary. */
function endOfDrain({ events, pid: primary }, workerPid, signalMs) {
  const exit = exitsOf(events).find((one) => one.workerPid === workerPid);
  const toldMs = turnedMs(events, primary, HEARD_AT, signalMs);
  return { exit, late: turnsAfterLimit(events, workerPid, toldMs) };
}

/**
 * One worker that has such a response is told to leave, by its pid, and so is the one with half a request, and those with nothing
 * but a timer: again and again, as by somebody who is in a hurry, until all have ended or have long been due.
 */
async function endOne(program, client, timed) {
  const endless = requestsOf(program.events, '/forever').map(({ pid }) => pid);
  const workerPid = endless.find((pid) => pid !== client.pid);
  if (workerPid === undefined) return {};
  const isAlone = ({ pid }) => pid !== undefined && !endless.includes(pid);
  const onlyTimed = timed.filter((one) => isAlone(one) && one.pid !== client.pid);
  const pids = [workerPid, client.pid, ...onlyTimed.map(({ pid }) => pid)].filter(Boolean);
  const signalMs = nowMs();
  const [{ orders, lastMs }] = await Promise.all([
    tellToLeave(program, [...new Set(pids)], signalMs),
    finishWhenHeard(program, timed.at(-1), signalMs),
  ]);
  const turnsLate = (sinceMs) => turnsAfterLimit(program.events, workerPid, sinceMs);
  const late = { first: turnsLate(signalMs), last: turnsLate(lastMs) };
  const { closedMs } = client.seen;
  for (const one of [client, ...timed]) one.end();
  const exitOf = (pid) => exitIn(program.events, pid);
  const half = isAlone(client)
    ? { workerPid: client.pid, exit: exitOf(client.pid), closedMs }
    : undefined;
  const timers = onlyTimed.map(({ pid }) => ({ workerPid: pid, exit: exitOf(pid) }));
  const exit = exitOf(workerPid);
  const areGone = [{ exit }, half, ...timers].every((one) => !one || one.exit);
  return { workerPid, signalMs, orders, lastMs, late, exit, half, timers, areGone };
}

/** These workers are told until each has ended, or its event loop has turned long after its limit. */
async function tellToLeave(program, pids, signalMs) {
  const hasLeft = (pid) => exitIn(program.events, pid);
  const areGone = () => pids.every(hasLeft);
  const isOverdue = (pid) => turnsAfterLimit(program.events, pid, signalMs) >= PUT_OFF;
  let orders = 0;
  let lastMs = signalMs;
  while (!program.fate && !pids.every((pid) => hasLeft(pid) || isOverdue(pid))) {
    if (nowMs() > signalMs + DEADLINE_MS) break;
    lastMs = nowMs();
    for (const pid of pids) if (!hasLeft(pid)) program.kill(pid, 'SIGTERM');
    orders += 1;
    const isNext = () => nowMs() > lastMs + AGAIN_MS;
    await program.until(() => areGone() || isNext(), DEADLINE_MS);
  }
  await waitFor(program, areGone);
  return { orders, lastMs };
}

const exitIn = (events, pid) => exitsOf(events).find((exit) => exit.workerPid === pid);

/**
 * Two whose workers have a timer of the application that nobody clears. The first has had its answer and is gone, the other has sent
 * only a part of its request. `pid` is the worker.
 */
async function timedClients(program) {
  const clients = await Promise.all([1, 2].map(() => slowUpload(program, TIMED)));
  const areBegun = (events) => requestsOf(events, TIMED).length >= clients.length;
  await program.until(areBegun, DEADLINE_MS / 2);
  const requests = requestsOf(program.events, TIMED);
  const timed = clients.map((one) => ({ ...one, pid: requests.find(one.isIts)?.pid }));
  await timed[0].finish();
  return timed;
}

/** The last connection of a worker closes when it has heard the order: its limit goes on. */
async function finishWhenHeard(program, { pid, finish }, signalMs) {
  if (pid === undefined) return;
  const hasHeard = (events) => haveTurned(events, [pid], HEARD_AT, signalMs);
  await program.until((events) => hasHeard(events) || exitIn(events, pid), DEADLINE_MS);
  await finish();
}

/** How often its event loop has turned since a limit was over that began when it had heard this order. */
function turnsAfterLimit(events, pid, orderMs) {
  return turnsOf(events, pid, turnedMs(events, pid, HEARD_AT, orderMs) + LIMIT_MS);
}

/**
 * One that has sent only a part of the head of a request: its first, or its second, when it has had an answer. `pid` is the
 * worker that has its connection.
 */
async function halfClient(program, { isSecond = false } = {}) {
  const first = program.events.length; // an earlier client may have had the same port
  const socket = connect(program.port, '127.0.0.1');
  const seen = { closedMs: 0 };
  let sentMs = Infinity;
  const sendHalf = () => {
    socket.write(HALF);
    sentMs = nowMs();
  };
  socket.on('error', () => {}); // it is closed, in whatever way
  socket.on('close', () => (seen.closedMs = nowMs()));
  socket.on('connect', isSecond ? () => socket.write(`${HALF}\r\n\r\n`) : sendHalf);
  if (isSecond) socket.once('data', sendHalf);
  socket.resume();
  const isIt = (/** @type {any} */ { client }) => client && client === socket.localPort;
  const its = () => eventsOf(program.events.slice(first), 'connection').find(isIt);
  const isRead = (events) => {
    const { pid, t } = its() ?? { pid: 0, t: Infinity };
    return haveTurned(events, [pid], HEARD_AT, Math.max(sentMs, t));
  };
  await program.until(isRead, DEADLINE_MS / 2);
  return { pid: its()?.pid, seen, end: () => socket.destroy() };
}

/**
 * Clients that take long to send their requests, while the server is told to stop: nobody may cut one before the limit,
 * which is far away, not even when it is told again, or told to reload; and no worker waits for its turn to leave, serving
 * meanwhile, nor is there a reload after that. All timers of the program come early. Mostly one worker has half an upload, and the other nothing but half of a head.
 */
export async function holdLong({ program }) {
  const upload = await slowUpload(program);
  await program.until((events) => requestsOf(events, '/upload').length > 0, DEADLINE_MS / 2);
  const clients = [
    upload,
    await halfClient(program),
    await halfClient(program, { isSecond: true }),
  ];
  const signalMs = nowMs();
  program.kill(program.pid, 'SIGTERM');
  const [begun] = requestsOf(program.events, '/upload');
  const pids = [begun?.pid, ...clients.map(({ pid }) => pid)].filter(Boolean);
  const isCut = () => clients.some(({ seen }) => seen.closedMs);
  const isLong = () => haveTurned(program.events, [program.pid, ...pids], HELD_TURNS, signalMs);
  await program.until(() => isCut() || isLong(), DEADLINE_MS);
  const cutsMs = clients.map(({ seen }) => (seen.closedMs || Infinity) - signalMs);
  const { fate, events } = program;
  const exits = exitsOf(events);
  const late = isCut() ? undefined : await askLate(program);
  const hasTurned = isLong();
  const hurried = fate || isCut() ? undefined : await tellToStopAgain(program, isCut);
  const reload = hurried?.isUnmoved ? await tellToReload(program, isCut) : undefined;
  for (const client of clients) client.end();
  const seen = { program, signalMs, cutsMs, isBegun: Boolean(begun), fate, exits };
  return { ...seen, late, hasTurned, hurried, reload, output: program.output() };
}

/** Orders to stop, when there is a stop, each when the one before has been heard; until a client is cut, or the program ends. */
async function tellToStopAgain(program, isCut) {
  const isMoved = () => program.fate || isCut();
  const told = [];
  for (const how of AGAIN) {
    program.tellToStop(how);
    const fromMs = nowMs();
    told.push(how);
    const haveHeard = (events) => haveTurned(events, [program.pid], HEARD_AT, fromMs);
    await program.until((events) => isMoved() || haveHeard(events), DEADLINE_MS);
    if (isMoved()) break;
  }
  return { told, isUnmoved: !isMoved(), fate: program.fate };
}

/** An order to reload, when there is a stop: how many are forked for it, and does it go on? */
async function tellToReload(program, isCut) {
  const first = program.events.length;
  program.kill(program.pid, 'SIGHUP');
  await isHeard(program, first);
  const { fate, events } = program;
  return { forks: forksOf(events.slice(first)).length, fate, isCut: isCut() };
}

/** A client that comes long after the signal: is it served, and by whom? */
async function askLate(program) {
  const answer = await get(`${program.url}/version`, { timeoutMs: LATE_MS });
  return {
    status: answer.status,
    request: requestOf(requestsOf(program.events, '/version'), answer),
  };
}

/** One that has sent only a part of its request. `finish` sends the rest, and tells whether that was answered. */
export async function slowUpload({ port }, path = '/upload') {
  const socket = connect(port, '127.0.0.1');
  const seen = { closedMs: 0, told: '' };
  socket.on('error', () => {}); // it is closed, in whatever way
  socket.on('close', () => (seen.closedMs = nowMs()));
  socket.setEncoding('latin1').on('data', (part) => {
    seen.told += part;
    socket.destroy(); // an answer to half a request isn't one, and of one to a whole this is enough
  });
  socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\na`);
  const finish = async () => {
    const isOpen = !seen.closedMs;
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.setTimeout(DEADLINE_MS, () => socket.destroy());
    if (isOpen) socket.write('b');
    if (isOpen) await closed;
    return isOpen && seen.told.startsWith('HTTP/1.1 200 ');
  };
  const isIts = ({ client }) => client === socket.localPort;
  return { seen, isIts, finish, end: () => socket.destroy() };
}
