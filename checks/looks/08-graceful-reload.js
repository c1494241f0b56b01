/**
 * What the check of lesson 8 does with the learner's program and sees of it: it deploys other applications into a copy
 * of the learner's folder, reloads under load, stops with clients of every kind. At the end what is only shown: the
 * requests that other ways to reload lose.
 */
import { once } from 'node:events';
import http from 'node:http';
import { connect } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  MIXED,
  Undecided,
  eventsOf,
  exitsOf,
  forksOf,
  get,
  isCrowded,
  lostOf,
  nowMs,
  requestsOf,
  startTraffic,
} from '../../lib/checking.js';

export const WORKERS = 2;
export const DEADLINE_MS = 8_000;
export const LIMIT_MS = 600; // DRAIN_LIMIT_MS, where a response never ends
const LONG_LIMIT_MS = 30_000; // where nobody should need it
const UNDER_WAY = 6;
const BUSY_CLIENTS = 4;
const SLOW_BOOT_MS = 800;
const LITTLE_BOOT_MS = 100; // time for something to happen before the new one listens
const ASK_EVERY_MS = 40; // an answer takes a millisecond, so its connection is nearly always idle
const TURNED = 100; // beats
const SIGNAL_ARRIVES_MS = 150;
const MOST_LATE_MS = 15;
const WARM_MS = 200;
const AFTER_MS = 200; // the load goes on for so long after a reload
const CALM_MS = 500; // by then a bad version would have been tried again
const QUIET_MS = 400; // nobody comes or goes: nothing more is under way
const STARVED = 0.15; // of the time
const OWN_STARVED = 2.5; // times as long as it should take
const LOOP_MS = 10;
const MOST_LOOKS = 10;
const LOOK_AGAIN_MS = 1_000;
const WAYS = fileURLToPath(new URL('../../lessons/08-graceful-reload/ways.js', import.meta.url));
const MEASURED_WORKERS = 4;
const SILENT_MS = 1_500; // nearly four times as long as the slowest answer takes

const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

export const LOAD_PER_SECOND = MIXED.reduce((sum, { perSecond }) => sum + perSecond, 0);

/** The text of an app.js. It tells who loads it, and keeps idle connections for a minute, so that nobody just waits. */
function appOf({ version, bootMs = 0, isBad = false }) {
  return `
    import { setTimeout as sleep } from 'node:timers/promises';
    console.log('app.js ${version} is loaded by process ' + process.pid);
    ${isBad ? "throw new Error('this version cannot start');" : ''}
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${bootMs});
    export const version = '${version}';
    export async function handle(request, response) {
      request.socket.server.keepAliveTimeout = 60_000;
      if (request.url === '/slow') await sleep(400);
      if (request.url === '/blocked') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      if (request.url === '/forever') response.write('to be continued');
      else response.end(request.url === '/version' ? version : 'Hello from version ' + version);
    }
  `;
}

/** Looks that begin when `first` is done, one after the other; a lane of them beside others. */
export function createLane(meanwhile, first) {
  let last = first;
  return (look) => {
    const before = last;
    last = meanwhile(async () => {
      await Promise.allSettled([before]);
      return look(await first);
    });
    return last;
  };
}

/** A look at a program of its own, which is ended after it: now, while others wait, there is time for that. */
export async function lookAt(lesson, options, look) {
  const server = await start(lesson, options);
  try {
    return await look(server);
  } finally {
    server.program.stop();
  }
}

/** Starts a copy of the learner's program, with version 1 of our application. */
export async function start(
  { copy, launch, ready },
  { workers = WORKERS, env = {}, ...options } = {},
) {
  const { entry, write } = copy();
  const deploy = (app) => write('app.js', appOf(app));
  deploy({ version: '1' });
  const all = { NODE_CLUSTER_WORKERS: String(workers), ...env };
  const program = await launch({ entry, env: all, ...options });
  await readyOrBusy(program, workers, ready);
  await program.until((events) => servingOf(events).length >= workers); // the primary knows it, too
  const loaders = [...program.output().matchAll(/is loaded by process (\d+)/g)];
  return { program, deploy, loaders: loaders.map(([, pid]) => Number(pid)) };
}

/**
 * Counts the workers of which the primary knows that they listen, and not that they leave, and those that have ended.
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

/** Those of the old ones who have not ended. */
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

