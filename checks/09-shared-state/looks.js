/**
 * Lesson 9: clients count at once; the owner of the counts, primary or Redis, is frozen while they ask and a worker is killed;
 * sticky clients return; Redis goes away and comes back.
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
  whileFrozen,
} from '../../lib/check/checking.js';

export const WORKERS = 2;
export const PLACES = 3; // workers of the sticky cluster
const LANES = 12; // concurrent clients
const TIMES = 60; // increments
const NAMES = 6; // questions at once, each about its own name
const TWINS = 4; // clients that send the same id
const LOST = 8; // increments in flight when a worker dies
const REPEATED = 3; // ids sent a second time
const PATIENCE_MS = 2_500; // of a client, for one request
const INSIST_MS = 5_000; // of a client, for an increment with its retries
const RETRY_MS = 20;
const STOPS_MS = 10; // in which a signal arrives
const SENT_MS = 25; // a worker whose event loop turns this much later has sent its question
const SEEN_MS = 1_000;
const CLIENTS = Array.from({ length: 31 }, (_, index) => `127.0.0.${index + 2}`);
const SCOUTS = Array.from({ length: 24 }, (_, index) => `127.0.1.${index + 2}`);
const SETTLED_MS = 4_000;
const NEWCOMER_MS = 4_000;
const GONE = 'gone'; // the name counted while Redis is away
const WARM_UP = 40; // rounds: compiled code is several times as fast
const BUDGET = { usualMs: 150, longerMs: 1_500 }; // of each side
const WIDE = 2; // high end / low end of an interval that says little

/** The JSON of a complete response with status 200; otherwise undefined. */
function bodyOf({ status, error, body }) {
  if (status !== 200 || error) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return {};
  }
}

function countOf(answer) {
  const body = bodyOf(answer);
  return body && (body.count ?? null);
}

/** Makes each request of the check unique, because several clients may send the same id. */
const queryOf = (/** @type {any} */ { id, client = 0 }) => `?client=${client}&id=${id}`;

const ask = ({ url }, /** @type {any} */ { name, isRead, agent = false, ...question }) =>
  get(`${url}/count/${name}${queryOf(question)}`, {
    ...{ agent, method: isRead ? 'GET' : 'POST', timeoutMs: PATIENCE_MS },
  });

/** Retries with the same id until an answer has a count, the program has exited, or patience is over. */
async function insist(program, question, patienceMs = INSIST_MS) {
  const untilMs = nowMs() + patienceMs;
  let answer = await ask(program, question);
  while (countOf(answer) === undefined && !program.fate && nowMs() < untilMs) {
    await sleep(RETRY_MS);
    answer = await ask(program, { ...question, agent: false });
  }
  return { ...question, answer, count: countOf(answer) };
}

/** The count according to each worker; asks until each has answered, or patience is over. */
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

/** Many clients count at once, each on its own connection; then every worker reports the count. */
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
  const unknown = isVain() ? new Map() : await readByAll(program, 'quinces');
  return { program, times: TIMES, adds, told, unknown };
}

/** Repeats acknowledged increments with their ids. */
export async function repeatIds(program, { adds }) {
  const known = adds.slice(0, REPEATED);
  const repeated = [];
  for (const { name, id, count } of known)
    repeated.push({ ...(await insist(program, { name, id })), first: count });
  return repeated;
}

/** @template T @param {import('../../lib/observe/program.js').Program} owner @param {() => Promise<T>} work @returns {Promise<T>} */
const whileOwnerFrozen = (owner, work) =>
  whileFrozen(owner, [Number(owner.pid)], async () => {
    await sleep(STOPS_MS);
    return work();
  });

/** Opens the connections one after the other, so that all workers get some. */
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

/** Asks all questions, and waits until the workers have sent them to the owner. */
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

/** While the owner, the primary or Redis, is frozen, clients ask about names with different counts, and several send the same increment. */
export async function askWhileOwnerStopped(program, owner) {
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
  const { asked } = await whileOwnerFrozen(owner, () => send(program, questions));
  const answers = await Promise.all(asked);
  disconnectAll(questions);
  const told = questions.map((one, index) => ({ ...one, count: countOf(answers[index]) }));
  const acknowledged = told
    .slice(NAMES)
    .map((one) => (one.count === undefined ? insist(program, { ...one, agent: false }) : one));
  return { questions: told.slice(0, NAMES), twins: await Promise.all(acknowledged) };
}

