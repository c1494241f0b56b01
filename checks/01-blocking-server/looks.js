/**
 * What the check of lesson 1 does with the learner's program and sees of it: requests that come together and apart, what
 * /health reports about them; at the end a hundred clients, which decide nothing.
 */
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AS_BROWSER,
  askAtOnce,
  askOnce,
  createLoad,
  deepestOverlap,
  eventsOf,
  get,
  isCrowded,
  isTypedJson,
  nowMs,
  parseBody,
  requestsOf,
  sumOf,
} from '../../lib/check/checking.js';

const AT_ONCE = 8;
export const REPORTS_AT_ONCE = 3;
const MANY_HOMES = 128; // more than anybody prepares, where each takes no time
export const BRIEF = 1 / 100; // so long takes what should take 1: blockFor(), when only the bytes count
const TURNS_AFTER = 2; // beats: the first that comes after the last answer, and one more
const CLOSE_REPORTS = 6; // each some milliseconds after the one before; on a busy machine not all are close
const MANY_REPORTS = 48; // more than most pools and limits let run at once
export const MORE_BEATS = 68; // of 20 ms: in a second there is room for 51; one that waits for another has 100
const MANY_DEADLINE_MS = 60_000;
const LONGEST_TIMER_MS = 1_200; // a bit more than a report takes then, so a limit of its own comes after it
export const SLOW_TIMERS = /** @type {const} */ ([20, Infinity, 1 / 10, 20, LONGEST_TIMER_MS]); // ten times as long: there is time for many to come
const GROUPS = 6; // each of so many that the probe tells of every one
const IN_GROUP = 25;
const GROUP_APART_MS = 60; // all come before the first is done, and not at the same point of a slow clock
const APART_MS = 4; // one that shares the other's query takes so much less than that
const ON_ONE = 2; // reports on one connection
const SEEN_WITHIN_MS = 1_000;
const REST_BEATS = 6; // of 20 ms: a timer of 50 ms fires within them
const QUIET_BEATS = 60; // that came in time, more than a second: a histogram with a sample every 5 ms has hundreds
const IN_TIME_MS = 3; // one that is later tells that the loop was held up, and samples are missing
const TIMER_MS = 5; // a learner's own timer reports how late it was: up to its period less than a / took
const FIRST_SAMPLE_BEATS = 2; // after a reset Node's histogram sees nothing until its timer has fired once
const FIRST_SLOW_SAMPLE_BEATS = 13; // the same, where a timer of 24 ms takes ten times as long
const SOON_MS = 400; // a timer of 40 ms or more has not fired yet, where it takes ten times as long
const ALL_TIMERS_BEATS = LONGEST_TIMER_MS / 20 + 4;
export const HELD_SOON_MS = 300;
export const HELD_MS = [1_100, 300]; // far more than any / takes: a monitor that leaves out the longest, or adds up, is of no use
export const QUICK_TIMERS = /** @type {const} */ ([50, Infinity, 100, 500]); // a reset once a minute comes in time
const QUIET_MS = 3_000;
const SPREAD_MS = 30; // reports that came together and wait side by side are done together
const SPREAD_OF_MANY_MS = 50; // so many take some time to come; one that waits for another takes 100 ms longer
const BEAT_MS = 20;
const LONG_TURN_MS = 60; // of a handler that spins for what is left of 100 ms
const LEAST_BUSY_MS = 60; // a report needs a few
const SOON_REPORTS = 6;
const BEATS_APART = 4; // of 20 ms: two of 100 ms that wait side by side see as many, or one or two more or less
const STARVED_MS = 5; // kept from running for longer, it may have been late for that

/** Did others keep it from running since then? */
export const wasDisturbed = (program, sinceMs) =>
  program.turn.starvedSince(sinceMs) > STARVED_MS || isCrowded();

/** How long each Atomics.wait(), as in blockFor(), held the only thread, and when it was over. */
export const blocksOf = ({ events }) =>
  eventsOf(events, 'wait').filter(({ tid }) => tid === undefined);

export const durationOf = ({ startMs, endMs = Infinity }) => endMs - startMs;
const spreadMost = ({ length }) => (length < MANY_REPORTS ? SPREAD_MS : SPREAD_OF_MANY_MS);
const spreadOf = (/** @type {any} */ { ownMs }) => Math.max(...ownMs) - Math.min(...ownMs);

