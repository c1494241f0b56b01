/** What the check of lesson 9 sees of the sticky server: who serves whom, and who does when a worker has died. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Undecided,
  canListen,
  eventsOf,
  exitsOf,
  forksOf,
  get,
  haveTurned,
  isCrowded,
  nowMs,
  requestsOf,
} from '../../../lib/check/checking.js';
import { INSIST_MS, PATIENCE_MS, RETRY_MS, SEEN_MS, STOPS_WITHIN_MS } from './counter.js';

export const PLACES = 4; // as many computers have cores; a hash that counts in powers of two sees the last part alone
export const ODD_PLACES = 5; // no power of two; and hash * 5, or * 10, leaves the last digit alone
const SETTLED_MS = 4_000;
const ALIKE = 16; // by chance one worker has them all once in ten million checks
const STEP = 13; // between their parts, up to three digits: a hash of 32 bits with a sign is below zero for some of them
const CLIENTS = Array.from({ length: 47 }, (_, index) => `127.0.0.${index + 2}`); // with any hash each place has some, and a program that deals in turn begins each round elsewhere
const GONE = 3; // clients that hang up before they are accepted
const ROUNDS = 2;
const SCOUTS = 16;
const SCOUT_AGAIN_MS = 100;
const LATE_MS = { idle: 1_500, calm: 6_000, crowded: 12_000 }; // for a worker to come up
const CONNECTED_MS = 50;
const ASLEEP_MS = 1_500; // of the five seconds for which a client waits
const GO_ON_MS = 10;
const HEARD = 2; // turns of an event loop: what came before has been heard
const LAST_TURNS = 100; // of each event loop, two seconds: a client that has not been served by then never is
const BUSY = 0.5; // share of the time: it loads its packages
const CALM_BEATS = 4;
const LONG_CALM_BEATS = 25; // half a second: a worker that once had nothing to do for so long had got ready
const CROWDED_CALM_BEATS = 100; // in a crowd a worker may wait as long for the threads that read its packages

/**
 * Clients of different addresses, each with a new connection at every visit. `coming` are the workers that may not have
 * been ready when the last round began: they had served nobody, and had not been seen to have nothing to do.
 */
export async function visitInTurn(program) {
  const seen = await visitInRounds(program, PLACES, ROUNDS);
  return { ...seen, alike: seen.isServing ? await visitAlike(program) : [] };
}

/**
 * Everybody comes once to a cluster of another size. By chance 47 clients miss one of five workers: scouts count, too. At last
 * come some that hang up at once.
 */
export async function visitOddPlaces(program) {
  const seen = await visitInRounds(program, ODD_PLACES, 1);
  const used = new Set(requestsOf(program.events).map(({ pid }) => pid));
  const alike = seen.isServing ? await visitAlike(program) : [];
  const gone = seen.isServing ? await comeAndGo(program) : undefined;
  await program.stop();
  return { ...seen, used, alike, gone };
}

/** Clients that are gone when the primary, which stands still, accepts them; and after them one that stays. */
async function comeAndGo(program) {
  const first = program.events.length;
  program.kill(program.pid, 'SIGSTOP');
  await sleep(STOPS_WITHIN_MS);
  await Promise.all(Array.from({ length: GONE }, () => connectAndLeave(program)));
  program.kill(program.pid, 'SIGCONT');
  const next = await visitOnce(program, CLIENTS[0], 'gone');
  const { fate, events } = program;
  return { fate, next, exits: exitsOf(events.slice(first)), isCrowded: isCrowded() };
}

/** Everybody comes to the only worker of a cluster: every place is filled when that one is. */
export async function visitTheOnly(program) {
  const seen = await visitInRounds(program, 1, 1);
  await program.stop();
  return seen;
}

/** The kernel makes the connection, even while nobody accepts it. */
async function connectAndLeave({ port }) {
  const client = connect(port, '127.0.0.1');
  client.on('error', () => {}); // it is closed, in whatever way
  await new Promise((resolve) => client.once('connect', resolve).once('close', resolve));
  client.resetAndDestroy();
}

/** Of each program whose worker has died, from which event on the next that starts is kept where it stands. */
const keptFrom = new WeakMap();

/** Has every worker served somebody, and somebody everybody? */
export const isSpread = ({ rounds, alike }) =>
  new Set(rounds.flat().flatMap(({ pid }) => pid ?? [])).size >= PLACES &&
  alike.every(({ visits }) => areServed(visits));

