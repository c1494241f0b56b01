/** Lesson 5: workers crash, leave and fail to start; the program stops; its primary is killed; then two measurements. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createOpenLoop,
  episode,
  eventsOf,
  exitsOf,
  forksOf,
  get,
  hasExited,
  haveTurned,
  kill,
  meanInterval,
  nowMs,
  outliving,
  repeatUntil,
  requestsOf,
  servingIn,
  stopUnderLoad,
  untilAtRest,
  whileFrozen,
} from '../../lib/check/checking.js';

export const WORKERS = 2;
export const LEAVING = 2; // workers that are asked to leave; the same number stays
export const RESTARTS = 4; // failed ones in a row, after which it gives up
export const WAITS_MS = [100, 200, 400, 800];
export const OTHER_CODE = 3; // exit code of a worker that throws, in place of 1
export const IN_FLIGHT = 6; // requests at the stop
const DEADLINE_MS = 10_000;
const HEARD = 3; // turns of an event loop, after which earlier signals and messages are handled
const LATE_IN_A_WAIT = 3; // turns of the primary, about 60 ms of its wait of 100
const HELD_TURNS = 10; // of the primary, 200 ms, for which a worker stays frozen when the others have exited
const AFTER_SIGNAL_MS = 700; // the longest wait for what follows a signal
const LOADED = 4; // workers, under load
const LOAD = { ratePerSecond: 60, durationMs: 2_000, timeoutMs: 1_000 };
const KILL_EVERY_MS = 400;

/** A worker crashes because of a bug, its successor by a signal. */
export async function crashTwice(program) {
  await program.until((events) => servingIn(events).length >= WORKERS, DEADLINE_MS);
  return crashInTurn(program, [
    [`exit code ${OTHER_CODE} (/buggy)`, () => askForABug(program)],
    ['SIGKILL', () => kill(program, newest(program))],
  ]);
}

/** After the rounds before: a crash in the same place, in both places at once, and in one during the other's wait. */
export async function crashAgain(program, before) {
  if (!before.at(-1).isDone) return before;
  const rounds = await crashInTurn(program, [
    [ON_ITS_WAY, () => killBeforeItAccepts(program)],
    ['SIGKILL of two at once', () => kill(program, newest(program, WORKERS))],
  ]);
  if (!rounds.at(-1).isDone) return [...before, ...rounds];
  const inAWait = () => crash(program, IN_A_WAIT, () => killInAWait(program));
  return [...before, ...rounds, await repeatUntil(3, inAWait, isConclusive)];
}

const newest = ({ events }, count = 1) => servingIn(events).slice(-count);

async function crashInTurn(program, strikes) {
  const rounds = [];
  for (const [how, strike] of strikes) {
    rounds.push(await crash(program, how, strike));
    if (!rounds.at(-1).isDone) break;
  }
  return rounds;
}

export const ON_ITS_WAY = 'SIGKILL while a connection was on its way to it';
const IN_A_WAIT = 'SIGKILL of two, the second while the place of the first was waiting';

/** There is nothing to repeat: the round failed, or both places really waited at the same time. @param {any} round */
export const isConclusive = ({ how, isDone, waits: [first, second] }) =>
  !isDone || (how === IN_A_WAIT && second !== undefined && second.exit.t < first.fork.t);

/** Makes some workers exit, and waits until as many serve as before. @param {() => any} strike  gives the pids of its victims */
async function crash(program, how, strike) {
  const isBack = (_, victims) =>
    victims.every((pid) => hasExited(program.events, pid)) &&
    servingIn(program.events).length >= WORKERS;
  const round = await episode(program, how, strike, isBack);
  return { ...round, victims: round.acted, program, waits: waitsIn(round.events) };
}

/** Pairs the exits with the forks after them, in order. */
export function waitsIn(events) {
  const firstMs = exitsOf(events)[0]?.t ?? Infinity;
  const forks = forksOf(events).filter(({ t }) => t > firstMs);
  return exitsOf(events)
    .slice(0, forks.length)
    .map((exit, index) => ({ exit, fork: forks[index], ms: forks[index].t - exit.t }));
}

/** @returns {Promise<number[]>}  the worker that executed /buggy */
async function askForABug(program) {
  get(`${program.url}/buggy`, { timeoutMs: DEADLINE_MS }); // never answered
  await program.until((events) => requestsOf(events, '/buggy').length > 0, DEADLINE_MS);
  return requestsOf(program.events, '/buggy').map(({ pid }) => pid);
}