/** A machine that is very busy may start a process so slowly that it seems to be at its end. */
async function readyOrBusy(program, workers, ready) {
  for (let tries = 1; tries < MOST_LOOKS && isBusy() && !program.fate; tries += 1)
    if (await program.ready(workers)) return;
    else await sleep(LOOK_AGAIN_MS);
  await ready(program, workers).catch((error) => {
    throw isBusy() && !program.fate ? busy('It has not come to listen yet.') : error;
  });
}

/** How late our own timers come: those of a check that has to wait for the machine, too. */
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

/**
 * Have the event loops of these turned so often since that they have surely done what they were told? That does not
 * depend on how busy the machine is.
 */
export const haveTurned = ({ events }, pids, fromMs) =>
  pids.every(
    (pid) =>
      eventsOf(events, 'beat').filter((beat) => beat.pid === pid && beat.t > fromMs).length >=
      TURNED,
  );

/** Waits until it is so; longer on a machine that is too busy. */
async function waitFor(program, isSo) {
  const fromMs = nowMs();
  const found = await program.until(isSo, DEADLINE_MS);
  return found || (isStarved(program, fromMs) && program.until(isSo, DEADLINE_MS));
}

async function endOf(program) {
  await waitFor(program, () => program.fate);
  return program.fate;
}

export const busy = (got, more = '') =>
  new Undecided({
    got,
    why: `The machine has other things to do.${more}`,
    try: 'npm run check lesson-8, when it has less to do',
  });

/** Sends requests, each on its own connection, and waits until workers have begun them. */
async function begin(program, path, times) {
  const first = program.events.length;
  const ask = () => get(program.url + path, { timeoutMs: 3 * DEADLINE_MS });
  const asked = Array.from({ length: times }, ask);
  const begun = (events) => requestsOf(events.slice(first), path).length >= times;
  await program.until(begun, DEADLINE_MS / 2);
  return { answers: () => Promise.all(asked) };
}

/** One worker is told to leave, by its pid and while it has slow requests; then the program by Ctrl-C. */
export async function stopOneThenAll(server) {
  const one = await stopOne(server);
  if (!one.exit) return { one };
  return { ...(await stopAtWork(server, 'Ctrl-C')), one };
}

async function stopOne({ program }) {
  const begun = await begin(program, '/slow', UNDER_WAY);
  const signalMs = nowMs();
  const [workerPid] = servingOf(program.events);
  program.kill(workerPid, 'SIGTERM');
  const exitIn = (events) => exitsOf(events).find((exit) => exit.workerPid === workerPid);
  await waitFor(program, exitIn);
  const answers = await begun.answers();
  const requests = requestsOf(program.events).filter(({ pid }) => pid === workerPid);
  const isThere = (answer) => requests.some(({ client }) => client === answer.client);
  const lost = answers.filter((answer) => answer.error && isThere(answer));
  const { events } = program;
  return { program, workerPid, signalMs, exit: exitIn(events), lost, output: program.output() };
}

/** The signal comes while slow requests are under way. */
export async function stopAtWork({ program }, how) {
  const begun = await begin(program, '/slow', UNDER_WAY);
  const signalMs = nowMs();
  if (how === 'Ctrl-C') program.interrupt('SIGINT');
  else program.kill(program.pid, 'SIGTERM');
  const fate = await endOf(program);
  const output = program.output();
  if (!fate) await program.stop();
  const lost = (await begun.answers()).filter(({ status, error }) => error || status !== 200);
  return { how, program, signalMs, fate, lost, of: UNDER_WAY, output };
}

/**
 * The signal comes while clients keep their connections: two are idle, two ask now and then, four again and again, and
 * wait for slow answers.
 */
export async function stopWithClients({ program }) {
  const idle = await Promise.all(Array.from({ length: WORKERS }, () => idleClient(program)));
  const regulars = await Promise.all(Array.from({ length: WORKERS }, () => regularClient(program)));
  const clients = Array.from({ length: BUSY_CLIENTS }, () => busyClient(program));
  const areBegun = (events) => requestsOf(events, '/slow').length >= BUSY_CLIENTS;
  const loopMeanwhile = monitorEventLoopDelay({ resolution: 1 });
  loopMeanwhile.enable();
  await program.until(areBegun, DEADLINE_MS / 2);
  const signalMs = nowMs();
  program.kill(program.pid, 'SIGTERM');
  const fate = await endOf(program);
  const isIdleHeld = idle.some(({ readyState }) => readyState === 'open');
  const output = program.output();
  for (const socket of idle) socket.destroy();
  const kept = regulars.map((regular) => regular.leave());
  const answers = (await Promise.all(clients.map((client) => client.leave()))).flat();
  const later = answers.filter(({ doneMs, status }) => status && doneMs > signalMs);
  const told = later.filter(isToldToClose);
  const underWay = answers.filter(({ sentMs, doneMs }) => sentMs < signalMs && doneMs > signalMs);
  const untold = untoldOf(program, underWay, kept);
  const cut = kept.find(({ closedMs, toldMs }) => closedMs && !toldMs);
  const cutMs = cut && cut.closedMs - signalMs;
  loopMeanwhile.disable();
  const asked = answers.filter(({ sentMs }) => sentMs > signalMs + SIGNAL_ARRIVES_MS);
  const areWeLate = loopMeanwhile.max / 1e6 > MOST_LATE_MS; // then we may have come when it was closed, in all honour
  const isAskedLater = asked.some(({ error }) => !error || !areWeLate);
  const heard = { later, told, underWay, untold, cutMs };
  return { program, signalMs, fate, isIdleHeld, ...heard, isAskedLater, output };
}

