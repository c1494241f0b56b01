// accepts: counted by each worker's own handler; and said in more words
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';

process.env.PORT ??= '8080'; // Nitro would take 3000

// #region workers
const workers = process.env.NODE_CLUSTER_WORKERS ?? availableParallelism();
process.env.NITRO_CLUSTER_WORKERS = String(workers);
// #endregion workers

let stopping = false;
let failures = 0;

function watch(worker) {
  let served = false;
  worker.once('listening', () => (served = true));
  worker.once('exit', () => {
    if (stopping) return;
    failures = served ? 0 : failures + 1;
    if (failures < 5) return;
    console.error('Fatal: 5 workers died before they could listen. Giving up.');
    process.exit(1);
  });
}
if (cluster.isPrimary) cluster.on('fork', watch);

await import('./.output/node-cluster/server/index.mjs'); // the primary forks here, a worker serves

// #region stop
function stop(signal) {
  stopping = true;
  for (const worker of Object.values(cluster.workers)) worker.process.kill(signal);
}

if (cluster.isPrimary) {
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, stop);
}
// #endregion stop
