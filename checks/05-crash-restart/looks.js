/**
 * What the check of lesson 5 does with the learner's program and sees of it: workers that are ended, failed starts,
 * signals to stop. At the end, what is only shown: how soon a dead worker is replaced, the availability through four deaths.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Undecided,
  askAtOnce,
  createOpenLoop,
  eventsOf,
  exitsOf,
  forksOf,
  get,
  hasPid,
  haveTurned,
  isCrowded,
  meanOf,
  nowMs,
  queuedMsOf,
  requestsOf,
  sumOf,
  turnedMs,
  waitsOf,
} from '../../lib/check/checking.js';

export const WORKERS = 2;
export const PLACES = 4; // one that fails, one that waits, one that is well, one whose worker dies when it has given up
export const DEADLINE_MS = 10_000;
const LONG_DEADLINE_MS = 20_000; // for what takes many starts
const REST_TURNS = 10; // of an event loop, about 200 ms: it reports its timers in every fifth
const LEAST_TURN_MS = 19;
const LONG_TURNS = 150; // about 3 s: what a timer has not done by then, it never does
export const RESTARTS = 4; // in a row, and then it gives up
export const WAITS_MS = Array.from({ length: RESTARTS }, (_, index) => 100 * 2 ** index);
export const SHORTEST = 0.75; // of these: there may be some chance in a wait
export const LEAST_WAIT_MS = SHORTEST * WAITS_MS[0];
const MOST_WAITING_MS = 5_000; // all waits together
const MOST_TRIES = 3;
const MOST_KILLS = 3 * RESTARTS;
const HEARD = 2; // turns of an event loop: a signal that came before has been heard
const UP_TURNS = 5; // since its last fork: by then a primary has come to the end of its file
const MOST_UP_TURNS = 50; // about 1 s: it may wait for something all its life
const LATE_IN_A_WAIT = 3; // turns, 40 to 60 ms of the first wait, which takes 100
const MOST_STRIKES = 6; // on a busy machine the second may die too early or too late
const STOP_LOOK_MS = 3_000;
const SLOW = /** @type {const} */ ([50, 1_000, 1 / 10]); // a wait of 100 ms takes a second
export const IMPATIENT = /** @type {const} */ ([200, Infinity, 50, 200, 500]); // timers, and even the longest fires after 500 ms
const IMPATIENT_TURNS = 40; // 20 ms each: by then they have
const LEAST_PATIENCE_MS = 900; // with less, a report of 300 ms is in danger on an idle machine, too
const REPORT_TURNS = 15; // of a worker's event loop, 20 ms each: a report's 300 ms
const HOLD_MS = 700; // who leaves one after the other may wait for the one that is held, and a primary's patience may be a second
export const UNDER_WAY = 6;
const HOMES = 2 * WORKERS; // requests for / at once
export const LEAVING = 3; // workers, and one that stays
export const OTHER_CODE = 143; // exit code of the first worker that dies; an exception makes it 1. A shell reports SIGTERM so
export const FAILED_CODE = 130; // of those that cannot start. A shell reports SIGINT so
export const BY_A_BUG = `an end with exit code ${OTHER_CODE} (by /buggy)`;
export const ON_ITS_WAY = 'SIGKILL while a connection was on its way to it';
const IN_A_WAIT = 'SIGKILL of a second worker while the place of the first waited';
const IN_A_START = 'SIGKILL of a second worker while the successor of the first was starting';
export const AGAIN = 'in the same place';
const SIGNALS = ['SIGALRM', 'SIGHUP', 'SIGPROF', 'SIGKILL']; // as many as a count that is never reset allows
const FAILED_STARTS = 2; // before one that listens
const STARTING_SIGNALS = ['SIGTERM', 'SIGINT']; // in turn, for those that start; a worker that listens leaves as planned, or stays
const QUICK = /** @type {const} */ ([50, Infinity, 5]); // four waits take as long as two
const LOADED = 4; // workers
const LOAD = { ratePerSecond: 60, durationMs: 2_000, timeoutMs: 1_000 };
const KILL_EVERY_MS = 400;
const HELD_UP_MS = 1_000;
const LEFT_POLL_MS = 20; // a look reads every process on the machine

const listeningOf = (events) => eventsOf(events, 'worker-listening');

/** The workers that the primary knows to listen and does not know to have ended; the newest is last. */
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

/** How many timers each process had when it last reported. @returns {Map<number, number>} */
const timersIn = (events) =>
  new Map(
    eventsOf(events, 'beat').flatMap(({ pid, timers }) =>
      timers === undefined ? [] : [[pid, timers]],
    ),
  );

const firstTimers = (beats) => beats.find(({ timers }) => timers !== undefined).timers;

/**
 * The same, except for workers that have not reported since they listen: a server has its own timer. What a primary had before
 * its last fork may have been the timer for that: then the fewest count.
 */
function settledTimersIn(events) {
  const told = timersIn(events);
  const reports = eventsOf(events, 'beat').filter(({ timers }) => timers !== undefined);
  const isTold = (/** @type {number} */ pid, sinceMs) =>
    reports.some((beat) => beat.pid === pid && beat.t > sinceMs);
  for (const { t, workerPid } of listeningOf(events))
    if (!isTold(workerPid, t)) told.delete(workerPid);
  const [{ t: upMs = Infinity } = {}] = listeningOf(events);
  const [{ pid: primary }] = eventsOf(events, 'start');
  const fewest = reports.filter(({ pid, t }) => pid === primary && t > upMs);
  if (!isTold(primary, forksOf(events).at(-1)?.t) && fewest.length > 0)
    told.set(primary, Math.min(...fewest.map(({ timers }) => timers)));
  return told;
}

