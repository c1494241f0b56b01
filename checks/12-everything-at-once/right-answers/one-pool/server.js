// accepts: a primary that compares what runs with what should run, one pool for all workers, orders appended to a file
import { fork } from 'node:child_process';
import cluster from 'node:cluster';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const size = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
const team = new Set(); // { worker, age, isUp, isLeaving }
let age = 0; // of the version that is wanted
let isOver = false;

cluster.setupPrimary({ exec: here('worker.js') });
process.on('SIGHUP', () => {
  age += 1;
  compare();
});
process.on('SIGTERM', () => {
  isOver = true;
  compare();
});
process.on('SIGINT', () => process.emit('SIGTERM'));

/** One step towards what should run; each exit and each 'listening' calls for the next. */
function compare() {
  const staying = [...team].filter(({ isLeaving }) => !isLeaving);
  if (isOver) return staying.forEach(dismiss);
  if (staying.some(({ isUp }) => !isUp)) return; // one is starting
  const oldest = staying.reduce((a, b) => (b.age < a.age ? b : a), { age: Infinity });
  if (staying.length > size) dismiss(oldest);
  else if (staying.length < size || oldest.age < age) hire();
}

function hire() {
  const one = { worker: cluster.fork(), age, isUp: false, isLeaving: false };
  team.add(one);
  one.worker.on('message', (question) => answer(one.worker, question));
  one.worker.on('listening', () => {
    one.isUp = true;
    compare();
  });
  one.worker.on('exit', () => {
    team.delete(one);
    if (isOver && team.size === 0) for (const child of children) child.disconnect();
    if (isOver) return;
    if (one.isUp) return compare();
    if (team.size < size) return setTimeout(compare, 300);
    for (const other of team) other.age = age; // the version doesn't boot: those who are there are good enough
  });
}

function dismiss(one) {
  one.isLeaving = true;
  one.worker.process.kill('SIGTERM');
}

const file = here('orders.jsonl');
const orders = new Map();
if (existsSync(file))
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const order = JSON.parse(line);
    orders.set(order.id, order);
  }

const methods = {
  async add(order) {
    if (!orders.has(order.id)) {
      appendFileSync(file, `${JSON.stringify(order)}\n`);
      orders.set(order.id, order);
    }
    return orders.get(order.id);
  },
  find: async (id) => orders.get(id),
  async stats() {
    const pieces = [...orders.values()].map((order) => order.pieces);
    return { orders: orders.size, pieces: pieces.reduce((a, b) => a + b, 0) };
  },
  invoice: (order) => children[(turn += 1) % children.length].make(order),
};

async function answer(worker, { number, method, value }) {
  const result = await methods[method](value);
  if (worker.isConnected()) worker.send({ number, result }, () => {});
}

let turn = 0;
const children = Array.from({ length: 2 }, () => {
  const child = fork(here('maker.js'));
  const waiting = [];
  child.on('message', (invoice) => waiting.shift()(invoice));
  child.make = (order) =>
    new Promise((resolve) => {
      waiting.push(resolve);
      child.send(order);
    });
  return child;
});

compare();
