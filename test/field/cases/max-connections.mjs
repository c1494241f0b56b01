// In a cluster maxConnections refuses no client: the primary keeps offering the connection to full workers, and half of the
// clients are never served. After nodejs/node#54882.
import cluster from 'node:cluster';
import http from 'node:http';

if (cluster.isPrimary) {
  for (let count = 0; count < 2; count += 1) cluster.fork();
  cluster.on('exit', () => cluster.fork());
} else {
  const server = http.createServer((request, response) => {
    setTimeout(() => response.end('ok\n'), 20);
  });
  server.maxConnections = 5;
  server.listen(Number(process.env.PORT));
}
