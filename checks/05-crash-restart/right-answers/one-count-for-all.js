// accepts: one count of failed starts for all workers, and handlers on cluster
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import express from 'express';
import { between, blockFor, randomHex } from '#work';

const port = process.env.PORT ?? 8080;
const workers = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());

let failures = 0;
let stopping = false;

function stop() {
  stopping = true;
  for (const id in cluster.workers) cluster.workers[id].disconnect();
}

function serve() {
  const app = express();
  app.get('/', (request, response) => {
    blockFor(between(10, 20));
    response.type('text').send(randomHex(between(5_000, 10_000)));
  });
  app.get('/report', (request, response) => {
    setTimeout(() => response.json({ rows: 100 }), 300); // a slow database
  });
  app.get('/buggy', () => setTimeout(() => undefined.rows, 10)); // throws too late for Express
  app.listen(port, (error) => {
    if (error) throw error;
    console.log(`worker ${process.pid} listens on http://127.0.0.1:${port}`);
  });
  // A graceful exit: take no new connections, answer the requests in flight, exit. Once is enough.
  process.on('SIGTERM', () => cluster.worker.exitedAfterDisconnect || cluster.worker.disconnect());
}

if (cluster.isPrimary) {
  cluster.on('listening', () => {
    failures = 0;
  });
  cluster.on('exit', (worker, code, signal) => {
    console.log(JSON.stringify({ event: 'exit', pid: worker.process.pid, code, signal, planned: worker.exitedAfterDisconnect }));
    if (stopping || worker.exitedAfterDisconnect || code === 0) return;
    failures += 1;
    if (failures > 4) {
      console.error('Too many crashes in a row without a healthy worker. Giving up.');
      process.exit(1);
    }
    setTimeout(() => {
      if (!stopping) cluster.fork();
    }, 50 * 2 ** failures);
  });
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  for (let i = 0; i < workers; i++) cluster.fork();
} else {
  process.on('SIGINT', () => {});
  serve();
}
