// The primary asks a worker to disconnect that died a moment before.
import cluster from 'node:cluster';
import { blockFor } from '#work';

if (cluster.isPrimary) {
  const worker = cluster.fork();
  worker.on('online', () => {
    process.kill(worker.process.pid, 'SIGKILL');
    blockFor(100); // it is dead by now; the primary has not heard of it
    worker.disconnect();
  });
}
