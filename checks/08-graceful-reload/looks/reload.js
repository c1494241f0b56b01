/**
 * What the check of lesson 8 does with the learner's program and sees of it: it deploys other applications into a copy
 * of the learner's folder, and reloads under load. What waits, and tells a busy machine from a program that hangs, is
 * here for the other parts too.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  MIXED,
  Undecided,
  askOnce,
  demand,
  eventsOf,
  exitsOf,
  forksOf,
  get,
  haveTurned,
  isCrowded,
  lostOf,
  nowMs,
  requestsOf,
  startTraffic,
  turnedMs,
  turnsOf,
} from '../../../lib/check/checking.js';

export const WORKERS = 2;
export const DEADLINE_MS = 8_000;
export const PATIENCE_MS = 3_000; // for the next to come or to go
export const LIMIT_MS = 200; // DRAIN_LIMIT_MS, where a response never ends
export const LONG_LIMIT_MS = 30_000; // where nobody should need it
export const UNDER_WAY = 6;
const SLOW_MS = 300; // an answer to /slow
export const LITTLE_BOOT_MS = 100; // time for something to happen before the new one listens
const EVENT_MS = 50; // from one event of a stream to the next
export const SLOW_BOOT_MS = 500; // longer than an old one says goodbye
export const TURNED = 60; // beats
export const HEARD = 40; // beats: by then an order has been started, if it was heard
const FIRST_TURNS = 5; // beats: by then a signal has been heard
const ARRIVED = 3; // turns of an event loop: what was sent before them has been heard
export const HEARD_SIGNAL = 2; // of the primary's: by then it has had one, whatever held it up
export const HELD_TURNS = 50; // beats, a second: many times as long to a program whose timers come early
export const QUIET = 8; // beats in which nobody comes or goes: nothing more is under way
export const BOOT_LIMIT_MS = 30_000; // who sets a limit for that gives it so long at least
export const STRAY = ['status', 'reloaded', { type: 'status' }, ['reload'], null]; // messages that are no order
export const ORDERS = 3; // the same one again, if nothing comes of it
const WARM_MS = 100;
const AFTER_MS = 100; // the load goes on for so long after a reload
export const HASTE = 20; // times: timers fire this much early in a program that should not cut anything, nor give anything up
const STARVED = 0.15; // of the time
const OWN_STARVED = 2.5; // times as long as it should take
const LOOP_MS = 10;
const MOST_LOOKS = 10;
const LOOK_AGAIN_MS = 1_000;

export const LOAD_PER_SECOND = MIXED.reduce((sum, { perSecond }) => sum + perSecond, 0);

/**
 * The text of an app.js. It reports who loads it, keeps idle connections for a minute, so that simply waiting does not work,
 * knows how many of its responses are still in memory, /kept, and listens on another port for a moment, /second-port. A stream
 * of events, /events, has a timer that nobody clears, and so has what answers a whole upload, /timer.
 */
export function appOf({ version, bootMs = 0, isBad = false }) {
  return `
    import { createServer } from 'node:net';
    import { setTimeout as sleep } from 'node:timers/promises';
    console.log('app.js ${version} is loaded by process ' + process.pid);
    ${isBad ? "throw new Error('this version cannot start');" : ''}
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${bootMs});
    export const version = '${version}';
    const responses = [];
    let keptMs;
    export async function handle(request, response) {
      if (request.url === '/kept') return response.end(String(await countKept(responses)));
      responses.push(new WeakRef(response));
      keptMs ??= request.socket.server.keepAliveTimeout = 60_000; // once: a drain may make it shorter
      if (request.url === '/slow') await sleep(${SLOW_MS});
      if (request.url === '/blocked') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      if (request.url === '/timer') setInterval(() => {}, ${EVENT_MS});
      if (['/upload', '/timer'].includes(request.url)) for await (const part of request);
      if (request.url === '/second-port') await listenOnce();
      if (request.url === '/events') setInterval(() => response.write('event '), ${EVENT_MS});
      else if (request.url === '/forever') response.write('to be continued');
      else response.end(request.url === '/version' ? version : 'Hello from version ' + version);
    }
    function listenOnce() {
      const server = createServer();
      const close = (done) => setImmediate(() => server.close(done)); // the primary hears of it first
      return new Promise((done) => server.listen(0, () => close(done)));
    }
    async function countKept(refs) {
      const [v8, vm] = [await import('node:v8'), await import('node:vm')];
      v8.setFlagsFromString('--expose-gc');
      vm.runInNewContext('globalThis.gc?.()');
      return refs.filter((ref) => ref.deref()).length;
    }
  `;
}

