/** Lesson 8: stops and reloads the learner's program; deploys other applications into a copy of its folder. */
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  MIXED,
  STILL,
  askOnce,
  deploy,
  episode,
  eventsOf,
  exitsOf,
  forksOf,
  get,
  hasExited,
  keepIdle,
  kill,
  lostOf,
  nowMs,
  requestsOf,
  servingIn,
  startRequests,
  startTraffic,
  stopUnderLoad,
  strike,
  turnedMs,
} from '../../lib/check/checking.js';

export const WORKERS = 2;
export const IN_FLIGHT = 6;
export const LIMIT_MS = 400; // DRAIN_LIMIT_MS for a response that never ends
const LONG_LIMIT_MS = 600_000; // if nothing should reach the limit, even on a busy machine
const SLOW_MS = 300; // an answer to /slow
const BOOT_MS = 100; // of the version that is deployed under load
export const ASK_EVERY_MS = 40;
const PATIENCE_MS = 20_000; // of one client
const WARM_MS = 100;
const AFTER_MS = 100;
const HEARD_TURNS = 3; // of an event loop, in which it handles a signal
export const LOAD_PER_SECOND = MIXED.reduce((sum, { perSecond }) => sum + perSecond, 0);

/** An app.js that prints which process loads it, and keeps idle connections longer than a check waits. */
const appOf = ({ version, bootMs = 0, isBad = false }) => `
  import { setTimeout as sleep } from 'node:timers/promises';
  console.log('app.js ${version} is loaded by process ' + process.pid);
  ${isBad ? "throw new Error('this version cannot start');" : ''}
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${bootMs});
  export const version = '${version}';
  export async function handle(request, response) {
    request.socket.server.keepAliveTimeout = 60_000;
    if (request.url === '/slow') await sleep(${SLOW_MS});
    if (request.url === '/endless') return response.write('to be continued');
    response.end(request.url === '/version' ? version : 'Hello from version ' + version);
  }
`;

/** Starts a copy of the learner's program, with version 1 of our application. */
export async function start(
  { copy, launch, ready },
  { workers = WORKERS, limitMs = LONG_LIMIT_MS } = {},
) {
  const { entry, write } = copy();
  const put = (app) => write('app.js', appOf(app));
  put({ version: '1' });
  const env = { NODE_CLUSTER_WORKERS: String(workers), DRAIN_LIMIT_MS: String(limitMs) };
  const program = await launch({ entry, env });
  await ready(program, workers);
  await program.until((events) => servingIn(events).length >= workers); // the primary knows that they listen
  return { program, put };
}

const askToLeave = (program, pid) =>
  episode(
    ...[program, `SIGTERM to process ${pid}, a worker`, () => kill(program, [pid], 'SIGTERM')],
    (since) => hasExited(since, pid),
    STILL,
  );

/** One worker gets SIGTERM while slow requests are in flight. */
export async function stopOne({ program }) {
  const asked = await startRequests(program, '/slow', IN_FLIGHT);
  const [pid] = servingIn(program.events);
  const end = await askToLeave(program, pid);
  const answers = await asked.answers;
  const lost = answers.filter(({ status, error }) => error || status !== 200);
  return { ...end, program, pid, lost, of: IN_FLIGHT, output: program.output() };
}

/** The whole program gets the signal while slow requests are in flight. */
export const stopAll = async ({ program }) => ({
  ...(await stopUnderLoad(program, 'Ctrl-C', { path: '/slow', times: IN_FLIGHT, ...STILL })),
  of: IN_FLIGHT,
});

