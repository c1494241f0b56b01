import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import express from 'express';
import { blockFor } from '#work';

const port = process.env.PORT ?? 8080;
const workers = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());

const policies = { rr: cluster.SCHED_RR, none: cluster.SCHED_NONE };

/** The policy that --policy names, or else NODE_CLUSTER_SCHED_POLICY, or else rr; any other name ends the process. */
function choosePolicy() {
  const { values } = parseArgs({ options: { policy: { type: 'string' } } });
  const name = values.policy ?? process.env.NODE_CLUSTER_SCHED_POLICY ?? 'rr';
  if (Object.hasOwn(policies, name)) return policies[name];
  console.error(`The scheduling policy is rr or none, not "${name}".`);
  process.exit(1);
}

function serve() {
  const app = express();

  // #region count
  let served = 0;

  app.get('/', (request, response) => {
    served += 1;
    process.send({ served });
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
if (cluster.isPrimary) {
  cluster.schedulingPolicy = choosePolicy(); // the first fork fixes it
  const table = {}; // by pid: how many requests for / each worker has had
  cluster.on('message', (worker, { served }) => {
    table[worker.process.pid] = served;
    console.log(JSON.stringify(table));
  });
  for (let count = 0; count < workers; count += 1) cluster.fork();
} else {
  serve();
}
// #endregion start
