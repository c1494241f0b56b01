// breaks: slows-down
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import express from 'express';
import { between, blockFor, randomHex } from '#work';

const port = process.env.PORT ?? 8080;
const workers = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());

const waitsMs = [500]; // after the first start that came to nothing, the second, ...

function keepOne(vainStarts = 0) {
  const worker = cluster.fork();
  worker.on('listening', () => (vainStarts = 0)); // it is well: what was before is forgotten
  worker.on('exit', (code, signal) => {
    const isPlanned = worker.exitedAfterDisconnect || code === 0;
    const how = signal ? `by ${signal}` : `with exit code ${code}`;
    console.log(`worker ${worker.process.pid} ended ${how}${isPlanned ? ', as planned' : ''}`);
    if (isPlanned || isStopping) return;
    if (vainStarts === waitsMs.length) return giveUp();
    setTimeout(() => isStopping || keepOne(vainStarts + 1), waitsMs[vainStarts]);
  });
}

function giveUp() {
  console.error(`giving up: ${waitsMs.length + 1} starts in a row, and no worker came to listen`);
  process.exitCode = 1;
  stop();
}

let isStopping = false;

function stop() {
  isStopping = true;
  const leaving = Object.values(cluster.workers);
  const signalAll = (signal) => leaving.forEach((worker) => worker.process.kill(signal));
  signalAll('SIGTERM'); // please
  setTimeout(signalAll, 5_000, 'SIGKILL').unref(); // whatever a client does, not for ever
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
  // A polite leave: take no new connection, answer what is under way, end. Once is enough.
  process.on('SIGTERM', () => cluster.worker.exitedAfterDisconnect || cluster.worker.disconnect());
}

if (cluster.isPrimary) {
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
  for (let count = 0; count < workers; count += 1) keepOne();
} else {
  process.on('SIGINT', () => {}); // Ctrl-C reaches the workers, too: the primary says what it means
  serve();
}
