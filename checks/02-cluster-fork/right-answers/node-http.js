// accepts: node:http instead of Express, process.exitCode instead of process.exit()
import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { availableParallelism } from 'node:os';
import { between, blockFor, randomHex, spinFor } from '#work';

const { PORT = '8080', NODE_CLUSTER_WORKERS } = process.env;

if (cluster.isWorker) {
  let served = 0;
  const server = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/plain');
    if (request.url === '/cpu') return response.end(`${spinFor(5)}`);
    if (request.url !== '/') return response.writeHead(404).end();
    served += 1;
    blockFor(between(10, 20));
    response.writeHead(200, { 'x-worker-pid': process.pid, 'x-worker-served': served });
    response.end(randomHex(between(5_000, 10_000)));
  });
  server.listen({ port: Number(PORT), host: '0.0.0.0' });
} else if (NODE_CLUSTER_WORKERS === undefined || /^[1-9]\d?$/.test(NODE_CLUSTER_WORKERS)) {
  const length = Number(NODE_CLUSTER_WORKERS ?? availableParallelism());
  Array.from({ length }, () => cluster.fork());
} else {
  process.stderr.write(`NODE_CLUSTER_WORKERS: ${NODE_CLUSTER_WORKERS} is no number from 1 to 99\n`);
  process.exitCode = 1;
}
