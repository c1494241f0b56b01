// accepts: the primary sends a message, and a Nitro plugin in the workers hears it
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
  for (const worker of Object.values(cluster.workers)) worker.send({ leave: signal });
}

if (cluster.isPrimary) {
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, stop);
  // What is sent to a worker that starts is lost: nobody listens there yet.
  cluster.on('listening', (worker) => stopping && worker.send({ leave: 'SIGTERM' }));
}
// #endregion stop

// #region give-up
const mostInVain = 5;
const listened = new Set(); // ids of workers
let inVain = 0; // workers in a row that ended and had never listened

if (cluster.isPrimary) {
  cluster.on('listening', ({ id }) => listened.add(id));
  cluster.on('exit', ({ id }) => {
    if (stopping) return; // it was told to end
    inVain = listened.has(id) ? 0 : inVain + 1;
    if (inVain < mostInVain) return;
    console.error(`giving up: ${inVain} workers in a row ended, and none came to listen`);
    process.exit(1);
  });
}
// #endregion give-up