/** Those whose worker had said goodbye to another client before it answered them: it knew that it would leave. */
function untoldOf({ events }, answers, kept) {
  const requests = requestsOf(events);
  const pidOf = (port) => requests.findLast(({ client }) => client === port)?.pid;
  const goodbyes = kept.map(({ client, toldMs }) => ({ pid: pidOf(client), toldMs }));
  return answers.filter((answer) => {
    const asked = requests.find(
      ({ client, startMs }) => client === answer.client && startMs > answer.sentMs,
    );
    const isLater = ({ pid, toldMs }) => pid === asked?.pid && toldMs < (asked?.endMs ?? 0);
    return goodbyes.some(isLater) && !isToldToClose(answer);
  });
}

const isToldToClose = ({ headers }) => /close/i.test(headers.connection ?? '');

/** One that has had its answer, and keeps its connection. */
async function idleClient({ port }) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {}); // it is closed, in whatever way
  socket.write(REQUEST);
  const tooLong = sleep(DEADLINE_MS / 2, undefined, { ref: false }); // the check does not end later for it
  await Promise.race([once(socket, 'data'), once(socket, 'close'), tooLong]);
  socket.resume();
  return socket;
}

/** One that asks now and then, always on the same connection, until it hears "Connection: close" or is cut. */
async function regularClient(program) {
  const socket = await idleClient(program);
  const { localPort: client } = socket;
  let heard = '';
  let toldMs;
  let closedMs;
  const asking = setInterval(() => socket.write(REQUEST), ASK_EVERY_MS);
  socket.on('data', (bytes) => {
    heard += bytes;
    if (/^connection: close/im.test(heard)) toldMs ??= nowMs();
  });
  socket.on('close', () => {
    closedMs ??= nowMs();
    clearInterval(asking);
  });
  return {
    leave() {
      const seen = { client, toldMs, closedMs };
      socket.destroy();
      return seen;
    },
  };
}

/** One that asks again as soon as it has its answer, on the same connection if it may. */
function busyClient({ url }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const answers = [];
  let isOn = true;
  const run = async () => {
    while (isOn && answers.every(({ error }) => !error))
      answers.push(await get(`${url}/slow`, { agent, timeoutMs: 3 * DEADLINE_MS }));
  };
  const end = run();
  return {
    async leave() {
      isOn = false;
      agent.destroy();
      await end;
      return answers;
    },
  };
}

/** Gives an order to reload, and waits until all who served have ended and as many others serve. */
async function renew(
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
  const isHeard = (await order()) !== 'unheard';
  const isRenewed = isHeard && Boolean(await waitFor(program, isDone));
  const seconds = (nowMs() - fromMs) / 1_000;
  const { events, fate } = program;
  const forks = forksOf(events.slice(first)).length;
  const last = events.length;
  return { program, first, last, old, fromMs, seconds, isRenewed, fate, forks };
}

/** The versions that answer. */
async function versionsOf({ url }) {
  const ask = () => get(`${url}/version`, { timeoutMs: DEADLINE_MS });
  const answers = await Promise.all(Array.from({ length: 2 * WORKERS }, ask));
  return answers.map(({ body, error }) => error ?? body);
}

/** A reload under load, to another version. */
export async function reloadUnderLoad({ program, deploy }) {
  const roll = await rollUnderLoad(program, {
    deploy: () => deploy({ version: '2' }),
    end: (traffic) => traffic.stop(),
  });
  const versions = await versionsOf(program);
  return { ...roll, versions, output: program.output() };
}

