/**
 * What the check of lesson 9 does with the learner's program and sees of it: clients that count at once and insist, an
 * owner of the counts that stands still, a worker that dies just then.
 */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Undecided,
  exitsOf,
  forksOf,
  get,
  groupBy,
  nowMs,
  requestsOf,
} from '../../../lib/check/checking.js';

export const WORKERS = 2;
const LANES = 16; // clients at once
const AT_ONCE = 6; // questions to an owner that stands still: by the pigeonhole three or more are one worker's
export const PATIENCE_MS = 5_000; // with one request
export const INSIST_MS = 20_000; // with an increment
export const RETRY_MS = 20;
export const SEEN_MS = 1_000;
export const STOPS_WITHIN_MS = 10; // a signal has arrived
const NEWCOMER_MS = 4_000;
const BEAT_MS = 25; // an event loop that has turned since then has sent what it had to send

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

export const add = ({ url }, { agent = /** @type {Agent | false} */ (false), name, id }) =>
  get(`${url}/count/${name}?id=${id}`, { agent, method: 'POST', timeoutMs: PATIENCE_MS });

/**
 * One increment, asked for again and again with the same id until it is acknowledged, which is a whole 200.
 * @param {any} program
 * @param {{ name: string, id: string, agent?: Agent | false }} question
 */
export async function addUntilCounted(program, question, patienceMs = INSIST_MS) {
  const { name, id, agent = false } = question;
  const answers = [await add(program, { agent, name, id })];
  const deadline = nowMs() + patienceMs;
  while (countOf(answers[0]) === undefined && !program.fate && nowMs() < deadline) {
    await sleep(RETRY_MS);
    answers.unshift(await add(program, { name, id }));
  }
  return { id, count: countOf(answers[0]), tries: answers.length, last: answers[0] };
}

/** So many increments by clients at once, each with a connection of its own. */
async function addMany(program, name, times) {
  const adds = [];
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let index = lane; index < times; index += LANES) {
      adds.push(await addUntilCounted(program, { agent, name, id: `${name}-${index}` }));
    }
    agent.destroy();
  });
  await Promise.all(lanes);
  return adds;
}

/** The count, asked for until somebody tells it. */
export async function read(program, name) {
  const deadline = nowMs() + INSIST_MS;
  for (;;) {
    const answer = await get(`${program.url}/count/${name}`, { timeoutMs: PATIENCE_MS });
    const count = countOf(answer);
    if (count !== undefined || program.fate || nowMs() > deadline) return count;
    await sleep(RETRY_MS);
  }
}

/** Many count at once; then each worker is asked for the count. */
export async function countTogether(program, name, times) {
  const first = program.events.length;
  const adds = await addMany(program, name, times);
  const told = await readByAll(program, name);
  const executed = () => requestsOf(program.events.slice(first), `/count/${name}`);
  await program.until(() => executed().length >= told.length, SEEN_MS);
  return { times, adds, told, pids: new Set(executed().map(({ pid }) => pid)) };
}

/**
 * Asks for increments, each over an open connection, while the owner of the counts stands still: a question can be on
 * its way and nothing is answered. `meanwhile` gets the questions and who executes them, and may ask more over the same
 * connections; then the owner goes on.
 * @param {(asked: any) => Promise<Promise<import('../../../lib/observe/client.js').Answer>[]>} [meanwhile]
 */
async function askWhileStill(program, owner, questions, meanwhile = async () => []) {
  const agent = new Agent({ keepAlive: true, maxSockets: questions.length });
  await Promise.all(
    questions.map(() => get(`${program.url}/visits`, { agent, timeoutMs: PATIENCE_MS })),
  );
  const first = program.events.length;
  owner.still();
  try {
    await sleep(STOPS_WITHIN_MS);
    const asked = questions.map((question) => add(program, { agent, ...question }));
    const requests = await sentOf(program, first, questions);
    const more = await meanwhile({ agent, asked, requests });
    owner.goOn();
    return await Promise.all([...asked, ...more]);
  } finally {
    owner.goOn();
    agent.destroy();
  }
}