async function killWhileAsking(program, questions) {
  const { asked, requests } = await send(program, questions);
  const [victim] = requests.flatMap((request) => request?.pid ?? []);
  if (victim) kill(program, [victim]);
  const answers = await Promise.all(asked);
  const refused = questions.filter((_, index) => answers[index].status === 503);
  const others = refused.map(({ agent }, client) => ({
    ...{ agent, client, name: `late-${client}`, id: 'late', isRead: true },
  }));
  const late = await send(program, others);
  return { answers, requests, victim, late: late.asked };
}

/**
 * The owner is frozen for longer than a question may take. One worker is killed: its increments will be done, but not
 * acknowledged. The other worker gives up and gets new questions over the same connections. Then the owner resumes, and clients
 * without an acknowledgement retry.
 */
export async function loseWorker(program, owner) {
  const name = 'figs';
  await insist(program, { name, id: 'earlier' }); // never sent again
  const adds = Array.from({ length: LOST }, (_, index) => ({ name, id: `${name}-${index}` }));
  const reads = Array.from({ length: WORKERS }, (_, client) => ({
    name,
    id: 'read',
    client,
    isRead: true,
  }));
  const questions = await connectAll(program, [...adds, ...reads]);
  const first = program.events.length;
  const { answers, requests, victim, late } = await whileOwnerFrozen(owner, () =>
    killWhileAsking(program, questions),
  );
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

/** The same with Redis, to which the killed worker's successor connects at its start. */
export async function loseWorkerOfStore({ program, store }) {
  const seen = await loseWorker(program, store.program);
  await program.until((events) => servingIn(events).length >= WORKERS, NEWCOMER_MS);
  await readByAll(program, 'figs'); // so that each worker is connected to Redis
  return { ...seen, told: await readByAll(program, 'figs') };
}

/** The worker's own time for a request; if unknown, the client's. */
function waitedMsOf(program, request, { sentMs, doneMs }) {
  const { pid, url, startMs } = request ?? {};
  const isIt = (one) => one.pid === pid && one.url === url && one.startMs === startMs;
  const endMs = requestsOf(program.events).find(isIt)?.endMs;
  return endMs === undefined ? doneMs - sentMs : endMs - startMs;
}

/** One visit of every client, from its own address, over a new connection. */
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
  if (visits.some(({ pid }) => pid === undefined)) await program.ended(SEEN_MS); // perhaps the server has exited
  return visits;
}

const noAddress = (client) =>
  new Undecided({
    got: `This system does not let a client come from ${client}.`,
    why: 'This needs clients with their own addresses. Linux has all of 127.0.0.0/8 built in.',
    try: 'sudo ifconfig lo0 alias 127.0.0.2, and so on up to 127.0.0.32 and from 127.0.1.2 to 127.0.1.25 (macOS), then check again',
  });

const servedBy = (visits) => new Set(visits.flatMap(({ pid }) => pid ?? []));

/** All clients visit twice, after scouts from other addresses: a worker that these don't reach may still be starting. */
export async function visitInTurn(program) {
  const scouts = await visit(program, SCOUTS);
  if (servedBy(scouts).size < PLACES) await program.settled(() => false, SETTLED_MS);
  const rounds = [await visit(program, CLIENTS), await visit(program, CLIENTS)];
  return { program, rounds, used: servedBy([...scouts, ...rounds.flat()]) };
}

/**
 * Kills a worker. All clients visit again between its exit and the start of its successor; then one of the clients that lost
 * their worker repeats its visit until the successor serves.
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

/** A cluster that starts without Redis. */
export async function startWithoutStore(launch) {
  const env = { NODE_CLUSTER_WORKERS: '1', REDIS_URL: `redis://127.0.0.1:${await reservePort()}` };
  const program = await launch({ args: ['--state', 'redis'], env });
  const listens = await program.ready(1);
  return { program, listens, silent: listens ? await askWhileAway(program) : [] };
}

/** Redis exits, clients ask, and an empty Redis replaces it. */
export async function loseStore(launch, { store, program }) {
  await store.program.stop();
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

/** One client's latency for an answer from its worker's memory and for a count from the owner, over one connection; decides nothing. */
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

/** Milliseconds of both kinds, alternating so that drift affects both. */
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

/** The median and its 95 % interval, from the ranks of a binomial distribution. */
function medianOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const halfRanks = Math.ceil(Math.sqrt(sorted.length)); // 1.96 standard deviations of a half each
  const at = (index) => sorted[Math.min(sorted.length - 1, Math.max(0, index))];
  return { value: at(middle), low: at(middle - halfRanks), high: at(middle + halfRanks) };
}

const inMicroseconds = (waits) => Math.round(medianOf(waits).value * 1_000);
