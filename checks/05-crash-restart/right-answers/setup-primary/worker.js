import cluster from 'node:cluster';
import express from 'express';
import { between, blockFor, randomHex } from '#work';

const port = process.env.PORT ?? 8080;

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

process.on('SIGINT', () => {});
serve();
