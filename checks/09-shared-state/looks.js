/**
 * What the check of lesson 9 does to the program: clients count at once; the owner of the counts, the primary or Redis,
 * stands still while they ask; a worker dies just then; sticky clients come again; Redis goes away and comes back.
 */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Undecided,
  episode,
  eventsOf,
  exitsOf,
  reservePort,
  get,
  hasExited,
  kill,
  nowMs,
  requestsOf,
  servingIn,
  startRedis,
} from '../../lib/check/checking.js';

export const WORKERS = 2;
export const PLACES = 3; // of sticky clients
const LANES = 12; // clients that count at once
const TIMES = 60; // increments
const NAMES = 6; // questions at once, each about its own name
const TWINS = 4; // clients that send the same id
const LOST = 8; // increments in flight when a worker dies
const REPEATED = 3; // ids that come again
const PATIENCE_MS = 2_500; // with one request
const INSIST_MS = 5_000; // with an increment
const RETRY_MS = 20;
const STOPS_MS = 10; // a signal has arrived
const SENT_MS = 25; // a worker whose event loop has turned since then has sent its question
const SEEN_MS = 1_000;
const CLIENTS = Array.from({ length: 31 }, (_, index) => `127.0.0.${index + 2}`);
const SCOUTS = Array.from({ length: 24 }, (_, index) => `127.0.1.${index + 2}`);
const SETTLED_MS = 4_000;
const NEWCOMER_MS = 4_000;
const GONE = 'gone'; // what is counted while Redis is away
const WARM_UP = 40; // rounds: compiled code is several times as fast
const BUDGET = { usualMs: 150, longerMs: 1_500 }; // of each side
const WIDE = 2; // an interval whose high end is twice its low end says little

/** The JSON of a whole 200; undefined for any other answer. */
function bodyOf({ status, error, body }) {
  if (status !== 200 || error) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return {};
  }
}

/** The count that an answer tells; undefined unless it is a whole 200. */
function countOf(answer) {
  const body = bodyOf(answer);
  return body && (body.count ?? null);
}

/** What tells the requests of a check apart: several clients may send the same id. */
const queryOf = (/** @type {any} */ { id, client = 0 }) => `?client=${client}&id=${id}`;

/** Asks for an increment, or only for the count. */
const ask = ({ url }, /** @type {any} */ { name, isRead, agent = false, ...question }) =>
  get(`${url}/count/${name}${queryOf(question)}`, {
    ...{ agent, method: isRead ? 'GET' : 'POST', timeoutMs: PATIENCE_MS },
  });

/** Asks again, with the same id, until an answer tells a count, the program has ended, or patience is over. */
async function insist(program, question, patienceMs = INSIST_MS) {
  const untilMs = nowMs() + patienceMs;
  let answer = await ask(program, question);
  while (countOf(answer) === undefined && !program.fate && nowMs() < untilMs) {
    await sleep(RETRY_MS);
    answer = await ask(program, { ...question, agent: false });
  }
  return { ...question, answer, count: countOf(answer) };
}

/** The count as each worker tells it: they are asked in turn until each has answered, or patience is over. */
async function readByAll(program, name) {
  const told = new Map();
  const untilMs = nowMs() + INSIST_MS;
  const isDone = () => servingIn(program.events).every((pid) => told.has(pid));
  while (!isDone() && !program.fate && nowMs() < untilMs) {
    const { pid, count } = bodyOf(await ask(program, { name, id: 'read', isRead: true })) ?? {};
    if (pid === undefined) await sleep(RETRY_MS);
    else told.set(pid, count);
  }
  return told;
}

/** Many clients count at once, each on its own connection; then each worker is asked for the count. */
export async function countTogether(program) {
  const adds = [];
  const isVain = () => adds.some(({ count }) => count === undefined);
  await Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let index = lane; index < TIMES && !isVain(); index += LANES)
        adds.push(await insist(program, { agent, name: 'pears', id: `pears-${index}` }));
      agent.destroy();
    }),
  );
  const told = isVain() ? new Map() : await readByAll(program, 'pears');
  const unknown = isVain() ? new Map() : await readByAll(program, 'nobody');
  return { program, times: TIMES, adds, told, unknown };
}

/** Increments that were acknowledged come again, with their ids. */
export async function repeat(program, { adds }) {
  const known = adds.slice(0, REPEATED);
  const repeated = [];
  for (const { name, id, count } of known)
    repeated.push({ ...(await insist(program, { name, id })), first: count });
  return repeated;
}

