// At an exit the primary notifies the live workers; during a stop those are exiting as well, and their channels are closed.
// After socketio/socket.io-cluster-adapter#5.
import cluster from 'node:cluster';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';

if (cluster.isPrimary) {
  let isStopping = false;
  let online = 0;
  const workers = () => Object.values(cluster.workers ?? {});
  const tellAll = (message) => workers().forEach((worker) => worker?.send(message));
  const fork = () =>
    cluster.fork().on('message', (message) => {
      online += 1;
      tellAll(message);
    });
  for (let count = 0; count < 3; count += 1) fork();
  cluster.on('exit', (worker) => {
    tellAll({ gone: worker.id });
    if (!isStopping) return void setTimeout(fork, 100);
    if (workers().length > 0) return;
    writeFileSync(join(import.meta.dirname, 'state.json'), JSON.stringify({ online })); // a restart continues from it
    process.exit(0);
  });
  process.on('SIGTERM', () => {
    isStopping = true;
    for (const worker of workers()) worker?.process.kill('SIGTERM');
  });
} else {
  const seen = new Set();
  process.on('message', (message) => seen.add(message.seen));
  http
    .createServer((request, response) => {
      process.send?.({ seen: cluster.worker?.id });
      response.end(`${seen.size} seen\n`);
    })
    .listen(Number(process.env.PORT));
}
