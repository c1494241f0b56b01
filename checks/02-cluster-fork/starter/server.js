// #region imports
import express from 'express';
import { between, blockFor, randomHex, spinFor } from '#work';
// #endregion imports

const port = process.env.PORT ?? 8080;

// #region count
// Task 3: how many workers? NODE_CLUSTER_WORKERS says; unset, one for each core that this process may use.
// Refuse anything but a whole number from 1 to 99: say so, and exit with code 1.
// #endregion count

function serve() {
  const app = express();

  // #region answer
  // Task 2: say who answered, in two headers: X-Worker-Pid, and X-Worker-Served, how many
  // requests for / this process has had, this one included.
  app.get('/', (request, response) => {
    blockFor(between(10, 20));
    response.type('text').send(randomHex(between(5_000, 10_000)));
  });
  // #endregion answer

  app.get('/cpu', (request, response) => {
    response.type('text').send(String(spinFor(5)));
  });

  app.listen(port, (error) => {
    if (error) throw error;
    console.log(`process ${process.pid} listens on http://127.0.0.1:${port}`);
  });
}

// #region start
// Task 1: the primary forks four workers and serves nothing itself; each worker serves.
serve();
// #endregion start
