// GET /stall has the primary block for a second. Whom does that hold up?
import cluster from 'node:cluster';
import http from 'node:http';
import { blockFor } from '#work';

if (cluster.isPrimary) {
  for (let count = 0; count < 2; count += 1) cluster.fork();
  cluster.on('message', () => blockFor(1_000));
} else {
  const server = http.createServer((request, response) => {
    if (request.url === '/stall') process.send('block, please');
    response.end(`${process.pid}\n`);
  });
  server.listen(process.env.PORT ?? 8080);
}
