// breaks: health-tells-delay
// /health tells a number that somebody measured once.
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { between, blockFor, randomHex } from '#work';

const port = process.env.PORT ?? 8080;
const app = express();

app.get('/', (request, response) => {
  blockFor(between(10, 20));
  response.type('text').send(randomHex(between(5_000, 10_000)));
});

app.get('/report', async (request, response) => {
  await sleep(100);
  response.json({ rows: 100 });
});

app.get('/health', (request, response) => {
  response.json({ status: 'ok', eventLoopDelayMs: 12.5 });
});

app.listen(port);
