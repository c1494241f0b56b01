/**
 * How lesson 11's programs end, and when they do not: signals, workers that are killed, failed starts.
 */
import {
  eventsOf,
  exitsOf,
  forksOf,
  get,
  haveTurned,
  isCrowded,
  nowMs,
  requestsOf,
  turnsOf,
} from '../../../lib/check/checking.js';
import { DEADLINE_MS, LIMIT_MS, LONG_DEADLINE_MS, busy, endedOf, isIdle } from './nitro.js';

export const UNDER_WAY = 6;
const MANY = 5; // workers: so many failed starts are enough to give up
export const KILLED = 2; // workers that listen: together with those of FAILED_STARTS, more than may fail
export const FAILED_STARTS = 4; // so many of them in a row, twice, and in between all that listen
const HELD_MS = 1_300; // from the signal: a program that waits for less than Nitro's limit has left by then, see IN_HASTE
const LISTENS = 4; // beats of 20 ms after the last fork: a primary that loads files of its own then has its handlers by now
const TURN_MS = 2_000; // after hearing the signal it needs a little more than a report takes
const HEARD = 2; // turns of an event loop
const CHANCES = 3; // beside other programs it is about one time in twenty
const LEAST_HELD = 2; // with one there is nobody whom its primary could leave behind
const NO_MORE = 10; // turns: by then it has forked all that it wants
const ONE_MORE = 20; // turns
export const MANY_IN_A_ROW = 8; // in one place; the last four come after another has listened, which resets nothing
export const MOST_IN_A_ROW = 10; // for one that counts to nine
const MOST_FAILED_STARTS = 12; // two places with their own counts come to nine, and one more is told to leave
const MANY_FAILED_STARTS = 9; // so many are enough when it takes long
const OTHER_CODES = [0, 3]; // a worker that throws ends with 1; one that leaves by itself may say anything, even 'all is well'
const FAILING = 2; // workers, on a port that does not exist
const BRIEF_MS = 50; // a worker takes longer to start, so a timer that is shortened has fired before it listens
const SOONER = 30; // times
const MINUTES_EACH = 1_000; // times as fast: a tenth of a second is more than a minute and a half

const told = (workers) => ({ NODE_CLUSTER_WORKERS: String(workers) });

/** A worker that listens is killed, and replaced by one that was not there at the start. */
export async function replaceOne(program) {
  const living = livingOf(program.events);
  const [killed] = living;
  if (killed) program.kill(killed, 'SIGKILL');
  await listenAgain(program, living.length, killed);
  return program;
}

/**
 * The signal comes while requests are under way, and comes again. Meanwhile the workers are held for a while: they take
 * longer than they otherwise would.
 */
export async function stopAtWork(program, how, areHeldFirst = false) {
  const isEarly = program.fate !== undefined;
  const later = replacementsIn(program.events);
  const first = program.events.length;
  const ask = () => get(`${program.url}/report`, { timeoutMs: DEADLINE_MS });
  const asked = Promise.all(Array.from({ length: UNDER_WAY }, ask));
  const begun = (events) => requestsOf(events.slice(first), '/report').length >= UNDER_WAY;
  const areUnderWay = await program.until(begun, DEADLINE_MS / 2);
  const { isLateServed, held, isTwice } = await stopAndHold(program, how, areHeldFirst);
  const lost = (await asked).filter(({ status }) => status !== 200);
  if (!areUnderWay && lost.length > 0) throw busy('The requests had not reached it yet.');
  const isLate = lost.some(({ error }) => error?.includes(' within ')); // an answer that may still come
  if (isLate && isCrowded()) throw busy(`A request had no answer within ${DEADLINE_MS / 1_000} s.`);
  const end = await endOf(program);
  const behind = leftBehind(program.events);
  const untold = end.fate ? behind : livingOf(program.events);
  const areLater = untold.length > 0 && untold.every((pid) => later.includes(pid));
  const stop = { how, lost, isLateServed, isTwice, behind, areLater, isEarly, ...end };
  const isMissed = held < LEAST_HELD && isClean(stop);
  if (isMissed && areHeldFirst)
    throw busy('Its workers had ended before they could be made to wait for each other.');
  return { ...stop, isMissed };
}

