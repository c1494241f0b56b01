/** Lesson 10: requests through nginx, a stop with requests in flight, a start without nginx, and one of two machines killed. */
import { readdirSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  STILL,
  canListen,
  createLoad,
  disturbanceOf,
  episode,
  eventsOf,
  get,
  haveTurned,
  interleave,
  isAtRest,
  kill,
  mean,
  nowMs,
  ratioOf,
  requestsOf,
  saturate,
  stopUnderLoad,
  untilAtRest,
  watchMachine,
} from '../../lib/check/checking.js';

export const MACHINES = ['127.0.0.2', '127.0.0.3'];
export const WORKERS = 2; // of each machine
const PATIENCE_MS = 5_000; // of a client, for one request
const KNOCK_MS = 10;
const MOST_ASKED = 60; // a random choice among four servers misses one in one of ten million checks
const CLAIMED = '192.0.2.7'; // reserved for documentation (RFC 5737)
const IN_FLIGHT = 6;
const LATE_CLIENTS = 3;
const BURST = 12; // requests at once, more than one for each worker of two machines
const POSTS = 6; // nginx alternates, so some go to the killed machine
const ARRIVE_MS = 100; // an answer takes a few milliseconds
const TAKEN_MS = 3_000; // nginx accepts a request at once
const HEARD = 2; // turns of an event loop, in which it handles a signal
const LATE_SERVERS_MS = 5_000;
const BOOT_MS = 8_000; // usually one second and a start
const RETURN_MS = 4_000;
const PAUSE_MS = 10; // between two requests
const WORK_MS = 90; // a window of blocking work
const BUDGET = { usualMs: 150, longerMs: 6_000 };
const NARROW = 1.2; // the high end of an interval of 10 % up and down, by its low end
const LATENCY = { warmUp: 10, rounds: 20 }; // each side twice a round

/** The Node.js processes that listen, without the program's first, which isn't a server. */
export const serversIn = ({ events, pid: first }) =>
  eventsOf(events, 'listening').filter(({ pid }) => pid !== first);

/** Starts the program, and retries until its port answers or the program is at rest. */
export async function startBehindNginx(
  launch,
  { count, nginx, args = /** @type {string[]} */ ([]) },
) {
  const env = { NODE_CLUSTER_WORKERS: String(count), NGINX_BIN: nginx };
  const program = await launch({ args, env, temporary: 'temporary' });
  let first;
  let isOver = false;
  const knock = async () => {
    while (!first && !isOver) {
      const answer = await get(`${program.url}/pid`, { timeoutMs: PATIENCE_MS });
      if (answer.status !== undefined || /^no answer/.test(answer.error ?? '')) first = answer;
      else await sleep(KNOCK_MS);
    }
  };
  const knocking = knock();
  await program.settled(() => first !== undefined);
  isOver = true;
  await knocking;
  if (first && first.status !== 200)
    // nginx may be up before the servers
    await program.until(() => serversIn(program).length >= count, LATE_SERVERS_MS);
  return { program, count, first, hasNginx: !program.fate && hasNative(program) };
}

/** Does the program run a process without the probe, which must be nginx? */
function hasNative(program) {
  const known = new Set(program.events.map(({ pid }) => pid));
  return program.survivors().some((pid) => !known.has(pid));
}

/** Asks until every server has answered, MOST_ASKED times at most. */
export async function askEveryBackend({ program, count, first }) {
  if (first?.status !== 200) return { answers: [], pids: [] };
  const since = program.events.length;
  const seen = () => new Set(requestsOf(program.events.slice(since), '/pid').map(({ pid }) => pid));
  const answers = [];
  const isFine = () => answers.every(({ status }) => status === 200);
  while (answers.length < MOST_ASKED && seen().size < count && isFine())
    answers.push(await get(`${program.url}/pid`, { timeoutMs: PATIENCE_MS }));
  return { answers, pids: [...seen()] };
}

/** A client claims another address than its own, which isn't nginx's either: which one does the server see? */
export async function askClientAddress({ program }) {
  const localAddress = (await canListen(0, '127.0.0.9')) ? '127.0.0.9' : '127.0.0.1';
  const agent = new Agent({ localAddress });
  const headers = { 'x-forwarded-for': CLAIMED };
  const answer = await get(`${program.url}/client`, { agent, headers, timeoutMs: PATIENCE_MS });
  agent.destroy();
  return { answer, localAddress, claimed: CLAIMED };
}

/**
 * Stops the program while requests are in flight, and sends more just after the signal. One client has sent half of its request
 * and sends the rest last: until then nginx must read, and a server must answer.
 */
