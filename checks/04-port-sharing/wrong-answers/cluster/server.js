// breaks: by-hand
// The cluster module does it all.
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';

const count = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());

if (cluster.isPrimary) for (let left = count; left > 0; left -= 1) cluster.fork();
else await import('./child.js');
