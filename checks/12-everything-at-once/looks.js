/** Lesson 12: one long scene. Clients ask, and meanwhile faults strike, in an order drawn from a seed. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  STILL,
  calm,
  createDraw,
  deathsOf,
  deploy,
  deployBad,
  eventsOf,
  exitsOf,
  forksOf,
  freezeOne,
  get,
  getAtOnce,
  groupBy,
  hasListened,
  isReset,
  keepIdle,
  killInDeploy,
  killOne,
  nowMs,
  parseJsonBody,
  requestsOf,
  sceneOf,
  servingIn,
  startTraffic,
  stopUnderLoad,
  strike,
  untilAtRest,
} from '../../lib/check/checking.js';

export const WORKERS = 2;
const ORDERS_PER_SECOND = 10;
const REPEATED = 4; // every fourth order is sent again, although it has been acknowledged
const TRIES = 6; // of a client that gets no answer to its order
const TRY_AGAIN_MS = 100;
const PATIENCE_MS = 2_500; // of one client; a connection on its way to a killed worker stays silent
const BLOCKED_MS = 600;
const WARM_MS = 300;
const PAUSE_MS = 100; // at least, between two blows
const LONGER_MS = 300_000; // with --longer the blows are drawn again and again, for so long
const ASKED_AGAIN = 4; // times at once, so that every worker is asked
const LAST_INVOICES = 4; // in flight at SIGTERM
const STARVED = 0.5; // of a blow: then a limit of the program's own may have cut an answer
const BEAT_MS = 20; // an event loop reports itself every 20 ms
const NOTICED_MS = 500; // a client may notice a death before the primary does

/** @type {import('../../lib/measure/traffic.js').Kind[]} */
const KINDS = [
  { path: '/', perSecond: 10 },
  { path: '/', perSecond: 10, connections: 4 },
  { path: '/health', perSecond: 10 },
  { path: '/invoice', perSecond: 2 },
].map((kind) => ({ ...kind, timeoutMs: PATIENCE_MS }));

/** A page.js without any import that a copy might lack; its servers keep idle connections for a minute, as behind a load balancer. */
const pageOf = (version, isBad = false) => `
  import { randomBytes } from 'node:crypto';
  import { subscribe } from 'node:diagnostics_channel';
  ${isBad ? "throw new Error('this version cannot start');" : ''}
  subscribe('http.server.request.start', ({ server }) => (server.keepAliveTimeout = 60_000));
  export const version = '${version}';
  export function renderPage() {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 15);
    return randomBytes(3_000).toString('hex');
  }
`;

/** Starts a copy of the learner's program, with version 1 of the page. */
async function start({ copy, launch, ready }) {
  const { entry, write } = copy();
  const put = (version, isBad) => write('page.js', pageOf(version, isBad));
  put('1');
  const program = await launch({ entry, env: { NODE_CLUSTER_WORKERS: String(WORKERS) } });
  await ready(program, WORKERS);
  await program.until((events) => servingIn(events).length >= WORKERS, WARM_MS);
  return { program, put };
}

/**
 * The whole scene. In a check it breaks off at the first blow after which the capacity isn't back; the benchmark, which compares, goes on
 * while the program lives.
 */
export async function playScene(lesson, { goesOn = false } = {}) {
  const { program, put } = await start(lesson);
  const fromMs = nowMs();
  const traffic = startTraffic(program.url, KINDS);
  const orders = startOrders(program);
  const silent = [];
  await sleep(WARM_MS);
  const draw = createDraw(lesson.seed());
  const untilMs = fromMs + (lesson.isLonger ? LONGER_MS : 0);
  const blows = await strikeInTurn(program, { put, silent, draw, untilMs, goesOn });
  const isWhole = blows.every(({ isDone, fate }) => (isDone || goesOn) && !fate);
  const output = program.output();
  if (!isWhole) await program.stop(); // otherwise its clients wait until they time out
  const [sent, placed] = await Promise.all([traffic.stop(), orders.stop()]);
  const end = isWhole ? await endOf(program, silent) : {};
  for (const agent of silent) agent.destroy();
  const found = { requests: requestsOf(program.events), deaths: deathsOf(blows) };
  const scene = { program, fromMs, blows, sent, placed, output, ...found, ...end };
  lesson.pictured(pictureOf(scene));
  return scene;
}