export async function stopInFlight({ program, first }, how) {
  if (first?.status !== 200) return { program, how, opening: first, answers: [], lost: [] };
  const sendRest = await sendHalf(program);
  const since = program.events.length;
  let late = /** @type {any[]} */ ([]);
  let half;
  const stopped = await stopUnderLoad(program, how, {
    ...{ path: '/report', times: IN_FLIGHT },
    afterSignal: async (signalMs) => {
      const isOver = (isDone) => (events) => program.fate || isDone(events);
      const isHeard = isOver((events) => haveTurned(events, [program.pid], HEARD, signalMs));
      await program.until(isHeard, PATIENCE_MS);
      const ask = () => get(`${program.url}/pid`, { timeoutMs: PATIENCE_MS });
      late = await Promise.all(Array.from({ length: LATE_CLIENTS }, ask));
      const reports = (events) => requestsOf(events.slice(since), '/report');
      const areDone = isOver((events) => reports(events).every(({ endMs }) => endMs));
      await program.until(areDone, PATIENCE_MS);
      await sleep(ARRIVE_MS); // for servers that got a signal to exit
      half = await sendRest();
    },
  });
  return { opening: first, half, late, ...stopped, files: readdirSync(program.temporary) };
}

/** Sends all but the last byte of a request; the returned function sends that, and resolves to the status. */
async function sendHalf(program) {
  const socket = connect(program.port, '127.0.0.1');
  let told = '';
  let isClosed = false;
  socket.setEncoding('latin1').on('data', (part) => (told += part));
  socket.on('error', () => {}).on('close', () => (isClosed = true));
  const head = ['GET /pid HTTP/1.1', 'Host: x', 'Connection: close', 'Expect: 100-continue'];
  socket.write([...head, 'Content-Length: 1', '', ''].join('\r\n'));
  const isTaken = () => /^HTTP\/1\.1 100 /.test(told);
  await program.until(() => isTaken() || isClosed, TAKEN_MS);
  return async () => {
    const closed = new Promise((done) => socket.on('close', done));
    if (!isClosed) {
      socket.setTimeout(PATIENCE_MS, () => socket.destroy()).write('x');
      await closed;
    }
    return /\r\n\r\nHTTP\/1\.1 (\d+)/.exec(told)?.[1];
  };
}

/**
 * A start in which nginx fails. @returns {Promise<any>}  isFinal: nginx has exited, and the program's event loops turned for three
 * seconds without anything more to do, so it won't exit by itself
 */
export async function failToStart(launch, env) {
  const all = { NODE_CLUSTER_WORKERS: '1', ...env };
  const program = await launch({ env: all, temporary: 'temporary' });
  const sinceMs = nowMs();
  await untilAtRest(program, () => program.fate, STILL);
  const { fate } = program;
  const left = fate ? await program.survivorsAfter(TAKEN_MS) : [];
  return {
    program,
    env,
    fate,
    isFinal: isAtRest(program, { sinceMs, ...STILL }),
    left,
    files: readdirSync(program.temporary),
    output: program.output(),
  };
}

/** Each machine's address, workers, and the process that forked them. */
function machinesOf({ events }) {
  const parents = new Map(eventsOf(events, 'start').map(({ pid, ppid }) => [pid, ppid]));
  const machines = new Map();
  for (const { pid, address, port } of eventsOf(events, 'listening')) {
    if (!MACHINES.includes(address) || !parents.has(pid)) continue;
    const machine = machines.get(address) ?? { address, port, workers: [] };
    const forked = eventsOf(events, 'fork').some(({ workerPid }) => workerPid === pid);
    if (forked) machine.workers.push(pid);
    machines.set(address, machine);
  }
  return [...machines.values()];
}

/** Two machines behind one nginx. */
export async function openMachines(launch, nginx) {
  const missing = /** @type {string[]} */ ([]);
  for (const address of MACHINES) if (!(await canListen(0, address))) missing.push(address);
  if (missing.length > 0) return { missing };
  const door = await startBehindNginx(launch, { count: WORKERS, nginx, args: ['--machines'] });
  return { ...door, missing, machines: machinesOf(door.program) };
}

/** Kills the workers of a machine with requests in flight; then waits until it listens again and has answered. */
export async function killMachine({ program, first, machines = /** @type {any[]} */ ([]) }) {
  const working = machines.filter(({ workers }) => workers.length > 0);
  if (first?.status !== 200 || working.length < MACHINES.length) return undefined; // another promise reports that
  const [{ address, port, workers }] = working;
  const gets = askReports(program, 'GET', BURST);
  const posts = askReports(program, 'POST', POSTS);
  const all = [...gets, ...posts];
  await program.until(() => all.every(({ begun }) => begun().length > 0), PATIENCE_MS);
  const serving = new Set(all.flatMap(({ begun }) => begun().map(({ pid }) => pid)));
  const isOpen = (/** @type {any} */ { pid, endMs }) => workers.includes(pid) && !endMs;
  const [hit, open] = [gets, posts].map((asked) =>
    asked.filter(({ begun }) => begun().some(isOpen)),
  );
  const deadMs = nowMs();
  kill(program, workers);
  const [answers] = await Promise.all([gets, posts].map(answersTo));
  const isBack = () => freshIn(program, address, workers).length >= workers.length;
  await untilAtRest(program, isBack, { deadlineMs: BOOT_MS });
  const fresh = freshIn(program, address, workers);
  const isUsed = () => requestsOf(program.events).some(({ pid }) => fresh.includes(pid));
  const untilMs = nowMs() + RETURN_MS;
  while (isBack() && !isUsed() && !program.fate && nowMs() < untilMs) {
    await get(`${program.url}/pid`, { timeoutMs: PATIENCE_MS });
    await sleep(PAUSE_MS);
  }
  return {
    ...{ program, address, workers, serving, answers, hit: hit.length, deadMs },
    open: open.length,
    doubles: open.filter(({ begun }) => begun().length > 1).length,
    ...{ isBack: isBack(), isUsed: isUsed(), fate: program.fate },
    ports: [
      port,
      ...eventsOf(program.events, 'listening').flatMap((one) =>
        fresh.includes(one.pid) ? one.port : [],
      ),
    ],
  };
}