/**
 * Nothing more is going to happen on its own: since the last event each event loop has turned for a while, and has no
 * timers except those that it had before. A worker that does not listen yet, or has crashed, is given longer.
 * @param {any[]} events
 * @param {{ before: Map<number, number>, fromMs: number, pids?: number[] }} options  before: timers; fromMs: rest before
 *   that does not count
 */
function isAtRest(events, { before, fromMs, pids }) {
  const { t: lastMs } = events.findLast(({ what }) => what !== 'beat') ?? { t: 0 };
  const sinceMs = Math.max(lastMs, fromMs);
  if (nowMs() < sinceMs + REST_TURNS * LEAST_TURN_MS) return false;
  if (!pids) {
    pids = aliveIn(events);
    const [primary] = eventsOf(events, 'start');
    if (!pids.includes(primary?.pid)) return false; // how it ended will be known in a moment
    if (forksOf(events).some(({ workerPid }) => isUnheard(events, workerPid))) return false; // and so will be this end
  }
  const listened = new Set(listeningOf(events).map(({ workerPid }) => workerPid));
  const isComing = (each) =>
    !listened.has(each) && forksOf(events).some(({ workerPid }) => workerPid === each);
  const hasCrashed = (each) => eventsOf(events, 'crash').some(({ pid }) => pid === each); // it may end by a timer that keeps nobody
  const beats = eventsOf(events, 'beat').filter(({ t }) => t > sinceMs);
  return pids.every((each) => {
    const turns = beats.filter(({ pid }) => pid === each);
    const timers = timersIn(turns).get(each);
    if (timers === undefined || turns.length < REST_TURNS) return false;
    const usual = before.get(each) ?? firstTimers(turns);
    const isIdle = timers <= usual && !isComing(each) && !hasCrashed(each);
    return isIdle || turns.length >= LONG_TURNS;
  });
}

const kill = (program, pids, signal = 'SIGKILL') => pids.filter((pid) => program.kill(pid, signal));

/** A worker with a bug, and then the one in its place, by a signal. */
export function crashTwice(program) {
  return strikeInTurn(program, [
    [BY_A_BUG, () => askForABug(program)],
    ['SIGKILL', (pids) => kill(program, pids.slice(-1))],
  ]);
}

/** Where all are back. How long others kept it from running meanwhile tells whether it was slow by itself. */
export async function askHomes(program, rounds) {
  if (!rounds.every(({ isBack }) => isBack)) return undefined;
  const sinceMs = nowMs();
  const seen = await askAtOnce(program, '/', HOMES);
  return { ...seen, starvedMs: program.turn.starvedSince(sinceMs) };
}

/**
 * The place of those crashes again and again, by signals that nobody thinks of as well, and then two places at nearly the
 * same time. One more worker may come than died.
 */
export async function crashAgain(program, before) {
  if (!before.at(-1).isBack) return before;
  const killLast = (signal) => (pids) => kill(program, pids.slice(-1), signal);
  const [pid] = servingOf(program.events);
  const signals = SIGNALS.map((signal) => (isDeadly(pid, signal) ? signal : 'SIGKILL'));
  const rounds = await strikeInTurn(program, [
    [ON_ITS_WAY, (pids) => killBeforeItAccepts(program, pids.at(-1))],
    ...signals.map((signal) => [`${signal} ${AGAIN}`, killLast(signal)]),
    ...Array.from({ length: MOST_STRIKES }, () => [
      IN_A_WAIT,
      (pids) => killInAWait(program, pids),
      (rounds) => !rounds.some(isTelling),
    ]),
    ['SIGKILL of two at once', (pids) => kill(program, pids)],
    [IN_A_START, (pids) => killInAStart(program, pids)],
  ]);
  return [...before, ...rounds.slice(0, -1), await awaitMore(program, rounds.at(-1))];
}

/** A worker may ignore SIGHUP, or leave as planned because of it. Where the system does not tell, it is not tried. */
function isDeadly(pid, signal) {
  if (signal !== 'SIGHUP') return true;
  try {
    const masks = readFileSync(`/proc/${pid}/status`, 'utf8').matchAll(
      /^Sig(?:Ign|Cgt):\s*(\w+)/gm,
    );
    return [...masks].every(([, mask]) => parseInt(mask.slice(-1), 16) % 2 === 0); // it is signal 1
  } catch {
    return false;
  }
}

/** The second died in the wait of the first, and so late in it that what was left is too short a wait for anybody. */
export const isTelling = ({ how, waits: [first, second] }) => {
  const leftMs = how === IN_A_WAIT && second ? first.fork.t - second.exit.t : 0;
  return leftMs > 0 && leftMs < LEAST_WAIT_MS;
};

/** It should have told: who does not wait is found elsewhere, and who waits for longer than they have to may. */
export const isToTell = ({ how, waits: [first] }) =>
  how === IN_A_WAIT &&
  first?.waitMs >= LEAST_WAIT_MS &&
  first.waitMs - first.lateMs < 2 * LEAST_WAIT_MS;