/** @param {{ fate?: { code?: number | null }, lost: any[], left: any[], behind: any[], isLateServed?: boolean }} stop */
export const isClean = ({ fate, lost, left, behind, isLateServed }) =>
  fate?.code === 0 && [lost, left, behind].every(({ length }) => length === 0) && !isLateServed;

/**
 * The signal comes while all of many workers start. Ctrl-C ends these by itself, and now and then Node tells a primary of their
 * ends before it tells of the signal, which another of its threads has taken: the primary forks in their place, and may even
 * give up. That is chance, and nobody's fault: it is tried again.
 */
export async function stopAtStart(lesson, built, signal) {
  for (let tries = 1; ; tries += 1) {
    const seen = await stopOnceAtStart(lesson, built, signal);
    if (!seen.isReplaced || isClean(seen) || tries === CHANCES) return seen;
  }
}

async function stopOnceAtStart({ launch }, { entry }, signal) {
  const program = await launch({ entry, env: told(MANY) });
  const haveForked = (events) => {
    const last = events.findLastIndex(({ what }) => what === 'fork');
    const turns = turnsOf(events.slice(last), events[last]?.pid);
    return turns >= (forksOf(events).length >= MANY ? LISTENS : NO_MORE); // long before it is idle
  };
  await program.until(haveForked, LONG_DEADLINE_MS);
  const forked = forksOf(program.events).length;
  program.tellToStop(signal);
  const end = await endOf(program);
  const isReplaced = signal === 'Ctrl-C' && forksOf(program.events).length > forked;
  const how = `${signal} while the workers start`;
  return { how, lost: [], behind: [], isAtStart: true, isReplaced, ...end };
}

/** What is there when a program that was told to stop has ended, or nothing more happens. */
async function endOf(program) {
  await program.until((events) => program.fate || isIdle(events), LONG_DEADLINE_MS);
  const { fate, events } = program;
  if (!fate && !isIdle(events)) throw busy('It had not ended, and had not had the time to.');
  const left = fate ? await program.gone(DEADLINE_MS) : [];
  return { program, fate, left, output: program.output() };
}

/**
 * Sends the signal, and lets the workers stand still, as on a machine that is busy with something else. So the program cannot
 * have ended when it gets the signal again. If they are held first, none has left before; else they have heard of it when they
 * are held, and by then their own timers run.
 * @returns {Promise<{ isLateServed: boolean, held: number, isTwice: boolean }>}  whether one served a request that came after
 *   all that, how many stood still, and whether the program got the signal again
 */
async function stopAndHold(program, how, areHeldFirst) {
  const hold = () => livingOf(program.events).filter((pid) => program.kill(pid, 'SIGSTOP'));
  let workers = areHeldFirst ? hold() : [];
  program.tellToStop(how);
  const sinceMs = nowMs();
  await waitForPrimary(program);
  if (!areHeldFirst) {
    await waitForTurns(program, livingOf(program.events));
    workers = hold();
  }
  const isTwice = workers.length > 0 && !program.fate && program.tellToStop(how);
  if (isTwice) await waitForPrimary(program);
  await program.until(() => nowMs() > sinceMs + HELD_MS, HELD_MS);
  const late = areHeldFirst ? undefined : get(`${program.url}/report`, { timeoutMs: DEADLINE_MS });
  const held = livingOf(program.events).filter((pid) => workers.includes(pid)).length;
  for (const pid of workers) {
    program.kill(pid, 'SIGCONT'); // one after the other: this shows a primary that leaves with the first of them
    const isHeard = (events) => exitsOf(events).some(({ workerPid }) => workerPid === pid);
    const isDone = (events) => program.fate || isHeard(events);
    if (await program.until(isDone, TURN_MS)) await waitForPrimary(program); // or the others end before it can leave
  }
  return { isLateServed: (await late)?.status === 200, held, isTwice };
}

/** Its first process has heard what was sent to it, and then its primary has, where that is another one. */
async function waitForPrimary(program) {
  const [{ pid: primary } = program] = forksOf(program.events);
  for (const pid of new Set([program.pid, primary])) await waitForTurns(program, [pid]);
}

/** The workers that had not ended when their primary left. @returns {number[]} pids */
function leftBehind(events) {
  const primary = forksOf(events)[0]?.pid;
  const end = events.findIndex(({ what, pid }) => what === 'exit' && pid === primary);
  return livingOf(events.slice(0, Math.max(end, 0)));
}