/** Kills a worker that has been sent a connection: its 'disconnect' event comes late or never, unlike its 'exit'. */
async function killBeforeItAccepts(program) {
  const first = program.events.length;
  const [pid] = servingIn(program.events).slice(-1);
  const others = (events) =>
    requestsOf(events.slice(first), '/').filter((request) => request.pid !== pid);
  return whileFrozen(program, [pid], async () => {
    for (let count = 0; count <= WORKERS; count += 1)
      get(`${program.url}/`, { timeoutMs: DEADLINE_MS }); // one of them goes to the frozen worker and is lost
    await program.until((events) => others(events).length >= WORKERS, DEADLINE_MS);
    return kill(program, [pid]);
  });
}

/** Kills the second worker about 60 ms after the primary has noticed the first exit, before it replaces that worker. */
async function killInAWait(program) {
  const [second, first] = servingIn(program.events).slice(-WORKERS);
  const begin = program.events.length;
  kill(program, [first]);
  const since = (events) => events.slice(begin);
  const isLate = (events) => {
    const { t: exitMs = Infinity } = exitsOf(since(events))[0] ?? {};
    return haveTurned(since(events), [program.pid], LATE_IN_A_WAIT, exitMs);
  };
  await program.until((events) => isLate(events) || forksOf(since(events)).length > 0, DEADLINE_MS);
  return [first, ...kill(program, [second])];
}

export async function killPrimary(program) {
  program.kill(program.pid, 'SIGKILL');
  const fate = await program.ended(DEADLINE_MS);
  const outlived = await outliving(program);
  return { how: 'SIGKILL of the primary', program, fate, ...outlived, output: program.output() };
}

/**
 * One worker leaves as planned. Another is killed on its way out: its client has hung up, so the primary has seen its
 * 'disconnect', and the timer of /report keeps it alive for a moment.
 */
