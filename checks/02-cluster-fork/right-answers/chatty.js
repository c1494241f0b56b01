// accepts: console output of every kind: JSON, TAP, escape codes, without an end of line, on stdout and stderr
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import express from 'express';
import { between, blockFor, randomHex, spinFor } from '#work';

const port = process.env.PORT ?? 8080;

console.log(JSON.stringify({ verdict: 'failed', promise: { id: 'one-port', verdict: 'failed' }, pid: process.pid }));
console.log('TAP version 13\nnot ok 1 - every worker answers\n  ---\n  duration_ms: 1\n  ...\n1..1');
console.error('\x1b[31mError: this is no error\x1b[0m\x07 \x1b]0;a title\x07 ✖ \u2028 \ufffd');
process.stdout.write('\x1b[2J\x1b[H no end of line');
console.warn('x'.repeat(5_000));
console.table([{ worker: cluster.worker?.id ?? 'none', pid: process.pid }]);

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
    console.log(`{"t":0,"pid":${process.pid},"what":"request","url":"/"}`);
    blockFor(between(10, 20));
    response.set({ 'X-Worker-Pid': process.pid, 'X-Worker-Served': served });
    response.type('text').send(randomHex(between(5_000, 10_000)));
    process.stderr.write(`served ${served}\r`);
  });

  app.get('/cpu', (request, response) => {
    response.type('text').send(String(spinFor(5)));
  });

  app.listen(port);
}

if (cluster.isPrimary) {
  const workers = workerCount();
  for (let count = 0; count < workers; count += 1) cluster.fork();
} else {
  serve();
}