/** Each strike, unless what was seen before it says that it is not needed; none after one that is not repaired. */
async function strikeInTurn(program, strikes) {
  const rounds = [];
  for (const [how, strike, isNeeded = () => true] of strikes) {
    if (!isNeeded(rounds)) continue;
    const round = { how, ...(await strikeOnce(program, strike, WORKERS)) };
    rounds.push(round);
    if (!round.isBack) break;
  }
  return rounds;
}

/**
 * One worker leaves as planned. Two others are asked to leave as well; one of them throws on its way out, and one is killed.
 */
export async function leaveAsPlanned(program) {
  let crashes = 0; // it was quicker than its leave: a crash like any other
  const endOne = async (end, most) => {
    let pid = 0;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      pid = await endWhileItLeaves(program, end);
      const isIt = (/** @type {any} */ { workerPid }) => workerPid === pid;
      const exit = await program.until((events) => exitsOf(events).find(isIt), DEADLINE_MS);
      if (!exit || exit.planned) break;
      crashes += 1;
      const rest = { before: settledTimersIn(program.events), fromMs: nowMs() };
      const isBack = (events) => servingOf(events).length >= most || isAtRest(events, rest);
      await program.until(isBack, DEADLINE_MS);
    }
    return pid;
  };
  const strike = async () => {
    const thrower = await endOne(throwUp, LEAVING + 1);
    const killed = await endOne(killWhenGone, LEAVING);
    const other = servingOf(program.events).find((pid) => ![thrower, killed].includes(pid));
    if (!other) throw busy('No other worker served any more.');
    program.kill(other, 'SIGTERM');
    return [other, thrower, killed];
  };
  await program.until((events) => servingOf(events).length > LEAVING);
  const round = await strikeOnce(program, strike, 1);
  return { ...(await awaitMore(program, round, LEAVING)), crashes };
}

