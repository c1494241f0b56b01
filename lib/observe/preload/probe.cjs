/**
 * The probe. Preloaded with NODE_OPTIONS=--require into every Node process of a run, it appends what happens there to
 * the run's timeline, one JSON object a line. It imports nothing of ours, starts nothing that keeps a process alive,
 * touches no handler, exit code or message of the program, and never throws into it. Where the check and its keeper are
 * both gone, killed at once, it ends its process; the next start does the rest (sweep.js). In a PID namespace of its own it says so and nothing else: its pids are other processes to the check, and the check's are others to it.
 *
 * Why --require, in CommonJS: with --import Node would load a CommonJS program as if it had been imported; what it
 * throws at its top would be an unhandled rejection, and its promises would come before its process.nextTick.
 *
 * Why a file and no socket: an append is finished when writeSync returns. What a process did is known even if it is
 * killed in the next microsecond, and no connection has to be up before the first event. POSIX appends of a few
 * hundred bytes do not mix.
 *
 * Every event has `t` (milliseconds of the system's monotonic clock, the same clock in every process), `pid` and
 * `what`; thread events have `tid` too. `what` is one of
 *   start       ppid, role ('primary' | 'worker' | 'thread'), worker (the cluster's id), node, file; with FORKSHOP_FOLLOWS of
 *               a worker also given: a number that is the same for the same environment and arguments
 *   listening   port, address, most (the server's maxConnections, if it has any), handle ('kernel': this process has the listening socket | 'handed': the primary deals |
 *               'received': a listening socket that another process opened and sent)
 *   connection  client (its port), how ('kernel': accepted here | 'handed': by the primary | 'dealt': by hand)
 *   request     client (its port), method, url
 *   response    client, status; the responses of a connection come in the order of its requests
 *   beat        late (ms that the event loop was late for it), elu (share of the time it was busy), cpu (share of a core
 *               that all its threads took), on Linux ran and queued (ms for which this thread has had a core, and waited for
 *               one, all its life), in a flood of requests more (how many were not reported one by one; where it
 *               lasts, with FORKSHOP_FOLLOWS, few are), and now and then rss (bytes), timers (how many keep the process
 *               alive), waits (how many files, names, connections or threads it waits for, if any), and where one emitter
 *               has more than ten listeners for an event, as Node itself warns, crowded (of which event) and listeners
 *               (how many); and once after each collection of all garbage live (bytes of the heap, and of what it holds
 *               outside). Looked at for listeners are the process, its children with their streams, and whatever Node has
 *               warned of
 *   wait        ms: for so long Atomics.wait() held the thread; it ends at t; answered, if requests had come, and each had
 *               its whole answer before. Only where FORKSHOP_PROBE is 'waits', and then beside all the rest
 *   child       childPid: a process that it started, by whatever way but spawnSync and its like; worker (the cluster's id), if
 *               it is one: known at once, where 'fork' comes later, and never if the primary ends before
 *   kill        target ('keeper' | 'check'), signal: it is about to signal the process that started it, or the check
 *   crash       error (its stack), origin
 *   signal      signal: it has reached a handler of the program's; with FORKSHOP_FOLLOWS
 *   apart       the process is in another PID namespace than the keeper: pid is its number there, and no more is told of it
 *   exit        code, more (as above, since the last beat)
 * and in a primary, about a worker: fork (policy), online, worker-listening (port), disconnect, worker-exit (code,
 * signal, planned: exitedAfterDisconnect), each with `worker` and `workerPid`.
 */
'use strict';

const cluster = require('node:cluster');
const { subscribe } = require('node:diagnostics_channel');
const { openSync, readlinkSync, readSync, writeSync } = require('node:fs');
const { Server } = require('node:net');
const { isMainThread, parentPort, threadId } = require('node:worker_threads');

const BEAT_MS = 20;
const PROMPT_WRITES_PER_BEAT = 20;
const REQUESTS_PER_BEAT = 50; // 2,500 a second
const REQUESTS_OF_FLOOD = 5; // reported one by one in each beat, where a flood lasts
const FLOOD_MS = 500; // so long it has lasted then
const CLOSE_MS = 0.05; // between two readings of a clock that were not interrupted
const LONGEST_HELD_BACK = 64 * 1024;
const MOST_LISTENERS = 10; // EventEmitter.defaultMaxListeners, which the program may have changed
const PENDING = /^(FSReq|GetAddrInfo|MessagePort$)|ConnectWrap$/; // module hooks answer through a MessagePort
const KEPT_MS = 100;
const HANDED_DOWN = /^(NODE_OPTIONS|FORKSHOP_\w+)$/;
const WITHOUT_ADDRESS = /^(-1:null:-1|null:null:null)$/; // the key of a server that was given a handle, or a descriptor