/** The primary as the owner of the counts: what stops it, and lets it go on. Redis has the same two. */
export const primaryOf = (program) => ({
  freeze: () => kill(program, [program.pid], 'SIGSTOP'),
  resume: () => kill(program, [program.pid], 'SIGCONT'),
});

/** @template T @param {{ freeze: () => any, resume: () => any }} owner @param {() => Promise<T>} work @returns {Promise<T>} */
async function whileStill(owner, work) {
  owner.freeze();
  try {
    await sleep(STOPS_MS);
    return await work();
  } finally {
    owner.resume();
  }
}

/** Opens a connection for each question, one after the other, so that they are dealt to all workers in turn. */
async function connectAll(program, questions) {
  const connected = [];
  for (const question of questions) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await get(`${program.url}/visits`, { agent, timeoutMs: PATIENCE_MS });
    connected.push({ ...question, agent });
  }
  return connected;
}

const disconnectAll = (questions) => questions.forEach(({ agent }) => agent.destroy());

/** Asks all of it, and waits until the workers have sent their questions to the owner. */
async function send(program, questions) {
  const first = program.events.length;
  const asked = questions.map((question) => ask(program, question));
  const sent = () => {
    const requests = requestsOf(program.events.slice(first));
    return questions.map((one) => requests.find(({ url }) => url.endsWith(queryOf(one))));
  };
  const isSent = (request) =>
    request && program.lastBeats.get(request.pid) > request.startMs + SENT_MS;
  await program.until(() => sent().every(isSent), SEEN_MS);
  return { asked, requests: sent() };
}

/**
 * The owner stands still until all questions are there: about names of which each has been counted another number of times,
 * and one increment that several clients send with the same id.
 */
export async function askAtOnce(program, owner) {
  const names = Array.from({ length: NAMES }, (_, index) => `name-${index}`);
  const earlier = names.flatMap((name, times) =>
    Array.from({ length: times }, (_, index) => ({ name, id: `${name}-${index}` })),
  );
  await Promise.all(earlier.map((one) => insist(program, one)));
  const last = names.map((name, times) => ({ name, id: `last-${name}`, expected: times + 1 }));
  const twins = Array.from({ length: TWINS }, (_, client) => ({
    name: 'twins',
    id: 'twin',
    client,
  }));
  const questions = await connectAll(program, [...last, ...twins]);
  const { asked } = await whileStill(owner, () => send(program, questions));
  const answers = await Promise.all(asked);
  disconnectAll(questions);
  const told = questions.map((one, index) => ({ ...one, count: countOf(answers[index]) }));
  const acknowledged = told
    .slice(NAMES)
    .map((one) => (one.count === undefined ? insist(program, { ...one, agent: false }) : one));
  return { questions: told.slice(0, NAMES), twins: await Promise.all(acknowledged) };
}

/**
 * The owner stands still for longer than a question may take. One worker dies with its questions in flight: they will be done,
 * and no client hears of it. The other one gives its questions up, and is asked about other names over the same connections. Then
 * the owner goes on, and every client that was not acknowledged asks again.
 */
export async function loseWorker(program, owner) {
  const name = 'figs';
  await insist(program, { name, id: 'earlier' }); // one that no client will send again
  const adds = Array.from({ length: LOST }, (_, index) => ({ name, id: `${name}-${index}` }));
  const reads = Array.from({ length: WORKERS }, (_, client) => ({
    name,
    id: 'read',
    client,
    isRead: true,
  }));
  const questions = await connectAll(program, [...adds, ...reads]);
  const first = program.events.length;
  const { answers, requests, victim, late } = await whileStill(owner, async () => {
    const sent = await send(program, questions);
    const [dying] = sent.requests.flatMap((request) => request?.pid ?? []);
    if (dying) kill(program, [dying]);
    const told = await Promise.all(sent.asked);
    const left = questions.filter((_, index) => told[index].status === 503);
    const other = left.map(({ agent }, client) => ({
      ...{ agent, client, name: `late-${client}`, id: 'late', isRead: true },
    }));
    const { asked } = await send(program, other);
    return { answers: told, requests: sent.requests, victim: dying, late: asked };
  });
  const later = (await Promise.all(late)).map((answer) => ({ answer, count: countOf(answer) }));
  disconnectAll(questions);
  await program.until((events) => !victim || hasExited(events, victim), SEEN_MS);
  const given = questions.map((one, index) => {
    const [answer, request] = [answers[index], requests[index]];
    return { ...one, answer, pid: request?.pid, waitedMs: waitedMsOf(program, request, answer) };
  });
  const unheard = given.filter(({ isRead, answer }) => !isRead && countOf(answer) === undefined);
  const retried = await Promise.all(
    unheard.map((one) => insist(program, { ...one, agent: false })),
  );
  const told = await readByAll(program, name);
  const crashed = eventsOf(program.events.slice(first), 'crash');
  return {
    ...{ program, sent: 1 + adds.length, retried, later, told, fate: program.fate },
    silent: given.filter(({ pid }) => pid !== undefined && pid !== victim),
    crashes: crashed.filter(({ pid }) => pid !== program.pid),
  };
}

