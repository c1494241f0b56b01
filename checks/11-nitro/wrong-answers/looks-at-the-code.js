// breaks: gives-up
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
let inVain = 0;

// A worker that is killed has no exit code 0, however long it has served.
if (cluster.isPrimary) {
  cluster.on('exit', (worker, code) => {
    if (stopping) return;
    inVain = code === 0 ? 0 : inVain + 1;
    if (inVain < 5) return;
    console.error('giving up');
    process.exit(1);
  });
}
// #endregion give-up