const END = '\r\n'; // of a request
const asking = (path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${END}`;

/** On a connection with a request a worker that leaves still takes another: /buggy, and the client hangs up. */
const throwUp = (/** @type {import('node:net').Socket} */ socket) => socket.end(asking('/buggy'));

/** Its client hangs up. The primary hears that it leaves then, and what is under way keeps it alive for a moment. */
async function killWhenGone(socket, pid, program) {
  socket.destroy();
  await turnsOf(program, pid, 1);
  program.kill(pid, 'SIGKILL');
}

/** Waits until the worker's event loop has turned so often from now on, or it has ended. */
function turnsOf(program, pid, count) {
  const sinceMs = nowMs();
  const hasEnded = (events) => exitsOf(events).some(({ workerPid }) => workerPid === pid);
  return program.until((events) => haveTurned(events, [pid], count, sinceMs) || hasEnded(events));
}

/**
 * A worker that leaves closes its channel to the primary when the last connection is closed, and ends when nothing keeps
 * it alive. Until then it can be ended otherwise.
 * @param {(socket: import('node:net').Socket, pid: number, program: any) => any} end  is given a connection with a request
 *   under way
 */
async function endWhileItLeaves(program, end) {
  const first = program.events.length;
  const socket = connect(program.port, '127.0.0.1').on('error', () => {}); // it ends with the worker
  socket.resume().write(asking('/report'));
  const begun = () => requestsOf(program.events.slice(first), '/report')[0];
  const { pid } = (await program.until(begun)) ?? {};
  if (pid === undefined) throw busy('A request for /report had not come to a worker.');
  program.kill(pid, 'SIGTERM');
  await turnsOf(program, pid, HEARD);
  await end(socket, pid, program);
  return pid;
}

/** More workers may come than are wanted. */
async function awaitMore(program, round, most = 1) {
  const forks = forksOf(program.events).length;
  const before = settledTimersIn(program.events.slice(0, round.first));
  const rest = { before, fromMs: nowMs() };
  const isDone = (events) => forksOf(events).length >= forks + most || isAtRest(events, rest);
  await program.until(isDone, STOP_LOOK_MS);
  return { ...round, last: program.events.length, news: newsOf(program, round.said) };
}

/** Ends some workers and waits until `size` serve, or it is clear that they never will. */
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
  const back = listeningOf(events).length;
  const waits = waitsIn(events);
  const seen = { isBack, victims, exits, gapsMs, waits, back, fate: program.fate };
  return { ...seen, first, last: first + events.length, said, news: newsOf(program, said) };
}

/** What it has printed since. */
function newsOf(program, said) {
  const output = program.output();
  return output.startsWith(said) ? output.slice(said.length) : output;
}

/** From each death to the moment at which one more listens. */
const gapsOf = (exits, events) =>
  listeningOf(events).map(({ t }, index) => t - (exits[index] ?? exits.at(-1)).t);

/** Returns the worker that executed /buggy. */
async function askForABug(program) {
  get(`${program.url}/buggy`, { timeoutMs: DEADLINE_MS }); // nobody waits for an answer
  await program.until((events) => requestsOf(events, '/buggy').length > 0);
  return requestsOf(program.events, '/buggy').map(({ pid }) => pid);
}

/**
 * Lets this worker stand still, and kills it when a connection has been dealt to it, which it can no longer accept: the
 * primary deals the next to a free worker, so out of so many each gets its turn.
 */
async function killBeforeItAccepts(program, pid) {
  const first = program.events.length;
  program.kill(pid, 'SIGSTOP');
  const count = WORKERS + 1;
  for (let index = 0; index < count; index += 1) get(`${program.url}/`, { timeoutMs: DEADLINE_MS }); // one is lost
  const others = (events) =>
    requestsOf(events.slice(first), '/').filter((request) => request.pid !== pid);
  await program.until((events) => others(events).length >= count - 1);
  return kill(program, [pid]);
}

/** The second dies when the primary knows of the first, and before it has replaced that. */
async function killInAWait(program, pids) {
  const [second, first] = pids.slice(-WORKERS);
  const begin = program.events.length;
  kill(program, [first]);
  const exitIn = (events) =>
    exitsOf(events.slice(begin)).find(({ workerPid }) => workerPid === first);
  await program.until(exitIn, DEADLINE_MS);
  const { t: exitMs = Infinity } = exitIn(program.events) ?? {};
  const isTurn = ({ what, pid, t }) => what === 'beat' && pid === program.pid && t > exitMs;
  const hasForked = (events) => forksOf(events.slice(begin)).length > 0;
  await program.until(
    (events) => events.slice(begin).filter(isTurn).length >= LATE_IN_A_WAIT || hasForked(events),
    DEADLINE_MS,
  );
  kill(program, [second]);
  return [first, second];
}

/** The second dies when a worker has been forked for the first, which stands still before it listens. */
async function killInAStart(program, pids) {
  const [second, first] = pids.slice(-WORKERS);
  const before = settledTimersIn(program.events);
  const begin = program.events.length;
  const forked = (events) => forksOf(events.slice(begin));
  kill(program, [first]);
  await program.until((events) => forked(events).length > 0, DEADLINE_MS);
  const successor = forked(program.events)[0]?.workerPid;
  if (successor !== undefined) program.kill(successor, 'SIGSTOP');
  kill(program, [second]);
  const rest = { before, fromMs: nowMs(), pids: [program.pid] };
  const isDone = (events) => forked(events).length > 1 || isAtRest(events, rest);
  await program.until(isDone, DEADLINE_MS);
  if (successor !== undefined) program.kill(successor, 'SIGCONT');
  return [first, second];
}

/** On a port that another program holds already, each worker dies of EADDRINUSE before it listens. */
async function launchOnTakenPort(launch, workers = 1, options = {}) {
  const other = createServer().listen(0).unref();
  await once(other, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (other.address());
  const env = { PORT: String(port), NODE_CLUSTER_WORKERS: String(workers) };
  return { program: await launch({ env, ...options }), other };
}

export async function failToStart(launch) {
  const { program, other } = await launchOnTakenPort(launch, 1, { pretendExitCode: FAILED_CODE });
  const isEnough = (events) =>
    restartsOf(events) > RESTARTS || sumOf(waitsOf(events, nowMs())) > MOST_WAITING_MS;
  const isIdle = (events) => {
    const [first] = forksOf(events); // before that it may still be loading
    return first && isAtRest(events, { before: new Map([[first.pid, 0]]), fromMs: first.t });
  };
  /** @type {{ ms: number, t: number } | undefined} */
  let queued; // for how long the primary itself was, up to when we last looked; its workers' starts are queued, too
  const isOver = (events) => {
    const ms = queuedMsOf(program.pid);
    if (ms !== undefined) queued = { ms, t: nowMs() };
    return isEnough(events) || isIdle(events);
  };
  await program.until(isOver, LONG_DEADLINE_MS);
  const { events, fate } = program;
  const starvedMs = queued
    ? queued.ms + (nowMs() - queued.t)
    : program.turn.starvedSince(forksOf(events)[0]?.t ?? nowMs());
  const isPlain = fate || restartsOf(events) > RESTARTS || isIdle(events);
  await program.stop();
  other.close();
  if (!isPlain && wasHeldUp(program, 0))
    throw busy('Whether it gives up was not to be seen in time.');
  const isWaiting = !fate && isEnough(events) && restartsOf(events) <= RESTARTS;
  const waitsMs = waitsOf(events, isWaiting ? nowMs() : undefined);
  const latesMs = waitsMs.map((_, index) => lateIn(events, index));
  const isStuck = !fate && exitsOf(events).length < forksOf(events).length && !isEnough(events);
  const restarts = restartsOf(events);
  const asleep = { heldMs: waitsMs.map((_, index) => heldIn(events, index)), starvedMs };
  return { program, fate, isStuck, restarts, waitsMs, latesMs, asleep, output: program.output() };
}

/** For how long at a time the primary's event loop stood still, at most, from one start to the next. */
function heldIn(events, index) {
  const [{ pid: primary, t: fromMs }, { t: toMs } = { t: Infinity }] = forksOf(events).slice(index);
  const beats = eventsOf(events, 'beat').filter(({ pid, t }) => pid === primary && t > fromMs);
  const last = beats.findIndex(({ t }) => t > toMs); // it reports what came before it
  return Math.max(0, ...beats.slice(0, last === -1 ? undefined : last + 1).map(({ late }) => late));
}

const restartsOf = (events) => Math.max(0, forksOf(events).length - 1);

/** How late the primary's event loop was, in all, while it waited for the next start. */
function lateIn(events, index) {
  return lateAfter(events, exitsOf(events)[index], forksOf(events)[index + 1]?.t);
}

function lateAfter(events, exit, forkMs = Infinity) {
  const beats = eventsOf(events, 'beat').filter(({ pid, t }) => pid === exit.pid && t > exit.t);
  const last = beats.findIndex(({ t }) => t > forkMs); // it reports what came before it
  return sumOf(beats.slice(0, last === -1 ? undefined : last + 1).map(({ late }) => late));
}

/**
 * A wait is longer than this: the primary's event loop has turned since, and timers that were due before came first.
 * However late they came, that does not count.
 */
function leastIn(events, exit, forkMs) {
  const isTurn = ({ what, pid, t }) => what === 'beat' && pid === exit.pid && t < forkMs;
  const { t = 0, late = 0 } = events.findLast(isTurn) ?? {};
  return Math.max(0, t - late - exit.t);
}

/** The ends and the forks of a round, each in their order, and what lay between. */
function waitsIn(events) {
  const forks = forksOf(events);
  return exitsOf(events)
    .slice(0, forks.length)
    .map((exit, index) => {
      const fork = forks[index];
      const lateMs = lateAfter(events, exit, fork.t);
      const leastMs = leastIn(events, exit, fork.t);
      return { exit, fork, waitMs: fork.t - exit.t, lateMs, leastMs };
    });
}

/**
 * One of four places recovers: its worker is killed, and two that come there before they listen; the next one listens, and
 * is killed, too. Then a worker is killed in another place, and each that comes there before it listens, until there have
 * been so many in a row that the program should give up. Just before the last of them dies the worker of the first place,
 * which then waits. In the third all is well. The worker of the fourth stands still, and is killed when the program has given up.
 */
export async function giveUpBesideOther(program) {
  await program.until((events) => servingOf(events).length >= PLACES);
  const before = settledTimersIn(program.events).set(program.pid, 0);
  const [well, victim, other, slow] = servingOf(program.events);
  const place = { before, next: PLACES };
  const recovered = await recover(program, place, other);
  kill(program, [victim]);
  const beside = { other: recovered.pid, slow };
  const failedStarts = recovered.pid ? await failAgain(program, place, beside) : 0;
  const toldMs = await killWhenToldOf(program, slow);
  const rest = { before, fromMs: nowMs() };
  const isMore = (events) => forksOf(events).length > place.next;
  await program.until((events) => isMore(events) || isAtRest(events, rest), DEADLINE_MS);
  const { fate, events } = program;
  await program.stop();
  const goesOn = fate ? 0 : forksOf(events).length - place.next;
  const late = forksOf(events).filter(({ t }) => t > toldMs);
  return { program, fate, recovered, failedStarts, goesOn, late, well, output: program.output() };
}

export const isTold = (output) => /giving up/i.test(output);

/**
 * Kills a worker when the program has said that it gives up, or has had the time to.
 * @returns {Promise<number>}  since when it had said so; Infinity, if it has not
 */
async function killWhenToldOf(program, pid) {
  const sinceMs = nowMs();
  const hasSaid = () => isTold(program.output());
  const hasHeard = (events) => haveTurned(events, [program.pid], HEARD, sinceMs);
  await program.until((events) => hasSaid() || hasHeard(events) || program.fate, DEADLINE_MS);
  const toldMs = hasSaid() ? nowMs() : Infinity;
  kill(program, [pid]);
  return toldMs;
}

const hasListened = ({ events }, pid) =>
  listeningOf(events).some(({ workerPid }) => workerPid === pid);

/** Has the primary heard of a worker's end? */
const hasEnded = (events, pid) => exitsOf(events).some(({ workerPid }) => workerPid === pid);

/** A worker is gone, and its primary has not yet told that it has heard of it. */
const isUnheard = (events, pid) => !hasEnded(events, pid) && !hasPid(pid);

/**
 * A worker is killed, and two that come in its place before they listen, and one when it listens. How long does the place
 * wait then?
 * @returns {Promise<{ pid?: number, wait?: any }>}  pid: of the one that serves there in the end; wait: none where not just
 *   two died early
 */
async function recover(program, place, victim) {
  await killAndHear(program, victim);
  let failed = 0;
  for (let count = 0; count < FAILED_STARTS; count += 1) {
    const pid = await nextOf(program, place);
    if (pid === undefined) return {};
    await killAndHear(program, pid);
    if (!hasListened(program, pid)) failed += 1;
  }
  const third = await listenNext(program, place);
  if (third === undefined) return {};
  const first = program.events.length;
  await killAndHear(program, third);
  const pid = await listenNext(program, place);
  const [wait] = failed === FAILED_STARTS ? waitsIn(program.events.slice(first)) : [];
  return { pid, wait };
}

/** The worker that is forked next, when it listens. @returns {Promise<number | undefined>}  nothing: nobody comes any more */
async function listenNext(program, place) {
  const pid = await nextOf(program, place);
  const isOver = (events) => hasListened({ events }, pid) || hasEnded(events, pid);
  if (pid !== undefined) await program.until(isOver, DEADLINE_MS);
  return pid;
}

/** Each that comes is killed before it listens. Returns how many in a row, all of them unless it no longer restarts anybody. */
async function failAgain(program, place, { other, slow }) {
  let failedStarts = 0;
  while (failedStarts < RESTARTS) {
    const pid = await nextOf(program, place);
    if (pid === undefined) break;
    const isLast = failedStarts === RESTARTS - 1 && !hasListened(program, pid);
    if (isLast) {
      for (const each of [pid, slow]) program.kill(each, 'SIGSTOP'); // neither listens, nor leaves meanwhile
      await killAndHear(program, other);
    }
    await killAndHear(program, pid);
    failedStarts = hasListened(program, pid) ? 0 : failedStarts + 1;
    if (isLast && failedStarts === 0)
      throw busy('A worker listened just when it was to be killed before that.');
    if (isLast) place.next += filledBefore(program, { pid, other, from: place.next });
  }
  return failedStarts;
}

/** Is a worker forked, once more than so often? */
async function isComing(program, { before, next }) {
  const rest = { before, fromMs: nowMs() };
  const isOver = (events) => forksOf(events).length > next || isAtRest(events, rest);
  const isSeen = await program.until(isOver, DEADLINE_MS);
  if (next > PLACES + MOST_KILLS || !(isSeen || program.fate))
    throw busy('Its workers could not be killed before they listened.');
  return forksOf(program.events).length > next;
}

/** The worker that is forked next. @returns {Promise<number | undefined>}  nothing: nobody comes any more */
async function nextOf(program, place) {
  if (!(await isComing(program, place))) return undefined;
  place.next += 1;
  return forksOf(program.events)[place.next - 1].workerPid;
}

/** Kills a worker, and waits until the primary has heard of it. */
async function killAndHear(program, pid) {
  kill(program, [pid]);
  await program.until((events) => hasEnded(events, pid), DEADLINE_MS);
}

/** The forks that came before the end of the last was heard of: of who does not wait, or on a busy machine. */
function filledBefore({ events }, { pid, other, from }) {
  const endOf = (one) => exitsOf(events).find(({ workerPid }) => workerPid === one);
  const [last, exit] = [endOf(pid), endOf(other)];
  const early = last ? forksOf(events.slice(0, events.indexOf(last))).slice(from) : [];
  if (early.some(({ t }) => t - (exit?.t ?? t) >= LEAST_WAIT_MS))
    throw busy('Two workers were to die together, and one died too late.');
  return early.length;
}

export const busy = (got) =>
  new Undecided({
    got,
    why: 'The machine is busy.',
    try: 'npm run check lesson-5, when it has less to do',
  });

/** Did others keep it from running since then, for long or just now? */
const wasHeldUp = (program, sinceMs) =>
  isCrowded() || program.turn.starvedSince(sinceMs) > HELD_UP_MS;

/**
 * The signal comes between two crashes and the new starts that are to follow: each place has its own timer, and all of them
 * are slow, so that none has fired when the signal is heard.
 */
export async function stopWhileItWaits(launch) {
  const { program, other } = await launchOnTakenPort(launch, WORKERS, { pretendTimers: SLOW });
  const isWaiting = (events) => {
    const [ends, forks] = [exitsOf(events).length, forksOf(events).length];
    return (ends >= WORKERS && ends === forks) || forks > WORKERS * RESTARTS; // one without a wait
  };
  await program.until(isWaiting, DEADLINE_MS);
  program.kill(program.pid, 'SIGTERM');
  const signalMs = nowMs();
  const later = (events) => forkedLater(events, program.pid, signalMs);
  const rest = { before: new Map([[program.pid, 0]]), fromMs: signalMs };
  const isDone = (events) => later(events).length > 0 || isAtRest(events, rest);
  const isDecided = await program.until(isDone, DEADLINE_MS);
  const { fate } = program;
  if (!isDecided && !fate && wasHeldUp(program, signalMs))
    throw busy(`Within ${DEADLINE_MS / 1000} s it was not to be seen whether it stops.`);
  const forks = later(program.events).length;
  await program.stop();
  other.close();
  const how = `SIGTERM while it waited to restart ${WORKERS} workers`;
  const isStuck = !fate && isDecided && forks === 0;
  const isWaitLonger = forksOf(program.events).length > WORKERS; // ten times as long as its third wait, or its fourth
  if (isStuck && isWaitLonger && timersIn(program.events).get(program.pid))
    throw busy('A slow timer was still to fire, which may have ended it.');
  return { how, program, signalMs, fate, isStuck, forks, output: program.output() };
}

/** Once the primary has heard of the signal. */
function forkedLater(events, primary, signalMs) {
  const heardMs = turnedMs(events, primary, HEARD, signalMs);
  return forksOf(events).filter(({ t }) => t > heardMs);
}

/**
 * Each worker stands still before the first line of its file. The first ones are killed there, by signals for which they have
 * no handler yet, until one more such end would be the last. Then the signal to stop comes, and the worker that has just been
 * forked goes on when the primary has heard it: its end is no failed start any more. No worker has ever listened by then, and the
 * primary had the time to come to the end of its file.
 */
export async function stopWhileItStarts(launch) {
  const env = { NODE_CLUSTER_WORKERS: '1' };
  const program = await launch({ env, haltsChildren: true, pretendTimers: QUICK });
  await program.until((events) => forksOf(events).length > 0, DEADLINE_MS);
  const before = new Map([[program.pid, 0]]); // its pid is known by now
  let newborn = forksOf(program.events)[0]?.workerPid;
  let lost; // the end of one that was not replaced
  for (let index = 1; newborn && index <= RESTARTS; index += 1) {
    const signal = STARTING_SIGNALS[(index - 1) % STARTING_SIGNALS.length];
    for (const each of [signal, 'SIGCONT']) kill(program, [newborn], each); // one that stands still dies when it goes on
    const rest = { before, fromMs: nowMs() };
    const next = (events) => forksOf(events)[index]?.workerPid;
    const isClear = await program.until(
      (events) => next(events) || isAtRest(events, rest),
      DEADLINE_MS,
    );
    const exit = exitsOf(program.events).find(({ workerPid }) => workerPid === newborn);
    newborn = next(program.events);
    const { fate } = program;
    if ((isClear || fate) && !newborn && exit?.signal === signal && !fate?.code) lost = exit; // else it has given up
  }
  const isJudged = newborn !== undefined && !program.fate; // else it does not replace them, which is found elsewhere
  const isUp = isJudged && (await awaitUp(program));
  if (isJudged) kill(program, [program.pid], 'SIGTERM');
  const signalMs = nowMs();
  const seen = isJudged ? await awaitEnd(program, { newborn, before, signalMs }) : {};
  const { fate } = program;
  await program.stop();
  const how = 'SIGTERM while a worker was starting';
  return {
    how,
    program,
    signalMs,
    fate,
    isJudged,
    isUp,
    newborn,
    lost,
    forks: 0,
    ...seen,
    output: program.output(),
  };
}

/**
 * Has the primary come to the end of its file? Since its last fork its event loop has turned a few times, and it waits for no
 * file: it imports nothing more.
 */
async function awaitUp(program) {
  const forkMs = forksOf(program.events).at(-1)?.t ?? Infinity;
  const hasTurned = (events, turns) => haveTurned(events, [program.pid], turns, forkMs);
  const isUp = (events) => {
    const isReport = ({ what, pid, timers }) =>
      what === 'beat' && pid === program.pid && timers !== undefined;
    const { t = 0, waits = 0 } = events.findLast(isReport) ?? {};
    return hasTurned(events, UP_TURNS) && t > forkMs && waits === 0;
  };
  await program.until((events) => isUp(events) || hasTurned(events, MOST_UP_TURNS), DEADLINE_MS);
  return isUp(program.events);
}

/** The newborn goes on when the signal has been heard, however often that has to be said to it. */
async function awaitEnd(program, { newborn, before, signalMs }) {
  const later = (events) => forkedLater(events, program.pid, signalMs).length;
  const hasHeard = (events) => haveTurned(events, [program.pid], HEARD, signalMs);
  const isIt = (/** @type {any} */ { workerPid }) => workerPid === newborn;
  const rest = { before, fromMs: signalMs };
  const isDecided = await program.until((events) => {
    if (hasHeard(events) && !hasEnded(events, newborn)) program.kill(newborn, 'SIGCONT');
    return later(events) > 0 || isAtRest(events, rest);
  }, DEADLINE_MS);
  if (!isDecided && !program.fate && wasHeldUp(program, signalMs))
    throw busy(`Within ${DEADLINE_MS / 1000} s it was not to be seen whether it stops.`);
  const { events, fate } = program;
  const forks = later(events);
  const listens = listeningOf(events).some(isIt);
  const exit = exitsOf(events).find(isIt);
  const isEarly = exit && exit.t < signalMs; // it ended by itself, and that may have been the last failed start
  return { forks, listens, hasEnded: Boolean(exit), isEarly, isStuck: !fate && forks === 0 };
}

/**
 * The signal comes while requests are under way. One of the workers that have any stands still until the others have left,
 * as if it had more to do: who takes the end of one for the end of all is seen. An only worker throws when it has answered.
 */
export async function stopAtWork(program, how) {
  const sinceMs = nowMs();
  const open = await openConnection(program);
  const first = program.events.length;
  const agent = new Agent();
  const ask = () => get(`${program.url}/report`, { timeoutMs: DEADLINE_MS, agent });
  const asked = Promise.all(Array.from({ length: UNDER_WAY }, ask));
  const begun = (events) => requestsOf(events.slice(first), '/report').length >= UNDER_WAY;
  const areBegun = await program.until(begun, DEADLINE_MS / 2);
  const before = settledTimersIn(program.events);
  const atWork = new Set(requestsOf(program.events.slice(first)).map(({ pid }) => pid));
  for (const pid of atWork) before.set(pid, 0); // the timers of /report
  const [held, ...others] = atWork;
  if (others.length > 0) program.kill(held, 'SIGSTOP');
  const signalMs = nowMs();
  const said = program.output();
  program.tellToStop(how);
  if (others.length > 0) {
    const isLong = () => nowMs() > signalMs + HOLD_MS; // by any clock: that is how a primary's patience goes by
    const isOver = (events) => isLong() || haveLeft(events, others, program.pid, before);
    await program.until(isOver, HOLD_MS);
    program.kill(held, 'SIGCONT');
  }
  const isAlone = open && others.length === 0;
  const last = { worker: held, asked, signalMs };
  const thrower = isAlone ? await throwAtLast(program, open, last) : undefined;
  open?.destroy();
  const rest = { before, fromMs: nowMs() };
  const isDecided = await program.until((events) => isAtRest(events, rest), DEADLINE_MS);
  const { fate } = program;
  if (!isDecided && !fate && wasHeldUp(program, signalMs)) {
    agent.destroy();
    throw busy(`Within ${DEADLINE_MS / 1000} s it was not to be seen whether it stops.`);
  }
  const left = fate ? await leftOf(program, before) : [];
  agent.destroy();
  const answers = await asked;
  const forks = forksOf(program.events).filter(({ t }) => t > signalMs).length;
  const lost = answers.filter(({ status }) => status !== 200);
  if (lost.length > 0 && !areBegun && wasHeldUp(program, sinceMs))
    throw busy('Some requests had not come to a worker when it was told to stop.');
  const behind = leftBehind(program);
  const reports = requestsOf(program.events.slice(first), '/report');
  if (wereCutShort(program, reports, { signalMs, held, goneOnMs: rest.fromMs }))
    throw busy('Its patience was at an end before its workers had the time for an answer.');
  const starvedMs = program.turn.starvedSince(sinceMs);
  const asking = { answers, reports, starvedMs, lost };
  const seen = { how, program, signalMs, fate, ...asking, thrower, left, behind, forks };
  return { ...seen, news: newsOf(program, said), output: program.output() };
}

/**
 * To the only worker that serves; with more of them there is none. It has begun to ask for /buggy, so a worker that leaves does
 * not close it as one that is idle, and takes the rest.
 */
async function openConnection(program) {
  if (servingOf(program.events).length !== 1) return undefined;
  const socket = connect(program.port, '127.0.0.1').on('error', () => {}); // it ends with the worker
  socket.resume().write(asking('/buggy').slice(0, -END.length));
  await program.until(() => !socket.connecting, DEADLINE_MS);
  return socket;
}

/**
 * The worker is leaving, and nothing else is under way.
 * @returns {Promise<number | undefined>}  who was to throw; nothing: it had closed the connection
 */
async function throwAtLast(program, socket, { worker, asked, signalMs }) {
  const hasHeard = (events) => haveTurned(events, [program.pid, worker], HEARD, signalMs);
  const isTold = await program.until((events) => hasHeard(events) || socket.destroyed, DEADLINE_MS);
  await asked;
  if (!isTold || socket.destroyed) return undefined;
  socket.end(END);
  await program.until((events) => hasEnded(events, worker), DEADLINE_MS);
  return worker;
}

/** Were all that did not answer killed late, when the primary lost patience, with less time to themselves than a report takes? */
function wereCutShort(program, reports, { signalMs, held, goneOnMs }) {
  const { events } = program;
  const isCutShort = ({ pid }) => {
    const end = exitsOf(events).find(({ workerPid }) => workerPid === pid);
    const isLate = end?.signal === 'SIGKILL' && end.t > signalMs + LEAST_PATIENCE_MS;
    return isLate && !haveTurned(events, [pid], REPORT_TURNS, pid === held ? goneOnMs : signalMs);
  };
  const unanswered = reports.filter(({ endMs }) => !endMs);
  return unanswered.length > 0 && unanswered.every(isCutShort);
}

/**
 * The only worker stands still for good when the signal comes, and the timers are so quick that nobody's patience lasts. Who
 * loses it may end the worker, and then itself: does the primary leave it behind?
 */
export async function stopBesideOneThatStays(program) {
  await program.until((events) => servingOf(events).length > 0, DEADLINE_MS);
  const [stayer] = servingOf(program.events);
  if (stayer === undefined) throw busy('No worker served yet when it was to be told to stop.');
  kill(program, [stayer], 'SIGSTOP');
  kill(program, [program.pid], 'SIGTERM');
  const signalMs = nowMs();
  const isOver = (events) =>
    hasEnded(events, stayer) || haveTurned(events, [program.pid], IMPATIENT_TURNS, signalMs);
  await program.until(isOver, DEADLINE_MS);
  const { fate } = program;
  const isLeft = () => Boolean(fate) && program.survivors().includes(stayer);
  const deadline = performance.now() + STOP_LOOK_MS; // one that was killed is gone before that
  while (isLeft() && performance.now() < deadline) await sleep(LEFT_POLL_MS);
  const left = isLeft() ? stayer : undefined;
  await program.stop();
  return { program, signalMs, fate, left, output: program.output() };
}

/**
 * These workers have ended, the primary has had the time to hear of it, and has set no timer that may end it, or that has
 * fired by now.
 */
function haveLeft(events, workers, primary, before) {
  const ends = workers.map((worker) =>
    events.findIndex(
      ({ what, pid, workerPid }) =>
        (what === 'exit' && pid === worker) || (what === 'worker-exit' && workerPid === worker),
    ),
  );
  if (ends.includes(-1)) return false;
  const isTurn = ({ what, pid }) => what === 'beat' && pid === primary;
  const turns = events
    .slice(Math.max(...ends))
    .filter(isTurn)
    .slice(HEARD);
  const { timers } = turns.findLast((turn) => turn.timers !== undefined) ?? {};
  return timers !== undefined && timers <= (before.get(primary) ?? 0);
}

/** The workers that had not ended when the primary did. Their own last word is there before it can hear of their end. */
function leftBehind({ events, pid: primary }) {
  const end = events.findIndex(({ what, pid }) => what === 'exit' && pid === primary);
  const before = events.slice(0, Math.max(end, 0));
  const ended = new Set([
    ...eventsOf(before, 'exit').map(({ pid }) => pid),
    ...exitsOf(before).map(({ workerPid }) => workerPid),
  ]);
  return forksOf(before).flatMap(({ workerPid }) => (ended.has(workerPid) ? [] : [workerPid]));
}

/** Who is still there after the end of the primary, when none of them is about to end. */
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
  return { how: 'SIGKILL of the primary', program, fate, left, output: program.output() };
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
