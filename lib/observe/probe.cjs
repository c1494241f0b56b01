/**
 * The probe. Preloaded with NODE_OPTIONS=--require into every Node process of a run, it appends what happens there to
 * the run's timeline, one JSON object a line. It imports nothing of ours, starts nothing that keeps a process alive,
 * touches no handler, exit code or message of the program, and never throws into it.
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
 *   start       ppid, role ('primary' | 'worker' | 'thread'), worker (the cluster's id), node, file
 *   listening   port, address, handle ('kernel': this process has the listening socket | 'handed': the primary deals)
 *   connection  client (its port), how ('kernel': accepted here | 'handed': by the primary | 'dealt': by hand)
 *   request     id, client (its port), method, url
 *   response    id, status
 *   beat        late (ms that the event loop was late for it), elu (share of the time it was busy), and now and then
 *               rss (bytes), timers (how many keep the process alive)
 *   child       childPid: a process that it started, by whatever way but spawnSync and its like
 *   crash       error (its stack), origin
 *   exit        code
 * and in a primary, about a worker: fork (policy), online, worker-listening (port), disconnect, worker-exit (code,
 * signal, planned: exitedAfterDisconnect), each with `worker` and `workerPid`.
 */
'use strict';

const cluster = require('node:cluster');
const { subscribe } = require('node:diagnostics_channel');
const { openSync, writeSync } = require('node:fs');
const { Server } = require('node:net');
const { isMainThread, parentPort, threadId } = require('node:worker_threads');

const BEAT_MS = 20;
const PROMPT_WRITES_PER_BEAT = 20;
const LONGEST_HELD_BACK = 64 * 1024;

// Ours for good: the program may replace them (fake timers, a patched JSON).
const { process } = globalThis;
const { stringify } = JSON;
const { getActiveResourcesInfo } = process;
const { rss } = process.memoryUsage;
const elapsedMs = performance.now.bind(performance);
const utilizationSince = performance.eventLoopUtilization.bind(performance);

const file = process.env.FORKSHOP_TIMELINE;
const seesRequests = process.env.FORKSHOP_PROBE !== 'life';

/** Makes a constructor's `this` of any object that is there already. */
class Given {
  constructor(object) {
    return object;
  }
}

/** A number in a private field of somebody else's object: invisible there, and ten times as quick as a WeakMap. */
class Numbered extends Given {
  #id;
  constructor(object, id) {
    super(object);
    this.#id = id;
  }
  static idOf(object) {
    return #id in object ? object.#id : undefined;
  }
}

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
const fd = file && !isNodesOwn && open(file);
if (fd) observe(fd);

function open(path) {
  try {
    return openSync(path, 'a');
  } catch {
    return undefined; // the run's folder is gone; the program must not notice
  }
}

/** Reports this process to the open file. */
function observe(fd) {
  const clockOffset = Number(process.hrtime.bigint() / 1000n) / 1000 - elapsedMs();
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
  });
  reportLife(tell);
  reportChildren(tell);
  reportServers(tell);
  if (cluster.isPrimary && isMainThread) reportWorkers(tell);
  if (seesRequests) reportRequests(log, now, who);
  startBeat(tell, log, now);
}

/**
 * Writes lines at once, so that the request which kills its process is on record; but in a flood (more than a
 * thousand a second) it gathers them until the next beat, because a write for each would slow the program down.
 */
function createLog(fd) {
  let held = '';
  let promptWrites = 0;
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
    addPromptly(line) {
      held += line;
      if (promptWrites < PROMPT_WRITES_PER_BEAT || held.length > LONGEST_HELD_BACK) {
        promptWrites += 1;
        flush();
      }
    },
    beat() {
      promptWrites = 0;
      flush();
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

function reportLife(tell) {
  watchEvents(process, ['exit', 'uncaughtExceptionMonitor'], (event, [value, origin]) => {
    if (event === 'exit') tell('exit', { code: value });
    else tell('crash', { error: String(value?.stack ?? value).slice(0, 2000), origin });
  });
}

/** A child has its pid a moment after it was made; a program that exits in that moment has it too. */
function reportChildren(tell) {
  const fresh = new Set();
  const report = () => {
    for (const { pid } of fresh) if (pid) tell('child', { childPid: pid });
    fresh.clear();
  };
  subscribe('child_process', ({ process: child }) => {
    fresh.add(child);
    queueMicrotask(report);
  });
  watchEvents(process, ['exit'], report);
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
      tell('listening', { port, address, handle: kindOf(server) });
    } else if (seesRequests) {
      tell('connection', { client: socket?.remotePort, how: kindOf(server) });
    }
  });
}

function reportWorkers(tell) {
  watchEvents(cluster, Object.keys(fieldsOf), (event, [worker, ...rest]) => {
    const about = { worker: worker.id, workerPid: worker.process.pid };
    tell(whatIs[event] ?? event, { ...about, ...fieldsOf[event](worker, ...rest) });
  });
}

/** The hot path: two short lines a request, put together by hand. */
function reportRequests(log, now, who) {
  let lastId = 0;
  subscribe('http.server.request.start', (/** @type {any} */ { request, socket }) => {
    new Numbered(request, (lastId += 1));
    log.addPromptly(
      `{"t":${now()},${who},"what":"request","id":${lastId},"client":${socket.remotePort ?? null},` +
        `"method":"${request.method}","url":${stringify(request.url)}}\n`,
    );
  });
  subscribe('http.server.response.finish', (/** @type {any} */ { request, response }) => {
    log.addPromptly(
      `{"t":${now()},${who},"what":"response","id":${Numbered.idOf(request)},"status":${response.statusCode}}\n`,
    );
  });
}

function startBeat(tell, log, now) {
  let utilization = utilizationSince();
  let last = now();
  let count = 0;
  const beat = () => {
    const since = utilizationSince(utilization);
    utilization = utilizationSince();
    const late = Math.max(0, now() - last - BEAT_MS);
    last = now();
    log.beat();
    const more = count % 5 === 0 && { rss: rss(), timers: countTimers() };
    count += 1;
    tell('beat', { late: round(late, 10), elu: round(since.utilization, 1000), ...more });
  };
  setImmediate(beat).unref();
  setInterval(beat, BEAT_MS).unref();
}

function countTimers() {
  return getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

function round(value, parts) {
  return Math.round(value * parts) / parts;
}
