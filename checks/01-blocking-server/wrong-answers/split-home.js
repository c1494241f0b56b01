// breaks: home-alone
// / blocks twice and gives the event loop back in between, so that other requests begin before it ends.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { between, blockFor, randomHex } from '#work';

const port = process.env.PORT ?? 8080;
const app = express();

app.get('/', async (request, response) => {
  const body = randomHex(between(5_000, 10_000));
  blockFor(between(5, 10));
  await sleep(1);
  blockFor(between(5, 10));
  response.type('text').send(body);
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