/** Before each blow a client has its answer, and keeps its connection. */
async function strikeInTurn(program, { put, silent, draw, untilMs, goesOn }) {
  let number = 1;
  const write = {
    next: () => put((number += 1)),
    bad: () => put('bad', true),
    good: () => put(number),
  };
  const blows = [];
  for (const create of blowsOf(program, { draw, write, untilMs })) {
    silent.push(await keepIdle(program, '/health', PATIENCE_MS));
    const blow = await strike(program, create());
    const starvedMs = program.cpuTime.starvedSince(blow.fromMs);
    const isStarved = starvedMs > STARVED * (blow.toMs - blow.fromMs);
    const version = String(number);
    const told = blow.isDone ? await versionsOf(program, version) : [];
    blows.push({ ...blow, version, told, isStarved });
    if (!(blow.isDone || goesOn) || blow.fate) break;
    await sleep(PAUSE_MS + draw.below(PAUSE_MS));
  }
  return blows;
}

function pictureOf(/** @type {any} */ scene) {
  const { program, fromMs: startMs, blows, stop } = scene;
  const endMs = stop?.fromMs ?? blows.at(-1).toMs;
  const answers = attemptsIn(scene).map(({ attempt }) => attempt);
  return sceneOf({
    ...{ program, startMs, endMs, most: WORKERS, isGood },
    answers: answers.filter((one) => isGood(one) || one.doneMs <= endMs), // others were cut by the end of the program
    blows: stop ? blows.slice(0, -1) : blows, // without the calm at the end
  });
}

/** The blows as drawn, again and again until a time; a version that doesn't boot is followed by a good one. */
function* blowsOf(program, { draw, write, untilMs }) {
  const killAny = () => killOne(program, draw, WORKERS);
  if (forksOf(program.events).length === 0) return yield killAny; // it ends all, which decides at once
  const blows = [
    [killAny],
    [() => freezeOne(program, draw, WORKERS, BLOCKED_MS)],
    [() => killInDeploy(program, draw, WORKERS, write.next, 'old')],
    [() => killInDeploy(program, draw, WORKERS, write.next, 'new')],
    [() => deployBad(program, WORKERS, write), () => deploy(program, WORKERS, write.next)],
  ];
  do yield* draw.shuffle(blows).flat();
  while (nowMs() < untilMs);
  yield () => calm(program, WORKERS);
}

/** What /health says; a reload that still has a step to do, after a pause, gets its time. */
async function versionsOf(program, /** @type {string} */ wanted) {
  const askAll = async () => (await askEach(program, '/health')).map((told) => told?.version);
  const told = await askAll();
  if (told.every((version) => version === wanted)) return told;
  await untilAtRest(program, () => program.fate, STILL);
  return askAll();
}

/** So many questions at once come to every worker. */
async function askEach({ url }, /** @type {string} */ path) {
  const answers = await getAtOnce(ASKED_AGAIN, url + path, { timeoutMs: PATIENCE_MS });
  return answers.map(({ body, error }) => (error ? undefined : parseJsonBody(body)));
}

/**
 * Clients that order on schedule. Each repeats its order until it is acknowledged, then reads it.
 * @returns {{ stop: () => Promise<any[]> }}
 */
function startOrders({ url }) {
  let isOn = true;
  const placed = [];
  const run = async () => {
    const startMs = nowMs();
    while (isOn) {
      const turn = placed.length;
      await sleep(Math.max(0, startMs + (turn * 1_000) / ORDERS_PER_SECOND - nowMs()));
      placed.push(placeOrder(url, turn, () => isOn));
    }
  };
  const end = run();
  return {
    async stop() {
      isOn = false;
      await end;
      return Promise.all(placed);
    },
  };
}

async function placeOrder(/** @type {string} */ url, /** @type {number} */ turn, isOn) {
  const order = { id: `a-${turn + 1}`, item: turn % 2 ? 'figs' : 'dates', pieces: 1 + (turn % 3) };
  const tries = [];
  const headers = { 'Content-Type': 'application/json' };
  const what = { method: 'POST', headers, body: JSON.stringify(order) };
  const post = async () => tries.push(await ask(`${url}/orders`, what));
  const isAcknowledged = () => tries.some(isGood);
  while (!isAcknowledged() && tries.length < TRIES) {
    if (tries.length > 0) await sleep(TRY_AGAIN_MS);
    await post();
  }
  if (isAcknowledged() && turn % REPEATED === 0) await post();
  const isRead = isAcknowledged() && isOn();
  const reads = isRead ? [await ask(`${url}/orders/${order.id}`)] : [];
  return { order, tries, reads, isAcknowledged: isAcknowledged() };
}

export const isGood = ({ status, error }) => !error && status >= 200 && status < 300;

const ask = (/** @type {string} */ url, what = {}) => get(url, { ...what, timeoutMs: PATIENCE_MS });

