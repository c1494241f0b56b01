// accepts: Express, with a middleware that says goodbye; SIGTERM stops the workers
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import express from 'express';

const port = process.env.PORT ?? 8080;
const size = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
const limitMs = Number(process.env.DRAIN_LIMIT_MS ?? 5000);

async function work() {
  const { handle } = await import('./app.js');
  const app = express();
  let bye = false;
  const open = new Set();
  app.use((request, response, next) => {
    open.add(response);
    response.on('close', () => open.delete(response));
    if (bye) response.set('Connection', 'close');
    next();
  });
  app.use((request, response) => handle(request, response));
  const server = app.listen(port);
  process.on('SIGINT', () => {});
  process.once('SIGTERM', () => {
    process.on('SIGTERM', () => {});
    bye = true;
    for (const response of open) if (!response.headersSent) response.set('Connection', 'close');
    setTimeout(() => {
      cluster.worker.disconnect();
      setInterval(() => server.closeIdleConnections(), 100).unref();
    }, 200);
    setTimeout(() => {
      server.closeAllConnections();
      process.exit(1);
    }, limitMs).unref();
  });
}

function retire(worker) {
  worker.process.kill('SIGTERM');
  setTimeout(() => worker.process.kill('SIGKILL'), limitMs + 100).unref();
}

const queue = [];
let current;

function next() {
  current = queue.shift();
  if (!current) return;
  const fresh = cluster.fork();
  fresh.once('listening', () => {
    fresh.removeAllListeners('exit');
    if (current.isDead()) return next();
    current.once('exit', next);
    retire(current);
  });
  fresh.once('exit', () => {
    console.error('cannot start, so I leave it as it is');
    queue.length = 0;
    current = undefined;
  });
}

function reload() {
  const isIdle = !current;
  if (queue.length === 0) queue.push(...Object.values(cluster.workers).filter((worker) => worker !== current));
  if (isIdle) next();
}

if (cluster.isPrimary) {
  for (let index = 0; index < size; index += 1) cluster.fork();
  let isStopping = false;
  const order = () => (current || isStopping ? console.log('one reload at a time: left out') : reload());
  process.on('SIGHUP', order);
  const stop = () => {
    isStopping = true;
    queue.length = 0;
    for (const id in cluster.workers) retire(cluster.workers[id]);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
} else {
  work();
}
