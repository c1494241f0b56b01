// #region imports
import express from 'express';
import { between, blockFor, randomHex } from '#work';
// #endregion imports

const port = process.env.PORT ?? 8080;
const app = express();

// #region home
// Task 1: block for 10 to 20 ms, then answer 5,000 to 10,000 random bytes as hex text.
app.get('/', (request, response) => {
  response.type('text').send('hello');
});
// #endregion home

// #region report
// Task 2: a slow database answers after 100 ms. Wait for it without holding up all the others.
app.get('/report', (request, response) => {
  blockFor(100);
  response.json({ rows: 100 });
});
// #endregion report

// #region health
// Task 3: report the longest event-loop delay since /health was last asked, in milliseconds.
app.get('/health', (request, response) => {
  response.json({ status: 'ok', eventLoopDelayMs: 0 });
});
// #endregion health

app.listen(port, (error) => {
  if (error) throw error;
  console.log(`process ${process.pid} listens on http://127.0.0.1:${port}`);
});
