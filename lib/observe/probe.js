/**
 * The probe. Preloaded with NODE_OPTIONS=--import into every Node process of a run, it appends what happens there to
 * the run's timeline, one JSON object a line. It imports nothing of ours, starts nothing that keeps a process alive,
 * touches no handler, exit code or message of the program, and never throws into it.
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
 *   crash       error (the first line), origin
 *   exit        code
 * and in a primary, about a worker: fork, online, worker-listening (port), disconnect, worker-exit (code, signal,
 * planned: exitedAfterDisconnect), each with `worker` and `workerPid`.
 */
import cluster from 'node:cluster';
import { subscribe } from 'node:diagnostics_channel';
import { openSync, writeSync } from 'node:fs';
import { Server } from 'node:net';
import { isMainThread, threadId } from 'node:worker_threads';

const BEAT_MS = 20;
const PROMPT_WRITES_PER_BEAT = 20;
const LONGEST_HELD_BACK = 64 * 1024;

const { performance, process } = globalThis;
const file = process.env.FORKSHOP_TIMELINE;
const seesRequests = process.env.FORKSHOP_PROBE !== 'life';

if (file) observe(openSync(file, 'a'));

/** Reports this process to the open file `fd`. */
function observe(fd) {
  const clockOffset = Number(process.hrtime.bigint() / 1000n) / 1000 - performance.now();
  const who = `"pid":${process.pid}` + (isMainThread ? '' : `,"tid":${threadId}`);
  const log = createLog(fd);

  const now = () => round(performance.now() + clockOffset, 1000);
  const tell = (what, fields = {}) => {
    const rest = JSON.stringify(fields).slice(1, -1);
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
  reportLife(tell, log);
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

function reportLife(tell, log) {
  process.on('uncaughtExceptionMonitor', (error, origin) => {
    tell('crash', { error: String(error?.stack ?? error).slice(0, 2000), origin });
  });
  process.on('exit', (code) => tell('exit', { code }));
  process.on('beforeExit', log.flush);
}

/** Listening sockets and connections, seen at net.Server's emit: no listener is added to the program's servers. */
function reportServers(tell) {
  const emit = Server.prototype.emit;
  const kindOf = (server) => {
    if (!server._handle) return 'dealt';
    return server._handle.constructor === Object ? 'handed' : 'kernel';
  };
  Server.prototype.emit = function (/** @type {string} */ event, /** @type {any[]} */ ...values) {
    if (event === 'listening') {
      const { port, address } = /** @type {any} */ (this.address() ?? {});
      tell('listening', { port, address, handle: kindOf(this) });
    } else if (event === 'connection' && seesRequests) {
      tell('connection', { client: values[0]?.remotePort, how: kindOf(this) });
    }
    return emit.call(this, /** @type {any} */ (event), ...values);
  };
}

function reportWorkers(tell) {
  const about = (worker) => ({ worker: worker.id, workerPid: worker.process.pid });
  cluster.on('fork', (worker) =>
    tell('fork', { ...about(worker), policy: cluster.schedulingPolicy }),
  );
  cluster.on('online', (worker) => tell('online', about(worker)));
  cluster.on('listening', (worker, { port }) =>
    tell('worker-listening', { ...about(worker), port }),
  );
  cluster.on('disconnect', (worker) => tell('disconnect', about(worker)));
  cluster.on('exit', (worker, code, signal) => {
    tell('worker-exit', { ...about(worker), code, signal, planned: worker.exitedAfterDisconnect });
  });
}

/** The hot path: two short lines a request, put together by hand. */
function reportRequests(log, now, who) {
  const ids = new WeakMap();
  let lastId = 0;
  subscribe('http.server.request.start', (/** @type {any} */ { request, socket }) => {
    ids.set(request, (lastId += 1));
    log.addPromptly(
      `{"t":${now()},${who},"what":"request","id":${lastId},"client":${socket.remotePort ?? null},` +
        `"method":"${request.method}","url":${JSON.stringify(request.url)}}\n`,
    );
  });
  subscribe('http.server.response.finish', (/** @type {any} */ { request, response }) => {
    log.addPromptly(
      `{"t":${now()},${who},"what":"response","id":${ids.get(request)},"status":${response.statusCode}}\n`,
    );
  });
}

function startBeat(tell, log, now) {
  let utilization = performance.eventLoopUtilization();
  let last = now();
  let count = 0;
  const beat = () => {
    const since = performance.eventLoopUtilization(utilization);
    utilization = performance.eventLoopUtilization();
    const late = Math.max(0, now() - last - BEAT_MS);
    last = now();
    log.beat();
    const more = count % 5 === 0 && { rss: process.memoryUsage.rss(), timers: countTimers() };
    count += 1;
    tell('beat', { late: round(late, 10), elu: round(since.utilization, 1000), ...more });
  };
  setImmediate(beat).unref();
  setInterval(beat, BEAT_MS).unref();
}

function countTimers() {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

function round(value, parts) {
  return Math.round(value * parts) / parts;
}
