// accepts: Atomics.wait, randomBytes and Math.random by hand, nothing from #work
import { randomBytes, randomInt } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';

const app = express();
const nobody = new Int32Array(new SharedArrayBuffer(4));

app.get('/', (request, response) => {
  Atomics.wait(nobody, 0, 0, 10 + Math.random() * 10);
  response.type('text/plain').send(randomBytes(randomInt(5_000, 10_001)).toString('hex'));
});

app.get('/report', async (request, response) => {
  await sleep(100);
  response.json({ rows: 100 });
});

const loop = monitorEventLoopDelay({ resolution: 5 });
loop.enable();
app.get('/health', (request, response) => {
  const eventLoopDelayMs = loop.max / 1e6;
  loop.reset();
  response.json({ status: 'ok', eventLoopDelayMs, uptime: process.uptime() });
});

app.listen(process.env.PORT ?? 8080);