/**
 * How often a timer of 20 ms, the probe's own, fired in the program while a request was under way. It shares the event loop
 * with the program's timers: on a busy machine it is late as they are, so it tells what it waited for and no clock does.
 */
export const beatsDuring = (program, { pid, startMs, endMs = Infinity }) =>
  beatsOf(program, pid).filter(({ t }) => t > startMs && t < endMs);

const beatsOf = ({ events }, pid) =>
  eventsOf(events, 'beat').filter((beat) => beat.pid === pid && beat.tid === undefined);

/**
 * How long a request took, less the time for which others kept its process from running: so late was the probe's timer, though
 * the process used no CPU time. Whoever blocks without using any is taken for starved for as long as the system tells at the most.
 */
function ownTimeOf(program, request, starvedMs) {
  const { pid, startMs, endMs = Infinity } = request;
  const keptMs = beatsOf(program, pid).map(({ t, late, cpu }) => {
    const blockedMs = Math.max(0, late - cpu * (BEAT_MS + late));
    return Math.max(0, Math.min(t, endMs) - Math.max(t - blockedMs, startMs));
  });
  return durationOf(request) - Math.min(starvedMs, sumOf(keptMs));
}

export const cameInTime = ({ healthSentMs, firstEndMs }) => healthSentMs < firstEndMs;

/** How reports that came together held somebody up, if they did. */
export function faultOfReports(seen) {
  const { requests, depth, blocks, healthMs, firstEndMs } = seen;
  const isMany = requests.length >= MANY_REPORTS; // on a slow machine the first is done before the last has come
  if (depth < requests.length && !isMany) return 'turns';
  if (firstEndMs !== undefined && !(healthMs < firstEndMs)) return 'health';
  if (blocks.length > 0) return 'blocks';
  return spreadOf(seen) > spreadMost(requests) ? 'queue' : undefined;
}

/**
 * Is it the program's doing? Yes, unless others kept it from running for so long that they may have caused it. That does not
 * make one report wait while timers fire that another one needed no more.
 */
export const isOwnFault = (kind, seen) =>
  isSurelyItsOwn(kind, seen) ||
  (!seen.isCrowded &&
    {
      turns: () => seen.starvedMs < SPREAD_MS,
      health: () => seen.firstEndMs - seen.healthSentMs > SPREAD_MS + seen.starvedMs,
      queue: () => spreadOf(seen) > spreadMost(seen.requests) + 2 * seen.starvedMs,
    }[kind]());

const isSurelyItsOwn = (kind, { blocks, beatsApart }) =>
  blocks.length > 0 || (kind === 'queue' && beatsApart >= BEATS_APART);

export const isFree = (seen) => !faultOfReports(seen);

/** They held somebody up, and no busy machine explains it: another look is of no use. */
export function areSurelyHeldUp(seen) {
  const kind = faultOfReports(seen);
  return kind !== undefined && isSurelyItsOwn(kind, seen);
}

export const isClear = (seen) => isFree(seen) || areSurelyHeldUp(seen);

/** Looks until it sees what it seeks, a few times at the most: a busy machine spoils one look, not all. */
export async function seek(look, isFound, attempts = 4) {
  let seen;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    seen = await look();
    if (isFound(seen)) break;
  }
  return seen;
}

/**
 * Several / at once; and how much CPU time their process used on its only thread for each when it had been answered. In
 * blockFor() it uses none. The rest of the time in which its loop was awake is within the requests or between them, and others
 * who want the core take their share of both: as much of that as is between them, so much of the CPU time was used there.
 */
export async function askHomes(program) {
  const before = program.events.length;
  const seen = await askAtOnce(program, '/', AT_ONCE);
  await beatsToCome(program, TURNS_AFTER);
  const [startMs, endMs = Infinity] = [seen.requests[0]?.startMs, seen.requests.at(-1)?.endMs];
  const beats = beatsSince(program, before).filter(({ t }) => t > startMs);
  const turns = beats.slice(0, beats.findIndex(({ t }) => t > endMs) + TURNS_AFTER);
  const timeOf = (share) => sumOf(turns.map((turn) => share(turn) * (BEAT_MS + turn.late)));
  const waitsMs = sumOf(blocksOf({ events: program.events.slice(before) }).map(({ ms }) => ms));
  const cpuMs = timeOf(({ cpu, elu }) => Math.min(cpu, elu));
  const awakeMs = timeOf(({ elu }) => elu) - waitsMs;
  const withinMs = sumOf(seen.requests.map(durationOf)) - waitsMs;
  const betweenMs = Math.max(0, awakeMs - withinMs);
  const afterMs = awakeMs > 0 ? (cpuMs * betweenMs) / awakeMs : 0;
  return { ...seen, afterMs: afterMs / AT_ONCE };
}