async function visitInRounds(program, places, times) {
  await waitForAll(program, places);
  const rounds = [];
  let wasAwake = true;
  let coming = [];
  let isServing = true;
  for (let round = 0; round < times && isServing; round += 1) {
    coming = idlersOf(program.events).filter((pid) => !wasCalm(program.events, pid));
    const visits = await visit(program, `${round}`);
    isServing = visits.some(({ status }) => status === 200);
    wasAwake &&= wereAllAwake(program, visits);
    rounds.push(visits);
  }
  return { program, places, rounds, coming, isServing, wasAwake, isCrowded: isCrowded() };
}

/** Clients whose addresses differ in one part alone, and not in the last; nothing where there are no such addresses. */
async function visitAlike(program) {
  const groups = [];
  for (const of of [(part) => `127.0.${part}.9`, (part) => `127.${part}.0.9`]) {
    const clients = Array.from({ length: ALIKE }, (_, index) => of(STEP * index + 1));
    if (!(await canComeFrom(clients))) continue;
    const visits = await visit(program, 'alike', { clients });
    const wasAwake = wereAllAwake(program, visits);
    groups.push({ program, visits, fate: program.fate, wasAwake });
    if (!areServed(visits)) break;
  }
  return groups;
}

/** Has this computer these addresses? */
const canComeFrom = async (clients) =>
  (await Promise.all(clients.map((one) => canListen(0, one)))).every(Boolean);

/**
 * Until every worker has served somebody: while one is coming up others stand in for it. Scouts find that out, from
 * addresses that no client has, and each time from new ones. It waits a while for any worker that serves none of them.
 */
async function waitForAll(program, places) {
  const isFull = () => new Set(requestsOf(program.events).map(({ pid }) => pid)).size >= places; // served somebody
  const startedMs = () => eventsOf(program.events, 'start').at(-1)?.t ?? 0;
  const lateMs = () => {
    if (areIdle(program.events)) return startedMs() + LATE_MS.idle;
    return startedMs() + (isCrowded() ? LATE_MS.crowded : LATE_MS.calm);
  };
  for (let turn = 1; !program.fate && (turn === 1 || nowMs() < lateMs()); turn += 1) {
    const from = Array.from({ length: SCOUTS }, (_, index) => `127.0.${turn % 256}.${index + 101}`);
    const scout = (localAddress) =>
      get(`${program.url}/visits?scout`, { localAddress, timeoutMs: PATIENCE_MS });
    await Promise.all(from.map(scout));
    if (isFull()) return;
    await sleep(SCOUT_AGAIN_MS);
  }
}

/**
 * Everybody comes once; returns who served whom, as observed, and what the client was told.
 * @param {any} program
 * @param {string} round
 * @param {{ clients?: string[], serving?: number[] }} [options]  serving: all that could serve them; where it isn't known,
 *   others may still come up
 */
async function visit(program, round, { clients = CLIENTS, serving } = {}) {
  const first = program.events.length;
  const sinceMs = nowMs();
  const isVain = () => {
    if (!serving) return false;
    const ended = endedIn(program.events);
    const living = serving.filter((pid) => !ended.has(pid));
    return haveTurned(program.events, living, LAST_TURNS, sinceMs);
  };
  const answers = await Promise.all(
    clients.map((client) => visitOnce(program, client, round, isVain)),
  );
  const seen = () => requestsOf(program.events.slice(first), '/visits');
  const servedBy = (client) =>
    seen().findLast(({ url }) => url.endsWith(tagOf(client, round)))?.pid;
  await program.until(() => clients.every(servedBy), SEEN_MS);
  return clients.map((client, index) => ({
    client,
    pid: servedBy(client),
    status: answers[index].status,
    hung: answers[index].hung,
    broken: answers[index].broken,
    visits: visitsOf(answers[index]),
  }));
}

const tagOf = (client, round) => `?round=${round}-${client}`;

/** A connection may break with the worker to which it was dealt: then the client comes again. */
async function visitOnce(program, client, round, isVain = () => false) {
  const deadline = nowMs() + INSIST_MS / 2;
  let hung;
  let broken;
  for (;;) {
    const options = { localAddress: client, timeoutMs: PATIENCE_MS };
    const answer = await get(`${program.url}/visits${tagOf(client, round)}`, options);
    if (answer.error === 'EADDRNOTAVAIL') throw noAddress(client);
    if (/^no answer/.test(answer.error ?? '')) hung ??= answer;
    else if (answer.error) broken ??= answer;
    if (answer.status === 200 || program.fate || nowMs() > deadline || isVain())
      return { ...answer, hung, broken };
    await sleep(RETRY_MS);
  }
}

