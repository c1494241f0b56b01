import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';

const workers = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
const limitMs = Number(process.env.DRAIN_LIMIT_MS ?? 5_000);

// #region reload
// Task 3: on SIGHUP, and on the message 'reload', renew one worker after the other: fork a new
// one, wait until it listens, then let an old one drain, and wait until it has ended. If a new one
// ends before it listens, stop there: the old ones stay.
// #endregion reload

// #region stop
// Task 2: on SIGTERM and on Ctrl-C (SIGINT) let all workers drain, at the same time. One that is
// still there after limitMs, and a little more, gets SIGKILL.
// #endregion stop

// #region start
if (cluster.isPrimary) {
  for (let count = 0; count < workers; count += 1) cluster.fork();
} else {
  await import('./worker.js'); // not at the top: the primary must not load the application
}
// #endregion start
