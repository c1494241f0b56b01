// Three ways to start worker.js. Each returns something that emits 'message'; a thread has no pid of its own.
import { fork } from 'node:child_process';
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

const file = fileURLToPath(new URL('worker.js', import.meta.url));
cluster.setupPrimary({ exec: file });

export const kinds = {
  cluster: () => cluster.fork().process,
  fork: () => fork(file),
  thread: () => new Worker(file),
};
