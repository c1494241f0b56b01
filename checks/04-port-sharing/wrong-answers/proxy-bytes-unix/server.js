// breaks: parent-rests
// The parent passes the bytes on through a Unix socket of each child, which opens no port.
import { fork } from 'node:child_process';
import { connect, createServer } from 'node:net';
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
const addresses = new Map();
const ready = new Set(); // the children that serve, the next in turn at its head

for (let number = 1; number <= count; number += 1) {
  const child = fork(new URL('child.js', import.meta.url));
  child.on('message', (address) => {
    addresses.set(child, address);
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
  const server = createServer((socket) => {
    const [next] = ready;
    if (!next) return socket.destroy();
    ready.delete(next);
    ready.add(next);
    const passedOn = connect(addresses.get(next));
    socket.pipe(passedOn).pipe(socket);
    socket.on('error', () => passedOn.destroy());
    passedOn.on('error', () => socket.destroy());
  });
  server.listen(port);
}

function giveListener() {
  const server = createServer();
  server.listen(port, () => {
    for (const child of ready) child.send('listener', server);
    server.close(); // only our copy; we would accept with it, and answer nobody
  });
}