/** The whole program gets SIGTERM while clients keep their connections: idle ones, and busy ones with quick or slow requests. */
export async function stopWithClients({ program }) {
  const idle = await Promise.all(Array.from({ length: WORKERS }, () => keepIdle(program)));
  const quick = Array.from({ length: WORKERS }, () => keepAsking(program, '/', ASK_EVERY_MS));
  const slow = Array.from({ length: 2 * WORKERS }, () => keepAsking(program, '/slow', 0));
  const asking = [...quick, ...slow];
  await program.until((events) => requestsOf(events, '/slow').length >= slow.length);
  const signalMs = nowMs();
  const unsaid = () => unsaidIn(program, asking, signalMs);
  const end = await episode(
    program,
    'SIGTERM',
    () => program.askToStop('SIGTERM'),
    () => program.fate || unsaid().length > 0,
    STILL,
  );
  const isIdleHeld = idle.some((agent) => Object.keys(agent.freeSockets).length > 0);
  const seen = {
    unsaid: unsaid(),
    cut: asking.filter(isCut),
    lost: slow.flatMap(lostSince(signalMs)),
  };
  const output = program.output();
  for (const agent of idle) agent.destroy();
  await Promise.all(asking.map(({ leave }) => leave()));
  return { ...end, ...seen, program, signalMs, isIdleHeld, of: slow.length, output };
}

/** A client that repeats its request on one connection, until "Connection: close" or until the connection is gone. */
function keepAsking({ url }, path, pauseMs) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const answers = [];
  let isOn = true;
  const run = async () => {
    while (isOn && !hasLeft(answers)) {
      answers.push(await get(url + path, { agent, timeoutMs: PATIENCE_MS }));
      await sleep(pauseMs);
    }
  };
  const end = run();
  const leave = async () => {
    isOn = false;
    agent.destroy();
    await end;
  };
  return { path, answers, leave };
}

const saysClose = ({ headers }) => /close/i.test(headers.connection ?? '');
const isElsewhere = (answers) => answers.at(-1).client !== answers[0].client;

const hasLeft = (answers) =>
  answers.length > 0 &&
  (Boolean(answers.at(-1).error) || saysClose(answers.at(-1)) || isElsewhere(answers));

/** Its connection was closed between two requests, without an answer that announced it. */
const isCut = ({ answers }) => answers.length > 1 && hasLeft(answers) && !saysClose(answers.at(-1));

const lostSince =
  (signalMs) =>
  ({ answers }) =>
    answers.filter(
      ({ sentMs, doneMs, status, error }) =>
        sentMs < signalMs && doneMs > signalMs && (error || status !== 200),
    );

/** Answers without "Connection: close" of workers that knew of the stop; isOld: in flight at the signal. */
function unsaidIn({ events, pid: primary }, clients, signalMs) {
  const requests = requestsOf(events);
  const primaryMs = turnedMs(events, primary, HEARD_TURNS, signalMs);
  const silent = clients.flatMap(({ answers }) =>
    answers.filter((one) => one.doneMs > signalMs && !one.error && !saysClose(one)),
  );
  return silent.flatMap(({ client, sentMs }) => {
    const request = requests.find((one) => one.client === client && one.startMs >= sentMs);
    if (!request?.endMs) return [];
    const heardMs = turnedMs(events, request.pid, HEARD_TURNS, primaryMs);
    return request.endMs > heardMs ? [{ ...request, isOld: request.startMs < signalMs }] : [];
  });
}

/** A reload is done when all old workers have exited and as many new ones serve; one too many has a promise of its own. */
async function reload(program, write = () => {}) {
  const roll = await strike(program, deploy(program, servingIn(program.events).length, write));
  const { old, left, serving, fromMs, exits } = roll;
  const isDone = left.length === 0 && serving.length >= old.length;
  return { ...roll, isDone, seconds: ((exits.at(-1)?.t ?? fromMs) - fromMs) / 1_000 };
}

/** Deploys a new version under load, and reloads. */
export async function reloadUnderLoad({ program, put }) {
  const write = () => put({ version: '2', bootMs: BOOT_MS });
  const roll = await rollUnderLoad(program, { write, end: (traffic) => traffic.stop() });
  const versions = await versionsOf(program);
  return { ...roll, versions, put, output: program.output() };
}

