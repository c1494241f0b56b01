/**
 * What the check of lesson 5 does with the learner's program and sees of it: workers that are ended, starts in vain,
 * signals to stop. At the end what is only shown: how soon a dead worker is replaced, the availability through four deaths.
 */
import { once } from 'node:events';
import { Agent } from 'node:http';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Undecided,
  createOpenLoop,
  eventsOf,
  exitsOf,
  forksOf,
  get,
  hasPid,
  isCrowded,
  meanOf,
  nowMs,
  requestsOf,
  waitsOf,
} from '../../lib/check/checking.js';

export const WORKERS = 2;
export const DEADLINE_MS = 10_000;
const LONG_DEADLINE_MS = 20_000; // for what takes many starts
const REST_TURNS = 10; // of an event loop, about 200 ms: it tells of its timers in every fifth
const LEAST_TURN_MS = 19;
const LONG_TURNS = 150; // about 3 s: what a timer has not done by then it does not do
const MOST_STARTS = 10;
const MOST_WAITING_MS = 5_000; // all waits together
export const LEAST_LAST_WAIT_MS = 100;
const STOP_LOOK_MS = 3_000;
export const UNDER_WAY = 6;
const LOADED = 4; // workers
const LOAD = { ratePerSecond: 60, durationMs: 2_000, timeoutMs: 1_000 };
const KILL_EVERY_MS = 400;
const LEFT_POLL_MS = 20; // a look reads every process of the machine

const listeningOf = (events) => eventsOf(events, 'worker-listening');

/** The workers of which the primary knows that they listen, and not that they have ended; who came last is last. */
function servingOf(events) {
  const ended = new Set(exitsOf(events).map(({ workerPid }) => workerPid));
  const pids = new Set(listeningOf(events).map(({ workerPid }) => workerPid));
  return [...pids].filter((pid) => !ended.has(pid));
}

/** The processes of a program that run, or are about to. */
function aliveIn(events) {
  const begun = eventsOf(events, 'start').map(({ pid }) => pid);
  const forked = eventsOf(events, 'child').map(({ childPid }) => childPid);
  const ended = new Set(exitsOf(events).map(({ workerPid }) => workerPid));
  return [...new Set([...begun, ...forked])].filter((pid) => !ended.has(pid) && hasPid(pid));
}

/** How many timers each process had when it last told. @returns {Map<number, number>} */
const timersIn = (events) =>
  new Map(
    eventsOf(events, 'beat').flatMap(({ pid, timers }) =>
      timers === undefined ? [] : [[pid, timers]],
    ),
  );

const firstTimers = (beats) => beats.find(({ timers }) => timers !== undefined).timers;

/** The same, but for workers that have not told since they listen: a server has a timer of its own. */
function settledTimersIn(events) {
  const told = timersIn(events);
  for (const { t, workerPid } of listeningOf(events)) {
    const isTold = (/** @type {any} */ beat) =>
      beat.pid === workerPid && beat.timers !== undefined && beat.t > t;
    if (!eventsOf(events, 'beat').some(isTold)) told.delete(workerPid);
  }
  return told;
}

/**
 * Nothing more is going to happen by itself: since the last event each event loop has turned for a while, and has no
 * timer but those that it had before. Who is still on the way to listen is given longer.
 * @param {any[]} events
 * @param {{ before: Map<number, number>, fromMs: number, pids?: number[] }} options  before: timers; fromMs: rest before
 *   that does not count
 */
function isAtRest(events, { before, fromMs, pids }) {
  const { t: lastMs } = events.findLast(({ what }) => what !== 'beat') ?? { t: 0 };
  const sinceMs = Math.max(lastMs, fromMs);
  if (nowMs() < sinceMs + REST_TURNS * LEAST_TURN_MS) return false;
  pids ??= aliveIn(events);
  const listened = new Set(listeningOf(events).map(({ workerPid }) => workerPid));
  const isComing = (each) =>
    !listened.has(each) && forksOf(events).some(({ workerPid }) => workerPid === each);
  const beats = eventsOf(events, 'beat').filter(({ t }) => t > sinceMs);
  return pids.every((each) => {
    const turns = beats.filter(({ pid }) => pid === each);
    const timers = timersIn(turns).get(each);
    if (timers === undefined || turns.length < REST_TURNS) return false;
    const usual = before.get(each) ?? firstTimers(turns);
    const isIdle = timers <= usual && !isComing(each);
    return isIdle || turns.length >= LONG_TURNS;
  });
}

