// accepts: the histogram's 100th percentile instead of its max, started later than the server
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { between, blockFor, randomHex } from '#work';

const app = express();
let delay;

app.get('/', (request, response) => {
  blockFor(between(10, 20));
  response.type('text').send(randomHex(between(5_000, 10_000)));
});

app.get('/report', (request, response) =>
  sleep(100, { rows: 100 }).then((report) => response.json(report)),
);

app.get('/health', (request, response) => {
  response.json({ eventLoopDelayMs: delay.percentile(100) / 1e6, p50: delay.percentile(50) / 1e6 });
  delay.reset();
});

app.listen(process.env.PORT ?? 8080, () => {
  delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
});
