import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';

const workers = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
const limitMs = Number(process.env.DRAIN_LIMIT_MS ?? 5_000);

// #region reload
// Task 2: renew one worker after the other: fork a new one, wait until it listens, then retire an
// old one. If the new one exits before it listens, stop there: the old ones stay.
// #endregion reload

let isStopping = false;

function stop() {
  isStopping = true;
  for (const worker of Object.values(cluster.workers)) retire(worker);
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

// #region start
if (cluster.isPrimary) {
  // Task 2: on SIGHUP, reload.
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, stop);
  for (let count = 0; count < workers; count += 1) cluster.fork();
} else {
  await import('./worker.js'); // not at the top: the primary must not load the application
}
// #endregion start
