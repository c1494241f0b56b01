// accepts: CommonJS
const cluster = require('node:cluster');
const os = require('node:os');
const express = require('express');
const { between, blockFor, randomHex, spinFor } = require('#work');

const PORT = process.env.PORT || 8080;

if (cluster.isPrimary) {
  const wanted = process.env.NODE_CLUSTER_WORKERS;
  const count = Number(wanted ?? os.availableParallelism());
  if (wanted !== undefined && (!Number.isInteger(count) || count < 1 || count > 99)) {
    console.error('NODE_CLUSTER_WORKERS must be between 1 and 99, got ' + wanted);
    process.exit(1);
  }
  for (let i = 0; i < count; i++) {
    cluster.fork();
  }
  cluster.on('online', function (worker) {
    console.log('worker', worker.id, 'is online');
  });
} else {
  const app = express();
  let served = 0;

  app.get('/', function (req, res) {
    served++;
    blockFor(between(10, 20));
    res.set('X-Worker-Pid', process.pid);
    res.set('X-Worker-Served', served);
    res.type('text').send(randomHex(between(5000, 10000)));
  });
  app.get('/cpu', (req, res) => res.type('text').send(String(spinFor(5))));
  app.listen(PORT);
}
