// accepts: an Error thrown as the refusal, and os as a default import
import cluster from 'node:cluster';
import os from 'node:os';
import express from 'express';
import { between, blockFor, randomHex, spinFor } from '#work';

const port = process.env.PORT ?? 8080;

function workerCount({ NODE_CLUSTER_WORKERS: wanted } = process.env) {
  if (wanted === undefined) return os.availableParallelism();
  const count = Number(wanted);
  if (Number.isInteger(count) && count > 0 && count < 100) return count;
  throw new RangeError(`NODE_CLUSTER_WORKERS is ${wanted}; it must be a whole number from 1 to 99`);
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
