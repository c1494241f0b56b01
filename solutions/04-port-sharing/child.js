// #region imports
import { createServer } from 'node:http';
// #endregion imports
import express from 'express';
import { between, blockFor, randomHex } from '#work';

const app = express();

app.get('/', (request, response) => {
  blockFor(between(10, 20));
  response.type('text').send(randomHex(between(5_000, 10_000)));
});

app.get('/pid', (request, response) => {
  response.type('text').send(`${process.pid}\n`);
});

// #region serve
const server = createServer(app);

process.on('message', (what, handle) => {
  if (!handle) return; // the client has already gone
  if (what === 'listener') server.listen(handle);
  else server.emit('connection', handle);
});

process.on('disconnect', () => process.exit()); // the parent is gone
process.send('ready');
// #endregion serve
