// breaks: speedup
// For every fifty requests it forks one more worker, and keeps it.
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import express from 'express';
import { between, blockFor, randomHex, spinFor } from '#work';

const port = process.env.PORT ?? 8080;

function workerCount(wanted = process.env.NODE_CLUSTER_WORKERS) {
  if (wanted === undefined) return availableParallelism();
  if (/^[1-9]\d?$/.test(wanted)) return Number(wanted);
  console.error(`NODE_CLUSTER_WORKERS must be a whole number from 1 to 99, not "${wanted}".`);
  process.exit(1);
}

function serve() {
  const app = express();

  let served = 0;

  app.get('/', (request, response) => {
    served += 1;
    process.send('served');
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
  let served = 0;
  cluster.on('message', () => {
    served += 1;
    if (served % 50 === 0) cluster.fork();
  });
} else {
  serve();
}
