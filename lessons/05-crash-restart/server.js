import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import express from 'express';
import { between, blockFor, randomHex } from '#work';

const port = process.env.PORT ?? 8080;
const workers = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());

// #region restart
// Task 1: log how each worker exited (pid, code or signal, a crash or not), and put a new one in
// the place of each that crashed.
// Task 2: wait before each restart, twice as long after a failed one, and give up after four failed ones in a row.
// #endregion restart

// #region stop
// Task 3: on SIGTERM and on Ctrl-C (SIGINT) stop for good: fork no more, let each worker answer its
// requests in flight, exit with code 0.
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
  for (let count = 0; count < workers; count += 1) cluster.fork();
} else {
  serve();
}
// #endregion start