const noAddress = (client) =>
  new Undecided({
    got: `This system does not let a client come from ${client}.`,
    why: 'This needs clients with their own addresses. Linux has all of 127.0.0.0/8 built in.',
    try: 'sudo ifconfig lo0 alias 127.0.0.2, and so on up to 127.0.0.48 (macOS), then check again',
  });

function visitsOf({ status, body }) {
  try {
    return status === 200 ? Number(JSON.parse(body).visits) : undefined;
  } catch {
    return NaN;
  }
}

/**
 * One worker dies. Everybody comes before the primary can know, and its replacement gets ready only when all have been
 * served; then everybody comes once more.
 */
export async function visitAfterDeath({ program, rounds, alike }) {
  const homes = new Map(rounds.at(-1).map(({ client, pid }) => [client, pid]));
  const [victim] = homes.values();
  if (!victim) return undefined; // nobody has served the first client
  const first = program.events.length;
  const others = new Set([program.pid, ...homes.values()]);
  others.delete(victim);
  const { visits, again } = await visitAtDeath(program, victim, [...others]);
  const all = [...visits, ...again];
  const broken = visits.flatMap((one) => one.broken ?? []);
  const hung = visits.flatMap((one) => one.hung ?? []);
  const hungAtAll = all.flatMap((one) => one.hung ?? []);
  const wasAwake = wereAwake(program, [...others], hungAtAll);
  if (areServed(all)) {
    await program.settled((events) => isReplaced(events, first), SETTLED_MS);
    visits.push(...(await visit(program, 'calm')));
  }
  const { fate } = program;
  return { program, homes, alike, victim, visits, again, hung, broken, wasAwake, fate };
}

/**
 * All workers but one die, and everybody comes before the primary can know: the next place is empty as well. The one that is
 * left is not the first: from a place below zero that is the only one to be found. The first to come are the clients of the place
 * opposite, whose neighbours, on either side, are as dead. Nothing where one death was already too much.
 */
export async function visitTheLast(moved) {
  if (!moved || moved.fate || moved.visits.some(({ status }) => status !== 200)) return undefined;
  const { program, homes, alike } = moved;
  const living = new Set(program.survivors());
  const workers = forksOf(program.events).map(({ workerPid }) => workerPid);
  const victims = workers.filter((pid) => living.has(pid));
  if (victims.length < 3) return undefined;
  const [last] = victims.splice(-2, 1); // the newest may not be ready
  const served = alike.flatMap(({ visits }) => visits.filter(({ status }) => status === 200));
  const opposite = workers[(workers.indexOf(last) + PLACES / 2) % PLACES];
  const isFirst = (client) => homes.get(client) === opposite;
  const others = CLIENTS.filter((client) => !isFirst(client));
  const clients = [...CLIENTS.filter(isFirst), ...others, ...served.map(({ client }) => client)];
  const serving = [program.pid, last];
  const come = () => visit(program, 'last', { clients, serving });
  const visits = await visitFrozen(program, victims, come);
  const broken = visits.flatMap((one) => one.broken ?? []);
  const hung = visits.flatMap((one) => one.hung ?? []);
  const wasAwake = wereAwake(program, serving, hung);
  const { fate } = program;
  await program.stop(); // new workers would only take time from other programs
  return { program, victims, visits, hung, broken, wasAwake, fate };
}

/** The workers that have served nobody have loaded what they need and wait, without a timer, for what comes. */
const areIdle = (events) => idlersOf(events).every((pid) => isIdle(events, pid));

/** The workers that have served nobody. */
function idlersOf(events) {
  const used = new Set(requestsOf(events).map(({ pid }) => pid));
  return forksOf(events).flatMap(({ workerPid }) => (used.has(workerPid) ? [] : workerPid));
}

function isIdle(events, pid) {
  const beats = beatsOf(events, pid);
  const busy = beats.findLastIndex(({ elu }) => elu > BUSY);
  const calm = isCrowded() ? CROWDED_CALM_BEATS : CALM_BEATS;
  return busy >= 0 && !hasTimer(beats) && beats.length - 1 - busy >= calm;
}

/**
 * It is idle, or was for a long stretch after it had loaded what it needs: if other programs then make it look busy,
 * that changes nothing.
 */
