// accepts: setTimeout with a callback, no promise and no async anywhere
import { monitorEventLoopDelay } from 'node:perf_hooks';
import express from 'express';
import { between, blockFor, randomHex } from '#work';

const app = express();
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();

app.get('/', (request, response) => {
  const bytes = between(5_000, 10_000);
  blockFor(between(10, 20));
  response.type('text').send(randomHex(bytes));
});

app.get('/report', (request, response) => {
  setTimeout(() => response.json({ rows: 100 }), 100);
});

app.get('/health', (request, response) => {
  response.json({ status: 'ok', eventLoopDelayMs: delay.max / 1e6 });
  delay.reset();
});

app.listen(process.env.PORT ?? 8080);
