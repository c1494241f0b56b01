// #region orders
import cluster from 'node:cluster';

// In the primary: the only one that counts.
const orders = new Map(); // id → order
let pieces = 0; // sold

const ledger = {
  addOrder(order) {
    if (orders.has(order.id)) return orders.get(order.id); // counted before: only the answer was lost
    orders.set(order.id, order);
    pieces += order.pieces;
    return order;
  },
  findOrder: (id) => orders.get(id),
  readStats: () => ({ orders: orders.size, pieces }),
};

/** In the primary: answers the questions of a worker. */
export function serveOrders(worker) {
  worker.on('message', ({ number, method, args }) => {
    const value = ledger[method](...args);
    worker.send({ number, value }, () => {}); // it may have exited; its client will ask again
  });
}

// In a worker: questions to the primary.
const waiting = new Map(); // number of the question → what takes its answer
let lastNumber = 0;

cluster.worker?.on('message', ({ number, value }) => {
  waiting.get(number)(value);
  waiting.delete(number);
});

function ask(method, ...args) {
  lastNumber += 1;
  process.send({ number: lastNumber, method, args });
  return new Promise((resolve) => waiting.set(lastNumber, resolve));
}

export const addOrder = (order) => ask('addOrder', order);
export const findOrder = (id) => ask('findOrder', id);
export const readStats = () => ask('readStats');
// #endregion orders