/** Reloads during traffic, which `end` ends. @param {any} program @param {{ write?: () => void, end: (traffic: any) => any }} how */
async function rollUnderLoad(program, { write, end }) {
  const traffic = startTraffic(program.url, MIXED);
  await sleep(WARM_MS);
  const roll = await reload(program, write);
  await sleep(AFTER_MS);
  const sent = await end(traffic);
  const lost = lostOf(sent, requestsOf(program.events));
  const repeated = sent.filter(({ isRepeated }) => isRepeated).length;
  return { ...roll, sent, lost, repeated };
}

async function versionsOf(program) {
  const ask = () => askOnce(program, '/version');
  const answers = await Promise.all(Array.from({ length: 2 * WORKERS }, ask));
  return answers.map(({ body, error }) => error ?? body);
}

/** Deploys a version that throws, then a good one. */
export async function reloadBadVersion({ program, put }) {
  const old = servingIn(program.events);
  put({ version: '3', isBad: true });
  const failedIn = (since) => exitsOf(since).filter(({ workerPid }) => !old.includes(workerPid));
  const hasGoneOn = (since) => {
    const [failed] = failedIn(since);
    const hasOldLeft = exitsOf(since).some(({ workerPid }) => old.includes(workerPid));
    return failed && (hasOldLeft || forksOf(since).some(({ t }) => t > failed.t));
  };
  const roll = await episode(
    program,
    'SIGHUP',
    () => kill(program, [program.pid], 'SIGHUP'),
    (since) => hasGoneOn(since),
  );
  const left = old.filter((pid) => hasExited(roll.events, pid));
  const crashes = eventsOf(roll.events, 'crash');
  const bad = { ...roll, program, old, left, crashes, output: program.output() };
  if (roll.fate || roll.isDone) return bad;
  const versions = await versionsOf(program);
  const again = await reload(program, () => put({ version: '4' }));
  const later = again.isDone ? await versionsOf(program) : [];
  return { ...bad, versions, again, later, output: program.output() };
}

/** The only worker gets SIGTERM in the middle of a response that never ends. */
export async function stopDuringEndlessResponse({ program }) {
  const asked = await startRequests(program, '/endless', 1, { timeoutMs: PATIENCE_MS });
  const [pid] = servingIn(program.events);
  const end = await askToLeave(program, pid);
  const output = program.output();
  await program.stop();
  const [{ doneMs }] = await asked.answers;
  return { ...end, program, pid, cutAfterMs: doneMs - end.fromMs, output };
}

const WAYS = fileURLToPath(new URL('../../lessons/08-graceful-reload/ways.js', import.meta.url));
export const MEASURED_WORKERS = 4;
const SILENT_MS = 1_500; // nearly four times as long as the slowest answer takes

/** Three ways to deploy a new version, each in its own program under the same load. */
export async function reloadWays({ launch, ready }) {
  const env = { NODE_CLUSTER_WORKERS: String(MEASURED_WORKERS) };
  const ways = [
    ['all killed, then forked', ['kill-all']],
    ['one by one: killed, then forked', ['one-by-one']],
    ['yours', undefined],
  ];
  const programs = await Promise.all(
    ways.map(async ([, args]) =>
      ready(await launch({ env, ...(args && { entry: WAYS, args }) }), MEASURED_WORKERS),
    ),
  );
  return Promise.all(
    programs.map(async (program, index) => ({
      ...(await rollUnderLoad(program, { end: (traffic) => endOf(traffic, program) })),
      name: ways[index][0],
    })),
  );
}

/** A connection that was sent to a worker at its death stays open until the program ends. */
async function endOf(traffic, program) {
  const sent = traffic.stop();
  await Promise.race([sent, sleep(SILENT_MS, undefined, { ref: false })]);
  await program.stop();
  return sent;
}
