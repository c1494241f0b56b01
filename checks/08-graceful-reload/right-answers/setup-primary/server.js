// accepts: two programs, by setupPrimary; async generators deal out the old workers
import cluster from 'node:cluster';
import { on, once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

cluster.setupPrimary({ exec: fileURLToPath(new URL('serving.js', import.meta.url)) });
const limitMs = Number(process.env.DRAIN_LIMIT_MS ?? 5_000);
const size = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
const alive = () => Object.values(cluster.workers);

async function retire(worker) {
  if (worker.isDead()) return;
  const exit = once(worker, 'exit');
  worker.process.kill('SIGTERM');
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), limitMs + 500);
  await exit;
  clearTimeout(timer);
}

async function* orders() {
  const abort = new AbortController();
  process.once('stop', () => abort.abort());
  try {
    for await (const order of on(process, 'reload', { signal: abort.signal })) yield order;
  } catch (error) {
    if (error.name !== 'AbortError') throw error;
  }
}

async function follow() {
  for await (const order of orders()) {
    for (const old of alive()) {
      if (isStopping) return;
      const fresh = cluster.fork();
      const isUp = once(fresh, 'listening').then(() => true);
      if (!(await Promise.race([isUp, once(fresh, 'exit').then(() => false)]))) {
        console.error(`no reload: worker ${fresh.id} could not start`, order);
        break;
      }
      await retire(old);
    }
  }
}

let isStopping = false;
const stop = () => {
  isStopping = true;
  process.emit('stop');
  alive().forEach(retire);
};

process.on('SIGHUP', () => process.emit('reload'));
process.on('SIGINT', stop);
process.on('SIGTERM', stop);
for (let count = 0; count < size; count += 1) cluster.fork();
follow();
