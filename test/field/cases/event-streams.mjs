// Event streams hold a worker that should exit: neither a reload nor a stop finishes. After nodules/luster#36.
import cluster from 'node:cluster';
import http from 'node:http';

if (cluster.isPrimary) {
  for (let count = 0; count < 2; count += 1) cluster.fork();
  let isStopping = false;
  cluster.on('exit', (worker) => {
    if (!isStopping && !worker.exitedAfterDisconnect) cluster.fork();
  });
  process.on('SIGHUP', () => {
    for (const old of Object.values(cluster.workers ?? {}))
      cluster.fork().once('listening', () => old?.disconnect());
  });
  process.on('SIGTERM', () => {
    isStopping = true;
    cluster.disconnect(() => process.exit(0));
  });
} else {
  process.on('SIGTERM', () => {}); // the primary says when
  http
    .createServer((request, response) => {
      if (request.url !== '/events') return void response.end('shop\n');
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      const timer = setInterval(() => response.write(`data: ${Date.now()}\n\n`), 500);
      response.write('data: hello\n\n');
      response.on('close', () => clearInterval(timer));
    })
    .listen(Number(process.env.PORT));
}
