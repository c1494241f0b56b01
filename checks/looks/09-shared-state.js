/** What is done with the programs of lesson 9, and what is seen of them. checks/demands/09-shared-state.js judges it. */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Undecided,
  createLoad,
  get,
  groupBy,
  hasPid,
  interleave,
  mean,
  nowMs,
  ratioOf,
  requestsOf,
  startRedis,
} from '../../lib/checking.js';

export const WORKERS = 4;
const LANES = 16; // clients at once
const AT_ONCE = 12; // questions to an owner that stands still: by the pigeonhole three or more are one worker's
const PATIENCE_MS = 5_000;
const RETRY_MS = 20;
const RECOVERY_MS = 8_000;
const SEEN_MS = 1_000;
const SETTLED_MS = 4_000;
const STOPS_WITHIN_MS = 10; // a signal has arrived
const BEAT_MS = 25; // an event loop that has turned since then has sent what it had to send
const CLIENTS = 48; // by any hash each of four places has some
const ROUNDS = 3;

/** The count that an answer tells; undefined unless it is a whole 200. */
export function countOf({ status, body, error }) {
  if (status !== 200 || error) return undefined;
  try {
    return Number(JSON.parse(body).count);
  } catch {
    return NaN;
  }
}

/** What is stopped and goes on when the primary is the owner of the counts. */
export const primaryOf = (program) => ({
  still: () => program.kill(program.pid, 'SIGSTOP'),
  goOn: () => program.kill(program.pid, 'SIGCONT'),
});

const add = ({ url }, { agent = /** @type {any} */ (false), name, id }) =>
  get(`${url}/count/${name}?id=${id}`, { agent, method: 'POST', timeoutMs: PATIENCE_MS });

/** One increment, asked for again and again with the same id until it is acknowledged, which is a whole 200. */
export async function addUntilCounted(program, { agent, name, id }, patienceMs = PATIENCE_MS) {
  const answers = [await add(program, { agent, name, id })];
  const deadline = nowMs() + patienceMs;
  while (countOf(answers[0]) === undefined && !program.fate && nowMs() < deadline) {
    await sleep(RETRY_MS);
    answers.unshift(await add(program, { name, id }));
  }
  return { id, count: countOf(answers[0]), tries: answers.length, last: answers[0] };
}

/** So many increments by clients at once, each with a connection of its own; `onAcknowledged` hears of each. */
export async function addMany(program, name, times, onAcknowledged = (_) => {}) {
  const adds = [];
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let index = lane; index < times; index += LANES) {
      adds.push(await addUntilCounted(program, { agent, name, id: `${name}-${index}` }));
      onAcknowledged(adds.length);
    }
    agent.destroy();
  });
  await Promise.all(lanes);
  return adds;
}

/** The count, asked for until somebody tells it. */
export async function read({ url }, name) {
  const deadline = nowMs() + PATIENCE_MS;
  for (;;) {
    const count = countOf(await get(`${url}/count/${name}`, { timeoutMs: PATIENCE_MS }));
    if (count !== undefined || nowMs() > deadline) return count;
    await sleep(RETRY_MS);
  }
}

/** Many count at once; then each worker is asked for the count. */
export async function countTogether(program, name, times) {
  const first = program.events.length;
  const adds = await addMany(program, name, times);
  const told = [];
  for (let turn = 0; turn < 2 * WORKERS; turn += 1) told.push(await read(program, name));
  const executed = () => requestsOf(program.events.slice(first), `/count/${name}`);
  await program.until(() => executed().length >= told.length, SEEN_MS);
  return { times, adds, told, pids: new Set(executed().map(({ pid }) => pid)) };
}

/**
 * Asks for increments, each over an open connection, while the owner of the counts stands still: a question can be on
 * its way and nothing is answered. `meanwhile` gets the questions and who executes them; then the owner goes on.
 */
