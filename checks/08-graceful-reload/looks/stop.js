/** Lesson 8: a stop at work, and what clients of every kind hear and hold meanwhile. */
import { once } from 'node:events';
import http from 'node:http';
import { connect } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  eventsOf,
  exitsOf,
  forksOf,
  get,
  haveTurned,
  nowMs,
  requestsOf,
} from '../../../lib/check/checking.js';
import {
  WORKERS,
  DEADLINE_MS,
  HEARD_SIGNAL,
  UNDER_WAY,
  begin,
  endOf,
  forkedAfter,
  heardBy,
  leftOf,
  servingOf,
  waitFor,
} from './reload.js';

const BUSY_CLIENTS = 4;
export const ASK_EVERY_MS = 40; // an answer takes a millisecond, so its connection is nearly always idle
const SIGNAL_ARRIVES_MS = 150;
const MOST_LATE_MS = 15;
export const ANSWERED = 110; // requests on one connection
export const BEGUN = 30; // responses, for each worker, whose clients hang up
const GONE = 3; // turns of a worker's event loop: by then it knows that a client has hung up
const HEARD_FIRST = 2; // turns of a worker's event loop: by then it has heard the first of two signals
const LEFT = 40; // turns of a worker's event loop: by then most have said goodbye, and closed their idle connections
const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** One worker is told to leave, by its pid and while it has slow requests; then the program by Ctrl-C. */
export async function stopOneThenAll(server) {
  const one = await stopOne(server);
  if (!one.exit) return { one };
  return { ...(await stopAtWork(server, 'Ctrl-C')), one };
}

/** The signal comes twice, as from somebody who is in a hurry: the second one changes nothing. */
async function stopOne({ program }) {
  const begun = await begin(program, '/slow', UNDER_WAY);
  const signalMs = nowMs();
  const [workerPid] = servingOf(program.events);
  program.kill(workerPid, 'SIGTERM');
  const exitIn = (events) => exitsOf(events).find((exit) => exit.workerPid === workerPid);
  const hasHeard = (events) => haveTurned(events, [workerPid], HEARD_FIRST, signalMs);
  await program.until((events) => exitIn(events) || hasHeard(events), DEADLINE_MS / 2);
  const isTwice = !exitIn(program.events) && program.kill(workerPid, 'SIGTERM');
  await waitFor(program, exitIn);
  const answers = await begun.answers();
  const requests = requestsOf(program.events).filter(({ pid }) => pid === workerPid);
  const isThere = ({ client, sentMs }) =>
    requests.some((one) => one.client === client && one.startMs >= sentMs);
  const lost = answers.filter((answer) => answer.error && isThere(answer));
  const { events } = program;
  const seen = { program, workerPid, signalMs, isTwice, exit: exitIn(events), lost };
  return { ...seen, output: program.output() };
}

/** The signal comes while slow requests are under way. */
export async function stopAtWork({ program }, how) {
  const begun = await begin(program, '/slow', UNDER_WAY);
  const signalMs = nowMs();
  program.tellToStop(how);
  const fate = await endOf(program);
  const output = program.output();
  if (!fate) await program.stop();
  const lost = (await begun.answers()).filter(({ status, error }) => error || status !== 200);
  const { events, pid } = program;
  const living = leftOf(
    events,
    forksOf(events).map(({ workerPid }) => workerPid),
  );
  const left = living.length;
  const timers = timersOf(events, pid);
  const isTimed = !fate && left > 0 && living.every((one) => timersOf(events, one) > 0);
  return { how, program, signalMs, fate, lost, left, timers, isTimed, of: UNDER_WAY, output };
}

/** The very first worker boots when the program is told to stop. */
export async function stopAtStart({ program }) {
  const isTurning = (events) => haveTurned(events, [program.pid], HEARD_SIGNAL);
  await program.until((events) => forksOf(events).length > 0 && isTurning(events), DEADLINE_MS);
  program.kill(program.pid, 'SIGTERM');
  const signalMs = nowMs();
  const fate = await endOf(program);
  const forked = forkedAfter(program, signalMs);
  const isBegun = fate?.signal !== 'SIGTERM'; // or it has no handler yet
  const stopped = { isBegun, signalMs, fate, forked, left: servingOf(program.events) };
  return { program, stopped, output: program.output() };
}

