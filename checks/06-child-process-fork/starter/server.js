import { availableParallelism } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import express from 'express';
import { createPool } from './pool.js';

const port = process.env.PORT ?? 8080;
const pool = createPool(Number(process.env.JOB_CHILDREN ?? availableParallelism()));
const app = express();

app.get('/', (request, response) => {
  response.type('text').send('hello\n');
});

// #region report
// Task 3: when the child that builds it dies, answer 503 and say why.
app.get('/report', async (request, response) => {
  const { name = 'ada', rows = 100_000 } = request.query;
  const job = { name, rows: Math.min(Number(rows), 2_000_000) };
  response.json({ ...job, digest: await pool.run(job) });
});
// #endregion report

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();

app.get('/health', (request, response) => {
  response.json({ status: 'ok', eventLoopDelayMs: delay.max / 1e6 });
  delay.reset();
});

app.listen(port, (error) => {
  if (error) throw error;
  console.log(`process ${process.pid} listens on http://127.0.0.1:${port}`);
});
