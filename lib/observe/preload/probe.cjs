/**
 * The probe. Preloaded with NODE_OPTIONS=--require into every Node process of a run, it appends what happens there to the run's
 * timeline, one JSON object a line. It imports nothing of ours, keeps no process alive, touches no handler, exit code or message
 * of the program, and never throws into it. If check and keeper are both gone, it kills its process; the next start cleans up
 * (sweep.js). In another PID namespace it reports only that, because pids don't match there.
 *
 * Why --require, in CommonJS: with --import, Node loads a CommonJS program as if it had been imported. An exception at its top level
 * would be an unhandled rejection, and its promises would run before its process.nextTick. Why a file and no socket: an append is
 * complete when writeSync returns, even if the process is killed a microsecond later. POSIX appends of a few hundred bytes don't mix.
 *
 * Every event has `t` (milliseconds of the system's monotonic clock), `pid` and `what`, and in a thread `tid`. `what` is one of
 *   start       ppid, role ('primary' | 'worker' | 'thread'), worker (the cluster's id), node, file; with FORKSHOP_FOLLOWS, in a
 *               worker, given: a hash of its environment and arguments
 *   listening   port, address, most (the server's maxConnections, if set), http (true: it answers requests), handle ('kernel': this
 *               process has the listening socket | 'handed': the primary has it | 'received': another process opened and sent it),
 *               setsPolicy (true: a worker has set cluster.schedulingPolicy, in vain)
 *   connection  client (its port), how ('kernel': accepted here | 'handed': by the primary | 'dealt': emitted by the program)
 *   request     client (its port), method, url
 *   response    client, status; in the order of the connection's requests
 *   beat        every 20 ms: late (by how many ms), elu (share of the time the event loop was busy), cpu (share of a core that all
 *               threads took), on Linux ran and queued (ms that this thread has had a core, and waited for one, since its start), in a
 *               flood more (how many requests were not reported one by one). In every fifth beat also rss (bytes), timers (how many
 *               keep the process alive), waits (how many files, names, connections or threads it waits for, if any), and if an emitter
 *               has more than ten listeners for an event, crowded (the event) and listeners (how many): of the process, its children
 *               with their streams, and emitters that Node has warned about. After a full garbage collection live (bytes in use)
 *   wait        ms that Atomics.wait() held the thread until t; answered, if all earlier requests had their whole answer before. Only
 *               if FORKSHOP_PROBE is 'waits'
 *   watch       it starts a histogram of its event loop's delay. Only if FORKSHOP_PROBE is 'waits'
 *   child       childPid: of a process that it started, except by spawnSync and the like; worker (the cluster's id), if it is one. It
 *               precedes 'fork', which is never emitted if the primary exits first
 *   kill        target ('keeper' | 'check'), signal: it is about to signal its parent, or the check
 *   crash       error (its stack), origin
 *   signal      signal: it has reached a handler of the program; with FORKSHOP_FOLLOWS
 *   apart       the process is in another PID namespace than the keeper: pid is its number there, and nothing else is reported
 *   exit        code, more (as above, since the last beat)
 * and in a primary, about a worker: fork (policy; setup: the policy among the settings, where it has no effect), online,
 * worker-listening (port), disconnect, worker-exit (code, signal, planned: exitedAfterDisconnect), each with `worker` and `workerPid`.
 */
'use strict';

const cluster = require('node:cluster');
const { subscribe } = require('node:diagnostics_channel');
const { openSync, readlinkSync, readSync, writeSync } = require('node:fs');
const { Server } = require('node:net');
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { isMainThread, parentPort, threadId } = require('node:worker_threads');

const BEAT_MS = 20;
const PROMPT_WRITES_PER_BEAT = 20;
const REQUESTS_PER_BEAT = 50; // 2,500 a second
const REQUESTS_OF_FLOOD = 5; // in each beat of a lasting flood
const FLOOD_MS = 500; // then a flood is lasting
const CLOSE_MS = 0.05; // between two readings of a clock without an interruption
const LONGEST_HELD_BACK = 64 * 1024;
const MOST_LISTENERS = 10; // EventEmitter.defaultMaxListeners, which the program may have changed
const PENDING = /^(FSReq|GetAddrInfo|MessagePort$)|ConnectWrap$/; // module hooks answer through a MessagePort
const KEPT_MS = 100;
const HANDED_DOWN = /^(NODE_OPTIONS|FORKSHOP_\w+)$/;
const WITHOUT_ADDRESS = /^(-1:null:-1|null:null:null)$/; // the key of a server that was given a handle or a descriptor

// Kept before the program can replace them (fake timers, a patched JSON).
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
const underWay = new Set(); // responses, if waits are reported
let hasServed = false;
const handedDown = Object.entries(process.env).filter(([name]) => HANDED_DOWN.test(name));
const followsChildren = process.env.FORKSHOP_FOLLOWS === '1';