/** A look at a separate program, which is ended after it: now, while others wait, there is time for that. */
export async function lookAt(lesson, options, look) {
  const server = await (options.pretendTimers ? startInHaste : start)(lesson, options);
  try {
    return await look(server);
  } finally {
    server.program.stop();
  }
}

/** It comes up with ordinary timers: if it doesn't with these, that says nothing about it. */
async function startInHaste(lesson, options) {
  try {
    return await start(lesson, options);
  } catch (/** @type {any} */ error) {
    if (error instanceof Undecided || !error.story) throw error;
    throw new Undecided({
      got: `${error.story.got} Its timers ran ${HASTE} times as fast, and so did Date.now().`,
      why: 'It comes up with ordinary timers. Something in it limits how long a start may take, and here that was too short.',
      try: 'npm run check lesson-8, when it is less busy; or a longer limit',
    });
  }
}

/** The first program of a check. */
export function startFirst(lesson) {
  loop.reset(); // how late our timers were before, in another check, means nothing
  return start(lesson, { ...patient, hasChannel: true }); // as a process manager starts it
}

/**
 * Starts a copy of the learner's program, with version 1 of our application.
 * @param {any} lesson
 * @param {any} [options]  workers, how long they boot, whether that is waited for, and what launch takes
 */
export async function start(
  { copy, launch, ready },
  { workers = WORKERS, env = {}, bootMs = 0, isAwaited = true, ...options } = {},
) {
  const { entry, write } = copy();
  const deploy = (app) => write('app.js', appOf(app));
  deploy({ version: '1', bootMs });
  const all = { NODE_CLUSTER_WORKERS: String(workers), ...env };
  const program = await launch({ entry, env: all, ...options });
  if (!isAwaited) return { program, deploy };
  await readyOrBusy(program, workers, ready);
  await program.until((events) => servingOf(events).length >= workers); // the primary knows it, too
  return { program, deploy, output: program.output() };
}

/**
 * Counts the workers that the primary knows to listen and not to be leaving, and those that have ended.
 * It may be asked again and again, and reads only what has come since.
 */
function createCensus() {
  const census = { serving: new Set(), ended: new Set() };
  let seen = 0;
  return (events) => {
    for (; seen < events.length; seen += 1) follow(census, events[seen]);
    return census;
  };
}

function follow({ serving, ended }, { what, workerPid }) {
  if (what === 'worker-listening') serving.add(workerPid);
  else if (what === 'worker-exit' || what === 'disconnect') serving.delete(workerPid);
  if (what === 'worker-exit') ended.add(workerPid);
}

export const servingOf = (events) => [...createCensus()(events).serving];

/** The old ones that have not ended. */
export function leftOf(events, old) {
  const { ended } = createCensus()(events);
  return old.filter((pid) => !ended.has(pid));
}

/** How many workers listened at least, from the event with this number on. */
export function fewestOf(events, first) {
  const census = { serving: new Set(), ended: new Set() };
  const sizes = events.map((event) => {
    follow(census, event);
    return census.serving.size;
  });
  return Math.min(...sizes.slice(Math.max(0, first - 1)));
}

/** How many workers there were at most, those included that did not listen yet, from the event with this number on. */
export function mostOf(events, first) {
  const alive = new Set();
  const sizes = events.map(({ what, workerPid }) => {
    if (what === 'fork') alive.add(workerPid);
    else if (what === 'disconnect' || what === 'worker-exit') alive.delete(workerPid);
    return alive.size;
  });
  return Math.max(...sizes.slice(Math.max(0, first - 1)));
}

/** A very busy machine may start a process so slowly that it seems to be finished. */
async function readyOrBusy(program, workers, ready) {
  for (let tries = 1; tries < MOST_LOOKS && isBusy() && !program.fate; tries += 1)
    if (await program.ready(workers)) return;
    else await sleep(LOOK_AGAIN_MS);
  await ready(program, workers).catch((error) => {
    demandStaying(program, error);
    throw isBusy() && !program.fate ? busy('It is not listening yet.') : error;
  });
}

