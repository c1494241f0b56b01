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

process.on('disconnect', () => process.exit()); // the parent is gone; lesson 6 tells more

app.listen(process.env.PORT ?? 8080);
