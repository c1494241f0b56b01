// #region imports
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import express from 'express';
import { between, blockFor, randomHex, spinFor } from '#work';
// #endregion imports

const port = process.env.PORT ?? 8080;

// #region count
function workerCount(wanted = process.env.NODE_CLUSTER_WORKERS) {
  if (wanted === undefined) return availableParallelism();
  if (/^[1-9]\d?$/.test(wanted)) return Number(wanted);
  console.error(`NODE_CLUSTER_WORKERS must be a whole number from 1 to 99, not "${wanted}".`);
  process.exit(1);
}
// #endregion count

function serve() {
  const app = express();

  // #region answer
  let served = 0; // every worker has its own

  app.get('/', (request, response) => {
    served += 1;
    blockFor(between(10, 20));
    response.set({ 'X-Worker-Pid': process.pid, 'X-Worker-Served': served });
    response.type('text').send(randomHex(between(5_000, 10_000)));
  });
  // #endregion answer

  app.get('/cpu', (request, response) => {
    response.type('text').send(String(spinFor(5)));
  });

  app.listen(port, (error) => {
    if (error) throw error;
    console.log(`process ${process.pid} listens on http://127.0.0.1:${port}`);
  });
}

// #region start
if (cluster.isPrimary) {
  const workers = workerCount();
  console.log(`primary ${process.pid} forks ${workers} workers`);
  for (let count = 0; count < workers; count += 1) cluster.fork();
} else {
  serve();
}
// #endregion start