/** Workers that listen, and end as if all was done: reported as that, and not as the end of the primary, which has none left. */
function demandStaying(program, { story }) {
  const { events, fate } = program;
  const ended = exitsOf(events);
  const haveListened = eventsOf(events, 'listening').length > 0; // the primary may not have heard of it
  const isBySelf = fate?.code === 0 && haveListened && ended.every(({ code }) => code === 0);
  demand(!isBySelf || ended.length === 0, {
    ...story,
    got: `Its ${ended.length} workers listened, and ended at once, with exit code 0; then the primary had nothing left to do.`,
    why: "The channel to the primary is all that keeps a worker alive: its listening socket is the primary's. server.js runs in the workers too, and process.channel?.unref() at its top lets go of that channel there.",
    try: 'what only the primary should do, its handlers for signals and messages and process.channel?.unref(), belongs inside if (cluster.isPrimary) { ... }',
    output: program.output(),
  });
}

/** How late our own timers come: those of a check that has to wait for the machine too. */
const loop = monitorEventLoopDelay({ resolution: LOOP_MS });
loop.enable();
const isBusy = () => loop.mean / 1e6 > OWN_STARVED * LOOP_MS || isCrowded();

/** Were its event loops late for much of the time since, or ours? They have little to do: then the machine had too much. */
export function isStarved({ events }, fromMs) {
  if (isBusy()) return true;
  const lateMs = new Map();
  const beats = eventsOf(events, 'beat').filter(({ t }) => t > fromMs);
  for (const { pid, late } of beats) lateMs.set(pid, (lateMs.get(pid) ?? 0) + late);
  const elapsedMs = (beats.at(-1)?.t ?? Infinity) - fromMs;
  return Math.max(0, ...lateMs.values()) > STARVED * elapsedMs;
}

/** Waits until it is so, or nobody has come or gone for a while; longer on a machine that is too busy, for the program or for us. */
export async function waitFor(program, isSo) {
  const fromMs = nowMs();
  let found;
  const movedMs = (events) => Math.max(fromMs, lastMoveOf(events)?.t ?? 0);
  const isVain = (events) => nowMs() > movedMs(events) + PATIENCE_MS;
  await program.until((events) => (found = isSo(events)) || isVain(events), DEADLINE_MS);
  if (found || program.fate || isHung(program, fromMs)) return found;
  const hadNoTurn = program.turn.starvedIn(movedMs(program.events), PATIENCE_MS);
  if (!hadNoTurn && !isStarved(program, fromMs)) return found;
  return program.until(isSo, 2 * DEADLINE_MS - PATIENCE_MS);
}

/** Somebody came or went. */
const lastMoveOf = (events) =>
  events.findLast(({ what }) => ['fork', 'worker-listening', 'worker-exit'].includes(what));

/**
 * Nobody has come or gone for so many turns of the event loops of all who have not ended, and of the primary's. On a crowded
 * machine it takes long until one that has been forked has its first turn, and one that is leaving its last.
 */
export function isHung(program, fromMs) {
  const { events, pid } = program;
  const sinceMs = Math.max(fromMs, lastMoveOf(events)?.t ?? 0);
  const forked = forksOf(events).map(({ workerPid }) => workerPid);
  return haveTurned(events, [pid, ...leftOf(events, forked)], TURNED, sinceMs);
}

/**
 * When an order had surely come to the last of some processes, of which each tells the next.
 * @param {import('../../../lib/observe/timeline.js').Event[]} events
 * @param {number[]} pids
 * @param {number} orderMs  when the first was told
 * @returns {number}  Infinity, if it has not yet
 */
export const heardBy = (events, pids, orderMs) =>
  pids.reduce((sinceMs, pid) => turnedMs(events, pid, ARRIVED, sinceMs), orderMs);

/** Has nobody come or gone for some turns of the primary's event loop, and is nobody still to come? */
export function isQuiet({ events, pid }) {
  const turns = turnsOf(events, pid, lastMoveOf(events)?.t ?? 0);
  return turns >= QUIET && forksOf(events).every(({ workerPid }) => isUpOrGone(events, workerPid));
}

/** Is it quiet, and has the primary no timer after which it may go on, or none that has fired for long? */
export function hasRested(program) {
  const { events, pid } = program;
  if (!isQuiet(program)) return false;
  return timersOf(program) === 0 || turnsOf(events, pid, lastMoveOf(events)?.t ?? 0) >= TURNED;
}

/** How many timers the primary has, as far as we have heard. @returns {number | undefined} */
export const timersOf = ({ events, pid }) =>
  events.findLast((event) => event.pid === pid && event.timers !== undefined)?.timers;

