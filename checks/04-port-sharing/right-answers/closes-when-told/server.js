// accepts: the parent closes its copy when every child has said that it listens, and deals what it accepts meanwhile
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
const ready = new Set(); // the children that serve, the next in turn at its head

for (let number = 1; number <= count; number += 1) {
  const child = fork(new URL('child.js', import.meta.url));
  child.on('message', (message) => {
    if (message === 'listening') return noteListening();
    ready.add(child);
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
  if (!next) return socket.destroy();
  ready.delete(next);
  ready.add(next);
  next.send('connection', socket, (error) => error && deal(socket)); // it has just died
}

let listening = 0;
let listener;

function giveListener() {
  listener = createServer({ pauseOnConnect: true }, deal).listen(port, () => {
    for (const child of ready) child.send('listener', listener);
  });
}

function noteListening() {
  listening += 1;
  if (listening === count) listener.close();
}
