/**
 * What the check of lesson 9 does with the learner's program and sees of it: clients that count at once and insist, an
 * owner of the counts that is frozen, a worker that dies just then.
 */
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Undecided,
  demandKept,
  eventsOf,
  exitsOf,
  forksOf,
  get,
  groupBy,
  haveTurned,
  isCrowded,
  nowMs,
  requestsOf,
  turnsOf,
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
const LIMIT_MS = 1_000; // after that a question is given up
const REPEATED = 6; // ids that come again
const OTHERS = 1_000; // increments of others before they do
export const HASTE = 300; // times, where minutes pass in seconds
const SHORTEST_MS = 2_000; // a timer that comes early; not that of a question's limit
const KEPT_MS = 600_000; // so long an id is known at least
const AGED = 9; // ids, each a little later than the one before it: some of them meet any moment in ten minutes
const SHARES = [0.6, 0.32]; // of that time, one after the other
const UNKNOWN_TRIES = 3;
const OWN = ['constructor', '__proto__']; // every object has these, also an empty one
const UNKNOWN = ['nobody', ...OWN];
const LONG = 'long'.repeat(75);
/** Different texts, which somebody may take for one: who folds, trims, reads a number, takes accents apart, or cuts. */
const ALIKE = [
  'a1',
  'A1',
  ' a1',
  'a1 ',
  '1',
  '01',
  '1.0',
  '1a',
  '\u00e9',
  'e\u0301',
  `${LONG}1`,
  `${LONG}2`,
];
/** Signs between a name and an id, in either order, where somebody joins them. */
const JOINTS = [':', '/', '-', '_', '.', '|', ' ', ''];
const HEARD = 2; // turns of a worker's event loop: by then it knows that a client has hung up
const FLOODS = 3; // on a busy machine the first is not acknowledged as a whole

/** The count in an answer; undefined unless it is a whole 200, and NaN if it isn't a number. */
export function countOf(answer) {
  const told = toldBy(answer);
  return told === undefined || typeof told === 'number' ? told : NaN;
}

/** What an answer gives as the count, number or not; undefined unless it is a whole 200. */
function toldBy({ status, body, error }) {
  if (status !== 200 || error) return undefined;
  try {
    return JSON.parse(body).count ?? null;
  } catch {
    return null;
  }
}

/** What is stopped and goes on when the primary is the owner of the counts. */
export const primaryOf = (program) => ({
  still: () => program.kill(program.pid, 'SIGSTOP'),
  goOn: () => program.kill(program.pid, 'SIGCONT'),
});

/** Several clients may ask with the same id: `client` tells their requests apart. */
const queryOf = (/** @type {any} */ { id, client }) =>
  `?${client === undefined ? '' : `client=${client}&`}id=${encodeURIComponent(id)}`;

/** Asks for an increment, or only for the count. */
export function add({ url }, { agent = /** @type {Agent | false} */ (false), ...question }) {
  const { name, isRead } = question;
  const method = isRead ? 'GET' : 'POST';
  const path = `/count/${encodeURIComponent(name)}${queryOf(question)}`;
  return get(url + path, { agent, method, timeoutMs: PATIENCE_MS });
}

/**
 * Asks again and again until an answer tells a count, the program has ended, or its patience is over.
 * @param {any} program
 * @param {(tries: number) => Promise<any>} ask  gets how often it has asked before
 * @param {number} [patienceMs]
 * @returns {Promise<{ count?: number, tries: number, last: any }>}  rejects with Starved when no answer told a count, and the
 *   program had not had its turn
 */
async function insist(program, ask, patienceMs = INSIST_MS) {
  const sinceMs = nowMs();
  program.turn.starvedSince(sinceMs); // what it was kept from running before does not count
  let tries = 1;
  let last = await ask(0);
  const isInVain = () => countOf(last) === undefined && !program.fate;
  for (; isInVain() && nowMs() < sinceMs + patienceMs; tries += 1) {
    await sleep(RETRY_MS);
    last = await ask(tries);
  }
  const starved = isInVain() && program.turn.starvedIn(sinceMs, patienceMs);
  if (starved) throw starved;
  return { count: countOf(last), tries, last };
}

/**
 * One increment, asked for again and again with the same id until it is acknowledged, which is a whole 200.
 * @param {any} program
 * @param {{ name: string, id: string, client?: number, agent?: Agent | false }} question
 */
