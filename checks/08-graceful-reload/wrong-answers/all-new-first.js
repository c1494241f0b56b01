// breaks: capacity-kept
import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { availableParallelism } from 'node:os';

const port = process.env.PORT ?? 8080;
const size = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
const limitMs = Number(process.env.DRAIN_LIMIT_MS ?? 5_000);

const left = (worker) => new Promise((resolve) => worker.once('exit', resolve));

function drain(worker) {
  if (worker.isDead()) return undefined;
  worker.process.kill('SIGTERM');
  setTimeout(() => worker.process.kill('SIGKILL'), limitMs + 200).unref();
  return left(worker);
}

function fork() {
  const worker = cluster.fork();
  const listening = new Promise((resolve) => worker.once('listening', resolve));
  return { worker, isUp: Promise.race([listening.then(() => true), left(worker).then(() => false)]) };
}

let turn = Promise.resolve();
const reload = () => (turn = turn.then(renew));

async function renew() {
  const old = Object.values(cluster.workers);
  const fresh = old.map(fork);
  const up = await Promise.all(fresh.map(({ isUp }) => isUp));
  if (up.every(Boolean)) return Promise.all(old.map(drain));
  console.error('rolled back: not all of the new ones came up');
  return Promise.all(fresh.flatMap(({ worker }, index) => (up[index] ? drain(worker) : [])));
}

if (cluster.isPrimary) {
  for (let count = 0; count < size; count += 1) cluster.fork();
  process.on('SIGHUP', reload);
  process.on('message', (message) => message === 'reload' && reload());
  process.channel?.unref();
  const stop = () => Object.values(cluster.workers).forEach(drain);
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
} else {
  const { handle } = await import('./app.js');
  const server = createServer(handle);
  let isLast = false;
  const last = (response) => !response.headersSent && response.setHeader('Connection', 'close');
  const running = new Set();
  server.prependListener('request', (request, response) => {
    running.add(response.once('close', () => running.delete(response)));
    if (isLast) last(response);
  });
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => {
    if (isLast) return;
    isLast = true;
    running.forEach(last);
    setTimeout(() => cluster.worker.disconnect(), 500);
    setTimeout(() => process.exit(), limitMs).unref();
  });
  server.listen(port);
}