const fieldsOf = {
  fork: () => ({ policy: cluster.schedulingPolicy, setup: cluster.settings.schedulingPolicy }),
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
  setInterval(() => isKept() || kill(process.pid, 'SIGKILL'), KEPT_MS).unref(); // even without a file: it may have been removed

function openQuietly(path, flags) {
  try {
    return openSync(path, flags);
  } catch {
    return undefined; // the run's folder is gone, or this isn't Linux; the program must not notice
  }
}

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
 * How far the system's monotonic clock is ahead of performance.now(), in ms. On a crowded machine this process may lose its core
 * between two readings for a tenth of a second, so the closest of several pairs counts.
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

function observe(fd) {
  const clockOffset = measureClockOffset();
  const ids = `"pid":${process.pid}` + (isMainThread ? '' : `,"tid":${threadId}`);
  const log = createLog(fd);

  const now = () => round(elapsedMs() + clockOffset, 1000);
  const append = (what, fields = {}) => {
    const rest = stringify(fields).slice(1, -1);
    log.add(`{"t":${now()},${ids},"what":"${what}"${rest && ','}${rest}}\n`);
    log.flush();
  };

  append('start', {
    ppid: process.ppid,
    role: isMainThread ? (cluster.isWorker ? 'worker' : 'primary') : 'thread',
    worker: cluster.worker?.id,
    node: process.versions.node,
    file: process.argv[1],
    given: followsChildren && cluster.isWorker ? givenTo(process) : undefined,
  });
  let countRequests = () => ({});
  reportLife(append, () => countRequests(0));
  if (keptBy) reportKills(append);
  const { watch, countListeners } = watchListeners();
  reportChildren(append, watch);
  reportServers(append);
  if (cluster.isPrimary && isMainThread) reportWorkers(append);
  if (seesWaits) {
    reportWaits(append, now);
    reportWatches(append);
  }
  if (seesRequests) countRequests = reportRequests(log, now, ids);
  startBeat(append, log, now, countRequests, countListeners);
}

/** A hash of a worker's environment and arguments, without Node's own additions. */
function givenTo({ env, argv }) {
  const own = Object.entries(env).filter(([name]) => !/^NODE_(UNIQUE_ID|CHANNEL_\w+)$/.test(name));
  const text = stringify([own.sort(), argv.slice(2)]);
  let sum = 0;
  for (let index = 0; index < text.length; index += 1)
    sum = (Math.imul(sum, 31) + text.charCodeAt(index)) | 0;
  return sum;
}

/**
 * Writes lines at once, so that the request that kills its process is on record; in a flood (more than a thousand a second) with
 * the next beat, because single writes would slow the program down.
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
      // The program closed our file, or the disk is full. It must not notice; the reader will see the silence.
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

/** Calls `see` before an emitter's events of these names. It adds no listener, since the program may count or remove them. */
function watchEvents(emitter, names, see) {
  const { emit } = emitter;
  const isWatched = { __proto__: null, ...Object.fromEntries(names.map((name) => [name, true])) };
  emitter.emit = function (event, ...args) {
    try {
      if (isWatched[event]) see(event, args, this);
    } catch {
      // The program itself emitted an event with a name of Node's and another shape.
    }
    return emit.call(this, event, ...args);
  };
}

function reportLife(append, countRequests) {
  const signals = followsChildren ? SIGNALS : [];
  const names = ['exit', 'uncaughtExceptionMonitor', ...signals];
  watchEvents(process, names, (event, [value, origin]) => {
    if (event === 'exit') append('exit', { code: value, ...countRequests() });
    else if (signals.includes(event)) append('signal', { signal: event });
    else append('crash', { error: String(value?.stack ?? value).slice(0, 2000), origin });
  });
}

/** Reports a signal to the keeper or the check before it is sent: afterwards no process may be left to read the report. */
function reportKills(append) {
  const targets = { __proto__: null, [keptBy[0]]: 'keeper', [keptBy[1]]: 'check' };
  process.kill = function (pid, signal = 'SIGTERM') {
    const target = targets[pid];
    if (target && signal !== 0) append('kill', { target, signal });
    return kill.apply(this, arguments);
  };
}

/** A child gets its pid a moment after its construction; the exit handler catches a program that exits in that moment. */
function reportChildren(append, watch) {
  const fresh = new Set();
  const report = () => {
    for (const child of fresh) {
      if (child.pid) append('child', { childPid: child.pid, worker: workerIn(child)?.id });
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

function workerIn(child) {
  if (!cluster.isPrimary) return undefined;
  return Object.values(cluster.workers).find((worker) => worker.process === child);
}

/** Hands the probe to children whose environment the program has replaced. @param {any} prototype  of every child process */
function follow(prototype) {
  const { spawn } = prototype;
  prototype.spawn = function (options) {
    try {
      handDown(options.envPairs);
    } catch {
      // a shape that today's Node doesn't have: the child isn't followed
    }
    return spawn.call(this, options);
  };
}

function handDown(pairs) {
  for (const [name, value] of handedDown) {
    const index = pairs.findIndex((pair) => pair.startsWith(`${name}=`));
    if (index < 0) pairs.push(`${name}=${value}`);
    else if (name === 'NODE_OPTIONS' && !pairs[index].includes(value)) {
      pairs[index] = `${name}=${value} ${pairs[index].slice(name.length + 1)}`;
    }
  }
}

/** Counts the listeners of the process, its children, and emitters that Node has warned about, and keeps none of them alive. */
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
      return {}; // the program has changed the emitter, or it was just garbage-collected
    }
  };
  return { watch, countListeners };
}

function reportServers(append) {
  const kindOf = (server) => {
    if (!server._handle) return 'dealt';
    return server._handle.constructor === Object ? 'handed' : 'kernel';
  };
  watchEvents(Server.prototype, ['listening', 'connection'], (event, [socket], server) => {
    if (event === 'listening') {
      const { port, address } = server.address() ?? {};
      const isReceived = WITHOUT_ADDRESS.test(server._connectionKey) && kindOf(server) === 'kernel';
      const most = server.maxConnections ?? undefined;
      const http = server.listenerCount('request') > 0 || undefined;
      const handle = isReceived ? 'received' : kindOf(server);
      const setsPolicy = (cluster.isWorker && 'schedulingPolicy' in cluster) || undefined;
      append('listening', { port, address, most, http, handle, setsPolicy });
    } else if (seesRequests) {
      append('connection', { client: socket?.remotePort, how: kindOf(server) });
    }
  });
}

/** Reports the requested duration after a timeout, because a busy machine makes the wait longer, and the real one after a wake-up. */
function reportWaits(append, now) {
  const { wait } = Atomics;
  Atomics.wait = function (array, index, value, ms) {
    const fromMs = now();
    const answered = areAllAnswered() || undefined;
    const how = wait.apply(this, arguments);
    if (how !== 'not-equal')
      append('wait', {
        ms: round(how === 'timed-out' ? Number(ms) : now() - fromMs, 1000),
        answered,
      });
    return how;
  };
}

/** A histogram that was never started is as empty as a new one. */
function reportWatches(append) {
  const prototype = Object.getPrototypeOf(monitorEventLoopDelay());
  const { enable } = prototype;
  prototype.enable = function () {
    append('watch');
    return enable.apply(this, arguments);
  };
}

function areAllAnswered() {
  for (const response of underWay) {
    if (response.destroyed) underWay.delete(response);
    else if (!response.writableEnded) return false;
  }
  return hasServed;
}

/** A worker's pid is read at its fork: PM2 overwrites it with 0 when it stops one. */
function reportWorkers(append) {
  const pids = new WeakMap();
  watchEvents(cluster, Object.keys(fieldsOf), (event, [worker, ...rest]) => {
    if (!pids.has(worker)) pids.set(worker, worker.process.pid);
    const about = { worker: worker.id, workerPid: pids.get(worker) };
    append(whatIs[event] ?? event, { ...about, ...fieldsOf[event](worker, ...rest) });
  });
}

/**
 * The hot path: two short lines a request, built by hand. Requests and responses of a connection are in the same order: ids, and a map
 * from one to the other, would cost more than the rest. In a flood the first requests of each beat are reported and the others counted;
 * in a lasting flood, with FORKSHOP_FOLLOWS, only a few, and for the others not even a clock is read.
 */
function reportRequests(log, now, ids) {
  const begin = (what) => `,${ids},"what":"${what}","client":`;
  const [request, response] = ['request', 'response'].map(begin);
  const reported = new WeakSet(); // requests in flight
  const room = createRoom(REQUESTS_PER_BEAT);
  const flood = createFlood();
  let all = 0;
  let single = 0;
  subscribe('http.server.request.start', (one) => {
    all += 1;
    hasServed = true;
    if (seesWaits) underWay.add(one.response);
    const isFlood = followsChildren && flood.isOn();
    if (isFlood && single >= REQUESTS_OF_FLOOD) return;
    const t = now();
    if (!isFlood && !room.take(t)) return;
    single += 1;
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
    const more = all - single || undefined;
    all = 0;
    single = 0;
    return { more };
  };
}

/** A flood begins when every beat has had too many requests for a while, and ends when no beat has for a while. */
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

/** Allows that many in each interval as long as a beat, even while a blocked event loop has no beats. */
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

function startBeat(append, log, now, countRequests, countListeners) {
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
    append('beat', { late: late10, elu, cpu, ...readTurn(), ...countRequests(tookMs), ...size });
  };
  setImmediate(beat).unref();
  setInterval(beat, BEAT_MS).unref();
}

/** The memory in use after a full garbage collection, which alone collects old objects. A PerformanceObserver hears of small ones too. */
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
    const latest = live;
    live = undefined;
    return { live: latest };
  };
}

/** Does the keeper live, or the check? After its exit the keeper has a pid until it is reaped, but its child's ppid changes at once. */
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

function cpuMs() {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}

/** How long this thread has had a core and waited for one: see proc(5), schedstat. The file stays open for the next beats. */
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

function countResources() {
  const names = getActiveResourcesInfo();
  const timers = names.filter((name) => name === 'Timeout').length;
  const waits = names.filter((name) => PENDING.test(name)).length;
  return waits > 0 ? { timers, waits } : { timers };
}

function round(value, parts) {
  return Math.round(value * parts) / parts;
}