/** How many timers keep this process, as it last said. */
const timersOf = (events, pid) =>
  eventsOf(events, 'beat').findLast((one) => one.pid === pid && 'timers' in one)?.timers;

/**
 * The signal comes while clients keep their connections: two are idle, two ask now and then, four again and again, and
 * wait for slow answers. Before that one worker is told to leave that has nothing under way.
 */
export async function stopWithClients({ program }) {
  const counted = { ...(await countKept(program)), aborted: await countAborted(program) };
  const idle = await Promise.all(Array.from({ length: WORKERS }, () => idleClient(program)));
  const regulars = await Promise.all(Array.from({ length: WORKERS }, () => regularClient(program)));
  const early = await dismissIdle(program, regulars[0]);
  const clients = Array.from({ length: BUSY_CLIENTS }, () => busyClient(program));
  const areBegun = (events) => requestsOf(events, '/slow').length >= BUSY_CLIENTS;
  const loopMeanwhile = monitorEventLoopDelay({ resolution: 1 });
  loopMeanwhile.enable();
  await program.until(areBegun, DEADLINE_MS / 2);
  const signalMs = nowMs();
  program.kill(program.pid, 'SIGTERM');
  const signalledMs = nowMs(); // between the two we may have had no core
  const fate = await endOf(program);
  const isIdleHeld = idle.some(({ readyState }) => readyState === 'open');
  const output = program.output();
  for (const socket of idle) socket.destroy();
  const kept = regulars.map((regular) =>
    toldIn(program, regular.leave(), early, { signalMs, signalledMs }),
  );
  const answers = (await Promise.all(clients.map((client) => client.leave()))).flat();
  const later = answers.filter(({ doneMs, status }) => status && doneMs > signalMs);
  const told = later.filter(isToldToClose);
  const underWay = answers.filter(({ sentMs, doneMs }) => sentMs < signalMs && doneMs > signalMs);
  const untold = untoldOf(program, underWay, kept);
  const cut = kept.find(({ closedMs, toldMs }) => closedMs && !toldMs);
  const cutMs = cut && cut.closedMs - cut.orderMs;
  loopMeanwhile.disable();
  const asked = answers.filter(({ sentMs }) => sentMs > signalMs + SIGNAL_ARRIVES_MS);
  const areWeLate = loopMeanwhile.max / 1e6 > MOST_LATE_MS; // then we may have come after it was rightly closed
  const isAskedLater = asked.some(({ error }) => !error || !areWeLate);
  const heard = { later, told, underWay, untold, cut, cutMs };
  const seen = { program, ...counted, signalMs, signalledMs, fate, isIdleHeld };
  return { ...seen, ...heard, isAskedLater, output };
}

/** The worker of this client, with nothing under way, is told to leave; until the client has heard of it, or should have. */
async function dismissIdle(program, { client, seen }) {
  const { pid } = requestsOf(program.events).findLast((one) => one.client === client) ?? {};
  const signalMs = nowMs();
  if (!pid) return { signalMs }; // nobody has begun to answer it
  program.kill(pid, 'SIGTERM');
  const signalledMs = nowMs();
  const isOver = (events) =>
    seen.toldMs || seen.closedMs || haveTurned(events, [pid], LEFT, signalledMs);
  await program.until(isOver, DEADLINE_MS / 2);
  return { pid, signalMs, signalledMs };
}

/**
 * When the worker of such a client was told to leave; and, of what the client asked when the worker had heard that, what was
 * answered all the same without a word.
 */
function toldIn({ events, pid: primary }, client, early, order) {
  const theirs = requestsOf(events).filter((one) => one.client === client.client);
  const { pid } = theirs.at(-1) ?? {};
  const isEarly = pid === early.pid;
  const { signalMs, signalledMs } = isEarly ? early : order;
  const heardMs = heardBy(events, isEarly ? [pid] : [primary, pid], signalledMs);
  const hasHeard = (/** @type {any} */ { startMs, endMs }) => endMs && startMs > heardMs;
  return { ...client, orderMs: signalMs, asBefore: client.toldMs ? [] : theirs.filter(hasHeard) };
}

/**
 * How many of its responses a worker still has in memory when all have been sent, nothing if it does not say; and whether
 * a client could keep its connection all the while.
 */