export async function addUntilCounted(program, question, patienceMs = INSIST_MS) {
  const { name, id, agent = false } = question;
  const ask = (tries) => add(program, tries === 0 ? { agent, name, id } : { name, id });
  const { count, tries, last } = await insist(program, ask, patienceMs);
  return { id, count, told: toldBy(last), tries, last };
}

/** So many increments by clients at once, each on its own connection; fewer, when one of them gets no answer. */
async function addMany(program, name, times) {
  const adds = [];
  const isVain = () => adds.some(({ count }) => count === undefined);
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let index = lane; index < times && !isVain(); index += LANES) {
      adds.push(await addUntilCounted(program, { agent, name, id: `${name}-${index}` }));
    }
    agent.destroy();
  });
  await Promise.all(lanes);
  return adds;
}

/** The count, asked for until somebody answers. */
export async function read(program, name) {
  const ask = () => get(`${program.url}/count/${name}`, { timeoutMs: PATIENCE_MS });
  return (await insist(program, ask)).count;
}

/**
 * Many count at once; then each worker is asked for the count. If the primary is the owner some more count while it stands still:
 * whoever counts without it is found out, however well the messages of all others came in time.
 * @param {any} program
 * @param {string} name
 * @param {number} times
 * @param {any} [owner]
 */
export async function countTogether(program, name, times, owner) {
  const first = program.events.length;
  const adds = await addMany(program, name, times);
  const told = adds.length < times ? [] : await readByAll(program, name);
  const unknown = adds.length < times ? undefined : await readAnew(program);
  const executed = () => requestsOf(program.events.slice(first), `/count/${name}`);
  await program.until(() => executed().length >= told.length, SEEN_MS);
  const pids = new Set(executed().map(({ pid }) => pid));
  const isAsked = owner && unknown?.anew && told.every((count) => count === times);
  const still = isAsked ? await countWhileStill(program, owner) : undefined;
  return { times, adds, told, unknown, pids, still };
}

/** The answers, and the count after them; nothing if one of the questions was given up, as it may be when that took long. */
async function countWhileStill(program, owner) {
  const name = 'plums';
  const questions = Array.from({ length: AT_ONCE }, (_, index) => ({ name, id: `plums-${index}` }));
  const counts = (await askWhileStill(program, owner, questions)).map(countOf);
  if (!counts.every(Number.isInteger)) return undefined;
  return { counts, count: await read(program, name) };
}

/** What is said of names that nobody has counted: of the first that was not counted as it should be, or of any. */
async function readAnew(program) {
  const all = await Promise.all(UNKNOWN.map((name) => readUnknown(program, name)));
  const isWrong = ({ anew = [undefined] }) => anew.some((count) => count !== 1);
  return all.find(isWrong) ?? all[0];
}

/**
 * The count of a name that nobody has counted, the last answer of a few, if none was a 200; and when all have read it and
 * it has been counted, what they say then, and whether the server ended of it.
 */
async function readUnknown(program, name) {
  let answer;
  for (let tries = 0; tries < UNKNOWN_TRIES && answer?.status !== 200; tries += 1)
    answer = await get(`${program.url}/count/${name}`, { timeoutMs: PATIENCE_MS });
  const seen = { ...answer, name, count: countOf(answer), isCrowded: isCrowded() };
  if (seen.count !== 0) return seen;
  await readByAll(program, name);
  await addUntilCounted(program, { name, id: `${name}-0` });
  const anew = await readByAll(program, name);
  return { ...seen, anew, hasEnded: Boolean(program.fate) };
}

/**
 * Asks for increments, each over an open connection, while the owner of the counts stands still: a question can be on
 * its way and nothing is answered. `meanwhile` gets the questions and who executes them, and may ask more over the same
 * connections; then the owner goes on.
 * @param {(under: any) => Promise<{ asked?: Promise<import('../../../lib/observe/client.js').Answer>[], requests?: any[] }>} [meanwhile]
 */
