import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import express from 'express';
import { blockFor } from '#work';

const port = process.env.PORT ?? 8080;
const workers = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());

// #region policy
// Task 1: which policy? What --policy says, else what NODE_CLUSTER_SCHED_POLICY says, else rr. Return
// cluster.SCHED_RR for rr and cluster.SCHED_NONE for none. Refuse anything else, an empty --policy too:
// say so on stderr and exit with code 1, before any worker is forked.
// #endregion policy

function serve() {
  const app = express();

  // #region count
  // Task 2: tell the primary of each request for /, and ask it for all counts at /counts.
  app.get('/', (request, response) => {
    response.type('text').send(String(process.pid));
  });
  // #endregion count

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

// #region start
// Task 1: where must the policy be set? Task 2: the primary keeps the counts and answers questions.
if (cluster.isPrimary) {
  for (let count = 0; count < workers; count += 1) cluster.fork();
} else {
  serve();
}
// #endregion start