async function countKept({ url }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (path) => get(url + path, { agent, timeoutMs: DEADLINE_MS });
  const answers = [];
  for (let count = 0; count < ANSWERED; count += 1) answers.push(await ask('/'));
  const { status, body } = await ask('/kept');
  agent.destroy();
  const isKept = answers.every((answer) => answer.status !== 200 || !isToldToClose(answer));
  return { inMemory: status === 200 ? Number(body) : undefined, isKept };
}

/** How many responses a worker has in memory at most whose clients have hung up before they had all. */
async function countAborted(program) {
  const sockets = await Promise.all(
    Array.from({ length: WORKERS * BEGUN }, () => abortingClient(program)),
  );
  const isTheirs = ({ client }) => sockets.some(({ localPort }) => localPort === client);
  const theirs = requestsOf(program.events, '/forever').filter(isTheirs);
  for (const socket of sockets) socket.destroy();
  const fromMs = nowMs();
  const pids = [...new Set(theirs.map(({ pid }) => pid))];
  const haveHeard = (events) => haveTurned(events, pids, GONE, fromMs);
  await program.until(haveHeard, DEADLINE_MS / 2);
  if (!haveHeard(program.events)) return undefined; // it may not know yet
  const ask = () => get(`${program.url}/kept`, { timeoutMs: DEADLINE_MS });
  const answers = await Promise.all(Array.from({ length: WORKERS }, ask));
  const counts = answers.filter(({ status }) => status === 200).map(({ body }) => Number(body));
  return counts.length > 0 ? Math.max(...counts) : undefined;
}

/** One that has had a part of its answer. */
async function abortingClient({ port }) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {}); // it is closed, in whatever way
  socket.write('GET /forever HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const tooLong = sleep(DEADLINE_MS / 2, undefined, { ref: false });
  await Promise.race([once(socket, 'data'), once(socket, 'close'), tooLong]);
  return socket;
}

/** Those whose worker had said goodbye to another client before it answered them: it knew that it would leave. */
function untoldOf({ events }, answers, kept) {
  const requests = requestsOf(events);
  const pidOf = (port) => requests.findLast(({ client }) => client === port)?.pid;
  const goodbyes = kept
    .filter(({ toldMs }) => toldMs > 0)
    .map(({ client, toldMs }) => ({ pid: pidOf(client), toldMs }));
  return answers.filter((answer) => {
    const asked = requests.find(
      ({ client, startMs }) => client === answer.client && startMs > answer.sentMs,
    );
    const isLater = ({ pid, toldMs }) => pid === asked?.pid && toldMs < (asked?.endMs ?? 0);
    return goodbyes.some(isLater) && !isToldToClose(answer);
  });
}

const isToldToClose = ({ headers }) => /close/i.test(headers.connection ?? '');

/** One that has had its answer, and keeps its connection. */
async function idleClient({ port }) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {}); // it is closed, in whatever way
  socket.write(REQUEST);
  const tooLong = sleep(DEADLINE_MS / 2, undefined, { ref: false }); // it does not keep the check from ending
  await Promise.race([once(socket, 'data'), once(socket, 'close'), tooLong]);
  socket.resume();
  return socket;
}

/** One that asks now and then, always on the same connection, until it hears "Connection: close" or is cut. */
async function regularClient(program) {
  const socket = await idleClient(program);
  const { localPort: client } = socket;
  const seen = { askedMs: 0, toldMs: 0, closedMs: 0 };
  let heard = '';
  const asking = setInterval(() => {
    socket.write(REQUEST);
    seen.askedMs = nowMs();
  }, ASK_EVERY_MS);
  socket.on('data', (bytes) => {
    heard += bytes;
    if (/^connection: close/im.test(heard)) seen.toldMs ||= nowMs();
  });
  socket.on('close', () => {
    seen.closedMs = nowMs();
    clearInterval(asking);
  });
  return {
    client,
    seen,
    leave() {
      const last = { client, ...seen };
      socket.destroy();
      return last;
    },
  };
}

/** One that asks again as soon as it has its answer, on the same connection if it may. */
function busyClient({ url }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const answers = [];
  let isOn = true;
  const run = async () => {
    while (isOn && answers.every(({ error }) => !error))
      answers.push(await get(`${url}/slow`, { agent, timeoutMs: 3 * DEADLINE_MS }));
  };
  const end = run();
  return {
    async leave() {
      isOn = false;
      agent.destroy();
      await end;
      return answers;
    },
  };
}
