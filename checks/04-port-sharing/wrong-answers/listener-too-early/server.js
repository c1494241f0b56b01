// breaks: listener-shared
// The listener is sent before a child is ready: Node accepts for it, and nobody is there to serve.
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
const children = [];
const ready = new Set(); // the children that serve, the next in turn at its head

for (let number = 1; number <= count; number += 1) {
  const child = fork(new URL('child.js', import.meta.url));
  children.push(child);
  child.on('message', () => {
    ready.add(child); // 'ready' is all that a child ever says
    if (ready.size === count && give === 'connections') open();
  });
  child.on('exit', () => ready.delete(child));
  child.on('error', ({ message }) => console.error(`child ${child.pid}: ${message}`));
}

if (give === 'listener') open();

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
    for (const child of children) child.send('listener', server);
    server.close(); // only our copy; we would accept with it, and answer nobody
  });
}
