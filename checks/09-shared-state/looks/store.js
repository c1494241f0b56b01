/**
 * What the check of lesson 9 sees of the counts in Redis: together, through deaths and restarts, while Redis is silent
 * or away. At the end, what is only shown: what it costs to ask for a count.
 */
import { Agent } from 'node:http';
import {
  Undecided,
  eventsOf,
  exitsOf,
  forksOf,
  freePort,
  get,
  haveTurned,
  isCrowded,
  nowMs,
  startRedis,
  turnsOf,
} from '../../../lib/check/checking.js';
import {
  PATIENCE_MS,
  add,
  addUntilCounted,
  countTogether,
  dieWithAnswers,
  keepSilent,
  read,
  repeat,
  repeatIds,
  sentOf,
  withWaits,
} from './counter.js';

const FIRST = { name: 'quinces', id: 'basket-1' };
const RECOVERY_MS = 8_000;
export const SOONER = 20; // times, while Redis is lost: who counts the attempts has many of them counted in a second
const PAUSES_MS = /** @type {const} */ ([100, 900]); // between two attempts; not the limit of a question
const TRIED = { least: 15, most: 125 }; // turns of the worker's event loop: by then what it goes on trying has been done
const TRYING = 50; // turns of the worker's event loop, a second
const KEPT_MS = 540_000; // an id is kept for ten minutes: after nine it is still known
const LATER_MS = 120_000; // then it may be forgotten, and only the id; but not one that has come meanwhile
const TEN_YEARS_MS = 315_576_000_000; // a count is for ever
const WARM_UP = 40; // rounds: compiled code is several times as fast
const BUDGET = { usualMs: 300, longerMs: 1_500 }; // of each side
const GONE = 'gone'; // what is counted while Redis is away
const WIDE = 2; // an interval whose high end is twice its low end says little

/** Counts in a real Redis together. */
export async function countInStore(launch, startWith, times) {
  const store = await startRedis(launch);
  const env = { REDIS_URL: store.url };
  const start = (workers) => startWith('redis', workers, { env });
  const program = await start(2);
  const first = await addUntilCounted(program, { ...FIRST, agent: false });
  if (first.count === undefined)
    return { program, first, clients: await store.countClients(), isCrowded: isCrowded() };
  const crossed = await countCrossed(program, await store.keys());
  const together = await countTogether(program, 'pears', times); // all are connected, or will be soon
  return { store, start, program, first, crossed, together };
}

/**
 * The keys of the first increment show how a name becomes a key, and how an id does. Is there another name whose key would be
 * one of these, or another id? Then it is counted: any text may come.
 */
async function countCrossed(program, keys) {
  const [names, ids] = [FIRST.name, FIRST.id].map((text) =>
    keys.flatMap((key) => textsFor(keys, key.split(text))).filter((one) => one !== text),
  );
  const like = (text) => `in Redis the key of ${text} already belongs to something else`;
  const questions = [
    ...names.map((name, index) => ({ name, id: `crossed-${index}`, like: like(name) })),
    ...ids.map((id, index) => ({ name: `crossed-${index}`, id, like: like(id) })),
  ];
  if (questions.length > 0) await addUntilCounted(program, { ...FIRST, id: 'next' }); // its count is no longer 1
  const ask = async (one) => ({ ...one, ...(await addUntilCounted(program, one)) });
  return Promise.all(questions.map(ask));
}

/** The texts that would have one of these keys, if a key has this before the text, and that after it. */
const textsFor = (keys, [before, after]) =>
  keys
    .filter((key) => after !== undefined && key.startsWith(before) && key.endsWith(after))
    .map((key) => key.slice(before.length, key.length - after.length))
    .filter((text) => text !== '');

/**
 * The same through the death of a worker, with ids that come again, and after a restart of the whole cluster: at once,
 * after nine minutes, when the ids may be forgotten, and after ten years. Nothing where not one increment was counted.
 */
export async function restartAll({ store, start, program, together }) {
  if (!together) return {};
  const death = await dieWithAnswers(program, store, 'figs');
  const repeats = await repeatIds(program, store, together);
  const [again] = await Promise.all([start(1), program.stop()]);
  const readBoth = () => Promise.all(['pears', 'figs'].map((name) => read(again, name)));
  const kept = await readBoth();
  await store.age(KEPT_MS);
  const late = await repeat(again, 'pears', together.adds);
  const question = { agent: /** @type {false} */ (false), name: 'young', id: 'young-0' };
  const young = await addUntilCounted(again, question);
  await store.age(LATER_MS);
  const youngAgain = { ...(await addUntilCounted(again, question)), first: young.count };
  await store.age(TEN_YEARS_MS);
  return { death, repeats, kept, late, young: youngAgain, keptLater: await readBoth(), again };
}

