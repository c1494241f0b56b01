// breaks: counts
// It counts every request, whatever its path.
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import express from 'express';
import { blockFor } from '#work';

const port = process.env.PORT ?? 8080;
const workers = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());

const policies = { rr: cluster.SCHED_RR, none: cluster.SCHED_NONE };

function choosePolicy() {
  const { values } = parseArgs({ options: { policy: { type: 'string' } } });
  const name = values.policy ?? process.env.NODE_CLUSTER_SCHED_POLICY ?? 'rr';
  if (Object.hasOwn(policies, name)) return policies[name];
  console.error(`The scheduling policy is rr or none, not "${name}".`);
  process.exit(1);
}

function serve() {
  const app = express();
  app.use((request, response, next) => {
    served += 1;
    process.send({ served });
    next();
  });

  let served = 0;
  const waiting = []; // responses; a channel keeps the order, so first asked is first answered

  app.get('/', (request, response) => {
    response.type('text').send(String(process.pid));
  });

  app.get('/counts', (request, response) => {
    waiting.push(response);
    process.send({ ask: 'counts' });
  });
  process.on('message', (counts) => waiting.shift().json(counts));

  app.get('/block', (request, response) => {
    blockFor(500);
    response.type('text').send(String(process.pid));
  });

  app.get('/wait', (request, response) => {
    setTimeout(() => response.type('text').send(String(process.pid)), 500);
  });

  app.listen(port, (error) => {
    if (error) throw error;
    console.log(`process ${process.pid} listens on http://127.0.0.1:${port}`);
  });
}

if (cluster.isPrimary) {
  cluster.schedulingPolicy = choosePolicy(); // before the first fork, which fixes it
  const counts = {}; // by pid: how many requests for / each worker has had
  cluster.on('message', (worker, message) => {
    if (message.served) counts[worker.process.pid] = message.served;
    else worker.send(counts); // it asks
  });
  for (let count = 0; count < workers; count += 1) cluster.fork();
} else {
  serve();
}
