// What does a cluster worker listen with? Try NODE_CLUSTER_SCHED_POLICY=rr, then none.
import cluster from 'node:cluster';
import { createServer } from 'node:net';

if (cluster.isPrimary) {
  cluster.fork();
} else {
  const server = createServer().listen(0, () => {
    console.log(`the worker's handle is ${server._handle.constructor.name}`);
    cluster.worker.disconnect();
  });
}