/** The requests of these questions, once their processes have passed them on. */
export async function sentOf(program, first, questions) {
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
  const questions = Array.from({ length: AT_ONCE }, (_, index) => ({
    name,
    id: `${name}-${index}`,
  }));
  let victims = [];
  let victim;
  const answers = await askWhileStill(program, owner, questions, async ({ asked, requests }) => {
    const known = requests.filter(Boolean);
    const groups = [...groupBy(known, ({ pid }) => pid)].sort(
      ([, a], [, b]) => b.length - a.length,
    );
    if (groups.length === 0) throw notSeen;
    [[victim]] = groups;
    program.kill(victim, 'SIGKILL');
    victims = asked.filter((_, index) => requests[index]?.pid === victim);
    await Promise.all(victims);
    return [];
  });
  const isHeard = (events) => exitsOf(events).some(({ workerPid }) => workerPid === victim);
  await program.until(isHeard, SEEN_MS); // until then new connections are dealt to the dead as well
  const lost = questions.filter((_, index) => countOf(answers[index]) === undefined);
  const retried = await Promise.all(lost.map((question) => addUntilCounted(program, question)));
  const unheard = retried.filter(({ count }) => count === undefined);
  return {
    name,
    victim,
    sent: questions.length,
    victims: victims.length,
    lost: lost.length,
    unheard,
    highest: highestOf([...answers.map(countOf), ...retried.map((one) => one.count)]),
    told: await readByAll(program, name),
    fate: program.fate,
  };
}

const highestOf = (counts) => Math.max(0, ...counts.filter(Number.isInteger));

const readByAll = (program, name) =>
  Promise.all(Array.from({ length: 2 * WORKERS }, () => read(program, name)));

/** What everybody tells when a new worker has come in place of the dead one, or none is going to. */
export async function readByNewcomer(program, { name, victim }) {
  const isThere = (events) => {
    const end = events.findIndex(
      ({ workerPid, what }) => workerPid === victim && what === 'worker-exit',
    );
    const [next] = forksOf(events.slice(end + 1));
    return events.some(
      ({ what, workerPid }) => what === 'worker-listening' && workerPid === next?.workerPid,
    );
  };
  await program.settled(isThere, NEWCOMER_MS);
  return readByAll(program, name);
}

const notSeen = new Undecided({
  got: 'While the owner of the counts stood still, no worker began a request on an open connection.',
  why: 'The machine has other things to do, or the server closes every connection after its answer.',
  try: 'npm run check lesson-9, when it has less to do',
});

/**
 * The owner is silent for longer than a client should wait. Then the same connections carry other questions, the owner
 * goes on and answers all it has heard, and the clients who were sent away ask again.
 */
export async function keepSilent(program, owner) {
  const before = 2 * AT_ONCE;
  await addMany(program, 'long', before);
  const later = await prepareNames(program, 'late');
  const questions = later.map(({ name }) => ({ name: 'long', id: `early-${name}` }));
  let patient = [];
  const answers = await askWhileStill(
    program,
    owner,
    questions,
    async ({ agent, asked, requests }) => {
      await Promise.all(asked);
      patient = requests.map((request) => isPatient(program, request));
      const first = program.events.length;
      const more = later.map((question) => add(program, { agent, ...question }));
      await sentOf(program, first, later);
      return more;
    },
  );
  const early = answers.slice(0, questions.length);
  const late = answers.slice(questions.length);
  const retried = await Promise.all(questions.map((one) => addUntilCounted(program, one)));
  return {
    early: early.map((answer, index) => ({ ...answer, isPatient: patient[index] })),
    late: later.map((question, index) => ({ ...question, count: countOf(late[index]) })),
    unheard: retried.filter(({ count }) => count === undefined),
    expected: before + questions.length,
    count: await read(program, 'long'),
    fate: program.fate,
  };
}

/** It had time to give up, by its own event loop: a timer of a second, asked for at the start, has fired. */
export function isPatient({ events }, request) {
  const isItsBeat = ({ what, pid }) => what === 'beat' && pid === request?.pid;
  return events.findLast(isItsBeat)?.t > request?.startMs + (PATIENCE_MS * 3) / 5;
}