/** The same with Redis. The dead worker's successor connects to it then: whatever it does at its start, it has done. */
export async function loseWorkerOfStore({ program, store }) {
  const seen = await loseWorker(program, store);
  await program.until((events) => servingIn(events).length >= WORKERS, NEWCOMER_MS);
  await readByAll(program, 'figs'); // by now each has a connection to Redis
  return { ...seen, told: await readByAll(program, 'figs') };
}

/** How long a worker took for a request, by its own clock; where that is not known, how long the client waited. */
function waitedMsOf(program, request, { sentMs, doneMs }) {
  const { pid, url, startMs } = request ?? {};
  const isIt = (one) => one.pid === pid && one.url === url && one.startMs === startMs;
  const endMs = requestsOf(program.events).find(isIt)?.endMs;
  return endMs === undefined ? doneMs - sentMs : endMs - startMs;
}

/** Every client comes once, from its own address, over a new connection. */
async function visit(program, clients) {
  const visits = await Promise.all(
    clients.map(async (client) => {
      const answer = await get(`${program.url}/visits`, {
        ...{ localAddress: client, timeoutMs: PATIENCE_MS },
      });
      if (answer.error === 'EADDRNOTAVAIL') throw noAddress(client);
      return { client, answer, pid: bodyOf(answer)?.pid };
    }),
  );
  if (visits.some(({ pid }) => pid === undefined)) await program.ended(SEEN_MS); // did the server end?
  return visits;
}

const noAddress = (client) =>
  new Undecided({
    got: `This system does not let a client come from ${client}.`,
    why: 'This needs clients with their own addresses. Linux has all of 127.0.0.0/8 built in.',
    try: 'sudo ifconfig lo0 alias 127.0.0.2, and so on up to 127.0.0.32 and from 127.0.1.2 to 127.0.1.25 (macOS), then check again',
  });

const servedBy = (visits) => new Set(visits.flatMap(({ pid }) => pid ?? []));

/** All clients come twice. Scouts from other addresses come before: where they miss a worker it may still be starting. */
export async function visitInTurn(program) {
  const scouts = await visit(program, SCOUTS);
  if (servedBy(scouts).size < PLACES) await program.settled(() => false, SETTLED_MS);
  const rounds = [await visit(program, CLIENTS), await visit(program, CLIENTS)];
  return { program, rounds, used: servedBy([...scouts, ...rounds.flat()]) };
}

/**
 * A worker dies. When the primary has heard of it, and before another is ready, all clients come once more. Then one of the
 * clients that lost their worker comes until a new one has taken the place: the server must survive that as well.
 */
export async function visitAfterDeath({ program, rounds }) {
  const homes = new Map(rounds[1].map(({ client, pid }) => [client, pid]));
  const [victim] = [...homes.values()].filter(Boolean);
  if (!victim) return { program, homes, visits: [] };
  await episode(...[program, 'SIGKILL', () => kill(program, [victim])], (since) =>
    hasExited(since, victim),
  );
  const visits = await visit(program, CLIENTS);
  const moved = CLIENTS.filter((client) => homes.get(client) === victim).slice(0, 1);
  const known = new Set(homes.values());
  const untilMs = nowMs() + NEWCOMER_MS;
  const isRefilled = async () =>
    (await visit(program, moved)).some(({ pid }) => pid && !known.has(pid));
  while (!program.fate && nowMs() < untilMs && !(await isRefilled())) await sleep(RETRY_MS);
  return { program, homes, victim, visits, fate: program.fate };
}

