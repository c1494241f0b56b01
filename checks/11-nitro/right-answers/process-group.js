// accepts: the build in its own process group, which gets the signal; it loads this file first, and counts there
import { spawn } from 'node:child_process';
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const { PORT = '8080', NODE_CLUSTER_WORKERS = `${availableParallelism()}`, INSIDE } = process.env;

if (!INSIDE) start();
else if (cluster.isPrimary) count();

function start() {
  if (!/^\d{1,5}$/.test(PORT) || Number(PORT) > 65_535) {
    console.error(`PORT=${PORT} is no port.`);
    process.exit(1);
  }
  const build = fileURLToPath(new URL('.output/node-cluster/server/index.mjs', import.meta.url));
  const env = { ...process.env, PORT, NITRO_CLUSTER_WORKERS: NODE_CLUSTER_WORKERS, INSIDE: 'yes' };
  const args = ['--import', import.meta.url, build];
  const child = spawn(process.execPath, args, { env, stdio: 'inherit', detached: true });
  child.on('exit', (code, signal) => process.exit(signal ? 1 : code));
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.on(signal, () => process.kill(-child.pid, signal));
}

function count() {
  const listened = new Set();
  let failed = 0;
  let isStopping = false;
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => (isStopping = true));
  cluster.on('listening', ({ id }) => listened.add(id));
  cluster.on('exit', ({ id }) => {
    failed = listened.has(id) ? 0 : failed + 1;
    if (isStopping || failed < 5) return;
    console.error('giving up');
    process.exit(1);
  });
}
