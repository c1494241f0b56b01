import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import { blockFor } from '#work';

const app = express();
const tellPid = (request, response) => response.type('text').send(`${process.pid}`);

function counts() {
  const id = randomUUID();
  return new Promise((resolve) => {
    process.on('message', function listen(message) {
      if (message.id !== id) return;
      process.off('message', listen);
      resolve(message.served);
    });
    process.send({ kind: 'counts', id });
  });
}

app.get('/counts', async (request, response) => response.json(await counts()));
app.get('/block', (request, response, next) => next(blockFor(500)));
app.get('/wait', async (request, response, next) => next(await sleep(500)));
app.get('/', (request, response, next) => {
  process.send({ kind: 'served' });
  next();
});
app.get(['/', '/block', '/wait'], tellPid);
process.setMaxListeners(0);
app.listen(process.env.PORT ?? 8080);