/** Requests reports at once: their answers, and each server that has begun one. */
const askReports = (program, method, times) =>
  Array.from({ length: times }, (_, id) => {
    const path = `/report?${method}=${id}`;
    const answered = get(program.url + path, { method, timeoutMs: PATIENCE_MS });
    return { answered, begun: () => requestsOf(program.events).filter(({ url }) => url === path) };
  });

const answersTo = (asked) => Promise.all(asked.map(({ answered }) => answered));

/** The workers on this address that have started since. */
const freshIn = (program, address, earlier) =>
  machinesOf(program)
    .filter((one) => one.address === address)
    .flatMap(({ workers }) => workers)
    .filter((pid) => !earlier.includes(pid));

/** Stops the program with both machines. */
export async function stopMachines({ program }) {
  if (!program) return undefined; // another promise reports that
  const isStart = ({ what, pid }) => what === 'child' && pid === program.pid;
  const end = await episode(
    ...[program, 'SIGTERM', () => program.askToStop('SIGTERM')],
    (since) => program.fate || since.some(isStart),
  );
  return { program, ...end, started: end.events.filter(isStart) };
}

/** All servers behind nginx against one of them, with the same work; decides nothing. */
export async function measureWays(
  { launch, isLonger, measured, drawn, addConditions },
  { program: ports, count },
) {
  const load = createLoad();
  const one = aloneOf(ports);
  const cluster = isLonger && (await startCluster(launch, count));
  const side = (program, processes) => async () =>
    (await saturate(load, program, { path: '/', processes, durationMs: WORK_MS })).perSecond;
  const sides = {
    one: side(one, 1),
    ports: side(ports, count),
    ...(cluster && { cluster: side(cluster, count) }),
  };
  const machine = watchMachine();
  const rates = await interleave(sides, {
    isEnough: ({ one: control, ports: candidate }) => isNarrow(control, candidate),
    budgetMs: isLonger ? BUDGET.longerMs : BUDGET.usualMs,
  });
  const note = disturbanceOf(addConditions(machine()));
  load.close();
  for (const [name, label] of [
    ['ports', `blocking work, ${count} ports behind nginx against one process`],
    ['cluster', `the same by the cluster module, with ${count} workers`],
  ]) {
    if (!rates[name]) continue;
    const ratio = ratioOf(rates.one, rates[name]);
    const [controlPerSecond, candidatePerSecond] = [rates.one, rates[name]].map(mean);
    const both = { controlPerSecond, candidatePerSecond, ceiling: count, unit: 'times' };
    measured(name, { label, isHeadline: name === 'ports', note, ...both, ...ratio });
  }
  const urls = { 'one process': one.url, 'through nginx': ports.url };
  await drawLatency(drawn, cluster ? { ...urls, cluster: cluster.url } : urls);
}

/** One server without nginx. @returns {any} */
function aloneOf(program) {
  const [{ address, port }] = serversIn(program);
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`,
    drained: () => program.drained(),
    get events() {
      return program.events;
    },
  };
}

async function startCluster(launch, count) {
  const entry = fileURLToPath(new URL('starter/machine.js', import.meta.url));
  const program = await launch({ entry, env: { NODE_CLUSTER_WORKERS: String(count) } });
  await program.ready(count);
  return program;
}

function isNarrow(control, candidate) {
  const { low, high } = ratioOf(control, candidate);
  return high < NARROW * low;
}

/** Latency with and without nginx: one client with a connection to each, alternating. */
async function drawLatency(drawn, urls) {
  const agent = new Agent({ keepAlive: true });
  const sides = Object.entries(urls).map(([name, url]) => ({
    ...{ name, url, waitsMs: /** @type {number[]} */ ([]) },
  }));
  for (let round = 0; round < LATENCY.warmUp + LATENCY.rounds; round += 1)
    for (const { url, waitsMs } of [...sides, ...[...sides].reverse()]) {
      const { sentMs, doneMs } = await get(`${url}/pid`, { agent });
      if (round >= LATENCY.warmUp) waitsMs.push(doneMs - sentMs);
    }
  agent.destroy();
  drawn('latency', {
    label: 'an answer of /pid on an idle server, half are quicker',
    unit: 'µs',
    rows: sides.map(({ name, waitsMs }) => ({ name, value: Math.round(median(waitsMs) * 1_000) })),
  });
}

const median = (/** @type {number[]} */ values) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
