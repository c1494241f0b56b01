// A worker for each way to die, and what the primary hears of it.
import cluster from 'node:cluster';

const ways = {
  'process.exit(3)': () => process.exit(3),
  'process.exit(0)': () => process.exit(0),
  'an exception': () => undefined.rows,
  'a rejection': () => Promise.reject(new Error('nobody catches me')),
  'process.abort()': () => process.abort(),
  'cluster.worker.kill()': () => cluster.worker.kill(),
  'cluster.worker.disconnect()': () => cluster.worker.disconnect(),
  'process.disconnect()': () => process.disconnect(),
  'kill -9': (worker) => process.kill(worker.process.pid, 'SIGKILL'),
  'worker.kill()': (worker) => worker.kill(),
  'worker.disconnect()': (worker) => worker.disconnect(),
  'worker.process.disconnect()': (worker) => worker.process.disconnect(),
};

for (const [way, die] of Object.entries(cluster.isPrimary ? ways : {})) {
  const worker = cluster.fork({ WAY: way });
  if (die.length === 1) worker.on('online', () => die(worker)); // the primary does it
  worker.on('exit', (code, signal) =>
    console.log(way.padEnd(28), {
      code,
      signal,
      exitedAfterDisconnect: worker.exitedAfterDisconnect,
    }),
  );
}
if (cluster.isWorker && ways[process.env.WAY].length === 0) ways[process.env.WAY]();
