/** Lesson 8: what comes in the middle of a reload: deaths, and a stop. */
import { Agent } from 'node:http';
import {
  eventsOf,
  forksOf,
  get,
  nowMs,
  requestsOf,
  turnedMs,
} from '../../../lib/check/checking.js';
import {
  DEADLINE_MS,
  HEARD_SIGNAL,
  LITTLE_BOOT_MS,
  endOf,
  forkedAfter,
  hasRested,
  heardBy,
  isHeard,
  isHung,
  leftOf,
  servingOf,
  waitFor,
} from './reload.js';
import { LATE_MS, slowUpload } from './limit.js';

/**
 * In the middle of a reload two of three old workers are killed; in the middle of the next one, while an order to do another waits,
 * the program is told to stop.
 */
export async function breakIn({ program, deploy }) {
  deploy({ version: '2', bootMs: LITTLE_BOOT_MS });
  const killed = await killInReload(program);
  const stopped = killed.isDone && (await stopInReload(program));
  return { program, killed, stopped };
}

/** Gives the order, and waits until a new one has been forked. */
async function beginReload(program) {
  const first = program.events.length;
  const fromMs = nowMs();
  program.kill(program.pid, 'SIGHUP');
  return { first, fromMs, isBegun: await isHeard(program, first) };
}

/**
 * The oldest of the old ones is killed and the youngest: in whatever order it goes, the new one that boots just then is mostly
 * for one of them, and the other's turn comes at the end.
 */
async function killInReload(program) {
  const old = oldestFirst(program);
  const begun = await beginReload(program);
  const victims = [old[0], old[old.length - 1]];
  for (const workerPid of victims) program.kill(workerPid, 'SIGKILL');
  const isDone = (events) => leftOf(events, old).length === 0 && hasRested(program);
  const isSo = begun.isBegun && Boolean(await waitFor(program, isDone));
  if (isSo) await waitFor(program, (events) => servingOf(events).length >= old.length);
  const { fate, events } = program;
  const serving = servingOf(events).length;
  const isStuck = isHung(program, begun.fromMs); // now: what comes later moves it again
  const seen = { ...begun, old, victims, isDone: isSo, serving, isStuck, fate };
  return { ...seen, output: program.output() };
}

/** Those that serve, in the order in which they were forked. */
function oldestFirst({ events }) {
  const serving = servingOf(events);
  return forksOf(events).flatMap(({ workerPid }) => (serving.includes(workerPid) ? workerPid : []));
}

/**
 * The signal comes when a new one listens, and the old one that it replaces is kept busy: clients send the rest of what
 * they have begun only when it has heard of the stop, too. Another order to reload has come before it, and waits.
 */
async function stopInReload(program) {
  const old = oldestFirst(program);
  const clients = await Promise.all(old.map(() => slowUpload(program)));
  const areBegun = (events) => requestsOf(events, '/upload').length >= old.length;
  await program.until(areBegun, DEADLINE_MS / 2);
  const begun = await beginReload(program);
  if (!begun.isBegun) {
    for (const client of clients) client.end();
    return { ...begun, output: program.output() };
  }
  program.kill(program.pid, 'SIGHUP'); // it waits for its turn, or is skipped
  const isUp = (events) => eventsOf(events.slice(begun.first), 'worker-listening').length > 0;
  const isInTime = await program.until(isUp, DEADLINE_MS);
  const busyPids = requestsOf(program.events, '/upload').map(({ pid }) => pid);
  program.kill(program.pid, 'SIGTERM');
  const signalMs = nowMs();
  const isTold = (pid) => heardBy(program.events, [program.pid, pid], signalMs) < Infinity;
  const areTold = () => busyPids.every(isTold);
  const isCut = () => clients.some(({ seen }) => seen.closedMs);
  await program.until(() => program.fate || isCut() || areTold(), DEADLINE_MS);
  const deaf = isCut() ? [] : await deafOf(program, { signalMs, times: 2 * (old.length + 1) });
  const answered = await finishInTurn(program, { clients, old });
  const lost = areBegun(program.events) ? answered.filter((isAnswered) => !isAnswered).length : 0;
  const fate = await endOf(program);
  const left = servingOf(program.events);
  const output = program.output();
  const news = program.events.slice(begun.first);
  const heardMs = turnedMs(program.events, program.pid, HEARD_SIGNAL, signalMs);
  const before = forksOf(news).filter(({ t }) => t < heardMs);
  const isLate = !isInTime || before.length > 1; // the next one started already, and a message may not have reached it
  const forked = forkedAfter(program, signalMs);
  return { ...begun, signalMs, isLate, fate, left, lost, deaf, forked, of: clients.length, output };
}

/**
 * First the client of the oldest worker, which is mostly the one that leaves for the reload. When that worker has ended, what
 * still forks has done so before the others can end.
 */
async function finishInTurn(program, { clients, old }) {
  const requests = requestsOf(program.events, '/upload');
  const isFirst = (client) => requests.find(client.isIts)?.pid === old[0];
  const [first, ...others] = clients.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)));
  const isAnswered = await first.finish();
  const hasLeft = (events) => leftOf(events, old.slice(0, 1)).length === 0 && hasRested(program);
  await waitFor(program, hasLeft);
  return [isAnswered, ...(await Promise.all(others.map((client) => client.finish())))];
}

/**
 * Workers that listened before the signal, and long after it serve a new client that would keep its connection, without
 * "Connection: close".
 */
async function deafOf(program, { signalMs, times }) {
  const listened = servingOf(program.events.filter(({ t }) => t < signalMs));
  const answers = await Promise.all(Array.from({ length: times }, () => askToKeep(program)));
  const theirs = answers.flatMap(({ status, headers, client }) =>
    status === 200 && !/close/i.test(headers.connection ?? '')
      ? requestsOf(program.events, '/version').filter((one) => one.client === client)
      : [],
  );
  const hasHeard = ({ pid, startMs }) =>
    startMs > heardBy(program.events, [program.pid, pid], signalMs);
  return theirs.filter((one) => listened.includes(one.pid) && hasHeard(one));
}

async function askToKeep({ url }) {
  const agent = new Agent({ keepAlive: true });
  const answer = await get(`${url}/version`, { agent, timeoutMs: LATE_MS });
  agent.destroy();
  return answer;
}
