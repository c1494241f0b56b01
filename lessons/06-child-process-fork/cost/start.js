// What does one more worker cost? node start.js cluster 5 (or fork, or thread), then Ctrl-C.
import { fork } from 'node:child_process';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

const file = fileURLToPath(new URL('worker.js', import.meta.url));
cluster.setupPrimary({ exec: file });
const kinds = { cluster: () => cluster.fork().process, fork, thread: (path) => new Worker(path) };
const [, , kind = 'fork', times = 5] = process.argv;

for (let count = 1; count <= times; count += 1) {
  const sinceMs = performance.now();
  const worker = kinds[kind](file);
  await once(worker, 'message');
  const ms = (performance.now() - sinceMs).toFixed(1);
  console.log(`${kind} ${count}: ${ms} ms, in process ${worker.pid ?? process.pid}`);
}
