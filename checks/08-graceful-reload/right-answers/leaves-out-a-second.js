// accepts: a second SIGHUP is skipped, with a message; a response in flight gets its header when the headers are written
import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { availableParallelism } from 'node:os';

const { PORT = 8080, NODE_CLUSTER_WORKERS = availableParallelism(), DRAIN_LIMIT_MS = 5000 } = process.env;

if (cluster.isPrimary) runPrimary();
else runWorker();

function runPrimary() {
  let busy = false;
  let stopping = false;

  async function letGo(worker) {
    if (worker.isDead()) return;
    const gone = once(worker, 'exit');
    worker.send({ type: 'drain' }, () => {});
    worker.once('listening', () => worker.send({ type: 'drain' }, () => {}));
    const timer = setTimeout(() => worker.process.kill('SIGKILL'), Number(DRAIN_LIMIT_MS) + 500);
    await gone;
    clearTimeout(timer);
  }

  async function reload() {
    if (busy || stopping) return console.log('busy, please try later');
    busy = true;
    try {
      for (const old of Object.values(cluster.workers)) {
        if (stopping) return;
        const fresh = cluster.fork();
        const up = once(fresh, 'listening').then(() => true);
        const down = once(fresh, 'exit').then(() => false);
        if (!(await Promise.race([up, down]))) throw new Error('boot failure');
        await letGo(old);
      }
    } catch (error) {
      console.error(`reload stopped: ${error.message}`);
    } finally {
      busy = false;
    }
  }

  async function stop() {
    stopping = true;
    await Promise.all(Object.values(cluster.workers).map(letGo));
    process.exit(0);
  }

  process.on('SIGHUP', reload).on('SIGTERM', stop).on('SIGINT', stop);
  for (let i = 0; i < NODE_CLUSTER_WORKERS; i++) cluster.fork();
}

async function runWorker() {
  const app = await import('./app.js');
  let leaving = false;
  const server = createServer((req, res) => {
    const { writeHead } = res;
    res.writeHead = (...args) => {
      if (leaving) res.setHeader('connection', 'close');
      return writeHead.apply(res, args);
    };
    app.handle(req, res);
  }).listen(PORT);
  const leave = () => {
    if (leaving) return;
    leaving = true;
    setTimeout(() => process.exit(1), Number(DRAIN_LIMIT_MS)).unref();
    setTimeout(() => cluster.worker.disconnect(), 200); // calls server.close(), which closes idle connections
    setInterval(() => leaving && server.closeIdleConnections(), 250).unref();
  };
  process.on('message', ({ type }) => type === 'drain' && leave());
  process.on('SIGTERM', leave).on('SIGINT', () => {});
}