/**
 * @param {any} program
 * @param {object} options
 * @param {() => void} [options.deploy]  of what is reloaded; the same again, if left out
 * @param {(traffic: ReturnType<typeof startTraffic>) => Promise<any[]>} options.end  of the traffic
 */
async function rollUnderLoad(program, { deploy, end }) {
  const traffic = startTraffic(program.url, MIXED);
  await sleep(WARM_MS);
  deploy?.();
  const roll = await renew(program);
  await sleep(AFTER_MS);
  const sent = await end(traffic);
  const lost = lostOf(sent, requestsOf(program.events));
  const repeated = sent.filter(({ isRepeated }) => isRepeated).length;
  return { ...roll, sent, lost, repeated };
}

/** A version that throws at its top, and after it a good one. */
export async function reloadBadVersion({ program, deploy }) {
  const first = program.events.length;
  const old = servingOf(program.events);
  deploy({ version: '3', isBad: true });
  program.kill(program.pid, 'SIGHUP');
  const news = () => program.events.slice(first);
  const failed = () => exitsOf(news()).filter(({ workerPid }) => !old.includes(workerPid));
  const tries = () => forksOf(news()).length;
  const isWorse = () => leftOf(program.events, old).length < old.length || tries() > WORKERS;
  const isCalm = () =>
    failed().length === tries() && nowMs() > (failed().at(-1)?.t ?? Infinity) + CALM_MS;
  await waitFor(program, () => isWorse() || (tries() > 0 && isCalm()));
  const { fate } = program;
  const left = leftOf(program.events, old);
  const seen = { program, old, left, fate, tries: tries(), failed: failed().length };
  const output = program.output();
  const versions = await versionsOf(program);
  if (fate || left.length < old.length || tries() > WORKERS) return { ...seen, versions, output };
  deploy({ version: '4' });
  const again = await renew(program);
  return { ...seen, versions, again, later: await versionsOf(program), output };
}

/** The only worker is renewed, and the new one takes its time to start. */
export async function reloadSlowly({ program, deploy }) {
  deploy({ version: '2', bootMs: SLOW_BOOT_MS });
  const roll = await renew(program);
  await program.stop();
  return { ...roll, size: 1, output: program.output() };
}

/** The message, and while that is done the signal. */
export async function reloadByMessage({ program, deploy }) {
  deploy({ version: '2' });
  const before = forksOf(program.events).length;
  const hasBegun = (events) => forksOf(events).length > before;
  const roll = await renew(program, async () => {
    program.post('reload');
    await program.until(hasBegun, DEADLINE_MS / 2);
    if (!hasBegun(program.events)) return 'unheard';
    return program.kill(program.pid, 'SIGHUP');
  });
  const isDone = (events) => servingOf(events).length === WORKERS && isQuiet(events);
  if (roll.isRenewed) await waitFor(program, isDone);
  const { events } = program;
  const serving = servingOf(events).length;
  await program.stop();
  return { ...roll, last: events.length, size: WORKERS, serving, output: program.output() };
}

/** Has nobody come or gone for a while? */
function isQuiet(events) {
  const lives = ['fork', 'worker-listening', 'worker-exit'];
  const last = events.findLast(({ what }) => lives.includes(what));
  return nowMs() - last.t > QUIET_MS;
}

/** In the middle of a reload an old worker is killed; in the middle of the next one the program is told to stop. */
export async function breakIn({ program, deploy }) {
  deploy({ version: '2', bootMs: LITTLE_BOOT_MS });
  const killed = await killInReload(program);
  const stopped = killed.isDone && (await stopInReload(program));
  return { program, killed, stopped };
}

/** Gives the order, and waits until a new one has been forked. */
async function beginReload(program) {
  const first = program.events.length;
  const fromMs = nowMs();
  program.kill(program.pid, 'SIGHUP');
  const isBegun = await waitFor(program, (events) => forksOf(events.slice(first)).length > 0);
  return { first, fromMs, isBegun: Boolean(isBegun) };
}

/** The youngest of the old ones is killed: its turn is mostly the last. */
async function killInReload(program) {
  const old = servingOf(program.events);
  const begun = await beginReload(program);
  const workerPid = Math.max(...old); // it is the last one's turn mostly at the end
  program.kill(workerPid, 'SIGKILL');
  const isDone = (events) =>
    leftOf(events, old).length === 0 &&
    forksOf(events).every((fork) => isUpOrGone(events, fork.workerPid)) &&
    isQuiet(events);
  const isSo = begun.isBegun && Boolean(await waitFor(program, isDone));
  return { ...begun, old, workerPid, isDone: isSo, fate: program.fate, output: program.output() };
}