/** So many bodies of / at once. Which requests they were nobody asks: the probe does not tell of each in such a flood. */
export async function askMany({ url }) {
  return { answers: await Promise.all(Array.from({ length: MANY_HOMES }, () => get(`${url}/`))) };
}

/**
 * Many reports, group by group, that take ten times as long: the last comes long before the first is done. How many beats
 * each took tells whether it had to wait for others. Where it is plain that they have to, nobody waits for the rest. The very
 * first client hangs up when others have come: that is nothing to them.
 */
export async function askManyReports(program) {
  const sinceMs = nowMs();
  const hastyClient = await askAndStay(program);
  const { localPort } = hastyClient;
  const asked = [];
  for (let group = 0; group < GROUPS; group += 1) {
    asked.push(askAtOnce(program, '/report', IN_GROUP));
    await sleep(GROUP_APART_MS);
    hastyClient.destroy();
  }
  let isDone = false;
  const groups = Promise.all(asked);
  const finish = () => void (isDone = true);
  groups.then(finish, finish);
  await program.until(() => isDone || areHeldUp(program, sinceMs), MANY_DEADLINE_MS);
  if (isDone) await program.drained();
  else await program.stop();
  const answers = (await groups).flatMap((group) => group.answers);
  const requests = requestsOf(program.events, '/report').filter(
    ({ endMs, client }) => endMs && client !== localPort,
  );
  const blocks = blocksSince(program, sinceMs);
  const mostBeats = Math.max(0, ...requests.map((one) => beatsDuring(program, one).length));
  const depth = deepestOverlap(requests);
  const isAlone = !program.events.some(({ what, tid }) => what === 'child' || tid !== undefined);
  const starvedMs = isAlone ? 0 : program.turn.starvedSince(sinceMs); // whoever answers may have been kept from running
  const refused = answers.filter(({ status }) => status !== undefined && status !== 200);
  const served = requests.filter((one) => !refused.some(({ client }) => client === one.client));
  const surely = mostUnlike(program, served, (beats) => beats.length * BEAT_MS);
  const perhaps = mostUnlike(program, served, (beats, { startMs }) => beats.at(-2).t - startMs);
  return { program, answers, requests, blocks, mostBeats, depth, starvedMs, surely, perhaps };
}

