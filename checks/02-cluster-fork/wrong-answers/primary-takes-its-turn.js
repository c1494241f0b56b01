// breaks: primary-rests
// The primary deals the connections by hand, and takes each fifth one itself.
import cluster from 'node:cluster';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
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

  return createHttpServer(app);
}

if (cluster.isPrimary) {
  const workers = workerCount();
  const takers = [(socket) => http.emit('connection', socket.resume())];
  const http = serve();
  for (let count = 0; count < workers; count += 1) {
    const worker = cluster.fork();
    takers.push((socket) => worker.send('connection', socket));
  }
  let turn = 0;
  let ready = 0;
  cluster.on('message', () => {
    ready += 1;
    if (ready < workers) return;
    createServer({ pauseOnConnect: true }, (socket) => {
      turn = (turn + 1) % takers.length;
      takers[turn](socket);
    }).listen(port);
  });
} else {
  const http = serve();
  process.on('message', (message, socket) => {
    if (!socket) return;
    http.emit('connection', socket);
    socket.resume();
  });
  process.send('ready');
}
