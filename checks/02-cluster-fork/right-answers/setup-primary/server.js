// accepts: workers that run their own file, set by cluster.setupPrimary({ exec })
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const wanted = process.env.NODE_CLUSTER_WORKERS;
if (wanted !== undefined && !/^[1-9]\d?$/.test(wanted)) {
  console.error(`NODE_CLUSTER_WORKERS must be a whole number from 1 to 99, not "${wanted}".`);
  process.exit(1);
}

cluster.setupPrimary({ exec: fileURLToPath(new URL('./worker.js', import.meta.url)) });
for (let left = Number(wanted ?? availableParallelism()); left > 0; left -= 1) cluster.fork();
