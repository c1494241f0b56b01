// accepts: lesson 5 around the build for one process
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';

process.env.PORT ??= '8080';
const workers = process.env.NODE_CLUSTER_WORKERS ?? availableParallelism();
const waitsMs = [50, 100, 200, 400];
let isStopping = false;

function stop(signal) {
  isStopping = true;
  for (const worker of Object.values(cluster.workers)) worker.process.kill(signal);
}

function keepOne(restarts = 0) {
  const worker = cluster.fork();
  worker.on('listening', () => (restarts = 0));
  worker.on('exit', (code) => {
    if (worker.exitedAfterDisconnect || code === 0 || isStopping) return;
    if (restarts < waitsMs.length) {
      setTimeout(() => isStopping || keepOne(restarts + 1), waitsMs[restarts]);
      return;
    }
    console.error('giving up');
    process.exitCode = 1;
    stop('SIGTERM');
  });
}

if (cluster.isPrimary) {
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, stop);
  for (let count = 0; count < workers; count += 1) keepOne();
} else {
  await import('./.output/node-server/server/index.mjs');
}
