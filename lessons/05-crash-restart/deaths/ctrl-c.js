// A primary that replaces every worker killed by a signal, and takes a second to clean up when it gets SIGINT itself.
import cluster from 'node:cluster';

if (cluster.isPrimary) {
  cluster.on('exit', (worker, code, signal) => {
    console.log(`worker ${worker.process.pid} exited on ${signal}`);
    if (signal) console.log(`worker ${cluster.fork().process.pid} takes its place`);
  });
  process.on('SIGINT', () => setTimeout(() => process.exit(), 1_000));
  cluster.fork();
  cluster.fork();
}
