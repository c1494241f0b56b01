// Other ways to reload, all of them in use somewhere: node ways.js kill-all (or another of the
// names below), then kill -HUP with the pid of the primary.

import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { availableParallelism } from 'node:os';

const workers = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());

/** What is done with the old workers, on SIGHUP. */
const ways = {
  async 'kill-all'(olds) {
    for (const old of olds) old.process.kill();
    await Promise.all(olds.map((old) => once(old, 'exit')));
    for (let count = 0; count < workers; count += 1) cluster.fork();
  },

  async 'one-by-one'(olds) {
    for (const old of olds) {
      old.process.kill();
      await once(old, 'exit');
      await once(cluster.fork(), 'listening');
    }
  },

  async 'disconnect-only'(olds) {
    for (const old of olds) {
      await once(cluster.fork(), 'listening');
      old.disconnect();
      await once(old, 'exit');
    }
  },
};

if (cluster.isPrimary) {
  process.on('SIGHUP', () => ways[process.argv[2]](Object.values(cluster.workers)));
  for (let count = 0; count < workers; count += 1) cluster.fork();
} else {
  const { handle } = await import('./app.js');
  createServer(handle).listen(process.env.PORT ?? 8080);
}