export async function askToLeave(program) {
  const leave = async () => {
    const first = program.events.length;
    const socket = connect(program.port, '127.0.0.1').on('error', () => {}); // it closes when the worker exits
    socket.write('GET /report HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const begun = () => requestsOf(program.events.slice(first), '/report')[0];
    await program.until(begun, DEADLINE_MS);
    const killed = begun()?.pid;
    const others = servingIn(program.events).filter((pid) => pid !== killed);
    const leaving = kill(program, killed ? [others[0], killed] : [others[0]], 'SIGTERM');
    const sinceMs = nowMs();
    const isHeard = (events) => haveTurned(events, leaving.slice(1), HEARD, sinceMs);
    await program.until(isHeard, AFTER_SIGNAL_MS);
    socket.resetAndDestroy(); // a merely half-closed connection would stay until it is answered
    const isTold = (events) =>
      eventsOf(events, 'disconnect').some(({ workerPid }) => workerPid === killed);
    await program.until((events) => isTold(events) || hasExited(events, killed), AFTER_SIGNAL_MS);
    kill(program, leaving.slice(1));
    return leaving;
  };
  const round = await episode(program, 'SIGTERM to two workers', leave);
  const [polite, killed] = round.acted.map((pid) => exitOf(program, pid));
  return { ...round, program, polite, killed };
}

const exitOf = ({ events }, pid) => exitsOf(events).find(({ workerPid }) => workerPid === pid);

/** The port is in use, so each worker exits with EADDRINUSE before it listens. */
export async function failToStart(launch) {
  const other = createServer().listen(0).unref();
  await once(other, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (other.address());
  const env = { PORT: String(port), NODE_CLUSTER_WORKERS: '1' };
  const program = await launch({ env, probe: 'waits' });
  const isTooMany = (events) => forksOf(events).length > 1 + RESTARTS;
  await program.until((events) => forksOf(events).length > 0, DEADLINE_MS);
  await untilAtRest(program, isTooMany, { deadlineMs: 2 * DEADLINE_MS });
  const { events, fate } = program;
  await program.stop();
  other.close();
  const restarts = forksOf(events).length - 1;
  return { program, fate, restarts, waits: waitsIn(events), output: program.output() };
}

/** Kills each worker of one place before the first line of its file; another place keeps a healthy worker. */
export async function failInOnePlace(launch) {
  const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
  const program = await launch({ env, haltsChildren: true });
  const forked = () => forksOf(program.events).map(({ workerPid }) => workerPid);
  await program.until(() => forked().length >= WORKERS, DEADLINE_MS);
  const wake = () => kill(program, forked().slice(0, WORKERS), 'SIGCONT'); // repeated: the first may come before a worker has halted
  await program.until((events) => (wake(), servingIn(events).length >= WORKERS), DEADLINE_MS);
  const [healthy, victim] = servingIn(program.events);
  let last = victim;
  let failed = -1; // the first one to be killed had listened, so its exit is no failure to start
  while (last !== undefined && failed < RESTARTS) {
    const count = forked().length;
    kill(program, [last]);
    failed += 1;
    await untilAtRest(program, () => forked().length > count, { except: forked() });
    last = forked()[count];
  }
  await untilAtRest(program, () => program.fate, { except: last ? [last] : [] });
  const { fate } = program;
  await program.stop();
  return { program, fate, failed, healthy, output: program.output() };
}

/** One worker is frozen until the others have exited: the primary must wait for it as well. */
export async function stopWhileOneIsFrozen(program, how) {
  const first = program.events.length;
  const afterSignal = (signalMs) => {
    const reports = requestsOf(program.events.slice(first), '/report');
    const [frozen, ...others] = new Set(reports.map(({ pid }) => pid));
    const haveExited = (events) =>
      nowMs() > signalMs + AFTER_SIGNAL_MS || others.every((pid) => hasExited(events, pid));
    return whileFrozen(program, [frozen], async () => {
      await program.until(haveExited, DEADLINE_MS);
      const sinceMs = nowMs();
      const isLong = (events) => haveTurned(events, [program.pid], HELD_TURNS, sinceMs);
      await program.until(isLong, DEADLINE_MS);
    });
  };
  return withBehind(
    await stopUnderLoad(program, how, { path: '/report', times: IN_FLIGHT, afterSignal }),
  );
}

/** Stops the program while the place of a crashed worker waits; repeated if the signal came too late. */
export const stopInAWait = (start) =>
  repeatUntil(
    3,
    async () => {
      const program = await start();
      await program.until((events) => servingIn(events).length >= WORKERS, DEADLINE_MS);
      const [victim] = servingIn(program.events);
      kill(program, [victim]);
      await program.until((events) => hasExited(events, victim), DEADLINE_MS);
      const stop = await stopUnderLoad(program, 'SIGTERM', { path: '/report', times: 1 });
      return withBehind({ ...stop, how: 'SIGTERM just after a crash' });
    },
    ({ program, signalMs }) => waitsIn(program.events).every(({ fork }) => fork.t > signalMs),
  );

/** Adds the workers that outlived the primary. */
function withBehind(stop) {
  const { events, pid: primary } = stop.program;
  const end = events.findIndex(({ what, pid }) => what === 'exit' && pid === primary);
  const before = events.slice(0, Math.max(end, 0));
  const exited = new Set(eventsOf(before, 'exit').map(({ pid }) => pid));
  const behind = forksOf(before)
    .map(({ workerPid }) => workerPid)
    .filter((pid) => !exited.has(pid) && !hasExited(before, pid));
  return { ...stop, behind };
}

export function measureGaps({ measured }, rounds) {
  const gapsMs = rounds.flatMap(({ events }) => {
    const exits = exitsOf(events);
    return eventsOf(events, 'worker-listening').map(
      ({ t }, index) => t - (exits[index] ?? exits.at(-1)).t,
    );
  });
  const range = `${Math.min(...gapsMs).toFixed(0)} to ${Math.max(...gapsMs).toFixed(0)} ms`;
  measured('full-capacity', {
    label: `from the exit of a worker until its replacement listens, the mean of ${gapsMs.length} (${range})`,
    unit: 'ms',
    ...meanInterval(gapsMs),
    isHeadline: true,
  });
}

/** The starter and the learner's cluster under the same load, while each of their first workers is killed once. */
export async function chartAvailability({ drawn }, start) {
  const programs = await Promise.all([start(LOADED, { isReference: true }), start(LOADED)]);
  const [control, candidate] = await Promise.all(programs.map(killUnderLoad));
  drawn('answered', {
    label: `answered, of ${control.sent} requests, while each of the ${LOADED} workers is killed`,
    unit: 'requests',
    rows: [
      { name: 'no replacements', value: control.answered },
      { name: 'yours', value: candidate.answered },
    ],
  });
}

async function killUnderLoad(program) {
  const { fire, close } = createOpenLoop();
  await program.until((events) => servingIn(events).length === LOADED, DEADLINE_MS);
  await fire({ url: `${program.url}/`, ...LOAD, durationMs: 100 }); // warms up
  const loaded = fire({ url: `${program.url}/`, ...LOAD });
  for (const pid of servingIn(program.events)) {
    await sleep(KILL_EVERY_MS);
    program.kill(pid, 'SIGKILL');
  }
  const { answers } = await loaded;
  close();
  const answered = answers.filter(({ status }) => status === 200).length;
  return { answered, sent: answers.length };
}
