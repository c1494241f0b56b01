// breaks: refuses-nonsense
// 0, -1 and abc are refused, but it sets out to fork a thousand million workers.
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import express from 'express';
import { between, blockFor, randomHex, spinFor } from '#work';

const port = process.env.PORT ?? 8080;

function workerCount() {
  const wanted = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
  if (Number.isInteger(wanted) && wanted > 0) return wanted;
  console.error('NODE_CLUSTER_WORKERS must be a whole number above 0.');
  process.exit(1);
}

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
  const workers = workerCount();
  for (let count = 0; count < workers; count += 1) cluster.fork();
} else {
  serve();
}