// Ours for good: the program may replace them (fake timers, a patched JSON).
const { process } = globalThis;
const { stringify } = JSON;
const { getActiveResourcesInfo } = process;
const { memoryUsage } = process;
const { rss } = memoryUsage;
const { cpuUsage } = process;
const { kill } = process;
const elapsedMs = performance.now.bind(performance);
const utilizationSince = performance.eventLoopUtilization.bind(performance);

const file = process.env.FORKSHOP_TIMELINE;
const kept = /^(\d+) (\d+) (.*)$/.exec(process.env.FORKSHOP_KEPT_BY); // the keeper, the check, and their PID namespace
const keptBy = kept?.slice(1, 3).map(Number);
const isApart = Boolean(kept?.[3]) && kept[3] !== pidNamespace();
const isFirst = process.ppid === keptBy?.[0];
const seesRequests = process.env.FORKSHOP_PROBE !== 'life';
const seesWaits = process.env.FORKSHOP_PROBE === 'waits';
const underWay = new Set(); // responses, where waits are seen
let hasServed = false;
const handedDown = Object.entries(process.env).filter(([name]) => HANDED_DOWN.test(name));
const followsChildren = process.env.FORKSHOP_FOLLOWS === '1';

/** What we tell of a cluster's events. */
const fieldsOf = {
  fork: () => ({ policy: cluster.schedulingPolicy }),
  online: () => ({}),
  listening: (worker, { port }) => ({ port }),
  disconnect: () => ({}),
  exit: (worker, code, signal) => ({ code, signal, planned: worker.exitedAfterDisconnect }),
};
const whatIs = { listening: 'worker-listening', exit: 'worker-exit' };

const isNodesOwn = !isMainThread && parentPort === null; // the thread in which Node runs module hooks
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'];
const fd = file && !isNodesOwn && openQuietly(file, 'a');
if (fd && isApart) reportApart(fd);
else if (fd) observe(fd);
if (keptBy && !isApart && isMainThread)
  setInterval(() => isKept() || kill(process.pid, 'SIGKILL'), KEPT_MS).unref(); // also without a file: it may be removed

function openQuietly(path, flags) {
  try {
    return openSync(path, flags);
  } catch {
    return undefined; // the run's folder is gone, or this is another system; the program must not notice
  }
}