/** What every worker says about the orders, then SIGTERM while invoices are in flight and silent connections are open. */
async function endOf(program, silent) {
  const stats = await askEach(program, '/stats');
  silent.push(await keepIdle(program, '/health', PATIENCE_MS));
  const stop = await stopUnderLoad(program, 'SIGTERM', {
    ...{ path: '/invoice', times: LAST_INVOICES },
    ...STILL,
  });
  return { stats, stop };
}

/** Every request of the scene, a repeated one twice. @returns {{ path: string, attempt: import('../../lib/observe/client.js').Answer }[]} */
export function attemptsIn({ sent, placed }) {
  return [
    ...sent.flatMap(({ path, first, answer, isRepeated }) =>
      (isRepeated ? [first, answer] : [first]).map((attempt) => ({ path, attempt })),
    ),
    ...placed.flatMap(({ order, tries, reads }) => [
      ...tries.map((attempt) => ({ path: '/orders', attempt })),
      ...reads.map((attempt) => ({ path: `/orders/${order.id}`, attempt })),
    ]),
  ];
}

/**
 * The requests that failed and were not in the hands of a killed worker. An order that isn't there has its own promise, and a kept
 * connection may be closed before a request on it begins.
 * @returns {{ path: string, attempt: import('../../lib/observe/client.js').Answer, death?: Death, failedMs: number }[]}  the earliest first
 */
export function failuresIn(scene) {
  const { program, requests, deaths, stop } = scene;
  const connections = groupBy(eventsOf(program.events, 'connection'), ({ client }) => client);
  const begun = groupBy(
    requests.filter(({ endMs }) => endMs === undefined),
    ({ client }) => client,
  );
  const isBegun = ({ client, sentMs, doneMs }) =>
    (begun.get(client) ?? []).some(({ startMs }) => startMs >= sentMs && startMs <= doneMs);
  const exits = exitsOf(program.events)
    .filter(({ t }) => t < (stop?.fromMs ?? Infinity)) // later ones are of the stop
    .filter(({ code, workerPid }) => code !== 0 && hasListened(program.events, workerPid)); // others hold nothing
  return attemptsIn(scene)
    .filter(({ attempt }) => !isGood(attempt) && (isBegun(attempt) || !isReset(attempt)))
    .filter(({ path, attempt }) => !(attempt.status === 404 && path.startsWith('/orders/')))
    .map((one) => ({ ...one, death: deathOf(one.attempt, { connections, exits, deaths }) }))
    .filter(({ death }) => !death?.isOurs)
    .map((one) => ({ ...one, failedMs: one.death?.t ?? one.attempt.doneMs }))
    .sort((a, b) => a.failedMs - b.failedMs);
}

/**
 * The death of the worker that had the connection of a failed request. A connection that no process recorded was on its way to a worker:
 * to the first one that died after the request was sent.
 * @typedef {import('../../lib/observe/timeline.js').Event & { isOurs: boolean }} Death  a worker's exit; isOurs: the check has caused it
 * @returns {Death | undefined}
 */
function deathOf(attempt, { connections, exits, deaths }) {
  const { client, sentMs, doneMs, isReused, error } = attempt;
  if (!error || error === 'ECONNREFUSED') return undefined;
  const last = (connections.get(client) ?? []).findLast(({ t }) => t <= doneMs);
  const isOwn = last && (isReused || last.t >= sentMs); // an earlier one only had the same port
  const exit = exits.find(({ workerPid, t }) => (isOwn ? workerPid === last.pid : t >= sentMs));
  if (!exit) return undefined;
  const ours = deaths.find(({ pid }) => pid === exit.workerPid);
  const isThen = ours
    ? doneMs >= ours.fromMs && sentMs <= ours.toMs
    : exit.t <= doneMs + NOTICED_MS; // otherwise it had failed before
  return isThen ? { ...exit, isOurs: Boolean(ours) } : undefined;
}

/** Invoices during which the event loop of the worker, or of the primary, never turned. */
export function silentInvoicesIn({ program, requests }) {
  const beats = groupBy(eventsOf(program.events, 'beat'), ({ pid }) => pid);
  const hasTurned = (pid, { startMs, endMs }) =>
    (beats.get(pid) ?? []).some(({ t }) => t > startMs && t < endMs);
  const made = requests.filter(
    ({ url, startMs, endMs }) => url.startsWith('/invoice') && endMs > startMs + 2 * BEAT_MS,
  );
  const silent = made.filter((one) => [one.pid, program.pid].some((pid) => !hasTurned(pid, one)));
  return { made, silent };
}
