// #region server
import cluster from 'node:cluster';
import http from 'node:http';
import net from 'node:net';
import { availableParallelism } from 'node:os';
import { serveOrders } from './orders.js';

const size = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
const limitMs = 5_000; // of a drain
const goodbyeMs = 300; // time for clients to ask once more, and to hear that it was the last time
let isStopping = false;

// A crash and a reload may both start a worker for the same place. The map says which one has it.
const staff = new Map(); // place → its worker, which listens

/** Resolves to a worker that listens, or to undefined if it has exited instead. */
function startOne() {
  return new Promise((resolve) => {
    const worker = cluster.fork();
    serveOrders(worker);
    worker.on('listening', () => resolve(worker));
    worker.on('exit', () => resolve(undefined));
  });
}

function seat(place, worker) {
  staff.set(place, worker);
  worker.on('exit', (code, signal) => {
    if (staff.get(place) !== worker) return; // replaced: a planned leave
    console.log(`worker ${worker.process.pid} exited: ${signal ?? `code ${code}`}, a crash`);
    staff.delete(place);
    setTimeout(fill, 100, place);
  });
}

/** Starts a worker for a free place; after a failed start again, with twice the pause each time. */
async function fill(place, waitMs = 100) {
  if (isStopping || staff.has(place)) return; // a reload was quicker
  const worker = await startOne();
  if (!worker) setTimeout(fill, waitMs, place, 2 * waitMs);
  else if (staff.has(place)) retire(worker);
  else seat(place, worker);
}

let reloads = Promise.resolve();
const reload = () => (reloads = reloads.then(renewAll)); // one at a time

async function renewAll() {
  for (let place = 0; place < size; place += 1) {
    if (isStopping) return;
    const fresh = await startOne();
    if (!fresh) return console.error('it does not start: the old ones stay');
    const old = staff.get(place); // none if it has just crashed
    seat(place, fresh);
    if (old) await retire(old);
  }
  console.log('reloaded');
}

/** Tells a worker to drain. Resolves when it has exited. */
function retire(worker) {
  return new Promise((resolve) => {
    if (worker.isDead()) return resolve();
    worker.on('exit', resolve);
    worker.process.kill('SIGTERM');
    setTimeout(() => worker.process.kill('SIGKILL'), limitMs + 500).unref(); // it may be blocked
  });
}

function stop() {
  isStopping = true;
  staff.clear(); // all leave as planned
  for (const worker of Object.values(cluster.workers)) retire(worker);
}

async function serve() {
  const { createApp } = await import('./app.js'); // not at the top: the primary loads no version
  const app = createApp();
  const open = new Set(); // responses in flight
  let isDraining = false;
  const server = http.createServer((request, response) => {
    open.add(response);
    response.on('close', () => open.delete(response));
    if (isDraining) sayClose(response);
    app(request, response);
  });
  process.on('SIGTERM', () => {
    if (isDraining) return;
    isDraining = true;
    open.forEach(sayClose);
    net.Server.prototype.close.call(server, () => cluster.worker.disconnect());
    setInterval(() => server.closeIdleConnections(), goodbyeMs).unref();
    setTimeout(() => process.exit(1), limitMs).unref(); // in any case
  });
  process.on('SIGINT', () => {}); // Ctrl-C reaches the workers too: the primary decides what it means
  server.listen(process.env.PORT ?? 8080, () => console.log(`worker ${process.pid} serves`));
}

function sayClose(response) {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

if (cluster.isPrimary) {
  process.on('SIGHUP', reload);
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, stop);
  for (let place = 0; place < size; place += 1) fill(place);
} else {
  await serve();
}
// #endregion server