async function askWhileStill(program, owner, questions, meanwhile = async () => ({})) {
  const agent = new Agent({ keepAlive: true, maxSockets: questions.length });
  await Promise.all(
    questions.map(({ agent: own = agent }) =>
      get(`${program.url}/visits`, { agent: own, timeoutMs: PATIENCE_MS }),
    ),
  );
  const first = program.events.length;
  owner.still();
  try {
    await sleep(STOPS_WITHIN_MS);
    const asked = questions.map((question) => add(program, { agent, ...question }));
    const requests = await sentOf(program, first, questions);
    const more = await meanwhile({ agent, asked, requests });
    const goesOnMs = nowMs();
    owner.goOn();
    const answers = await Promise.all([...asked, ...(more.asked ?? [])]);
    demandKept(program, answers);
    const all = [...requests, ...(more.requests ?? [])];
    return withWaits(program, answers, all).map((answer, index) => {
      const endMs = answer.sentMs + answer.waitedMs;
      const turnsIn = (pid) => turnsOf(program.events, pid, goesOnMs, endMs);
      return { ...answer, turnsSince: turnsIn(all[index]?.pid), ownerTurns: turnsIn(program.pid) };
    });
  } finally {
    owner.goOn();
    agent.destroy();
  }
}

/**
 * Questions of clients that hang up, over connections of their own. `leave` is what they do meanwhile: when their questions are
 * on their way, and nobody has an answer.
 */
function createLeavers(program, questions) {
  const agent = new Agent({ keepAlive: true, maxSockets: questions.length });
  const leave = async ({ requests }) => {
    const pids = requests.slice(0, questions.length).flatMap((one) => one?.pid ?? []);
    const fromMs = nowMs();
    agent.destroy();
    await program.until((events) => haveTurned(events, pids, HEARD, fromMs), SEEN_MS);
    return {};
  };
  return { questions: questions.map((one) => ({ ...one, agent })), leave };
}

/** The requests of these questions, once their processes have passed them on. */
export async function sentOf(program, first, questions) {
  const found = () => {
    const requests = requestsOf(program.events.slice(first));
    return questions.map((one) => requests.find(({ url }) => url.endsWith(queryOf(one))));
  };
  const isSent = (request) =>
    request && program.lastBeats.get(request.pid) > request.startMs + BEAT_MS;
  await program.until(() => found().every(isSent), SEEN_MS);
  return found();
}

/** Names that have been counted 0, 1, 2, ... times: one's answer is wrong for every other. */
async function prepareNames(program, label) {
  const names = Array.from({ length: AT_ONCE }, (_, index) => `${label}-${index}`);
  await Promise.all(names.map((name, index) => index > 0 && addMany(program, name, index)));
  return names.map((name, index) => ({ name, id: `last-${name}`, expected: index + 1 }));
}

/**
 * Asks for many names at once, and as often for one that nobody has counted. The primary stands still until all questions are
 * there; then those who came first have hung up.
 */
export async function askForMany(program, owner) {
  const names = await prepareNames(program, 'many');
  const same = names.map((_, index) => ({
    name: 'same',
    id: `same-${index}`,
    isRead: true,
    expected: 0,
  }));
  const questions = [...names, ...same];
  const leaving = Array.from({ length: WORKERS }, (_, index) => ({
    name: 'gone',
    id: `gone-${index}`,
  }));
  const leavers = createLeavers(program, leaving);
  const all = [...leavers.questions, ...questions];
  const answers = (await askWhileStill(program, owner, all, leavers.leave)).slice(leaving.length);
  return questions.map((question, index) => ({
    ...answers[index],
    ...question,
    count: countOf(answers[index]),
  }));
}

/**
 * Ids that are spelt like names, and ids that come again: one from several clients at the same time, before anybody can have
 * been answered, and some that were acknowledged, after many others. Clients that have hung up before their answer ask again, too.
 * @param {any} program
 * @param {any} owner
 * @param {any} together  what countTogether saw
 */
