/**
 * Imported first where a check asks "and if a worker leaves its cluster before it listens?": of four workers three leave, as
 * after cluster.worker.disconnect(), and only then does the first line of their file run.
 */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { isMainThread } from 'node:worker_threads';

const OF = 4;
const { worker } = cluster;

if (isMainThread && worker && worker.id % OF !== 1) {
  const left = once(process, 'disconnect');
  worker.disconnect();
  await left;
}
