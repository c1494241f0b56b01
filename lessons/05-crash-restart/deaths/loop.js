// A worker that crashes at the top of its file, and a primary that replaces it at once. It ends after two seconds.
import cluster from 'node:cluster';

if (cluster.isPrimary) {
  let starts = 1;
  cluster.on('online', () => console.log(`start ${starts}: online`));
  cluster.on('listening', () => console.log(`start ${starts}: listening`));
  cluster.on('exit', () => {
    starts += 1;
    cluster.fork();
  });
  cluster.fork();
  setTimeout(() => process.exit(), 2_000);
} else {
  throw new Error('the configuration is missing');
}