/**
 * Redis is away when a cluster starts.
 * @returns {Promise<any>}  absent: why it does not listen, if it does not; away: what its clients were told
 */
export async function startWithoutStore(startWith) {
  const port = await freePort();
  const env = { REDIS_URL: `redis://127.0.0.1:${port}` };
  const pretendTimers = /** @type {const} */ ([...PAUSES_MS, SOONER, Infinity]);
  const start = () => startWith('redis', 1, { env, pretendTimers });
  const { program, absent } = await startWithout(start);
  return absent ? { absent } : { program, port, away: await askOnce(program) };
}

/**
 * The same cluster. Redis is away for some time; then there, then silent, then away again; at last it is back, without its memory.
 * Each time it is back the count shows whether what was refused meanwhile was done all the same.
 * @returns {Promise<any>}  undefined: there was an earlier fault
 */
export async function loseStore(launch, { program, port, absent }) {
  if (absent) return undefined;
  const hasEnded = () => program.fate !== undefined || exitsOf(program.events).length > 0;
  const pids = forksOf(program.events).map(({ workerPid }) => workerPid);
  const sinceMs = nowMs();
  const haveTried = (events) => hasEnded() || haveTurned(events, pids, TRYING, sinceMs);
  await program.until(haveTried, PATIENCE_MS);
  if (hasEnded()) return { program, away: [], back: [] }; // nobody should: that decides
  const store = await startRedis(launch, { port });
  const back = [await countAgain(program, store, 'first')];
  if (back[0].count === undefined) return { program, away: [], back };
  const silence = await keepSilent(program, store);
  await store.stop();
  const away = await askOnce(program);
  const anew = await startRedis(launch, { port });
  back.push(await countAgain(program, anew, 'second'));
  return { silence, program, away, back };
}

/**
 * Redis goes away from a cluster whose timers run as they do. Clients are told 503, and at once it is back: who goes on trying
 * what was refused has its chance now.
 */
export async function refuseOnce(launch, store, program) {
  await store.stop();
  const answers = await askOnce(program);
  await startRedis(launch, { port: store.port });
  const areRefused = answers.every(({ status }) => status === 503);
  const back = await addUntilCounted(program, { name: 'back', id: 'back-third' }, RECOVERY_MS);
  if (!areRefused || back.count === undefined) return undefined; // that is reported otherwise
  const sinceMs = nowMs();
  const pids = forksOf(program.events).map(({ workerPid }) => workerPid);
  const hasTried = (events) => pids.every((pid) => isAtRest(events, pid, sinceMs));
  await program.until(hasTried, PATIENCE_MS);
  return { doneLater: await read(program, GONE) };
}

/** Has it no timer after which it may try again, or has none of them fired for long? */
function isAtRest(events, pid, sinceMs) {
  const turns = turnsOf(events, pid, sinceMs);
  const isTold = (one) => one.pid === pid && one.t > sinceMs && one.timers !== undefined;
  const told = eventsOf(events, 'beat').findLast(isTold);
  return turns >= TRIED.most || (turns >= TRIED.least && told?.timers === 0);
}

async function countAgain(program, store, name) {
  const answer = await addUntilCounted(program, { name: 'back', id: `back-${name}` }, RECOVERY_MS);
  if (answer.count === undefined) return { ...answer, clients: await store.countClients() };
  return { ...answer, doneLater: await read(program, GONE) };
}

/** `absent` says why the program does not listen while Redis is away, if it does not. */
async function startWithout(start) {
  try {
    return { program: await start() };
  } catch (/** @type {any} */ error) {
    if (error instanceof Undecided || !error.story) throw error;
    return { absent: error.story };
  }
}

/** Increments and a count that was known before, each asked for over a new connection. */
async function askOnce(program) {
  const first = program.events.length;
  const questions = ['a', 'b', 'c', 'd'].map((letter) => ({ name: GONE, id: `gone-${letter}` }));
  const count = { name: 'long', id: 'gone-e' };
  const told = get(`${program.url}/count/${count.name}?id=${count.id}`, { timeoutMs: PATIENCE_MS });
  const answers = await Promise.all([...questions.map((one) => add(program, one)), told]);
  questions.push(count);
  const requests = await sentOf(program, first, questions);
  return withWaits(program, answers, requests);
}

/**
 * How long one client waits for what its worker knows, and for a count that the worker has to ask for. Both over one
 * connection, so from one worker, in turn. It decides nothing.
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