const isUpOrGone = (events, pid) =>
  events.some(
    ({ what, workerPid }) =>
      workerPid === pid && (what === 'worker-listening' || what === 'worker-exit'),
  );

/** Waits until something has been forked since this event, or the primary has turned often enough to have done so. */
export async function isHeard(program, first) {
  const fromMs = nowMs();
  const isForked = (events) => forksOf(events.slice(first)).length > 0;
  const isDeaf = (events) => turnsOf(events, program.pid, fromMs) >= HEARD;
  await program.until((events) => isForked(events) || isDeaf(events), DEADLINE_MS);
  return isForked(program.events);
}

/** What the primary has forked although it had had this signal. */
export function forkedAfter({ events, pid }, signalMs) {
  const heardMs = turnedMs(events, pid, HEARD_SIGNAL, signalMs);
  return forksOf(events).filter(({ t }) => t > heardMs);
}

export async function endOf(program) {
  await waitFor(program, () => program.fate);
  return program.fate;
}

export const busy = (got, more = '') =>
  new Undecided({
    got,
    why: `The machine is busy.${more}`,
    try: 'npm run check lesson-8, when it is less busy',
  });

/** Sends requests, each on its own connection, and waits until workers have begun them. */
export async function begin(program, path, times) {
  const first = program.events.length;
  const ask = () => get(program.url + path, { timeoutMs: 3 * DEADLINE_MS });
  const asked = Array.from({ length: times }, ask);
  const begun = (events) => requestsOf(events.slice(first), path).length >= times;
  await program.until(begun, DEADLINE_MS / 2);
  return { answers: () => Promise.all(asked) };
}

/** Gives an order to reload, and waits until all that served have ended and as many others serve. */
export async function renew(
  program,
  order = /** @returns {any} */ () => program.kill(program.pid, 'SIGHUP'),
) {
  const first = program.events.length;
  const old = servingOf(program.events);
  const fromMs = nowMs();
  const takeIn = createCensus();
  const isDone = (events) => {
    const { serving, ended } = takeIn(events);
    return serving.size >= old.length && old.every((pid) => ended.has(pid));
  };
  await order();
  const isRenewed = (await isHeard(program, first)) && Boolean(await waitFor(program, isDone));
  const seconds = (nowMs() - fromMs) / 1_000;
  const { events, fate } = program;
  const forks = forksOf(events.slice(first)).length;
  const last = events.length;
  return { program, first, last, old, fromMs, seconds, isRenewed, fate, forks };
}

/** The versions that answer. */
export async function versionsOf(program) {
  const ask = () => askOnce(program, '/version', { timeoutMs: DEADLINE_MS });
  const answers = await Promise.all(Array.from({ length: 2 * WORKERS }, ask));
  return answers.map(({ body, error }) => error ?? body);
}

/**
 * A reload under load, to another version; and when it is done one more, of the workers that the first has brought. While the
 * first new one boots an old one listens once more, on another port: that is not what is waited for.
 */
export async function reloadUnderLoad({ program, deploy }) {
  const roll = await rollUnderLoad(program, {
    deploy: () => deploy({ version: '2', bootMs: LITTLE_BOOT_MS }),
    meanwhile: () => get(`${program.url}/second-port`, { timeoutMs: DEADLINE_MS }),
    end: (traffic) => traffic.stop(),
  });
  const versions = await versionsOf(program);
  const seen = { ...roll, versions, output: program.output() };
  if (!roll.isRenewed) return seen;
  await waitFor(program, () => hasRested(program));
  deploy({ version: '3' });
  let next = await renew(program);
  for (let tries = 1; tries < ORDERS && next.forks === 0 && !next.fate; tries += 1)
    next = await renew(program); // it was not quite done, and skipped this order, as it may
  const later = next.isRenewed ? await versionsOf(program) : [];
  return { ...seen, next: { ...next, versions: later, output: program.output() } };
}

/** In another reload by message, while the new one boots and one more order waits, the program is told to stop. */
async function stopWhileBooting({ program, deploy }) {
  deploy({ version: '4', bootMs: SLOW_BOOT_MS });
  const first = program.events.length;
  const fromMs = nowMs();
  let isBegun = false;
  for (let tries = 0; tries < ORDERS && !isBegun; tries += 1) {
    program.post('reload');
    isBegun = await isHeard(program, first); // or it was not quite done, and skipped this order, as it may
  }
  if (!isBegun) return { isBegun, fromMs };
  program.post('reload');
  program.kill(program.pid, 'SIGTERM');
  const signalMs = nowMs();
  const fate = await endOf(program);
  const forked = forkedAfter(program, signalMs);
  return { isBegun, fromMs, signalMs, fate, forked, left: servingOf(program.events) };
}

