// accepts: the address ::, upper-case hex digits, and more rows of words than numbers in /health
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { between, blockFor, randomHex } from '#work';

const app = express();
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

app.get('/', (request, response) => {
  blockFor(between(10, 20));
  response.type('text').send(randomHex(between(5_000, 10_000)).toUpperCase());
});

app.get('/report', async (request, response) => {
  await sleep(100);
  response.json({ rows: 100 });
});

app.get('/health', (request, response) => {
  const eventLoopDelayMs = delay.max / 1e6;
  response.json({ status: eventLoopDelayMs > 100 ? 'slow' : 'ok', eventLoopDelayMs, node: process.version });
  delay.reset();
});

app.listen({ port: process.env.PORT ?? 8080, host: '::' });