async function askWhileStill(program, owner, questions, meanwhile = async (_) => {}) {
  const agent = new Agent({ keepAlive: true, maxSockets: questions.length });
  await Promise.all(
    questions.map(() => get(`${program.url}/visits`, { agent, timeoutMs: PATIENCE_MS })),
  );
  const first = program.events.length;
  owner.still();
  try {
    await sleep(STOPS_WITHIN_MS);
    const asked = questions.map((question) => add(program, { agent, ...question }));
    await meanwhile({ agent, asked, requests: await sentOf(program, first, questions) });
    owner.goOn();
    return await Promise.all(asked);
  } finally {
    owner.goOn();
    agent.destroy();
  }
}

/** The requests of these questions, once their processes have passed them on. */
async function sentOf(program, first, questions) {
  const found = () => {
    const requests = requestsOf(program.events.slice(first));
    return questions.map(({ id }) => requests.find(({ url }) => url.endsWith(`?id=${id}`)));
  };
  const isSent = (request) =>
    request && program.lastBeats.get(request.pid) > request.startMs + BEAT_MS;
  await program.until(() => found().every(isSent), SEEN_MS);
  return found();
}

/** Names that have been counted 0, 1, 2, ... times: the answer of one is wrong for every other. */
async function prepareNames(program, label) {
  const names = Array.from({ length: AT_ONCE }, (_, index) => `${label}-${index}`);
  await Promise.all(names.map((name, index) => index > 0 && addMany(program, name, index)));
  return names.map((name, index) => ({ name, id: `last-${name}`, expected: index + 1 }));
}

/** Asks for many names at once. The primary stands still until all questions are there. */
export async function askForMany(program, owner) {
  const questions = await prepareNames(program, 'many');
  const answers = await askWhileStill(program, owner, questions);
  return questions.map((question, index) => ({ ...question, count: countOf(answers[index]) }));
}

/**
 * A worker dies when its questions are on their way to the owner, which stands still: they will be done, and nobody
 * is there to hear of it. Then the clients ask again.
 */
export async function dieWithAnswers(program, owner, name) {
  const questions = Array.from({ length: AT_ONCE }, (_, index) => ({ name, id: `${name}-${index}` }));
  let victims = [];
  const answers = await askWhileStill(program, owner, questions, async ({ asked, requests }) => {
    const known = requests.filter(Boolean);
    const groups = [...groupBy(known, ({ pid }) => pid)].sort(([, a], [, b]) => b.length - a.length);
    if (groups.length === 0) throw notSeen;
    const [[pid]] = groups;
    program.kill(pid, 'SIGKILL');
    victims = asked.filter((_, index) => requests[index]?.pid === pid);
    await Promise.all(victims);
  });
  const lost = questions.filter((_, index) => countOf(answers[index]) === undefined);
  const retried = await Promise.all(lost.map((question) => addUntilCounted(program, question)));
  const unheard = retried.filter(({ count }) => count === undefined);
  const count = await read(program, name);
  const { fate } = program;
  return { sent: questions.length, victims: victims.length, lost: lost.length, unheard, count, fate };
}

const notSeen = new Undecided({
  got: 'While the owner of the counts stood still, no worker began a request on an open connection.',
  why: 'The machine has other things to do, or the server closes every connection after its answer.',
  try: 'npm run check lesson-9, when it has less to do',
});

/** A worker dies in the middle of the load. */
export async function dieUnderLoad(program, name, times) {
  let isKilled = false;
  const adds = await addMany(program, name, times, (acknowledged) => {
    if (isKilled || acknowledged < times / 3) return;
    isKilled = true;
    const { pid } = requestsOf(program.events, `/count/${name}`).at(-1) ?? {};
    if (pid && pid !== program.pid) program.kill(pid, 'SIGKILL');
  });
  const unheard = adds.filter(({ count }) => count === undefined);
  const again = adds.filter(({ tries }) => tries > 1).length;
  const count = await read(program, name);
  return { sent: times, lost: again, unheard, count, fate: program.fate };
}

/**
 * The owner is silent for longer than a client should wait. Then the same connections carry other questions, the owner
 * goes on and answers all it has heard, and the clients who were sent away ask again.
 */
