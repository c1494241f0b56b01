// breaks: bad-version-stops
import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { availableParallelism } from 'node:os';

const port = process.env.PORT ?? 8080;
const workers = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
const limitMs = Number(process.env.DRAIN_LIMIT_MS ?? 5_000);

let isStopping = false;
let reloads = Promise.resolve();
const reload = () => (reloads = reloads.then(renewAll));

async function renewAll() {
  for (const old of Object.values(cluster.workers)) {
    if (isStopping) return;
    await startOne();
    await retire(old);
  }
}

function startOne() {
  return new Promise((resolve) => {
    const worker = cluster.fork();
    worker.on('listening', () => resolve(true));
    worker.on('exit', () => resolve(false));
  });
}

function stop() {
  isStopping = true;
  for (const worker of Object.values(cluster.workers)) retire(worker);
}

function retire(worker) {
  return new Promise((resolve) => {
    if (worker.isDead()) return resolve();
    worker.on('exit', resolve);
    worker.send('drain', () => {});
    setTimeout(() => worker.process.kill('SIGKILL'), limitMs + 500).unref();
  });
}

async function serve() {
  const { handle, version } = await import('./app.js');
  const open = new Set();
  let isDraining = false;
  const sayClose = (response) => response.headersSent || response.setHeader('Connection', 'close');
  const server = createServer((request, response) => {
    open.add(response);
    response.on('close', () => open.delete(response));
    if (isDraining) sayClose(response);
    handle(request, response);
  });
  const drain = () => {
    if (isDraining) return;
    isDraining = true;
    open.forEach(sayClose);
    setTimeout(() => cluster.worker.disconnect(), 300);
    setTimeout(() => process.exit(1), limitMs).unref();
  };
  process.on('message', (message) => message === 'drain' && drain());
  process.on('SIGTERM', drain);
  process.on('SIGINT', () => {});
  server.listen(port, () => console.log(`worker ${process.pid} serves version ${version}`));
}

if (cluster.isPrimary) {
  process.on('SIGHUP', reload);
  process.on('message', (message) => message === 'reload' && reload());
  process.channel?.unref();
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, stop);
  for (let count = 0; count < workers; count += 1) cluster.fork();
} else {
  serve();
}
