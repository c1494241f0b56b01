// #region imports
import express from 'express';
import { between, blockFor, randomHex } from '#work';
// #endregion imports

const app = express();

app.get('/', (request, response) => {
  blockFor(between(10, 20));
  response.type('text').send(randomHex(between(5_000, 10_000)));
});

app.get('/pid', (request, response) => {
  response.type('text').send(`${process.pid}\n`);
});

process.on('disconnect', () => process.exit()); // the parent is gone

// #region serve
// Tasks 1 to 3: tell the parent that you are ready, and serve what it sends.
const port = process.env.PORT ?? 8080;

app.listen(port, (error) => {
  if (error) throw error;
  console.log(`process ${process.pid} listens on http://127.0.0.1:${port}`);
});
// #endregion serve