/** @returns {string | undefined}  undefined where the system has none, or there is no /proc */
function pidNamespace() {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

function reportApart(fd) {
  const t = Number(process.hrtime.bigint() / 1000n) / 1000;
  try {
    writeSync(fd, `{"t":${t},"pid":${process.pid},"what":"apart"}\n`);
  } catch {
    // the disk is full
  }
}

/**
 * How far the system's monotonic clock is ahead of ours, in ms. Between two readings this process may lose its core, beside
 * many others for a tenth of a second, and all its events would seem so much earlier: the closest pair of some counts.
 */
function measureClockOffset() {
  let [offset, closest] = [0, Infinity];
  for (let readings = 0; readings < 20 && closest > CLOSE_MS; readings += 1) {
    const beforeMs = elapsedMs();
    const clockMs = Number(process.hrtime.bigint() / 1000n) / 1000;
    const apart = elapsedMs() - beforeMs;
    if (apart < closest) [offset, closest] = [clockMs - beforeMs, apart];
  }
  return offset;
}

/** Reports this process to the open file. */
function observe(fd) {
  const clockOffset = measureClockOffset();
  const who = `"pid":${process.pid}` + (isMainThread ? '' : `,"tid":${threadId}`);
  const log = createLog(fd);

  const now = () => round(elapsedMs() + clockOffset, 1000);
  const tell = (what, fields = {}) => {
    const rest = stringify(fields).slice(1, -1);
    log.add(`{"t":${now()},${who},"what":"${what}"${rest && ','}${rest}}\n`);
    log.flush();
  };

  tell('start', {
    ppid: process.ppid,
    role: isMainThread ? (cluster.isWorker ? 'worker' : 'primary') : 'thread',
    worker: cluster.worker?.id,
    node: process.versions.node,
    file: process.argv[1],
    given: followsChildren && cluster.isWorker ? givenTo(process) : undefined,
  });
  let countRequests = () => ({});
  reportLife(tell, () => countRequests(0));
  if (keptBy) reportKills(tell);
  const { watch, countListeners } = watchListeners();
  reportChildren(tell, watch);
  reportServers(tell);
  if (cluster.isPrimary && isMainThread) reportWorkers(tell);
  if (seesWaits) reportWaits(tell, now);
  if (seesRequests) countRequests = reportRequests(log, now, who);
  startBeat(tell, log, now, countRequests, countListeners);
}

/** What a worker was given beside its file, as one number: its environment and arguments, but for what Node itself adds. */
function givenTo({ env, argv }) {
  const own = Object.entries(env).filter(([name]) => !/^NODE_(UNIQUE_ID|CHANNEL_\w+)$/.test(name));
  const text = stringify([own.sort(), argv.slice(2)]);
  let sum = 0;
  for (let index = 0; index < text.length; index += 1)
    sum = (Math.imul(sum, 31) + text.charCodeAt(index)) | 0;
  return sum;
}

/**
 * Writes lines at once, so that the request which kills its process is on record; but in a flood (more than a
 * thousand a second) it gathers them until the next beat, because a write for each would slow the program down.
 */
function createLog(fd) {
  let held = '';
  const room = createRoom(PROMPT_WRITES_PER_BEAT);
  const flush = () => {
    if (held === '') return;
    const text = held;
    held = '';
    try {
      writeSync(fd, text);
    } catch {
      // The program closed our file or the disk is full. It must not notice; the run's reader will see the silence.
    }
  };
  return {
    flush,
    add: (line) => (held += line),
    addPromptly(line, t) {
      held += line;
      if (room.take(t) || held.length > LONGEST_HELD_BACK) flush();
    },
  };
}

/**
 * Calls `see` before an emitter's events of these names. No listener is added: the program may count them, or remove
 * them all.
 */
function watchEvents(emitter, names, see) {
  const { emit } = emitter;
  const isWatched = { __proto__: null, ...Object.fromEntries(names.map((name) => [name, true])) };
  emitter.emit = function (event, ...args) {
    try {
      if (isWatched[event]) see(event, args, this);
    } catch {
      // An event of Node's name but not of its shape, emitted by the program itself.
    }
    return emit.call(this, event, ...args);
  };
}

function reportLife(tell, countRequests) {
  const signals = followsChildren ? SIGNALS : [];
  const names = ['exit', 'uncaughtExceptionMonitor', ...signals];
  watchEvents(process, names, (event, [value, origin]) => {
    if (event === 'exit') tell('exit', { code: value, ...countRequests() });
    else if (signals.includes(event)) tell('signal', { signal: event });
    else tell('crash', { error: String(value?.stack ?? value).slice(0, 2000), origin });
  });
}

/** Told before it is done: afterwards nobody may be left to hear it. */
function reportKills(tell) {
  const targets = { __proto__: null, [keptBy[0]]: 'keeper', [keptBy[1]]: 'check' };
  process.kill = function (pid, signal = 'SIGTERM') {
    const target = targets[pid];
    if (target && signal !== 0) tell('kill', { target, signal });
    return kill.apply(this, arguments);
  };
}

/** A child has its pid a moment after it was made; a program that exits in that moment has it too. */
function reportChildren(tell, watch) {
  const fresh = new Set();
  const report = () => {
    for (const child of fresh) {
      if (child.pid) tell('child', { childPid: child.pid, worker: workerIn(child)?.id });
      [child, child.stdin, child.stdout].forEach(watch);
    }
    fresh.clear();
  };
  let isFollowing = false;
  subscribe('child_process', ({ process: child }) => {
    if (followsChildren && !isFollowing) follow(Object.getPrototypeOf(child));
    isFollowing = true;
    fresh.add(child);
    queueMicrotask(report);
  });
  watchEvents(process, ['exit'], report);
}

/** The worker, if a cluster's runs in this child. */
function workerIn(child) {
  if (!cluster.isPrimary) return undefined;
  return Object.values(cluster.workers).find((worker) => worker.process === child);
}

/**
 * A child for which the program has replaced the environment gets what the probe needs all the same.
 * @param {any} prototype  of every child process
 */
function follow(prototype) {
  const { spawn } = prototype;
  prototype.spawn = function (options) {
    try {
      handDown(options.envPairs);
    } catch {
      // another shape than that of today's Node: it is not followed
    }
    return spawn.call(this, options);
  };
}

/** @param {string[]} pairs  of the child's environment: NAME=value */
function handDown(pairs) {
  for (const [name, value] of handedDown) {
    const index = pairs.findIndex((pair) => pair.startsWith(`${name}=`));
    if (index < 0) pairs.push(`${name}=${value}`);
    else if (name === 'NODE_OPTIONS' && !pairs[index].includes(value)) {
      pairs[index] = `${name}=${value} ${pairs[index].slice(name.length + 1)}`;
    }
  }
}

/** Counts the listeners of the process, of its children, and of what Node has warned of; keeps none of these alive. */
function watchListeners() {
  const watched = new Set();
  const watch = (emitter) => emitter && watched.add(new WeakRef(emitter));
  watch(process);
  watchEvents(process, ['warning'], (event, [{ name, emitter }]) => {
    if (name === 'MaxListenersExceededWarning') watch(emitter);
  });
  const emitters = () => {
    for (const ref of watched) if (!ref.deref()) watched.delete(ref);
    const workers = cluster.isPrimary ? Object.values(cluster.workers ?? {}) : [];
    return [...workers, ...[...watched].map((ref) => ref.deref())];
  };
  const countListeners = () => {
    try {
      const counts = emitters().flatMap((emitter) =>
        emitter.eventNames().map((event) => [emitter.listenerCount(event), String(event)]),
      );
      const [[listeners, crowded]] = [...counts, [0]].sort(([a], [b]) => b - a);
      return listeners > MOST_LISTENERS ? { listeners, crowded } : {};
    } catch {
      return {}; // an emitter that the program has changed, or that has just been let go
    }
  };
  return { watch, countListeners };
}

/** Listening sockets and connections, of whatever kind of server. */
function reportServers(tell) {
  const kindOf = (server) => {
    if (!server._handle) return 'dealt';
    return server._handle.constructor === Object ? 'handed' : 'kernel';
  };
  watchEvents(Server.prototype, ['listening', 'connection'], (event, [socket], server) => {
    if (event === 'listening') {
      const { port, address } = server.address() ?? {};
      const isReceived = WITHOUT_ADDRESS.test(server._connectionKey) && kindOf(server) === 'kernel';
      const most = server.maxConnections ?? undefined;
      tell('listening', { port, address, most, handle: isReceived ? 'received' : kindOf(server) });
    } else if (seesRequests) {
      tell('connection', { client: socket?.remotePort, how: kindOf(server) });
    }
  });
}

/**
 * What was asked for, where the time was up: a busy machine makes it longer, and that is not the program's doing. What
 * woke up before took as long as it took.
 */
function reportWaits(tell, now) {
  const { wait } = Atomics;
  Atomics.wait = function (array, index, value, ms) {
    const fromMs = now();
    const answered = areAllAnswered() || undefined;
    const how = wait.apply(this, arguments);
    if (how !== 'not-equal')
      tell('wait', {
        ms: round(how === 'timed-out' ? Number(ms) : now() - fromMs, 1000),
        answered,
      });
    return how;
  };
}

function areAllAnswered() {
  for (const response of underWay) {
    if (response.destroyed) underWay.delete(response);
    else if (!response.writableEnded) return false;
  }
  return hasServed;
}

function reportWorkers(tell) {
  watchEvents(cluster, Object.keys(fieldsOf), (event, [worker, ...rest]) => {
    const about = { worker: worker.id, workerPid: worker.process.pid };
    tell(whatIs[event] ?? event, { ...about, ...fieldsOf[event](worker, ...rest) });
  });
}

/**
 * The hot path: two short lines a request, put together by hand. A response carries no id of its request: on one
 * connection they come in the same order, and a map from one to the other would cost more than all the rest. Of a
 * flood the first requests of each beat are reported one by one, the others counted; of one that lasts, and where nothing
 * is judged by single requests, only a few, and for the others not even a clock is read.
 */
function reportRequests(log, now, who) {
  const begin = (what) => `,${who},"what":"${what}","client":`;
  const [request, response] = ['request', 'response'].map(begin);
  const reported = new WeakSet(); // requests under way
  const room = createRoom(REQUESTS_PER_BEAT);
  const flood = createFlood();
  let all = 0;
  let told = 0;
  subscribe('http.server.request.start', (one) => {
    all += 1;
    hasServed = true;
    if (seesWaits) underWay.add(one.response);
    const isFlood = followsChildren && flood.isOn();
    if (isFlood && told >= REQUESTS_OF_FLOOD) return;
    const t = now();
    if (!isFlood && !room.take(t)) return;
    told += 1;
    reported.add(one.request);
    const client = one.socket.remotePort ?? null;
    const rest = `"method":"${one.request.method}","url":${stringify(one.request.url)}}\n`;
    log.addPromptly(`{"t":${t}${request}${client},${rest}`, t);
  });
  subscribe('http.server.response.finish', (one) => {
    underWay.delete(one.response);
    if (!reported.delete(one.request)) return;
    const client = one.socket.remotePort ?? null;
    const t = now();
    log.addPromptly(`{"t":${t}${response}${client},"status":${one.response.statusCode}}\n`, t);
  });
  return (tookMs) => {
    flood.see(all, tookMs);
    const more = all - told || undefined;
    all = 0;
    told = 0;
    return { more };
  };
}

/** It begins when there were too many requests in every beat for a while, and ends when there were not for a while. */
function createFlood() {
  let isOn = false;
  let otherwiseMs = 0;
  return {
    isOn: () => isOn,
    see(requests, tookMs) {
      const isMuch = requests * BEAT_MS > REQUESTS_PER_BEAT * tookMs;
      otherwiseMs = isMuch === isOn ? 0 : otherwiseMs + tookMs;
      if (otherwiseMs < FLOOD_MS) return;
      isOn = !isOn;
      otherwiseMs = 0;
    },
  };
}

/** Room for so many in each stretch of time as long as a beat, also while the event loop is blocked and has none. */
function createRoom(most) {
  let left = most;
  let since = 0;
  return {
    take(t) {
      if (t - since > BEAT_MS) [left, since] = [most, t];
      if (left === 0) return false;
      left -= 1;
      return true;
    },
  };
}

function startBeat(tell, log, now, countRequests, countListeners) {
  let utilization = utilizationSince();
  let last = now();
  let lastCpuMs = cpuMs();
  let count = 0;
  const countLive = watchCollections();
  const readTurn = openTurn();
  const beat = () => {
    const since = utilizationSince(utilization);
    utilization = utilizationSince();
    const tookMs = now() - last;
    const late = Math.max(0, tookMs - BEAT_MS);
    const cpu = tookMs > 0 ? round((cpuMs() - lastCpuMs) / tookMs, 100) : 0;
    last = now();
    lastCpuMs = cpuMs();
    log.flush();
    const size = count % 5 === 0 && {
      rss: rss(),
      ...countResources(),
      ...countListeners(),
      ...countLive(),
    };
    count += 1;
    const elu = round(since.utilization, 1000);
    const late10 = round(late, 10);
    tell('beat', { late: late10, elu, cpu, ...readTurn(), ...countRequests(tookMs), ...size });
  };
  setImmediate(beat).unref();
  setInterval(beat, BEAT_MS).unref();
}

/**
 * What is alive after a collection of all garbage, which alone takes an object that nobody holds and that is old enough.
 * An observer of collections would be told of each small one, too, and those are many.
 */
function watchCollections() {
  let live;
  const registry = new FinalizationRegistry(() => {
    const { heapUsed, external } = memoryUsage();
    live = heapUsed + external;
    place();
  });
  const place = () => registry.register({}, undefined);
  place();
  return () => {
    const told = live;
    live = undefined;
    return { live: told };
  };
}

/** Is the keeper there, or the check? A dead keeper has its pid until it has been waited for; its child sees it at once. */
function isKept() {
  const [keeper, check] = keptBy;
  const hasKeeper = isFirst ? process.ppid === keeper : hasPid(keeper);
  return hasKeeper || hasPid(check);
}

function hasPid(pid) {
  try {
    return kill(pid, 0);
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

/** Of all threads of the process. */
function cpuMs() {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}

/**
 * For how long this thread has had a core, and has waited for one: see proc(5), schedstat. The file stays open, since it is
 * read in each beat.
 */
function openTurn() {
  const bytes = Buffer.alloc(64);
  const from = openQuietly('/proc/thread-self/schedstat', 'r');
  return () => {
    try {
      const size = from === undefined ? 0 : readSync(from, bytes, 0, bytes.length, 0);
      const [ran, queued] = bytes.latin1Slice(0, size).split(' ').map(Number);
      return queued === undefined
        ? {}
        : { ran: round(ran / 1e6, 10), queued: round(queued / 1e6, 10) };
    } catch {
      return {}; // the program has closed our file
    }
  };
}

/** Timers that keep the process alive, and what it waits for. */
function countResources() {
  const names = getActiveResourcesInfo();
  const timers = names.filter((name) => name === 'Timeout').length;
  const waits = names.filter((name) => PENDING.test(name)).length;
  return waits > 0 ? { timers, waits } : { timers };
}

function round(value, parts) {
  return Math.round(value * parts) / parts;
}
