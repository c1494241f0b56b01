// accepts: CommonJS, and the import() is not awaited
const cluster = require('node:cluster');
const os = require('node:os');

process.env.PORT = process.env.PORT || '8080';
process.env.NITRO_CLUSTER_WORKERS = process.env.NODE_CLUSTER_WORKERS || `${os.availableParallelism()}`;

if (cluster.isPrimary) {
  const well = new WeakSet();
  let row = [];
  let isTold = false;
  cluster.on('listening', (worker) => well.add(worker));
  cluster.on('exit', (worker) => {
    row = well.has(worker) ? [] : [...row, worker];
    if (row.length >= 8 && !isTold) {
      console.error('Giving up: too many workers ended before they listened.');
      process.exit(1);
    }
  });
  const forward = (signal) => {
    isTold = true;
    for (const id in cluster.workers) cluster.workers[id].process.kill(signal);
  };
  process.on('SIGTERM', forward).on('SIGINT', forward);
}

import('./.output/node-cluster/server/index.mjs');
