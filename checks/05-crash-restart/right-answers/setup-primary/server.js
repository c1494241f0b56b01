// accepts: workers run another file, by setupPrimary
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const workers = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
cluster.setupPrimary({ exec: fileURLToPath(new URL('worker.js', import.meta.url)) });

const waitsMs = [100, 200, 400, 800]; // after the first failed start, the second, ...

function keepOne(failedStarts = 0) {
  const worker = cluster.fork();
  worker.on('listening', () => (failedStarts = 0)); // forget earlier failures
  worker.on('exit', (code, signal) => {
    const isPlanned = worker.exitedAfterDisconnect || code === 0;
    const how = signal ? `on ${signal}` : `with code ${code}`;
    console.log(`worker ${worker.process.pid} exited ${how}${isPlanned ? ', as planned' : ''}`);
    if (isPlanned || isStopping) return;
    if (failedStarts === waitsMs.length) return giveUp();
    setTimeout(() => isStopping || keepOne(failedStarts + 1), waitsMs[failedStarts]);
  });
}

function giveUp() {
  console.error(`giving up: ${waitsMs.length + 1} starts in a row, and no worker came to listen`);
  process.exitCode = 1;
  stop();
}

let isStopping = false;

function stop() {
  isStopping = true;
  const leaving = Object.values(cluster.workers);
  const signalAll = (signal) => leaving.forEach((worker) => worker.process.kill(signal));
  signalAll('SIGTERM'); // please
  setTimeout(signalAll, 5_000, 'SIGKILL').unref(); // in any case
}

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, stop);
for (let count = 0; count < workers; count += 1) keepOne();
