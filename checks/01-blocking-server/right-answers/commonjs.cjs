// accepts: CommonJS, and promisify(setTimeout)
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { promisify } = require('node:util');
const express = require('express');
const { between, blockFor, randomHex } = require('#work');

const sleep = promisify(setTimeout);
const app = express();
const delay = monitorEventLoopDelay({ resolution: 2 });
delay.enable();

app.get('/', function (req, res) {
  blockFor(between(10, 20));
  res.type('text').send(randomHex(between(5000, 10000)));
});

app.get('/report', function (req, res, next) {
  sleep(100)
    .then(() => res.json({ rows: 100 }))
    .catch(next);
});

app.get('/health', function (req, res) {
  const max = delay.max;
  delay.reset();
  res.json({ eventLoopDelayMs: Number((max / 1e6).toFixed(3)) });
});

app.listen(process.env.PORT || 8080, () => console.log('up'));
