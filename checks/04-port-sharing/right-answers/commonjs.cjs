// accepts: CommonJS, one file, and an environment variable tells the child what it is
'use strict';
const { fork } = require('node:child_process');
const { createServer } = require('node:net');
const { availableParallelism } = require('node:os');
const express = require('express');

if (process.env.IS_CHILD) {
  import('#work').then(serve);
} else {
  const server = createServer({ pauseOnConnect: true });
  const way = process.argv[process.argv.indexOf('--give') + 1];
  const wanted = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
  const kids = new Map();
  for (let i = 0; i < wanted; i++) {
    const kid = fork(__filename, { env: { ...process.env, IS_CHILD: '1' } });
    kid.on('message', () => {
      kids.set(kid.pid, kid);
      if (kids.size === wanted) server.listen(process.env.PORT ?? 8080);
    });
    kid.on('exit', () => kids.delete(kid.pid));
    kid.on('error', (error) => console.error(error.code));
  }
  let next = -1;
  server.on('connection', deal);
  function deal(socket) {
    const list = [...kids.values()];
    if (list.length === 0) return socket.destroy();
    next = (next + 1) % list.length;
    list[next].send('c', socket, (error) => error && deal(socket));
  }
  server.on('listening', () => {
    if (way !== 'listener') return;
    for (const kid of kids.values()) kid.send('l', server);
    server.close();
  });
}

function serve({ between, blockFor, randomHex }) {
  const app = express();
  app.get('/', (request, response) => {
    blockFor(between(10, 20));
    response.type('text').send(randomHex(between(5_000, 10_000)));
  });
  app.get('/pid', (request, response) => response.send(`${process.pid}`));
  const server = require('node:http').createServer(app);
  process.on('message', (what, handle) => {
    if (what === 'l') server.listen(handle);
    else if (handle) server.emit('connection', handle);
  });
  process.once('disconnect', () => process.exit());
  process.send('up');
}