export async function keepSilent(program, owner) {
  const before = await addMany(program, 'long', 2 * AT_ONCE).then(() => read(program, 'long'));
  const later = await prepareNames(program, 'late');
  const questions = later.map(({ name }) => ({ name: 'long', id: `early-${name}` }));
  let late = [];
  let patient = [];
  const early = await askWhileStill(program, owner, questions, async ({ agent, asked, requests }) => {
    await Promise.all(asked);
    patient = requests.map((request) => isPatient(program, request));
    const first = program.events.length;
    late = later.map((question) => add(program, { agent, ...question }));
    await sentOf(program, first, later);
  });
  const answered = (await Promise.all(late)).map(countOf);
  const retried = await Promise.all(questions.map((one) => addUntilCounted(program, one)));
  return {
    early: early.map((answer, index) => ({ ...answer, isPatient: patient[index] })),
    late: later.map((question, index) => ({ ...question, count: answered[index] })),
    unheard: retried.filter(({ count }) => count === undefined),
    expected: before + questions.length,
    count: await read(program, 'long'),
    fate: program.fate,
  };
}

/** It had time to give up, by its own event loop: a timer of a second, asked for at the start, has fired. */
const isPatient = (program, request) =>
  request && program.lastBeats.get(request.pid) > request.startMs + (PATIENCE_MS * 3) / 5;

/** Clients of different addresses, each with a new connection at every visit. */
export async function visitInTurn(program) {
  await program.settled(() => false, SETTLED_MS); // it has started all that it starts
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await visit(program, `${round}`));
  return { program, rounds };
}

/** Everybody comes once; tells who served whom, as it was observed, and what the client was told. */
async function visit(program, round) {
  const first = program.events.length;
  const clients = Array.from({ length: CLIENTS }, (_, index) => `127.0.0.${index + 2}`);
  const answers = await Promise.all(clients.map((client) => visitOnce(program, client, round)));
  const seen = () => requestsOf(program.events.slice(first), '/visits');
  const servedBy = (client) => seen().findLast(({ url }) => url.endsWith(tagOf(client, round)))?.pid;
  await program.until(() => clients.every(servedBy), SEEN_MS);
  return clients.map((client, index) => ({
    client,
    pid: servedBy(client),
    status: answers[index].status,
    visits: visitsOf(answers[index]),
  }));
}

const tagOf = (client, round) => `?round=${round}-${client}`;

/** A connection may break with the worker to which it was dealt: then the client comes again. */
async function visitOnce({ url }, client, round) {
  const deadline = nowMs() + PATIENCE_MS;
  for (;;) {
    const options = { localAddress: client, timeoutMs: PATIENCE_MS };
    const answer = await get(`${url}/visits${tagOf(client, round)}`, options);
    if (answer.error === 'EADDRNOTAVAIL') throw noAddress(client);
    if (answer.status === 200 || nowMs() > deadline) return answer;
    await sleep(RETRY_MS);
  }
}

const noAddress = (client) =>
  new Undecided({
    got: `This system does not let a client come from ${client}.`,
    why: 'Clients with addresses of their own are needed here. Linux has all of 127.0.0.0/8 on board.',
    try: 'sudo ifconfig lo0 alias 127.0.0.2, and so on up to 127.0.0.49 (macOS), then check again',
  });

function visitsOf({ status, body }) {
  try {
    return status === 200 ? Number(JSON.parse(body).visits) : undefined;
  } catch {
    return NaN;
  }
}

/** One worker dies. Everybody comes as soon as the primary knows, and once more when all is calm. */
export async function visitAfterDeath({ program, rounds }) {
  const homes = new Map(rounds.at(-1).map(({ client, pid }) => [client, pid]));
  const [victim] = homes.values();
  program.kill(victim, 'SIGKILL');
  await program.until(() => !hasPid(victim), PATIENCE_MS); // its parent has heard of it
  const soon = await visit(program, 'soon');
  await program.settled(() => false, SETTLED_MS);
  const calm = await visit(program, 'calm');
  return { program, homes, victim, visits: [...soon, ...calm], fate: program.fate };
}