const kill = (program, pids) => pids.filter((pid) => program.kill(pid, 'SIGKILL'));

/** A worker with a bug, and then the one in its place, by a signal. */
export function crashTwice(program) {
  return strikeInTurn(program, [
    ['/buggy', () => askForABug(program)],
    ['SIGKILL', (pids) => kill(program, pids.slice(-1))],
  ]);
}

/** The place of those crashes again and again, and then all places at once. There may come one worker more than died. */
export async function crashAgain(program, before) {
  if (!before.at(-1).isBack) return before;
  const killLast = (pids) => kill(program, pids.slice(-1));
  const rounds = await strikeInTurn(program, [
    ['SIGKILL in the middle of its work', (pids) => killAtWork(program, pids.at(-1))],
    ['SIGKILL in the same place', killLast],
    ['SIGKILL in the same place', killLast],
    ['SIGKILL of two at once', (pids) => kill(program, pids)],
  ]);
  return [...before, ...rounds.slice(0, -1), await awaitOneMore(program, rounds.at(-1))];
}

async function strikeInTurn(program, strikes) {
  const rounds = [];
  for (const [how, strike] of strikes) {
    const round = { how, ...(await strikeOnce(program, strike, WORKERS)) };
    rounds.push(round);
    if (!round.isBack) break;
  }
  return rounds;
}

/** One worker leaves as planned. */
export async function leaveAsPlanned(program) {
  const strike = (pids) => pids.slice(0, 1).filter((pid) => program.kill(pid, 'SIGTERM'));
  const round = await strikeOnce(program, strike, WORKERS - 1);
  return awaitOneMore(program, round);
}

/** There may come one worker more than is wanted. */
async function awaitOneMore(program, round) {
  const forks = forksOf(program.events).length;
  const before = settledTimersIn(program.events.slice(0, round.first));
  const rest = { before, fromMs: nowMs() };
  const isDone = (events) => forksOf(events).length > forks || isAtRest(events, rest);
  await program.until(isDone, STOP_LOOK_MS);
  return { ...round, last: program.events.length };
}

/** Ends some workers and waits until `size` serve, or it is plain that they never will. */
async function strikeOnce(program, strike, size) {
  await program.until((events) => servingOf(events).length >= size);
  const first = program.events.length;
  const said = program.output();
  const timers = settledTimersIn(program.events);
  const before = servingOf(program.events);
  const victims = await strike(before);
  const rest = { before: timers, fromMs: nowMs() };
  let isBack = false;
  const isDone = (events) => {
    const ended = exitsOf(events).map(({ workerPid }) => workerPid);
    isBack = victims.every((pid) => ended.includes(pid)) && servingOf(events).length >= size;
    return isBack || isAtRest(events, rest);
  };
  if (!(await program.until(isDone, DEADLINE_MS)) && !program.fate && isCrowded())
    throw busy(`Within ${DEADLINE_MS / 1000} s it was not to be seen whether a new worker comes.`);
  const events = program.events.slice(first);
  const exits = exitsOf(events).filter(({ workerPid }) => before.includes(workerPid));
  const gapsMs = isBack ? gapsOf(exits, events) : [];
  const output = program.output();
  const news = output.startsWith(said) ? output.slice(said.length) : output;
  return { isBack, victims, exits, gapsMs, first, last: first + events.length, news };
}

/** From each death to the moment at which one more listens. */
const gapsOf = (exits, events) =>
  listeningOf(events).map(({ t }, index) => t - (exits[index] ?? exits.at(-1)).t);

/** Tells which worker executed /buggy. */
async function askForABug(program) {
  get(`${program.url}/buggy`, { timeoutMs: DEADLINE_MS }); // nobody waits for an answer
  await program.until((events) => requestsOf(events, '/buggy').length > 0);
  return requestsOf(program.events, '/buggy').map(({ pid }) => pid);
}

