/**
 * What the check of lesson 5 does with the learner's program and sees of it: workers that are ended, starts in vain,
 * signals to stop. At the end what is only shown: the availability through four deaths.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Undecided,
  createOpenLoop,
  eventsOf,
  exitsOf,
  forksOf,
  get,
  nowMs,
  requestsOf,
  waitsOf,
} from '../../lib/checking.js';

export const WORKERS = 4;
export const DEADLINE_MS = 10_000;
const LONG_DEADLINE_MS = 20_000; // for what takes many starts
const LEAST_LOOK_MS = 2_500; // by then it is plain whether a timer is set for a new start
const ONE_MORE_MS = 500; // one that is one too many comes after a wait, as the others
const CRASHES_OF_ONE = 6;
const MOST_STARTS = 10;
const MOST_WAITING_MS = 5_000; // all waits together
export const LEAST_LAST_WAIT_MS = 100;
const STARTS_BEFORE_STOP = 3; // then comes a wait of 400 ms, if they double from 100
const SIGNAL_ARRIVES_MS = 50;
const STOP_LOOK_MS = 3_000;
export const UNDER_WAY = 6;
const LOAD = { ratePerSecond: 60, durationMs: 2_000, timeoutMs: 1_000 };
const KILL_EVERY_MS = 400;

const listeningOf = (events) => eventsOf(events, 'worker-listening');

/** The workers of which the primary knows that they listen, and not that they have ended. */
function servingOf(events) {
  const ended = new Set(exitsOf(events).map(({ workerPid }) => workerPid));
  const pids = new Set(listeningOf(events).map(({ workerPid }) => workerPid));
  return [...pids].filter((pid) => !ended.has(pid));
}

/** Ends workers in one way after the other, each time after all that should serve do. */
export async function crashOneByOne(program) {
  const kill = (signal, count) => (pids) =>
    pids.slice(0, count).filter((pid) => program.kill(pid, signal));
  const rounds = [];
  let size = WORKERS;
  for (const [how, strike, isPlanned = false] of [
    ['SIGKILL', kill('SIGKILL', 1)],
    ['/buggy', () => askForABug(program)],
    ['SIGTERM', kill('SIGTERM', 1), true],
    ['SIGKILL in the middle of its work', () => killAtWork(program)],
    ['SIGKILL of two at once', kill('SIGKILL', 2)],
    ['SIGKILL', kill('SIGKILL', 1)],
  ]) {
    await program.until((events) => servingOf(events).length >= size);
    if (isPlanned) size -= 1;
    const round = await strikeOnce(program, strike, size);
    rounds.push({ how, isPlanned, ...round });
    if (!round.isBack) return rounds;
  }
  return rounds;
}

/** After the last crash there may come one worker more than died. */
export async function waitForOneMore(program, rounds) {
  const forks = forksOf(program.events).length;
  await program.until((events) => forksOf(events).length > forks, ONE_MORE_MS);
  rounds.at(-1).last = program.events.length;
  return rounds;
}

/** Whoever counts for each place of its own: the worker that came last dies again and again. */
export async function crashAgain(program, size) {
  const rounds = [];
  const strike = (pids) => pids.slice(-1).filter((pid) => program.kill(pid, 'SIGKILL'));
  while (rounds.length < CRASHES_OF_ONE && rounds.every(({ isBack }) => isBack)) {
    await program.until((events) => servingOf(events).length >= size);
    const round = await strikeOnce(program, strike, size);
    rounds.push({ how: 'SIGKILL in the same place', isPlanned: false, ...round });
  }
  return { program, rounds };
}

/** Ends some workers and waits until `size` serve, or it is plain that they never will. */
async function strikeOnce(program, strike, size) {
  const first = program.events.length;
  const said = program.output();
  const before = servingOf(program.events);
  const victims = await strike(before);
  const isDone = (events) => {
    const ended = exitsOf(events).map(({ workerPid }) => workerPid);
    return victims.every((pid) => ended.includes(pid)) && servingOf(events).length >= size;
  };
  const isBack =
    (await program.until(isDone, LEAST_LOOK_MS)) || (await program.settled(isDone, DEADLINE_MS));
  const events = program.events.slice(first);
  const exits = exitsOf(events).filter(({ workerPid }) => before.includes(workerPid));
  const output = program.output();
  const news = output.startsWith(said) ? output.slice(said.length) : output;
  return { isBack, victims, exits, first, last: first + events.length, news };
}

/** Tells which worker executed /buggy. */
async function askForABug(program) {
  get(`${program.url}/buggy`, { timeoutMs: DEADLINE_MS }); // nobody waits for an answer
  await program.until((events) => requestsOf(events, '/buggy').length > 0);
  return requestsOf(program.events, '/buggy').map(({ pid }) => pid);
}

/** Kills the first worker that is seen at work, while other requests wait for their turn. */
async function killAtWork(program) {
  const first = program.events.length;
  const asked = () => requestsOf(program.events.slice(first), '/').slice(0, 1);
  for (let count = 0; count < 3 * WORKERS; count += 1)
    get(`${program.url}/`, { timeoutMs: DEADLINE_MS }); // some are lost with the worker
  await program.until(() => asked().length > 0);
  return asked().flatMap(({ pid }) => (program.kill(pid, 'SIGKILL') ? [pid] : []));
}

