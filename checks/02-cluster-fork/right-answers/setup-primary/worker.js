import express from 'express';
import { between, blockFor, randomHex, spinFor } from '#work';

const app = express();
let served = 0;

app.get('/', (request, response) => {
  served += 1;
  blockFor(between(10, 20));
  response.set({ 'X-Worker-Pid': process.pid, 'X-Worker-Served': served });
  response.type('text').send(randomHex(between(5_000, 10_000)));
});

app.get('/cpu', (request, response) => {
  response.type('text').send(String(spinFor(5)));
});

app.listen(process.env.PORT ?? 8080);
