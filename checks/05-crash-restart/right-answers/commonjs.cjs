// accepts: CommonJS; worker.kill() for the stop, which is SIGTERM; one count for all crashes in a row
const cluster = require('node:cluster');
const os = require('node:os');
const express = require('express');
const { between, blockFor, randomHex } = require('#work');

const PORT = process.env.PORT || 8080;
const N = Number(process.env.NODE_CLUSTER_WORKERS || os.availableParallelism());

if (cluster.isPrimary) {
  let crashes = 0;
  let shuttingDown = false;
  const shutdown = function () {
    shuttingDown = true;
    for (const id in cluster.workers) cluster.workers[id].kill();
  };
  process.on('SIGINT', shutdown);
  process.on('SIGTERM', shutdown);
  cluster.on('listening', () => (crashes = 0));
  cluster.on('exit', function (worker, code, signal) {
    const verb = worker.exitedAfterDisconnect ? 'left' : 'died';
    console.log('worker %d %s (%s)', worker.process.pid, verb, signal || 'code ' + code);
    if (shuttingDown || worker.exitedAfterDisconnect) return;
    const delay = 100 * Math.pow(2, crashes);
    crashes++;
    if (crashes > 4) {
      console.error('Giving up after ' + crashes + ' crashes without a success');
      process.exit(1);
    }
    setTimeout(function () {
      if (!shuttingDown) cluster.fork();
    }, delay);
  });
  for (let i = 0; i < N; i++) cluster.fork();
} else {
  const app = express();
  app.get('/', (req, res) => {
    blockFor(between(10, 20));
    res.type('text').send(randomHex(between(5000, 10000)));
  });
  app.get('/report', (req, res) => {
    setTimeout(() => res.json({ rows: 100 }), 300);
  });
  app.get('/buggy', () => setTimeout(() => undefined.rows, 10));
  app.listen(PORT, (error) => {
    if (error) throw error;
  });
  process.on('SIGTERM', () => cluster.worker.exitedAfterDisconnect || cluster.worker.disconnect());
  process.on('SIGINT', () => {});
}