/** The workers that were forked when others had ended. @returns {number[]} pids */
function replacementsIn(events) {
  const end = events.findIndex(({ what }) => what === 'worker-exit');
  return end < 0 ? [] : forksOf(events.slice(end)).map(({ workerPid }) => workerPid);
}

/** Waits until each of these has turned its event loop, or ended: what came before that has been heard. */
async function waitForTurns(program, pids) {
  const sinceMs = nowMs();
  const isDue = (events) => {
    const ended = endedOf(events);
    const living = pids.filter((pid) => !ended.has(pid));
    return haveTurned(events, living, HEARD, sinceMs);
  };
  await program.until(isDue, DEADLINE_MS);
}

/** The workers not known to have ended. @returns {number[]} pids */
function livingOf(events) {
  const ended = endedOf(events);
  return forksOf(events).flatMap(({ workerPid: pid }) => (ended.has(pid) ? [] : [pid]));
}

const listenedOf = (events) =>
  new Set(eventsOf(events, 'worker-listening').map(({ workerPid }) => workerPid));

/**
 * Kills some workers before they listen; then all that listen, and some of those that replace them. So there are
 * never more than a few failed starts in a row. At last there are more.
 */
export async function killWorkers({ launch }, { entry }) {
  const program = await launch({ entry, env: told(KILLED) });
  await killEarly(program, 0);
  await listenAgain(program, KILLED);
  const before = livingOf(program.events);
  const firstEnd = program.events.findIndex(({ what }) => what === 'worker-exit');
  const wanted = Math.max(KILLED, forksOf(program.events.slice(0, firstEnd)).length); // it may not do as it is told
  const forked = forksOf(program.events).length;
  for (const pid of before) program.kill(pid, 'SIGKILL');
  await killEarly(program, forked);
  await listenAgain(program, before.length);
  await program.until(
    (events) => livingOf(events).length > before.length || hasHadItsTurn(events, program.pid),
    LONG_DEADLINE_MS,
  );
  const { fate, events: seen } = program;
  const events = [...seen];
  const [were, are] = [before.length, livingOf(events).length];
  const vain = fate || are !== were ? undefined : await killUntilItGivesUp(program);
  await program.stop();
  const ends = exitsOf(events).map(({ workerPid }) => listenedOf(events).has(workerPid));
  const served = ends.filter((hadListened) => hadListened).length;
  const failedStarts = ends.length - served;
  return { fate, served, failedStarts, wanted, were, are, vain, output: program.output() };
}

/**
 * Kills the two that have listened, and each that comes in the place of one of them before it listens. In the middle of
 * that row the other place is filled: a worker that comes to listen is no end, and resets nothing. Half of them are killed
 * by SIGTERM, half by SIGKILL: who counts only one of these never gets to five. Returns how many were killed before they
 * listened, and how the program ended.
 */
async function killUntilItGivesUp(program) {
  const forked = forksOf(program.events).length;
  const first = program.events.length;
  const [victim, other] = livingOf(program.events);
  const isOver = () => program.fate;
  program.kill(victim, 'SIGKILL');
  const late = await holdNext(program, forked);
  program.kill(other, 'SIGKILL');
  await killEarly(program, forked + 1, { signal: 'SIGTERM', isOver });
  const fifth = await holdNext(program, forked + 1 + FAILED_STARTS);
  const isBetween = await letListen(program, late);
  if (fifth) program.kill(fifth, 'SIGKILL');
  const killed = FAILED_STARTS + 1;
  await killEarly(program, forked + 1 + killed, { times: MOST_IN_A_ROW - killed, isOver });
  await program.until((events) => program.fate || isIdle(events), TURN_MS);
  const { events, fate } = program;
  const listened = listenedOf(events);
  const ended = exitsOf(events.slice(first)).filter(
    ({ workerPid }) => ![victim, other].includes(workerPid),
  );
  const early = ended.filter(
    ({ workerPid, signal }) => signal && !listened.has(workerPid), // one that had got further may hear SIGTERM, and leave
  ).length;
  const isBroken = early < ended.length;
  return { fate, ends: early, isBroken, isBetween, output: program.output() };
}

