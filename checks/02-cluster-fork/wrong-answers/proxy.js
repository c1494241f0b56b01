// breaks: one-port, primary-rests, own-memory
// The workers listen on ports of their own and the primary passes every request on by HTTP.
import cluster from 'node:cluster';
import http from 'node:http';
import { availableParallelism } from 'node:os';
import express from 'express';
import { between, blockFor, randomHex, spinFor } from '#work';

const port = process.env.PORT ?? 8080;

function workerCount(wanted = process.env.NODE_CLUSTER_WORKERS) {
  if (wanted === undefined) return availableParallelism();
  if (/^[1-9]\d?$/.test(wanted)) return Number(wanted);
  console.error(`NODE_CLUSTER_WORKERS must be a whole number from 1 to 99, not "${wanted}".`);
  process.exit(1);
}

function serve() {
  const app = express();

  let served = 0;

  app.get('/', (request, response) => {
    served += 1;
    blockFor(between(10, 20));
    response.set({ 'X-Worker-Pid': process.pid, 'X-Worker-Served': served });
    response.type('text').send(randomHex(between(5_000, 10_000)));
  });

  app.get('/cpu', (request, response) => {
    response.type('text').send(String(spinFor(5)));
  });

  app.listen(Number(port) + cluster.worker.id);
}

if (cluster.isPrimary) {
  const workers = workerCount();
  for (let count = 0; count < workers; count += 1) cluster.fork();
  let turn = 0;
  const proxy = http.createServer((request, response) => {
    turn = (turn % workers) + 1;
    const target = { port: Number(port) + turn, path: request.url, headers: request.headers };
    const passedOn = http.get(target, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passedOn.on('error', () => response.destroy());
  });
  let ready = 0;
  cluster.on('listening', () => {
    ready += 1;
    if (ready === workers) proxy.listen(port);
  });
} else {
  serve();
}
