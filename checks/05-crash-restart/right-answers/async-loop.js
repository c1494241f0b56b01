// accepts: an async function for each place, with once() and await
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { between, blockFor, randomHex } from '#work';

const port = process.env.PORT ?? 8080;
const workers = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());

const stopping = new AbortController();

async function keepAlive() {
  let attempt = 0;
  while (!stopping.signal.aborted) {
    const worker = cluster.fork();
    worker.once('listening', () => (attempt = 0));
    const [code, signal] = await once(worker, 'exit');
    const planned = worker.exitedAfterDisconnect === true || (code === 0 && signal === null);
    console.log(`[${worker.process.pid}] ${signal ?? `code ${code}`} ${planned ? '(planned)' : '(crash)'}`);
    if (planned || stopping.signal.aborted) return;
    if (attempt === 4) throw new Error('giving up: the fifth start in a row has failed');
    await sleep(100 * 2 ** attempt, undefined, { signal: stopping.signal }).catch(() => {});
    attempt += 1;
  }
}

function stop() {
  stopping.abort();
  for (const worker of Object.values(cluster.workers)) worker.kill('SIGTERM');
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
  process.on('SIGINT', stop).on('SIGTERM', stop);
  await Promise.all(Array.from({ length: workers }, keepAlive));
} else {
  process.on('SIGINT', () => {});
  serve();
}