function wasCalm(events, pid) {
  const beats = beatsOf(events, pid);
  const long = isCrowded() ? CROWDED_CALM_BEATS : LONG_CALM_BEATS;
  let calm = -Infinity;
  const isLong = beats.some(({ elu }) => (calm = elu > BUSY ? 0 : calm + 1) >= long);
  return isIdle(events, pid) || (isLong && !hasTimer(beats));
}

const beatsOf = (events, pid) => eventsOf(events, 'beat').filter((event) => event.pid === pid);

/** Something is still going to happen in it on its own. */
const hasTimer = (beats) => beats.findLast(({ timers }) => timers !== undefined)?.timers > 0;

/** A worker has been forked since, and is ready. */
function isReplaced(events, first) {
  const pid = forksOf(events.slice(first)).at(-1)?.workerPid;
  return pid !== undefined && isIdle(events, pid);
}

/** Did all their event loops keep turning while each of these clients waited for nothing? */
const wereAwake = (program, pids, hung) =>
  hung.every((one) => pids.every((pid) => isAwake(program, pid, one)));

/** The workers of which the primary has heard that they ended. */
const endedIn = (events) => new Set(exitsOf(events).map(({ workerPid }) => workerPid));

/** Did those of the primary, and of the workers that have not ended? */
function wereAllAwake(program, visits) {
  const ended = endedIn(program.events);
  const workers = forksOf(program.events).map(({ workerPid }) => workerPid);
  const living = workers.filter((pid) => !ended.has(pid));
  const hung = visits.flatMap((one) => one.hung ?? []);
  return wereAwake(program, [program.pid, ...living], hung);
}

/** Did its event loop keep turning while this client waited for nothing? */
function isAwake({ events }, pid, { sentMs, doneMs }) {
  const times = beatsOf(events, pid)
    .map(({ t }) => t)
    .filter((t) => t > sentMs && t < doneMs);
  return [...times, doneMs].every((t, index) => t - (times[index - 1] ?? sentMs) < ASLEEP_MS);
}

/**
 * They come again while the place of the dead is still empty: `again`, if that is certain. The worker that has been forked for it
 * is online then, and stands still before the first line of its file.
 */
async function visitAtDeath(program, victim, serving) {
  const first = program.events.length;
  const started = () => startsOf(program, program.events.slice(first));
  keptFrom.set(program, first);
  const seen = await visitFrozen(program, [victim], async () => {
    const visits = await visit(program, 'soon', { serving });
    if (!areServed(visits)) return { visits, again: [] };
    const isOnline = (events) => {
      const [next] = started();
      return next !== undefined && haveTurned(events, [program.pid], HEARD, next.t);
    };
    await program.settled(isOnline, SETTLED_MS);
    const next = started().length;
    const again = await visit(program, 'again', { serving });
    return { visits, again: next < 2 && started().length === next ? again : [] };
  });
  keptFrom.delete(program);
  return seen;
}

const areServed = (visits) => visits.every(({ status }) => status === 200);

/** Workers die, and all clients come, while the primary is frozen: no connection is on its way to the dead. */
async function visitFrozen(program, victims, come) {
  const goOn = () => program.kill(program.pid, 'SIGCONT');
  program.kill(program.pid, 'SIGSTOP');
  try {
    await sleep(STOPS_WITHIN_MS);
    for (const victim of victims) program.kill(victim, 'SIGKILL');
    await sleep(STOPS_WITHIN_MS);
    const areGone = () => !victims.some((victim) => program.survivors().includes(victim));
    await program.until(areGone, PATIENCE_MS);
    const visiting = come();
    await sleep(CONNECTED_MS);
    goOn();
    return await visiting;
  } finally {
    goOn();
  }
}

/** The processes that the program has started, by whatever way. */
const startsOf = (program, events) =>
  eventsOf(events, 'start').filter(({ tid, pid }) => tid === undefined && pid !== program.pid);

/**
 * For a program whose workers stand still before the first line of their file: each goes on, however often that has to be said
 * to it, but not the first that has started since a death, until everybody has come.
 */
export async function letGoOn(program) {
  while (!program.fate && !program.closed) {
    const { events, lastBeats } = program;
    const ended = endedIn(events);
    const kept = startsOf(program, events.slice(keptFrom.get(program) ?? Infinity))[0]?.pid;
    for (const { pid } of startsOf(program, events))
      if (pid !== kept && !ended.has(pid) && !lastBeats.has(pid)) program.kill(pid, 'SIGCONT');
    await sleep(GO_ON_MS);
  }
}
