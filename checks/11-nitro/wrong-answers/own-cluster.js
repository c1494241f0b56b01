// breaks: gives-up
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';

process.env.PORT ??= '8080';
const workers = process.env.NODE_CLUSTER_WORKERS ?? availableParallelism();

// The cluster of lesson 2 around the build for one process: whoever dies stays dead.
if (cluster.isPrimary) {
  for (let count = 0; count < workers; count += 1) cluster.fork();
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => {
      for (const worker of Object.values(cluster.workers)) worker.process.kill(signal);
    });
  }
} else {
  await import('./.output/node-server/server/index.mjs');
}
