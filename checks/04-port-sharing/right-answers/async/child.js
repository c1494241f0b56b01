import { createServer } from 'node:http';
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

process.on('disconnect', () => process.exit()); // the parent is gone; lesson 6 says more

const server = createServer(app);

process.on('message', (message, handle) => {
  if (!handle) return; // it was closed before it could be sent
  if (message === 'listener') server.listen(handle);
  else server.emit('connection', handle);
});
process.send('ready');
