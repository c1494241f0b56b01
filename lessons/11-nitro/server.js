import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';

process.env.PORT ??= '8080'; // Nitro would take 3000

// #region workers
// Task 2: tell Nitro how many workers: NODE_CLUSTER_WORKERS, else one for each core.
// #endregion workers

await import('./.output/node-cluster/server/index.mjs'); // the primary forks here, a worker serves

// #region stop
// Task 3: in the primary, on SIGTERM and on Ctrl-C (SIGINT), pass the signal on to the workers.
// #endregion stop

// #region give-up
// Task 3: in the primary, after five workers in a row that exited and had never listened: say that
// you are giving up, and exit with code 1.
// #endregion give-up
