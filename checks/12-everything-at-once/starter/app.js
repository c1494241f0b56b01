// The routes of the shop. What is behind them is in the other files.
import express from 'express';
import { makeInvoice } from './invoices.js';
import { addOrder, findOrder, readStats } from './orders.js';
import { renderPage, version } from './page.js';

export function createApp() {
  const app = express();
  app.use(express.json());

  app.get('/', (request, response) => {
    response.type('text').send(renderPage());
  });

  // The client makes up the id. If it gets no answer, it sends the same order again.
  app.post('/orders', async (request, response) => {
    const { id, item, pieces } = request.body ?? {};
    const isGood = [id, item].every((text) => typeof text === 'string' && text !== '');
    if (!isGood || !Number.isInteger(pieces) || pieces < 1)
      return response.status(400).json({ error: 'an order has an id, an item, and pieces' });
    response.status(201).json(await addOrder({ id, item, pieces }));
  });

  app.get('/orders/:id', async (request, response) => {
    const order = await findOrder(request.params.id);
    if (order) response.json(order);
    else response.status(404).json({ error: 'there is no such order' });
  });

  app.get('/stats', async (request, response) => {
    response.json(await readStats()); // { orders, pieces }
  });

  app.get('/invoice', async (request, response) => {
    const { order = 'a-1' } = request.query;
    response.json(await makeInvoice(String(order)));
  });

  app.get('/health', (request, response) => {
    response.json({ status: 'ok', version, pid: process.pid });
  });
  return app;
}
