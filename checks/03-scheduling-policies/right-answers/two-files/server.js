// accepts: the workers run their own file, and are forked one after the other
import cluster from 'node:cluster';
import { once } from 'node:events';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { policy: { type: 'string', short: 'p' } }, allowPositionals: true });
const { NODE_CLUSTER_SCHED_POLICY, NODE_CLUSTER_WORKERS } = process.env;

switch (values.policy ?? NODE_CLUSTER_SCHED_POLICY) {
  case 'none':
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    break;
  case 'rr':
  case undefined:
    cluster.schedulingPolicy = cluster.SCHED_RR;
    break;
  default:
    console.error('policy: rr | none');
    process.exit(1);
}

const served = {};
cluster.setupPrimary({ exec: fileURLToPath(new URL('./worker.js', import.meta.url)) });
cluster.on('message', ({ process: { pid } }, message) => {
  served[pid] = (served[pid] ?? 0) + message;
  console.log(JSON.stringify(served));
});
for (let left = Number(NODE_CLUSTER_WORKERS ?? os.availableParallelism()); left > 0; left -= 1) {
  await once(cluster.fork(), 'listening');
}