export async function repeatIds(program, owner, { adds }) {
  const namesakes = await countNamesakes(program, 'pears', adds[0].id);
  const questions = Array.from({ length: AT_ONCE }, (_, client) => ({
    name: 'twins',
    id: 'twins-0',
    client,
  }));
  const leaving = [
    { name: 'twins', id: 'twins-0', client: AT_ONCE },
    { name: 'left', id: 'left-0', client: 0 },
  ];
  const leavers = createLeavers(program, leaving);
  const all = [...leavers.questions, ...questions];
  const answers = (await askWhileStill(program, owner, all, leavers.leave)).slice(leaving.length);
  const twins = await Promise.all(
    questions.map((question, index) =>
      countOf(answers[index]) === undefined
        ? addUntilCounted(program, question)
        : { count: countOf(answers[index]), told: toldBy(answers[index]), last: answers[index] },
    ),
  );
  const [twin, left] = await Promise.all(leaving.map((one) => addUntilCounted(program, one)));
  twins.push(twin);
  const twinsCount = await read(program, 'twins');
  const leftCount = await read(program, 'left');
  let others = 0;
  for (let flood = 0; flood < FLOODS && others < OTHERS; flood += 1)
    others += await addOthers(program, `others-${flood}`, OTHERS);
  const own = await Promise.all(OWN.map((id) => countTwice(program, { name: `own-${id}`, id })));
  const alike = await countAlike(program);
  const again = await repeat(program, 'pears', adds);
  return {
    namesakes,
    twins,
    twinsCount,
    left: { ...left, total: leftCount },
    own,
    alike,
    others,
    ...again,
  };
}

/**
 * New ids for one name, then new names, which differ as little as texts can; then ids of which each, joined with the name, is the
 * same text as another id with another name.
 */
async function countAlike(program) {
  const count = (/** @type {any[]} */ questions) =>
    Promise.all(
      questions.map(async (one) => ({ ...one, ...(await addUntilCounted(program, one)) })),
    );
  const ids = await count(ALIKE.map((id) => ({ name: 'alike', id })));
  const names = await count(ALIKE.map((name, index) => ({ name, id: `alike-${index}` })));
  const pairs = JOINTS.map((joint, index) => [
    { name: `join${joint}ed`, id: `end-${index}`, twin: `ed${joint}end-${index}` },
    { name: `ed${joint}join`, id: `start-${index}`, twin: `start-${index}${joint}ed` },
  ]).flat();
  await count(pairs);
  const joined = await count(pairs.map(({ twin }) => ({ name: 'join', id: twin })));
  return { ids, names, joined };
}

/** Both answers to an id that comes twice. */
async function countTwice(program, question) {
  const first = await addUntilCounted(program, question);
  return [first, await addUntilCounted(program, question)];
}

/** A new id that is spelt like a name that has been counted, and a new name that is spelt like an id that is known. */
function countNamesakes(program, name, id) {
  const questions = [
    { name: 'apples', id: name, like: `${name} is also the name of a count` },
    { name: id, id: 'apples-0', like: `${id} is also an id that has been counted` },
    { name: 'cherries', id: `count:${name}`, like: `${name} is also the name of a count` },
    { name: `id:${id}`, id: 'cherries-0', like: `${id} is also an id that has been counted` },
  ];
  const ask = async (one) => ({ ...one, ...(await addUntilCounted(program, one)) });
  return Promise.all(questions.map(ask));
}

/** For a program that is to believe that minutes pass. */
export const hasty = {
  pretendTimers: /** @type {const} */ ([SHORTEST_MS, Infinity, HASTE]),
  pretendClock: HASTE,
};

/**
 * Increments that were acknowledged, one after the other, and each of them again when some minutes have passed for the program, and
 * once more when nearly all of the ten have.
 */
export async function ageIds(program) {
  if (!program) return undefined;
  const aged = await Promise.all(
    Array.from({ length: AGED }, async (_, index) => {
      await sleep((index * KEPT_MS) / HASTE / AGED);
      const question = { name: 'ages', id: `ages-${index}` };
      const sinceMs = nowMs();
      const { count: first } = await addUntilCounted(program, question);
      const again = [];
      for (const share of SHARES) {
        await sleep(share * (KEPT_MS / HASTE));
        const one = await addUntilCounted(program, question);
        again.push({ ...one, first, agedMs: HASTE * (nowMs() - sinceMs) });
      }
      return again;
    }),
  );
  const isDue = ({ first, agedMs }) => first !== undefined && agedMs < KEPT_MS;
  return { aged: aged.flat().filter(isDue) };
}

/** Some increments that were acknowledged are asked for again, with their ids. */
export async function repeat(program, name, adds) {
  const known = adds.filter(({ count }) => Number.isInteger(count)).slice(0, REPEATED);
  const again = await Promise.all(known.map(({ id }) => addUntilCounted(program, { name, id })));
  const repeated = known.map(({ id, count }, index) => ({ ...again[index], id, first: count }));
  return { repeated, times: adds.length, count: await read(program, name) };
}