/** A connection on which a report is under way. @returns {Promise<import('node:net').Socket>} */
async function askAndStay(program) {
  const socket = connect(program.port, '127.0.0.1').on('error', () => {}); // it may be reset
  socket.resume().write('GET /report HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await program.until((events) => requestsOf(events, '/report').length > 0);
  return socket;
}

/** What blocks before, while a file is loaded, holds up nobody. */
const blocksSince = (program, sinceMs) => blocksOf(program).filter(({ t }) => t > sinceMs);

/** Something has blocked, or the last that is done has waited for others. */
function areHeldUp(program, sinceMs) {
  if (blocksSince(program, sinceMs).length > 0) return true;
  const last = requestsOf(program.events, '/report').findLast(({ endMs }) => endMs);
  return last !== undefined && beatsDuring(program, last).length >= MORE_BEATS;
}

/**
 * One that took longer than another that came after it, and by how much at least. The beats while it was under way tell: they
 * come no sooner than every 20 ms, however busy the machine. And at the last but one it had still to wait, as far as its
 * program knew the time.
 */
function mostUnlike(program, requests, leastOf) {
  let found = { ms: 0, slow: requests[0], quick: requests[0] };
  let before = { ms: 0, one: requests[0] };
  for (const one of [...requests].sort((a, b) => a.startMs - b.startMs)) {
    const ms = before.ms - durationOf(one);
    if (ms > found.ms) found = { ms, slow: before.one, quick: one };
    const beats = beatsDuring(program, one);
    const leastMs = beats.length > 1 ? leastOf(beats, one) : 0;
    if (leastMs > before.ms) before = { ms: leastMs, one };
  }
  return found;
}

/**
 * A report where timers fire at once: a handler that waits for a part of its 100 ms, and spins until a clock says that they are
 * over, has nearly all of them before it. Its process uses so much CPU time, and the event loop does not turn meanwhile. Others
 * may keep it from turning, too: then it is asked again, until it has turned, or used too much.
 */
export async function askSoonReports(program) {
  let [times, busyMs] = [0, 0];
  const ask = async () => {
    const before = program.events.length;
    await get(`${program.url}/report`);
    await beatsToCome(program, FIRST_SAMPLE_BEATS);
    const beats = beatsSince(program, before);
    const lateMs = latestOf(beats);
    const cpu = beats.find(({ late }) => late === lateMs)?.cpu ?? 0;
    const [request] = requestsOf(program.events.slice(before), '/report');
    const turnMs = BEAT_MS + lateMs;
    times += 1;
    busyMs += Math.min(1, cpu) * turnMs;
    return { program, request, turnMs, busyMs, times };
  };
  return seek(ask, (seen) => isTurning(seen) || isSpinning(seen), SOON_REPORTS);
}

export const isTurning = ({ turnMs }) => turnMs < LONG_TURN_MS;
export const isSpinning = ({ busyMs }) => busyMs >= LEAST_BUSY_MS;

/** Asks for the path several times at once, and for /health when the first of them has been seen to start. */
export async function askHealthDuring(program, path, times) {
  const before = program.events.length;
  const asked = askAtOnce(program, path, times);
  await program.until((events) => requestsOf(events.slice(before), path).length > 0);
  const { sentMs } = await get(`${program.url}/health`);
  const { answers, requests } = await asked;
  const [health] = requestsOf(program.events.slice(before), '/health');
  const firstEndMs = Math.min(...requests.map(({ endMs = Infinity }) => endMs));
  return {
    ...whatCame(program, requests),
    answers,
    firstEndMs,
    healthSentMs: sentMs,
    healthMs: health?.startMs,
    health,
  };
}

/** Requests that came together: how many were under way at once, what blocked meanwhile, how much others disturbed. */
function whatCame(program, requests) {
  const fromMs = Math.min(...requests.map(({ startMs }) => startMs));
  const toMs = Math.max(...requests.map(({ endMs = Infinity }) => endMs));
  const beats = requests.map((one) => beatsDuring(program, one).length);
  const starvedMs = program.turn.starvedSince(fromMs);
  return {
    requests,
    ownMs: requests.map((one) => ownTimeOf(program, one, starvedMs)),
    depth: deepestOverlap(requests),
    beatsApart: Math.max(...beats) - Math.min(...beats),
    blocks: blocksOf(program).filter(({ t }) => t > fromMs && t <= toMs),
    starvedMs,
    isCrowded: isCrowded(),
  };
}

/**
 * What /health reports after two blocking / and a quiet time in which only reports wait: some of these began one shortly
 * after the other, then two beside the two /, and many while they are under way; one more when all of these are done.
 */
export async function readDelays(program, areFree) {
  const sinceMs = nowMs();
  const before = program.events.length;
  const seen = (path) => requestsOf(program.events.slice(before), path);
  let unanswered = '';
  /** @type {string | undefined} */
  let type; // where it is another than that of JSON
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const asBrowser = { agent, headers: AS_BROWSER };
  const tell = async (options = {}) => {
    const answer = await askOnce(program, '/health', options);
    if (answer.error) unanswered = answer.error;
    if (!isTypedJson(answer)) type = answer.headers['content-type'];
    return parseBody(answer.body).eventLoopDelayMs;
  };
  await tell();
  await beatsToCome(program, FIRST_SAMPLE_BEATS);
  const reports = [];
  for (let count = 0; count < CLOSE_REPORTS; count += 1) {
    reports.push(askAtOnce(program, '/report', 1));
    await program.until(() => seen('/report').length > count);
  }
  for (let count = 0; count < 2; count += 1) {
    reports.push(askAtOnce(program, '/report', 1)); // some milliseconds after the last, and again when a / is done
    await askAtOnce(program, '/', 1);
  }
  reports.push(askAtOnce(program, '/report', areFree ? MANY_REPORTS : 1));
  await Promise.all(reports);
  const answers = (await Promise.all(reports)).flatMap((asked) => asked.answers);
  for (let count = 0; count < ON_ONE; count += 1)
    answers.push(await askOnce(program, '/report', asBrowser)); // what was kept for a moment, or for its client, is still there
  await program.until(() => seen('/report').every(({ endMs }) => endMs), SEEN_WITHIN_MS);
  const told = await tell(asBrowser); // who asks again keeps the connection, as monitoring does
  const tookMs = nowMs() - sinceMs;
  const repeats = [await tell(asBrowser), await tellElsewhere(program)];
  const isDisturbed = wasDisturbed(program, sinceMs + tookMs);
  agent.destroy();
  const all = seen('/report').sort((a, b) => a.startMs - b.startMs);
  const early = all.slice(0, CLOSE_REPORTS + 2);
  const [first, ...between] = early;
  const later = all.slice(early.length, -ON_ONE);
  const [after] = all.slice(-ON_ONE).sort((a, b) => durationOf(a) - durationOf(b));
  const toldAgain =
    repeats.find((again) => again !== undefined && !isLess(again, told)) ?? repeats[0];
  const longestMs = Math.max(...seen('/').map(durationOf));
  const longest = seen('/').find((one) => durationOf(one) === longestMs);
  const [, asked] = seen('/health'); // the first only makes it forget
  return {
    delay: { told, toldAgain, tookMs, longestMs, isDisturbed, unanswered, type, longest, asked },
    first,
    answers,
    between,
    after,
    isJoined: hasJoined([...early, ...later]),
    later: whatCame(program, later),
  };
}

/** Somebody else may have asked before: another computer, or on Linux another address of this one. */
async function tellElsewhere({ url }) {
  if (process.platform !== 'linux') return undefined;
  const { error, body } = await get(`${url}/health`, { localAddress: '127.0.0.2' });
  return error ? undefined : parseBody(body).eventLoopDelayMs;
}

const isLess = (again, told) => typeof again === 'number' && again < told;

/** One came some time after another, which was still under way. */
const hasJoined = (requests) =>
  requests.some(({ startMs }) =>
    requests.some((other) => other.startMs + APART_MS < startMs && startMs < other.endMs),
  );

/**
 * What /health reports of a server at rest; and, a quiet time after the process stood still twice, of that: no handler of its
 * own took the time, and the loop was held up all the same. It stays the longest delay, however many short ones come after it.
 * The probe's own timer tells by how much the loop was late.
 * @returns {Promise<{ told: any, lateMs: number, lates: number[], atRest: { told: any, lateMs: number }, lateBeat: any,
 *   program: any } | undefined>}  lates: each time that it stood still; nothing, where no process can be stopped
 */
export async function readAfterHold(program) {
  const tell = async () => parseBody((await get(`${program.url}/health`)).body).eventLoopDelayMs;
  const first = program.events.length; // it may be kept from running between its answer and our hearing it
  await tell();
  await beatsToCome(program, REST_BEATS);
  const toldAtRest = await tell();
  await beatsToCome(program, FIRST_SAMPLE_BEATS); // it may have been kept from running just before it answered
  const atRest = { told: toldAtRest, lateMs: latestOf(beatsSince(program, first)) };
  const before = program.events.length;
  const lates = [];
  for (const ms of HELD_MS) {
    const first = program.events.length;
    if (!program.kill(program.pid, 'SIGSTOP')) return undefined;
    await sleep(ms);
    program.kill(program.pid, 'SIGCONT');
    await beatsToCome(program, FIRST_SAMPLE_BEATS); // of these the first comes late
    lates.push(latestOf(beatsSince(program, first)));
  }
  const areInTime = (beats) => beats.filter(({ late }) => late < IN_TIME_MS).length >= QUIET_BEATS;
  await beatsUntil(program, program.events.length, areInTime);
  const told = await tell();
  const beats = beatsSince(program, before);
  const lateMs = latestOf(beats);
  const lateBeat = beats.find(({ late }) => late === lateMs);
  return { told, lateMs, lates, atRest, lateBeat, program };
}

/**
 * What /health reports when the process stood still soon after it had been asked, and then others came, and so much time
 * passed that all timers fired: whoever forgets when something is asked for, or some time after /health has answered, has
 * forgotten it. The timers take ten times as long, so that the process stands still before them.
 * @returns {Promise<{ told: any, lateMs: number, isSoon: boolean, asked: any, lateBeat: any, program: any } | undefined>}
 *   nothing, where no process can be stopped, or it has been ended
 */
export async function readAfterAnswer({ program }) {
  if (program.closed) return undefined;
  const { first, isSoon, asked } = await seek(() => askAndWait(program), isStillSoon);
  const before = program.events.length;
  if (!program.kill(program.pid, 'SIGSTOP')) return undefined;
  await sleep(HELD_SOON_MS);
  program.kill(program.pid, 'SIGCONT');
  await beatsToCome(program, FIRST_SAMPLE_BEATS);
  const beats = beatsSince(program, before);
  const lateMs = latestOf(beats);
  for (const path of ['/', '/no-such-page', '/report']) await get(program.url + path);
  await beatsUntil(program, first, ({ length }) => length >= ALL_TIMERS_BEATS);
  const told = parseBody((await get(`${program.url}/health`)).body).eventLoopDelayMs;
  const lateBeat = beats.find(({ late }) => late === lateMs);
  return { told, lateMs, isSoon, asked, lateBeat, program };
}

/** Asks for /health, and waits until whatever looks how late the loop is has looked once. */
async function askAndWait(program) {
  const first = program.events.length;
  await get(`${program.url}/health`);
  await beatsToCome(program, FIRST_SLOW_SAMPLE_BEATS);
  const [asked] = requestsOf(program.events.slice(first), '/health');
  return { first, asked, isSoon: nowMs() - asked?.startMs < SOON_MS };
}

const isStillSoon = ({ isSoon }) => isSoon;

/** What /health reports of a server to which nobody has come for a while: a monitor that slows down meanwhile is of no use. */
export async function readAtRest(program) {
  const sinceMs = requestsOf(program.events).at(-1)?.startMs ?? 0;
  const beats = () => beatsOf(program, program.pid).filter(({ t }) => t > sinceMs);
  await program.until(() => beats().length >= QUIET_BEATS, QUIET_MS); // most of them came while others were looked at
  const { body } = await get(`${program.url}/health`);
  await beatsToCome(program, FIRST_SAMPLE_BEATS); // it may have been kept from running just before it answered
  return { told: parseBody(body).eventLoopDelayMs, lateMs: latestOf(beats()) };
}

const latestOf = (beats) => Math.max(0, ...beats.map(({ late }) => late));

/** Waits until the program's event loop has turned so often, and nothing was asked of it meanwhile. */
const beatsToCome = (program, count) =>
  beatsUntil(program, program.events.length, ({ length }) => length >= count);

async function beatsUntil(program, before, isEnough) {
  await program.until(() => isEnough(beatsSince(program, before)), QUIET_MS);
  return beatsSince(program, before);
}

const beatsSince = ({ events, pid }, before) => beatsOf({ events: events.slice(before) }, pid);

/** The number is the longest delay, as far as we know it, and was reset when it was reported. */
export const isTrue = ({ told, toldAgain, longestMs, tookMs }) =>
  typeof told === 'number' &&
  told > longestMs - TIMER_MS &&
  told <= tookMs &&
  isLess(toldAgain, told);

const CLIENTS = 100;
const FIRST_ROUND_MS = 1_700; // by then each client has been served once
const BATCHES = 5;
const BATCH_MS = 150;
const HEALTHS = 4;

/** A hundred clients ask for / as fast as they are answered; some /health come in between. */
export async function measureQueue(program) {
  const load = createLoad();
  const durationMs = FIRST_ROUND_MS + BATCHES * BATCH_MS;
  const url = `${program.url}/`;
  const firing = load.fire({ url, connections: CLIENTS, durationMs, isFresh: true });
  await program.until((events) => requestsOf(events, '/').length > 0);
  const healths = Promise.all(
    Array.from({ length: HEALTHS }, async (_, index) => {
      await sleep((FIRST_ROUND_MS * index) / HEALTHS);
      const { sentMs, doneMs } = await get(`${program.url}/health`, { timeoutMs: durationMs });
      return doneMs - sentMs;
    }),
  );
  const { answers, startMs } = await firing;
  load.close();
  const batches = Array.from({ length: BATCHES }, (_, index) => {
    const fromMs = startMs + FIRST_ROUND_MS + index * BATCH_MS;
    return answers.filter(({ doneMs: t }) => t >= fromMs && t < fromMs + BATCH_MS);
  });
  const healthsMs = (await healths).sort((a, b) => a - b);
  return { clients: CLIENTS, batches, batchMs: BATCH_MS, healthMs: healthsMs[HEALTHS / 2] };
}
