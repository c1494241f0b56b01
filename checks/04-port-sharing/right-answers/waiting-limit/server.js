// accepts: at most 20 connections wait for a child; the oldest is closed then, and the child expects that
import { fork } from 'node:child_process';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

const port = process.env.PORT ?? 8080;

const options = { give: { type: 'string', default: 'connections' } };
const { give } = parseArgs({ options }).values;
if (!['connections', 'listener'].includes(give)) {
  console.error(`--give must be connections or listener, not "${give}".`);
  process.exit(1);
}

const count = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
const waitingFor = new Map();
const ready = new Set(); // the children that serve, the next in turn at its head

for (let number = 1; number <= count; number += 1) {
  const child = fork(new URL('child.js', import.meta.url));
  child.on('message', () => {
    waitingFor.set(child, new Set());
    ready.add(child); // 'ready' is all that a child ever says
    if (ready.size === count) open();
  });
  child.on('exit', () => ready.delete(child));
  child.on('error', ({ message }) => console.error(`child ${child.pid}: ${message}`));
}

function open() {
  console.log(`parent ${process.pid} opens port ${port} for ${count} children and gives ${give}`);
  if (give === 'connections') giveConnections();
  else giveListener();
}

function giveConnections() {
  createServer({ pauseOnConnect: true }, deal).listen(port);
}

function deal(socket) {
  const [next] = ready;
  if (!next) return socket.destroy(); // none is left
  ready.delete(next);
  ready.add(next); // its next turn comes after all the others
  limit(waitingFor.get(next), socket);
  next.send('connection', socket, (error) => {
    waitingFor.get(next).delete(socket);
    if (error) deal(socket);
  });
}

function limit(waiting, socket) {
  waiting.add(socket);
  const [oldest] = waiting;
  if (waiting.size <= 20) return;
  waiting.delete(oldest);
  oldest.destroy();
}

function giveListener() {
  const server = createServer();
  server.listen(port, () => {
    for (const child of ready) child.send('listener', server);
    server.close(); // only our copy; we would accept with it, and answer nobody
  });
}