const isUpOrGone = (events, pid) =>
  events.some(
    ({ what, workerPid }) =>
      workerPid === pid && (what === 'worker-listening' || what === 'worker-exit'),
  );

/** The signal comes when a new one listens, and the old one in whose place it is has slow requests. */
async function stopInReload(program) {
  const begun = await beginReload(program);
  if (!begun.isBegun) return { ...begun, output: program.output() };
  await begin(program, '/slow', UNDER_WAY);
  const isUp = (events) => eventsOf(events.slice(begun.first), 'worker-listening').length > 0;
  const isInTime = await program.until(isUp, DEADLINE_MS);
  const signalMs = nowMs();
  program.kill(program.pid, 'SIGTERM');
  const fate = await endOf(program);
  const left = servingOf(program.events);
  const output = program.output();
  const before = forksOf(program.events.slice(begun.first)).filter(({ t }) => t < signalMs);
  const isLate = !isInTime || before.length > 1; // the next one starts already, and a message may not reach it
  return { ...begun, signalMs, isLate, fate, left, output };
}

/** Responses that never end: during a reload, and during a stop, when one of the workers is even blocked. */
export async function holdForever({ program }) {
  await begin(program, '/forever', WORKERS);
  const roll = await renew(program);
  if (!roll.isRenewed) return { program, roll, output: program.output() };
  const begun = await begin(program, '/forever', WORKERS);
  await begin(program, '/blocked', 1);
  const signalMs = nowMs();
  program.kill(program.pid, 'SIGTERM');
  const fate = await endOf(program);
  const output = program.output();
  if (!fate) await program.stop();
  const cutsMs = (await begun.answers()).map(({ doneMs }) => doneMs - signalMs);
  const [blocked] = requestsOf(program.events, '/blocked');
  const left = servingOf(program.events);
  const firstCutMs = Math.min(...cutsMs);
  return { program, roll, fate, signalMs, firstCutMs, blocked, left, output };
}

/** With a limit that nobody should need. */
export const patient = { env: { DRAIN_LIMIT_MS: String(LONG_LIMIT_MS) } };

/** With a limit that is soon reached. */
export const impatient = { env: { DRAIN_LIMIT_MS: String(LIMIT_MS) } };

/** Three ways to put a new version in, each a program of its own. */
export function startWays({ launch, ready }) {
  const env = { NODE_CLUSTER_WORKERS: String(MEASURED_WORKERS) };
  return Promise.all(
    [['kill-all'], ['one-by-one'], undefined].map(async (args) =>
      ready(await launch({ env, ...(args && { entry: WAYS, args }) }), MEASURED_WORKERS),
    ),
  );
}

/** The same load for the three. @param {any[]} programs */
export async function reloadWays([killed, oneByOne, candidate]) {
  return Promise.all(
    [
      ['all ended, then forked', killed],
      ['one by one: ended, then forked', oneByOne],
      ['yours', candidate],
    ].map(async ([name, program]) => ({ name, ...(await reloadOne(program)) })),
  );
}

/**
 * A connection that was given to a worker just before it was killed is silent for ever: who has no answer long after the
 * reload gets none, and is let go by the program's end.
 */
function reloadOne(program) {
  return rollUnderLoad(program, {
    async end(traffic) {
      const sent = traffic.stop();
      await Promise.race([sent, sleep(SILENT_MS, undefined, { ref: false })]);
      await program.stop();
      return sent;
    },
  });
}

/** The numbers of all ways, side by side. */
export function reportWays({ drawn, measured }, rows) {
  const ours = rows[2];
  drawn('failed', {
    label: `failed in a reload of ${MEASURED_WORKERS} workers under ${LOAD_PER_SECOND} requests/s`,
    unit: 'requests',
    rows: rows.map(({ name, lost }) => ({ name, value: lost.length })),
    note: `asked again by clients whose idle connection was closed: ${rows.map(({ repeated }) => repeated).join(', ')}`,
  });
  measured('reload', {
    label: `from the order until the last of the ${MEASURED_WORKERS} old workers has ended, yours`,
    unit: 's',
    value: ours.seconds,
    isHeadline: true,
  });
  drawn('seconds', {
    label: 'how long the reload took',
    unit: 's',
    rows: rows.map(({ name, seconds }) => ({ name, value: Math.round(seconds * 100) / 100 })),
  });
}
