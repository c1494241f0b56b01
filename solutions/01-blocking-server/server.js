// #region imports
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { between, blockFor, randomHex } from '#work';
// #endregion imports

const port = process.env.PORT ?? 8080;
const app = express();

// #region home
app.get('/', (request, response) => {
  blockFor(between(10, 20));
  response.type('text').send(randomHex(between(5_000, 10_000)));
});
// #endregion home

// #region report
app.get('/report', async (request, response) => {
  await sleep(100); // the same slow database; meanwhile others are served
  response.json({ rows: 100 });
});
// #endregion report

// #region health
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();

app.get('/health', (request, response) => {
  response.json({ status: 'ok', eventLoopDelayMs: delay.max / 1e6 });
  delay.reset();
});
// #endregion health

app.listen(port, (error) => {
  if (error) throw error;
  console.log(`process ${process.pid} listens on http://127.0.0.1:${port}`);
});
