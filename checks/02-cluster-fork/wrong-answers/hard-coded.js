// breaks: one-per-core, refuses-nonsense
// It forks four workers, always.
import cluster from 'node:cluster';
import express from 'express';
import { between, blockFor, randomHex, spinFor } from '#work';

const port = process.env.PORT ?? 8080;

const workers = 4;

function serve() {
  const app = express();

  let served = 0;

  app.get('/', (request, response) => {
    served += 1;
    blockFor(between(10, 20));
    response.set({ 'X-Worker-Pid': process.pid, 'X-Worker-Served': served });
    response.type('text').send(randomHex(between(5_000, 10_000)));
  });

  app.get('/cpu', (request, response) => {
    response.type('text').send(String(spinFor(5)));
  });

  app.listen(port);
}

if (cluster.isPrimary) {
  for (let count = 0; count < workers; count += 1) cluster.fork();
} else {
  serve();
}
