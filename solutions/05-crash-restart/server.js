import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import express from 'express';
import { between, blockFor, randomHex } from '#work';

const port = process.env.PORT ?? 8080;
const workers = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());

// #region restart
const waitsMs = [100, 200, 400, 800]; // before the first restart in a row, the second, ...

function keepOne(restarts = 0) {
  const worker = cluster.fork();
  worker.on('listening', () => (restarts = 0)); // forget earlier failures
  worker.on('exit', (code, signal) => {
    const isCrash = !worker.exitedAfterDisconnect && code !== 0;
    const how = signal ? `on ${signal}` : `with code ${code}`;
    console.log(`worker ${worker.process.pid} exited ${how}${isCrash ? ', a crash' : ''}`);
    if (!isCrash || isStopping) return;
    if (restarts === waitsMs.length) return giveUp();
    setTimeout(() => isStopping || keepOne(restarts + 1), waitsMs[restarts]);
  });
}

function giveUp() {
  console.error(`giving up: ${waitsMs.length} restarts in a row, and none listened`);
  process.exitCode = 1;
  stop();
}
// #endregion restart

// #region stop
let isStopping = false;

function stop() {
  isStopping = true;
  const leaving = Object.values(cluster.workers);
  const signalAll = (signal) => leaving.forEach((worker) => worker.process.kill(signal));
  signalAll('SIGTERM'); // please
  setTimeout(signalAll, 5_000, 'SIGKILL').unref(); // in any case
}
// #endregion stop

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

// #region start
if (cluster.isPrimary) {
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
  for (let count = 0; count < workers; count += 1) keepOne();
} else {
  process.on('SIGINT', () => {}); // Ctrl-C reaches the workers too: the primary decides what it means
  serve();
}
// #endregion start
