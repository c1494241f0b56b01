// One process that listens, and a pool of threads that do the work.
import http from 'node:http';
import { Worker, isMainThread, parentPort } from 'node:worker_threads';
import { work } from '../app.js';

if (isMainThread) listen(Number(process.env.NODE_CLUSTER_WORKERS));
parentPort?.on('message', async ({ id, url }) => {
  parentPort?.postMessage({ id, body: await work(url) });
});

function listen(count) {
  const waiting = new Map();
  let turn = 0;
  const threads = Array.from({ length: count }, () => new Worker(new URL(import.meta.url)));
  for (const thread of threads)
    thread.on('message', ({ id, body }) => {
      waiting.get(id).end(body);
      waiting.delete(id);
    });
  const server = http.createServer(({ url }, response) => {
    turn += 1;
    waiting.set(turn, response);
    threads[turn % count].postMessage({ id: turn, url });
  });
  server.listen(process.env.PORT);
}
