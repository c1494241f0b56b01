// breaks: home-body
// It mixes up the two tasks' numbers: 15 random bytes, a fixed number of them.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { between, blockFor, randomHex } from '#work';

const port = process.env.PORT ?? 8080;
const app = express();

app.get('/', (request, response) => {
  blockFor(between(10, 20));
  response.type('text').send(randomHex(15));
});

app.get('/report', async (request, response) => {
  await sleep(100);
  response.json({ rows: 100 });
});

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();

app.get('/health', (request, response) => {
  response.json({ status: 'ok', eventLoopDelayMs: delay.max / 1e6 });
  delay.reset();
});

app.listen(port);
