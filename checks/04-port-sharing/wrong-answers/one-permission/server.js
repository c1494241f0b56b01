// breaks: speedup
// A child asks the parent for the one permission there is before it does its work.
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
    if (message !== 'ready') return permit(child, message);
    ready.add(child);
    if (ready.size === count) open();
  });
  child.on('exit', () => {
    ready.delete(child);
    if (queue[0] === child) permit(child, 'release');
  });
  child.on('error', ({ message }) => console.error(`child ${child.pid}: ${message}`));
}

const queue = [];

function permit(child, message) {
  if (message === 'acquire') queue.push(child);
  else queue.shift();
  if (message === 'release' || queue.length === 1) queue[0]?.send('granted');
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
  next.send('connection', socket, (error) => error && deal(socket)); // it has just died
}

function giveListener() {
  const server = createServer();
  server.listen(port, () => {
    for (const child of ready) child.send('listener', server);
    server.close(); // only our copy; we would accept with it, and answer nobody
  });
}
