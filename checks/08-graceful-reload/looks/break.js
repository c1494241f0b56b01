/** Lesson 8: what comes in the middle of a reload: a death, and a stop. */
import { Agent } from 'node:http';
import {
  eventsOf,
  forksOf,
  get,
  haveTurned,
  nowMs,
  requestsOf,
} from '../../../lib/check/checking.js';
import {
  DEADLINE_MS,
  LITTLE_BOOT_MS,
  WORKERS,
  endOf,
  hasRested,
  isHeard,
  isHung,
  leftOf,
  servingOf,
  waitFor,
} from './reload.js';
import { LATE_MS, slowUpload } from './limit.js';

const TOLD = 6; // turns of the primary's event loop and of a worker's: by then it has been told

/** In the middle of a reload an old worker is killed; in the middle of the next one the program is told to stop. */
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

/** The youngest of the old ones is killed: its turn is mostly the last. */
async function killInReload(program) {
  const old = servingOf(program.events);
  const begun = await beginReload(program);
  const workerPid = Math.max(...old); // it is the last one's turn mostly at the end
  program.kill(workerPid, 'SIGKILL');
  const isDone = (events) => leftOf(events, old).length === 0 && hasRested(program);
  const isSo = begun.isBegun && Boolean(await waitFor(program, isDone));
  if (isSo) await waitFor(program, (events) => servingOf(events).length >= old.length);
  const { fate, events } = program;
  const serving = servingOf(events).length;
  const isStuck = isHung(program, begun.fromMs); // now: what comes later moves it again
  const seen = { ...begun, old, workerPid, isDone: isSo, serving, isStuck, fate };
  return { ...seen, output: program.output() };
}

/**
 * The signal comes when a new one listens, and the old one that it replaces is kept busy: clients send the rest of what
 * they have begun only when it has heard of the stop, too.
 */
async function stopInReload(program) {
  const clients = await Promise.all(Array.from({ length: WORKERS }, () => slowUpload(program)));
  const areBegun = (events) => requestsOf(events, '/upload').length >= WORKERS;
  await program.until(areBegun, DEADLINE_MS / 2);
  const begun = await beginReload(program);
  if (!begun.isBegun) {
    for (const client of clients) client.end();
    return { ...begun, output: program.output() };
  }
  const isUp = (events) => eventsOf(events.slice(begun.first), 'worker-listening').length > 0;
  const isInTime = await program.until(isUp, DEADLINE_MS);
  const busyPids = requestsOf(program.events, '/upload').map(({ pid }) => pid);
  const signalMs = nowMs();
  program.kill(program.pid, 'SIGTERM');
  const areTold = (events) => haveTurned(events, [program.pid, ...busyPids], TOLD, signalMs);
  const isCut = () => clients.some(({ seen }) => seen.closedMs);
  await program.until((events) => program.fate || isCut() || areTold(events), DEADLINE_MS);
  const deaf = isCut() ? [] : await deafOf(program, signalMs);
  const answered = await Promise.all(clients.map((client) => client.finish()));
  const lost = areBegun(program.events) ? answered.filter((isAnswered) => !isAnswered).length : 0;
  const fate = await endOf(program);
  const left = servingOf(program.events);
  const output = program.output();
  const news = program.events.slice(begun.first);
  const beats = eventsOf(news, 'beat').filter(({ pid, t }) => pid === program.pid && t > signalMs);
  const heardMs = beats[1]?.t ?? Infinity; // by then the primary has had the signal, whatever held it up
  const before = forksOf(news).filter(({ t }) => t < heardMs);
  const isLate = !isInTime || before.length > 1; // the next one started already, and a message may not have reached it
  return { ...begun, signalMs, isLate, fate, left, lost, deaf, of: WORKERS, output };
}

/**
 * Workers that listened before the signal, and long after it serve a new client that would keep its connection, without
 * "Connection: close".
 */
async function deafOf(program, signalMs) {
  const listened = servingOf(program.events.filter(({ t }) => t < signalMs));
  const hasHeard = (pid) => haveTurned(program.events, [program.pid, pid], TOLD, signalMs);
  const told = listened.filter(hasHeard);
  const answers = await Promise.all(
    Array.from({ length: 2 * (WORKERS + 1) }, () => askToKeep(program)),
  );
  const theirs = answers.flatMap(({ status, headers, client }) =>
    status === 200 && !/close/i.test(headers.connection ?? '')
      ? requestsOf(program.events, '/version').filter((one) => one.client === client)
      : [],
  );
  return theirs.filter(({ pid, startMs }) => told.includes(pid) && startMs > signalMs);
}

async function askToKeep({ url }) {
  const agent = new Agent({ keepAlive: true });
  const answer = await get(`${url}/version`, { agent, timeoutMs: LATE_MS });
  agent.destroy();
  return answer;
}