/**
 * Many increments with their own ids, all of a connection's at once (pipelining), so that they cost little.
 * @returns {Promise<number>}  how many were acknowledged
 */
async function addOthers({ port }, name, times) {
  const shares = Array.from({ length: 2 * WORKERS }, (_, lane) => {
    const ids = Array.from(
      { length: times / (2 * WORKERS) },
      (_one, index) => `${name}-${lane}-${index}`,
    );
    const requests = ids.map((id, index) => {
      const end = index === ids.length - 1 ? 'Connection: close\r\n' : '';
      return `POST /count/${name}?id=${id} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n${end}\r\n`;
    });
    return countAcknowledged(port, requests.join(''));
  });
  return (await Promise.all(shares)).reduce((total, one) => total + one, 0);
}

function countAcknowledged(port, requests) {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(requests));
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.setEncoding('latin1').on('data', (part) => (text += part));
    socket.on('error', () => {}); // 'close' follows
    socket.on('close', () => resolve(text.split('HTTP/1.1 200 ').length - 1));
  });
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
    return {};
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

/** What everybody says when a new worker has replaced the dead one, or none is going to. */
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
  got: 'While the owner of the counts was frozen, no worker began a request on an open connection.',
  why: 'The machine is busy, or the server closes every connection after its answer.',
  try: 'npm run check lesson-9, when it is less busy',
});

/**
 * The owner is silent for longer than a client should wait. Half of those that ask then were acknowledged before and ask
 * once more, and one wants to read. Then the same connections carry other questions, the owner goes on and answers all it has heard, and the
 * clients that were sent away ask again.
 */
export async function keepSilent(program, owner) {
  const before = 2 * AT_ONCE;
  const since = program.events.length;
  const counted = await addMany(program, 'long', before);
  const later = await prepareNames(program, 'late');
  await readByAll(program, 'long'); // so that whoever remembers what it has read could tell
  const isKnown = (index) => index % 2 === 1;
  const adds = later.map(({ name }, index) => ({
    name: 'long',
    id: isKnown(index) ? `long-${index}` : `early-${name}`,
  }));
  const questions = [...adds, { name: 'long', id: 'early-read', isRead: true }];
  const answers = await askWhileStill(program, owner, questions, async ({ agent, asked }) => {
    await Promise.all(asked);
    const first = program.events.length;
    const more = later.map((question) => add(program, { agent, ...question }));
    return { asked: more, requests: await sentOf(program, first, later) };
  });
  const early = questions.map(({ id }, index) => ({
    ...answers[index],
    count: countOf(answers[index]),
    first: counted.find((one) => one.id === id)?.count,
  }));
  const late = answers.slice(questions.length);
  const retried = await Promise.all(adds.map((one) => addUntilCounted(program, one)));
  return {
    early,
    late: later.map((question, index) => ({
      ...late[index],
      ...question,
      count: countOf(late[index]),
    })),
    unheard: retried.filter(({ count }) => count === undefined),
    expected: before + adds.filter((_, index) => !isKnown(index)).length,
    count: await read(program, 'long'),
    crashes: eventsOf(program.events.slice(since), 'crash').filter(
      ({ pid }) => pid !== program.pid,
    ),
    fate: program.fate,
  };
}

/**
 * Answers, and of each how long its process took for it, by its own clock, and how often that process's event loop turned
 * between the moment when the question should have been given up and the answer (or the end of the client's patience).
 */
export function withWaits(program, answers, requests) {
  const all = requestsOf(program.events);
  const beats = eventsOf(program.events, 'beat');
  return answers.map((answer, index) => {
    const request = requests[index];
    if (!request) return { ...answer, waitedMs: answer.doneMs - answer.sentMs, turns: 0 };
    const { pid, url, startMs } = request;
    const isIt = (one) => one.pid === pid && one.url === url && one.startMs === startMs;
    const endMs = all.find(isIt)?.endMs ?? answer.doneMs;
    const isLate = (beat) => beat.pid === pid && beat.t > startMs + LIMIT_MS && beat.t < endMs;
    return { ...answer, waitedMs: endMs - startMs, turns: beats.filter(isLate).length };
  });
}