/** A real Redis, and a cluster that counts in it. */
export async function startStore(launch, start) {
  const store = await startRedis(launch);
  const program = await start('redis', WORKERS, { env: { REDIS_URL: store.url } });
  return { store, program };
}

/** A cluster starts, and there is no Redis. */
export async function startWithoutStore(launch) {
  const env = { NODE_CLUSTER_WORKERS: '1', REDIS_URL: `redis://127.0.0.1:${await reservePort()}` };
  const program = await launch({ args: ['--state', 'redis'], env });
  const listens = await program.ready(1);
  return { program, listens, silent: listens ? await askWhileAway(program) : [] };
}

/** Redis goes away, clients ask, and a new Redis takes its place, which knows nothing. */
export async function loseStore(launch, { store, program }) {
  await store.stop();
  const silent = await askWhileAway(program);
  const exits = exitsOf(program.events).length;
  await startRedis(launch, { port: store.port });
  const back = await insist(program, { name: 'back', id: 'back' });
  const isBack = back.count !== undefined;
  return {
    program,
    exits,
    silent,
    back,
    doneLater: isBack ? await readByAll(program, GONE) : new Map(),
  };
}

/** Some increments, and a count. */
async function askWhileAway(program) {
  const first = program.events.length;
  const adds = ['a', 'b', 'c'].map((id) => ({ name: GONE, id }));
  const questions = [...adds, { name: GONE, id: 'read', isRead: true }];
  const asked = questions.map((one) => ask(program, one));
  const answers = await Promise.all(asked);
  const requests = requestsOf(program.events.slice(first));
  return questions.map((one, index) => {
    const request = requests.find(({ url }) => url.endsWith(queryOf(one)));
    return {
      ...one,
      answer: answers[index],
      waitedMs: waitedMsOf(program, request, answers[index]),
    };
  });
}

/**
 * How long one client waits for what its worker knows, and for a count that the worker has to ask for: over one connection,
 * so from one worker, in turn. It decides nothing.
 */
export async function measureCost({ drawn, measured, isLonger }, primary, redis) {
  const budgetMs = isLonger ? BUDGET.longerMs : BUDGET.usualMs;
  const own = [];
  const rows = [];
  for (const [name, owner, program] of [
    ['primary', 'the primary', primary],
    ['redis', 'Redis', redis],
  ]) {
    const waits = await measureWaits(program, budgetMs);
    const cost = medianOf(waits.asked.map((wait, index) => wait - waits.own[index]));
    const isWide = cost.high > WIDE * cost.low;
    const note = isWide ? 'inconclusive: other programs were using the cores' : undefined;
    const label = `asking ${owner} for a count adds to an answer`;
    measured(`cost-${name}`, { label, unit: 'ms', ...cost, note, isHeadline: name === 'primary' });
    own.push(...waits.own);
    rows.push({ name: owner, value: inMicroseconds(waits.asked) });
  }
  drawn('reads', {
    label: 'an answer with a number from there, on an idle server; half are quicker',
    unit: 'µs',
    rows: [{ name: "the worker's own memory", value: inMicroseconds(own) }, ...rows],
  });
}

/** Milliseconds, as many of each kind: there and back again, so that any drift affects both. */
async function measureWaits({ url }, budgetMs) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const wait = async (path) => {
    const { sentMs, doneMs } = await get(url + path, { agent, timeoutMs: PATIENCE_MS });
    return doneMs - sentMs;
  };
  const waits = { own: /** @type {number[]} */ ([]), asked: /** @type {number[]} */ ([]) };
  const goRound = async () => {
    waits.own.push(await wait('/visits'));
    waits.asked.push(await wait('/count/pears'), await wait('/count/pears'));
    waits.own.push(await wait('/visits'));
  };
  for (let round = 0; round < WARM_UP; round += 1) await goRound();
  const untilMs = performance.now() + budgetMs;
  while (performance.now() < untilMs) await goRound();
  agent.destroy();
  return { own: waits.own.slice(2 * WARM_UP), asked: waits.asked.slice(2 * WARM_UP) };
}

/** The median, and its 95 % interval: once in twenty times it is this far from the middle, counted in values. */
function medianOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const reach = Math.ceil(Math.sqrt(sorted.length)); // 1.96 standard deviations of a half each
  const at = (index) => sorted[Math.min(sorted.length - 1, Math.max(0, index))];
  return { value: at(middle), low: at(middle - reach), high: at(middle + reach) };
}

const inMicroseconds = (waits) => Math.round(medianOf(waits).value * 1_000);
