import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';

const workers = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
const limitMs = Number(process.env.DRAIN_LIMIT_MS ?? 5_000);

// #region reload
let reloads = Promise.resolve();
const reload = () => (reloads = reloads.then(renewAll)); // a second one waits for its turn

async function renewAll() {
  for (const old of Object.values(cluster.workers)) {
    if (isStopping) return;
    if (!(await startOne())) return console.error('it does not start: the old ones serve on');
    await retire(old);
  }
  console.log('reloaded');
}

function startOne() {
  return new Promise((resolve) => {
    const worker = cluster.fork();
    worker.on('listening', () => resolve(true));
    worker.on('exit', () => resolve(false));
  });
}
// #endregion reload

// #region stop
let isStopping = false;

function stop() {
  isStopping = true;
  for (const worker of Object.values(cluster.workers)) retire(worker);
}

function retire(worker) {
  return new Promise((resolve) => {
    if (worker.isDead()) return resolve();
    worker.on('exit', resolve);
    worker.send('drain', () => {}); // it may have died just now: then nobody hears it
    setTimeout(() => worker.process.kill('SIGKILL'), limitMs + 500).unref(); // it may be blocked
  });
}
// #endregion stop

// #region start
if (cluster.isPrimary) {
  process.on('SIGHUP', reload);
  process.on('message', (message) => message === 'reload' && reload());
  process.channel?.unref(); // to listen for messages is no reason to stay
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, stop);
  for (let count = 0; count < workers; count += 1) cluster.fork();
} else {
  await import('./worker.js'); // not at the top: the primary must not load the application
}
// #endregion start
