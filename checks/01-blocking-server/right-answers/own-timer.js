// accepts: the delay measured with a timer of one's own, as what it comes too late by
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { between, blockFor, randomHex } from '#work';

const app = express();

app.get('/', (request, response) => {
  blockFor(between(10, 20));
  response.type('text').send(randomHex(between(5_000, 10_000)));
});

app.get('/report', async (request, response) => {
  await sleep(100);
  response.json({ rows: 100 });
});

const EVERY_MS = 2;
let longest = 0;
let last = performance.now();
setInterval(() => {
  const now = performance.now();
  longest = Math.max(longest, now - last - EVERY_MS);
  last = now;
}, EVERY_MS);

app.get('/health', (request, response) => {
  response.json({ status: 'ok', eventLoopDelayMs: longest });
  longest = 0;
});

app.listen(process.env.PORT ?? 8080);
