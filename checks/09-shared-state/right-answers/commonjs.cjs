// accepts: CommonJS
const cluster = require('node:cluster');
const { createHash } = require('node:crypto');
const http = require('node:http');
const net = require('node:net');
const { availableParallelism } = require('node:os');
const express = require('express');

const port = process.env.PORT ?? 8080;
const size = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
const at = process.argv.indexOf('--state');
const state = at < 0 ? 'primary' : process.argv[at + 1];

function inTime(promise) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer within a second')), 1_000);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function createCounter() {
  const counts = new Map();
  const done = new Map();
  const read = (name) => counts.get(name) ?? 0;
  const add = (name, id) => {
    if (!done.has(id)) {
      counts.set(name, read(name) + 1);
      done.set(id, read(name));
    }
    return done.get(id);
  };
  return { add, read };
}

function createOwner() {
  const counter = createCounter();
  return (worker) =>
    worker.on('message', ({ ask, method, args }) =>
      worker.send({ ask, count: counter[method](...args) }, () => {}),
    );
}

function createAsker() {
  const waiting = new Map();
  let asks = 0;
  process.on('message', ({ ask, count }) => waiting.get(ask)?.(count));
  const ask = async (method, ...args) => {
    asks += 1;
    const mine = asks;
    process.send({ ask: mine, method, args });
    try {
      return await inTime(new Promise((resolve) => waiting.set(mine, resolve)));
    } finally {
      waiting.delete(mine);
    }
  };
  return { add: (name, id) => ask('add', name, id), read: (name) => ask('read', name) };
}

function createDealer() {
  const places = Array(size).fill(null);
  const placeOf = (address = '') =>
    createHash('md5').update(address).digest().readUInt32LE() % size;
  const deal = (socket) => {
    let place = placeOf(socket.remoteAddress);
    for (let step = 0; step < size && !places[place]; step += 1) place = (place + 1) % size;
    const worker = places[place];
    if (!worker) return socket.destroy();
    worker.send('connection', socket, (error) => {
      if (!error) return;
      places[place] = null;
      deal(socket);
    });
  };
  const server = net.createServer({ pauseOnConnect: true }, deal);
  return (worker, place) => {
    worker.on('message', () => {
      places[place] = worker;
      if (places.every(Boolean) && !server.listening) server.listen(port);
    });
    worker.on('exit', () => {
      if (places[place] === worker) places[place] = null;
    });
  };
}

async function createStore() {
  const { createClient } = require('@redis/client');
  const script = `
    if redis.call('EXISTS', KEYS[2]) == 0 then
      redis.call('SET', KEYS[2], redis.call('INCR', KEYS[1]), 'EX', 600)
    end
    return redis.call('GET', KEYS[2])`;
  const client = createClient({
    url: process.env.REDIS_URL,
    disableOfflineQueue: true,
    socket: { reconnectStrategy: 100 },
  });
  client.on('error', (error) => console.error(error.message));
  client.connect();
  return {
    add: async (name, id) =>
      Number(await inTime(client.eval(script, { keys: [`count:${name}`, `id:${id}`] }))),
    read: async (name) => Number(await inTime(client.get(`count:${name}`))),
  };
}

function createApp(counter) {
  const app = express();
  const visits = {};
  const telling = (count) => async (request, response) => {
    try {
      const { name } = request.params;
      const told = await count(name, request.query.id ?? Math.random());
      response.json({ name, count: told, pid: process.pid });
    } catch (error) {
      response.status(503).json({ error: error.message, pid: process.pid });
    }
  };
  app.post('/count/:name', telling(counter.add));
  app.get('/count/:name', telling(counter.read));
  app.get('/visits', (request, response) => {
    const client = request.socket.remoteAddress;
    visits[client] = (visits[client] ?? 0) + 1;
    response.json({ client, visits: visits[client], pid: process.pid });
  });
  return app;
}

function keep(place, welcome) {
  const worker = cluster.fork();
  welcome(worker, place);
  worker.on('exit', () => setTimeout(keep, 100, place, welcome));
}

async function serve() {
  const counter = await ({ primary: createAsker, redis: createStore }[state]?.() ?? createCounter());
  const app = createApp(counter);
  if (state !== 'sticky') return app.listen(port);
  const server = http.createServer(app);
  process.on('message', (message, socket) => socket && server.emit('connection', socket));
  process.send('ready');
}

if (cluster.isPrimary) {
  const welcome = { primary: createOwner, sticky: createDealer }[state]?.() ?? (() => {});
  for (let place = 0; place < size; place += 1) keep(place, welcome);
} else {
  serve();
}
