// breaks: forks-as-told, own-memory
// It forks nothing: one process makes up four pids and tells them in turn.
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

  const pids = [1, 2, 3, 4].map((id) => process.pid + id);
  const served = new Map(pids.map((pid) => [pid, 0]));

  app.get('/', (request, response) => {
    const pid = pids.shift();
    pids.push(pid);
    served.set(pid, served.get(pid) + 1);
    blockFor(between(10, 20));
    response.set({ 'X-Worker-Pid': pid, 'X-Worker-Served': served.get(pid) });
    response.type('text').send(randomHex(between(5_000, 10_000)));
  });

  app.get('/cpu', (request, response) => {
    response.type('text').send(String(spinFor(5)));
  });

  app.listen(port);
}

workerCount();
serve();