/** Kills this worker when it is seen at work, or the first that is, while other requests wait for their turn. */
async function killAtWork(program, wanted) {
  const first = program.events.length;
  const asked = () => requestsOf(program.events.slice(first), '/').map(({ pid }) => pid);
  const count = 3 * WORKERS;
  for (let index = 0; index < count; index += 1) get(`${program.url}/`, { timeoutMs: DEADLINE_MS }); // some are lost with the worker
  await program.until(() => asked().includes(wanted) || asked().length >= count);
  return kill(program, asked().includes(wanted) ? [wanted] : asked().slice(-1));
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
  await program.until((events) => exitsOf(events).length > 0, DEADLINE_MS);
  program.kill(program.pid, 'SIGTERM');
  const signalMs = nowMs();
  const later = (events) => {
    const isTurn = ({ what, pid, t }) => what === 'beat' && pid === program.pid && t > signalMs;
    const [, heard = { t: Infinity }] = events.filter(isTurn); // at the first it may just be hearing of it
    return forksOf(events).filter(({ t }) => t > heard.t);
  };
  await program.until((events) => later(events).length > 0, STOP_LOOK_MS);
  const forks = later(program.events).length;
  await program.stop();
  other.close();
  return { how: 'SIGTERM while it waited to restart a worker', forks, output: program.output() };
}

/** The signal comes while requests are under way. */
export async function stopAtWork(program, how) {
  const first = program.events.length;
  const agent = new Agent();
  const ask = () => get(`${program.url}/report`, { timeoutMs: DEADLINE_MS, agent });
  const asked = Promise.all(Array.from({ length: UNDER_WAY }, ask));
  const begun = (events) => requestsOf(events.slice(first), '/report').length >= UNDER_WAY;
  await program.until(begun, DEADLINE_MS / 2);
  const before = settledTimersIn(program.events);
  for (const { pid } of requestsOf(program.events.slice(first))) before.set(pid, 0); // those of /report
  const signalMs = nowMs();
  if (how === 'Ctrl-C') program.interrupt('SIGINT');
  else program.kill(program.pid, 'SIGTERM');
  const rest = { before, fromMs: nowMs() };
  await program.until((events) => isAtRest(events, rest), DEADLINE_MS);
  const { fate } = program;
  const left = fate ? await leftOf(program, before) : [];
  agent.destroy();
  const answers = await asked;
  const forks = forksOf(program.events).filter(({ t }) => t > signalMs).length;
  const lost = answers.filter(({ status }) => status !== 200);
  return { how, program, fate, lost, left, forks, output: program.output() };
}

/** Who is still there after the end of the primary, when nobody of them is about to end. */
async function leftOf(program, before) {
  const deadline = performance.now() + DEADLINE_MS;
  const fromMs = nowMs();
  let left = program.survivors();
  while (left.length > 0 && performance.now() < deadline) {
    if (isAtRest(program.events, { before, fromMs, pids: left })) break;
    await sleep(LEFT_POLL_MS);
    left = program.survivors();
  }
  return left;
}

export async function behead(program) {
  const before = settledTimersIn(program.events);
  program.kill(program.pid, 'SIGKILL');
  const fate = await program.ended(DEADLINE_MS);
  const left = await leftOf(program, before);
  return { how: 'SIGKILL of the primary', fate, left, output: program.output() };
}

/** How soon those who died were replaced. It decides nothing. */
export function tellGaps({ measured }, rounds) {
  const gapsMs = rounds.flatMap((round) => round.gapsMs);
  const range = `${Math.min(...gapsMs).toFixed(0)} to ${Math.max(...gapsMs).toFixed(0)} ms`;
  measured('full-capacity', {
    label: `from the death of a worker until its replacement listens, the mean of ${gapsMs.length} (${range})`,
    unit: 'ms',
    ...meanOf(gapsMs),
    isHeadline: true,
  });
}

/** The starter and the learner's cluster. */
export const startBoth = (start) =>
  Promise.all([start(LOADED, { isReference: true }), start(LOADED)]);

/** Both under the same load, each of their first workers killed once. */
export async function drawAvailability({ drawn }, programs) {
  const [control, candidate] = await Promise.all(programs.map(killUnderLoad));
  drawn('answered', {
    label: `answered, of ${control.sent} requests, while each of the ${LOADED} workers is killed`,
    unit: 'requests',
    rows: [
      { name: 'nobody replaces them', value: control.answered },
      { name: 'yours', value: candidate.answered },
    ],
  });
}

async function killUnderLoad(program) {
  const { fire, close } = createOpenLoop();
  await program.until((events) => servingOf(events).length === LOADED, DEADLINE_MS);
  await fire({ url: `${program.url}/`, ...LOAD, durationMs: 100 }); // warms up
  const loaded = fire({ url: `${program.url}/`, ...LOAD });
  for (const pid of servingOf(program.events)) {
    await sleep(KILL_EVERY_MS);
    program.kill(pid, 'SIGKILL');
  }
  const { answers } = await loaded;
  close();
  const answered = answers.filter(({ status }) => status === 200).length;
  return { answered, sent: answers.length };
}