/** Stops the next worker as soon as it appears, before it listens. @returns {Promise<number | undefined>} its pid */
async function holdNext(program, index) {
  const next = (events) => forksOf(events)[index]?.workerPid;
  await program.until((events) => next(events) || program.fate || isIdle(events), LONG_DEADLINE_MS);
  const pid = next(program.events);
  if (pid) program.kill(pid, 'SIGSTOP');
  return pid;
}

/** Lets a worker that was held go on, until it listens. Was it held before it listened, and does it now? */
async function letListen(program, pid) {
  const isUp = () => listenedOf(program.events).has(pid);
  if (!pid || isUp()) return false;
  program.kill(pid, 'SIGCONT');
  const isOver = (events) => isUp() || program.fate || endedOf(events).has(pid);
  await program.until(isOver, LONG_DEADLINE_MS);
  return isUp();
}

/** This event loop has turned so often since something happened that it would have forked one more. */
function hasHadItsTurn(events, pid) {
  const last = events.findLastIndex(({ what }) => what !== 'beat');
  return turnsOf(events.slice(last), pid) >= ONE_MORE;
}

/** Kills the next few workers, each as soon as it appears. */
async function killEarly(
  program,
  from,
  { times = FAILED_STARTS, signal = 'SIGKILL', isOver = () => false } = {},
) {
  for (let index = from; index < from + times && !isOver(); index += 1) {
    const next = (events) => forksOf(events)[index]?.workerPid;
    const isSo = (events) => next(events) || isOver() || isIdle(events);
    await program.until(isSo, LONG_DEADLINE_MS);
    const pid = next(program.events);
    if (pid) program.kill(pid, signal);
  }
}

/** Waits until there are so many workers, not counting one that was killed, and all that are alive listen. */
async function listenAgain(program, wanted, killed) {
  const isDone = (events) => {
    const listened = listenedOf(events);
    const living = livingOf(events).filter((pid) => pid !== killed);
    const isEveryone = living.length >= wanted && living.every((pid) => listened.has(pid));
    return isEveryone || isIdle(events);
  };
  const isOver = await program.until(isDone, LONG_DEADLINE_MS);
  if (!isOver && !program.fate) throw busy('Its workers are not listening again yet.');
}

/**
 * On an impossible port, each worker ends before it listens, with exit code 0, and most have left the cluster before that. A
 * cluster of one's own, as in lesson 5, may replace none that ends so, and then each ends with another one, and leaves nothing before.
 */
export async function failToStart(lesson, built) {
  const [zero, other] = OTHER_CODES;
  const seen = await failWith(lesson, built, { code: zero, isLeaving: true });
  const areReplaced = seen.starts > seen.ends || seen.ends >= MANY;
  return areReplaced || seen.fate?.code === 1
    ? seen
    : failWith(lesson, built, { code: other, isLeaving: false });
}

/**
 * Timers are shortened: a program that calls a worker healthy after it has lived for a while does so here too, not only on
 * a slow machine; and by the clock each lives for minutes.
 */
async function failWith({ launch }, { entry }, { code, isLeaving }) {
  const pretendTimers = /** @type {const} */ ([BRIEF_MS, LIMIT_MS, SOONER]);
  const pretended = { pretendTimers, pretendClock: MINUTES_EACH, pretendExitCode: code };
  const options = { ...pretended, pretendLeaving: isLeaving };
  const program = await launch({ entry, ...options, env: { PORT: '80800', ...told(FAILING) } });
  const endsIn = (events) => forksOf(events).length - livingOf(events).length; // a program that leaves in worker.on('exit') leaves before the cluster's
  const isOver = (events) => program.fate || endsIn(events) >= MOST_FAILED_STARTS || isIdle(events);
  await program.until(isOver, LONG_DEADLINE_MS);
  const { events, fate } = program;
  const ends = endsIn(events);
  const isDecided = isOver(events) || ends >= MANY_FAILED_STARTS;
  await program.stop();
  const starts = forksOf(events).length;
  if (!isDecided)
    throw busy(`Within ${LONG_DEADLINE_MS / 1_000} s only ${ends} of its workers had ended.`);
  return { fate, starts, ends, leftWith: code, isLeaving, output: program.output() };
}
