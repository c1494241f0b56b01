import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';

process.env.PORT ??= '8080'; // Nitro would take 3000

// #region workers
const workers = process.env.NODE_CLUSTER_WORKERS ?? availableParallelism();
process.env.NITRO_CLUSTER_WORKERS = String(workers);
// #endregion workers

await import('./.output/node-cluster/server/index.mjs'); // the primary forks here, a worker serves

// #region stop
let stopping = false;

function stop(signal) {
  stopping = true;
  for (const worker of Object.values(cluster.workers)) worker.process.kill(signal);
}

if (cluster.isPrimary) {
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, stop);
}
// #endregion stop

// #region give-up
const mostFailed = 5;
const listened = new Set(); // ids of workers
let failed = 0; // workers in a row that exited and had never listened

if (cluster.isPrimary) {
  cluster.on('listening', ({ id }) => listened.add(id));
  cluster.on('exit', ({ id }) => {
    if (stopping) return; // a planned stop
    failed = listened.has(id) ? 0 : failed + 1;
    if (failed < mostFailed) return;
    console.error(`giving up: ${failed} workers in a row exited, and none had listened`);
    process.exit(1);
  });
}
// #endregion give-up
