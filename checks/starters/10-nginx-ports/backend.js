// One server, on HOST and PORT. It does not know whether it is one of many ports or a worker.
import express from 'express';
import { between, blockFor, randomHex } from '#work';

const { HOST = '127.0.0.1', PORT = 0 } = process.env; // 0: any port that is free

const app = express();
app.set('trust proxy', 1); // one proxy stands before us, and we believe it who the client is

app.get('/', (request, response) => {
  blockFor(between(10, 20));
  response.type('text').send(randomHex(between(5_000, 10_000)));
});

app.get('/report', (request, response) => {
  setTimeout(() => response.json({ rows: 100 }), 300); // a slow database
});

app.get('/pid', (request, response) => {
  response.type('text').send(`${process.pid}\n`);
});

app.get('/client', (request, response) => {
  response.type('text').send(`${request.ip}\n`);
});

const server = app.listen(Number(PORT), HOST, (error) => {
  if (error) throw error;
  const { address, port } = server.address();
  process.send?.(`${address}:${port}`);
});

process.on('SIGINT', () => {}); // Ctrl-C reaches us too: whoever has started us says what it means
process.on('SIGTERM', () => server.close(() => process.exit()));
process.on('disconnect', () => process.exit()); // whoever has started us is gone
