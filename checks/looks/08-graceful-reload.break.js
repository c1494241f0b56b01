/** Lesson 8: what comes in the middle of a reload: a death, and a stop. */
import { eventsOf, forksOf, nowMs } from '../../lib/checking.js';
import {
  DEADLINE_MS,
  UNDER_WAY,
  begin,
  endOf,
  isQuiet,
  leftOf,
  servingOf,
  waitFor,
} from './08-graceful-reload.js';

const LITTLE_BOOT_MS = 100; // time for something to happen before the new one listens

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
  const isBegun = await waitFor(program, (events) => forksOf(events.slice(first)).length > 0);
  return { first, fromMs, isBegun: Boolean(isBegun) };
}

/** The youngest of the old ones is killed: its turn is mostly the last. */
async function killInReload(program) {
  const old = servingOf(program.events);
  const begun = await beginReload(program);
  const workerPid = Math.max(...old); // it is the last one's turn mostly at the end
  program.kill(workerPid, 'SIGKILL');
  const isDone = (events) =>
    leftOf(events, old).length === 0 &&
    forksOf(events).every((fork) => isUpOrGone(events, fork.workerPid)) &&
    isQuiet(events);
  const isSo = begun.isBegun && Boolean(await waitFor(program, isDone));
  return { ...begun, old, workerPid, isDone: isSo, fate: program.fate, output: program.output() };
}

const isUpOrGone = (events, pid) =>
  events.some(
    ({ what, workerPid }) =>
      workerPid === pid && (what === 'worker-listening' || what === 'worker-exit'),
  );

/** The signal comes when a new one listens, and the old one in whose place it is has slow requests. */
async function stopInReload(program) {
  const begun = await beginReload(program);
  if (!begun.isBegun) return { ...begun, output: program.output() };
  await begin(program, '/slow', UNDER_WAY);
  const isUp = (events) => eventsOf(events.slice(begun.first), 'worker-listening').length > 0;
  const isInTime = await program.until(isUp, DEADLINE_MS);
  const signalMs = nowMs();
  program.kill(program.pid, 'SIGTERM');
  const fate = await endOf(program);
  const left = servingOf(program.events);
  const output = program.output();
  const before = forksOf(program.events.slice(begun.first)).filter(({ t }) => t < signalMs);
  const isLate = !isInTime || before.length > 1; // the next one starts already, and a message may not reach it
  return { ...begun, signalMs, isLate, fate, left, output };
}