/** On a port that another program holds already, each worker dies of EADDRINUSE before it listens. */
async function launchOnTakenPort(launch) {
  const other = createServer().listen(0).unref();
  await once(other, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (other.address());
  const env = { PORT: String(port), NODE_CLUSTER_WORKERS: '1' };
  return { program: await launch({ env }), other };
}

export async function startInVain(launch) {
  const { program, other } = await launchOnTakenPort(launch);
  const isEnough = (events) =>
    forksOf(events).length >= MOST_STARTS || sumOf(waitsOf(events, nowMs())) > MOST_WAITING_MS;
  await program.until(isEnough, LONG_DEADLINE_MS);
  const { events, fate } = program;
  const isDecided = fate || isEnough(events);
  await program.stop();
  other.close();
  const starts = forksOf(events).length;
  if (!isDecided)
    throw busy(`Within ${LONG_DEADLINE_MS / 1000} s a worker could start only ${starts} times.`);
  const waitsMs = waitsOf(events);
  const lastEndMs = exitsOf(events)[waitsMs.length - 1]?.t;
  const beats = eventsOf(events, 'beat').filter(
    ({ pid, t }) => pid === program.pid && t > lastEndMs,
  );
  const lateMs = Math.max(0, ...beats.map(({ late }) => late));
  return { fate, starts, waitsMs, lateMs, output: program.output() };
}

export const busy = (got) =>
  new Undecided({
    got,
    why: 'The machine has other things to do.',
    try: 'npm run check lesson-5, when it has less to do',
  });

const sumOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

/** The signal comes between a crash and the new start that is to follow. */
export async function stopWhileItWaits(launch) {
  const { program, other } = await launchOnTakenPort(launch);
  const isWaiting = (events) => exitsOf(events).length >= STARTS_BEFORE_STOP;
  await program.until(isWaiting, DEADLINE_MS);
  const lastWaitMs = waitsOf(program.events).at(STARTS_BEFORE_STOP - 2) ?? 0;
  const signalMs = nowMs();
  program.kill(program.pid, 'SIGTERM');
  const later = (events) => forksOf(events).filter(({ t }) => t > signalMs + SIGNAL_ARRIVES_MS);
  await program.until((events) => later(events).length > 0, STOP_LOOK_MS);
  const forks = lastWaitMs < LEAST_LAST_WAIT_MS ? 0 : later(program.events).length; // else it has no timer to stop
  await program.stop();
  other.close();
  return { how: 'SIGTERM while it waited to restart a worker', forks, output: program.output() };
}

/** The signal comes while requests are under way. */
export async function stopAtWork(program, how) {
  const first = program.events.length;
  const ask = () => get(`${program.url}/report`, { timeoutMs: DEADLINE_MS });
  const asked = Promise.all(Array.from({ length: UNDER_WAY }, ask));
  const begun = (events) => requestsOf(events.slice(first), '/report').length >= UNDER_WAY;
  await program.until(begun, DEADLINE_MS / 2);
  const signalMs = nowMs();
  if (how === 'Ctrl-C') program.interrupt('SIGINT');
  else program.kill(program.pid, 'SIGTERM');
  const fate = await program.ended(DEADLINE_MS);
  const answers = await asked;
  const left = fate ? await program.gone(DEADLINE_MS) : [];
  const forks = forksOf(program.events).filter(({ t }) => t > signalMs).length;
  const lost = answers.filter(({ status }) => status !== 200);
  return { how, program, fate, lost, left, forks, output: program.output() };
}

export async function behead(program) {
  program.kill(program.pid, 'SIGKILL');
  const fate = await program.ended(DEADLINE_MS);
  const left = await program.gone(DEADLINE_MS);
  return { how: 'SIGKILL of the primary', fate, left, output: program.output() };
}

/** The starter and the learner's cluster. */
export const startBoth = (start) =>
  Promise.all([start(WORKERS, { isReference: true }), start(WORKERS)]);

/** Both under the same load, each of their first workers killed once. */
export async function measure({ drawn, measured }, programs) {
  const [control, candidate] = await Promise.all(programs.map(killUnderLoad));
  const [low, high] = [Math.min(...candidate.gapsMs), Math.max(...candidate.gapsMs)];
  const note =
    high > KILL_EVERY_MS
      ? `a restart took longer than the ${KILL_EVERY_MS} ms between two deaths: these say little of restarts`
      : undefined;
  drawn('answered', {
    label: `answered, of ${control.sent} requests, while each of the ${WORKERS} workers is killed`,
    unit: 'requests',
    rows: [
      { name: 'nobody replaces them', value: control.answered },
      { name: 'yours', value: candidate.answered },
    ],
    note,
  });
  measured('full-capacity', {
    label: `from the death of a worker until its replacement listens, the mean of four (${low.toFixed(0)} to ${high.toFixed(0)} ms)`,
    unit: 'ms',
    value: sumOf(candidate.gapsMs) / candidate.gapsMs.length,
    isHeadline: true,
  });
}

async function killUnderLoad(program) {
  const { fire, close } = createOpenLoop();
  await program.until((events) => servingOf(events).length === WORKERS, DEADLINE_MS);
  await fire({ url: `${program.url}/`, ...LOAD, durationMs: 100 }); // warms up
  const first = program.events.length;
  const loaded = fire({ url: `${program.url}/`, ...LOAD });
  for (const pid of servingOf(program.events)) {
    await sleep(KILL_EVERY_MS);
    program.kill(pid, 'SIGKILL');
  }
  const { answers } = await loaded;
  close();
  const replacements = () => listeningOf(program.events.slice(first));
  await program.until(() => replacements().length === WORKERS, DEADLINE_MS);
  const events = program.events.slice(first);
  const exits = exitsOf(events);
  const gapsMs = replacements().map(({ t }, index) => t - exits[index].t);
  const answered = answers.filter(({ status }) => status === 200).length;
  return { answered, sent: answers.length, gapsMs };
}