/**
 * @param {any} program
 * @param {object} options
 * @param {() => void} [options.deploy]  what is reloaded; the same again, if left out
 * @param {() => Promise<any>} [options.meanwhile]  when the first new one has been forked
 * @param {(traffic: ReturnType<typeof startTraffic>) => Promise<any[]>} options.end  of the traffic
 */
export async function rollUnderLoad(program, { deploy, meanwhile, end }) {
  const traffic = startTraffic(program.url, MIXED);
  await sleep(WARM_MS);
  deploy?.();
  const roll = await renew(program, async () => {
    const first = program.events.length;
    program.kill(program.pid, 'SIGHUP');
    if (meanwhile && (await isHeard(program, first))) await meanwhile();
  });
  await sleep(AFTER_MS);
  const sent = await end(traffic);
  const lost = lostOf(sent, requestsOf(program.events));
  const repeated = sent.filter(({ isRepeated }) => isRepeated).length;
  return { ...roll, sent, lost, repeated };
}

/**
 * The message, after one that is no order, to a version that takes its time to start, and while that is done the signal. There
 * is only one worker.
 */
export async function reloadByMessage({ program, deploy }) {
  deploy({ version: '2', bootMs: SLOW_BOOT_MS });
  const first = program.events.length;
  const isUp = (events) => eventsOf(events.slice(first), 'worker-listening').length > 0;
  let isDeaf = true;
  let before = '';
  let isMeanwhile = false;
  const roll = await renew(program, async () => {
    for (let tries = 0; tries < ORDERS && isDeaf; tries += 1) {
      program.post(STRAY[0]);
      program.post('reload');
      isDeaf = !(await isHeard(program, first)); // or the keeper, which passes messages on, has had no turn
    }
    before = program.output();
    program.kill(program.pid, 'SIGHUP');
    const signalMs = nowMs();
    if (isDeaf) return;
    await waitFor(program, isUp);
    const upMs = eventsOf(program.events.slice(first), 'worker-listening')[0]?.t;
    isMeanwhile = turnsOf(program.events, program.pid, signalMs, upMs ?? 0) > FIRST_TURNS;
    deploy({ version: '3' });
  });
  const isOne = (events) => servingOf(events).length === 1 && hasRested(program); // the second reload is done, too
  if (roll.isRenewed) await waitFor(program, isOne);
  const { events } = program;
  const serving = servingOf(events).length;
  const output = program.output();
  const isLeftOut = isMeanwhile && forksOf(events.slice(first)).length === 1;
  const said = isLeftOut ? output.slice(before.length) : undefined;
  const last = events.length;
  const isOver = roll.isRenewed && serving === 1;
  const isStrayHeard = isOver && (await areOrders(program, STRAY));
  const strayFate = isOver ? program.fate : undefined;
  const stray = { isStrayHeard, strayFate };
  const seen = { ...roll, isDeaf, last, size: 1, serving, said, ...stray, output };
  const isInOrder = isOver && !isStrayHeard && !strayFate;
  return { ...seen, stopped: isInOrder ? await stopWhileBooting({ program, deploy }) : undefined };
}

/** Is anything forked because of these messages? */
async function areOrders(program, messages) {
  const first = program.events.length;
  for (const message of messages) program.post(message);
  return isHeard(program, first);
}

/** With a limit that nothing should need. */
export const patient = { env: { DRAIN_LIMIT_MS: String(LONG_LIMIT_MS) } };

/** The first worker takes its time to start. */
export const unready = { ...patient, workers: 1, bootMs: SLOW_BOOT_MS, isAwaited: false };

/** With a limit that is far away even for those whose timers, and clock, run faster. */
export const hasty = {
  env: { DRAIN_LIMIT_MS: String(HASTE * LONG_LIMIT_MS) },
  pretendTimers: /** @type {const} */ ([0, Infinity, HASTE]),
  pretendClock: HASTE,
};

/** With a limit that is soon reached. */
export const impatient = { workers: WORKERS + 4, env: { DRAIN_LIMIT_MS: String(LIMIT_MS) } };
