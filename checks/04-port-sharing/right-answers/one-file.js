// accepts: one file that forks itself, without Express; a client whose child has died is sent away, and knows it
import { fork } from 'node:child_process';
import http from 'node:http';
import net from 'node:net';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { between, blockFor, randomHex } from '#work';

const handlers = {
  '/': (response) => {
    blockFor(between(10, 20));
    response.setHeader('Content-Type', 'text/plain').end(randomHex(between(5_000, 10_000)));
  },
  '/pid': (response) => response.end(String(process.pid)),
};

function child() {
  const server = http.createServer(({ url }, response) => handlers[url](response));
  process.on('message', (kind, handle) => {
    if (kind === 'socket' && handle) server.emit('connection', handle);
    if (kind === 'server') server.listen(handle);
  });
  process.on('disconnect', () => process.exit());
  process.send({ isReady: true });
}

function parent(way) {
  const size = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
  let children = [];
  let turn = 0;
  const ways = {
    connections: () =>
      net.createServer({ pauseOnConnect: true }, (socket) => {
        turn += 1;
        children[turn % children.length]?.send('socket', socket, (error) => error && socket.destroy());
      }),
    listener: () =>
      net.createServer().on('listening', function () {
        for (const one of children) one.send('server', this);
        this.close();
      }),
  };
  for (let left = size; left > 0; left -= 1) {
    const one = fork(fileURLToPath(import.meta.url), ['--child']);
    one.once('message', () => {
      children.push(one);
      if (children.length === size) ways[way]().listen(process.env.PORT ?? 8080);
    });
    one.on('error', () => {});
    one.on('exit', () => (children = children.filter((other) => other !== one)));
  }
}

const args = process.argv.slice(2);
if (args.includes('--child')) child();
else parent(args[args.indexOf('--give') + 1] ?? 'connections');