/** Counts in a real Redis: together, through the death of a worker, and after a restart of the whole cluster. */
export async function countInStore({ launch, ready }, times) {
  const store = await startRedis(launch);
  const start = async (workers) => {
    const env = { NODE_CLUSTER_WORKERS: String(workers), REDIS_URL: store.url };
    return ready(await launch({ args: ['--state', 'redis'], env }), workers);
  };
  const program = await start(WORKERS);
  await addUntilCounted(program, { agent: false, name: 'first', id: 'first' }); // all are connected, or will be soon
  const together = await countTogether(program, 'pears', times);
  const death = await dieWithAnswers(program, store, 'figs');
  await program.stop();
  const again = await start(2);
  const kept = [await read(again, 'pears'), await read(again, 'figs')];
  return { store, start, program, again, together, death, kept };
}

/** Redis is silent, then away, also for a cluster that starts meanwhile; then it is back, without its memory. */
export async function loseStore({ launch }, { store, start, again }) {
  const silence = await keepSilent(again, store);
  await store.stop();
  const cold = await start(2);
  const programs = [again, cold];
  const away = await Promise.all(programs.map(askOnce));
  await startRedis(launch, { port: store.port });
  const back = await Promise.all(
    programs.map((program, index) =>
      addUntilCounted(program, { agent: false, name: 'back', id: `back-${index}` }, RECOVERY_MS),
    ),
  );
  return { silence, programs, away: away.flat(), back };
}

/** Each worker is asked, over a new connection each time. */
async function askOnce(program) {
  const first = program.events.length;
  const questions = ['a', 'b', 'c', 'd'].map((letter) => ({ name: 'gone', id: `gone-${letter}` }));
  const answers = await Promise.all(questions.map((question) => add(program, question)));
  const requests = await sentOf(program, first, questions);
  return answers.map((answer, index) => ({
    ...answer,
    isPatient: isPatient(program, requests[index]),
  }));
}

const WINDOW_MS = 200;
const RAMP_MS = 20;
const BUDGET_MS = 1_200;

/** Reads a second with the count in the worker's own memory, in the primary, and in Redis. It decides nothing. */
export async function measureCost({ launch, drawn, measured }, start) {
  const store = await startRedis(launch);
  const env = { NODE_CLUSTER_WORKERS: '2', REDIS_URL: store.url };
  const load = createLoad();
  const sideOf = async (state, more = {}) => {
    const program = await start(state, 2, { env, probe: 'life', ...more });
    return async () => {
      const window = { url: `${program.url}/count/pears`, connections: LANES };
      const { answers, startMs } = await load.fire({ ...window, durationMs: WINDOW_MS + RAMP_MS });
      const isInside = ({ doneMs }) => doneMs >= startMs + RAMP_MS && doneMs < startMs + RAMP_MS + WINDOW_MS;
      return (answers.filter(isInside).length * 1_000) / WINDOW_MS;
    };
  };
  const sides = {
    own: await sideOf('memory', { isReference: true }),
    primary: await sideOf('primary'),
    redis: await sideOf('redis'),
  };
  for (const side of Object.values(sides)) await side(); // a warm-up: compiled code is several times as fast
  const rates = await interleave(sides, { isEnough: () => false, budgetMs: BUDGET_MS });
  load.close();
  for (const [name, owner] of [
    ['primary', 'the primary'],
    ['redis', 'Redis'],
  ]) {
    const ratio = ratioOf(rates.own, rates[name]);
    const label = `reading a count from ${owner}, against the worker's own memory`;
    measured(`cost-${name}`, { label, unit: 'times', ...ratio, isHeadline: name === 'primary' });
  }
  const rows = { "the worker's own memory": rates.own, 'the primary': rates.primary, Redis: rates.redis };
  drawn('reads', {
    label: 'counts read a second, 2 workers, 16 clients',
    unit: 'a second',
    rows: Object.entries(rows).map(([name, values]) => ({ name, value: Math.round(mean(values)) })),
  });
}
