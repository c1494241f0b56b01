// accepts: async functions, and an array of the children that are connected
import { fork } from 'node:child_process';
import { once } from 'node:events';
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

const size = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());

async function startChild() {
  const child = fork(new URL('child.js', import.meta.url));
  await once(child, 'message');
  child.on('error', () => {});
  return child;
}

const children = await Promise.all(Array.from({ length: size }, startChild));
let turn = 0;

const server = createServer({ pauseOnConnect: true }, (socket) => {
  for (let tries = 0; tries < size; tries += 1) {
    const child = children[turn++ % size];
    if (child.connected && child.exitCode === null && child.signalCode === null)
      return child.send('connection', socket);
  }
  socket.destroy();
});

server.listen(port);
if (give === 'listener') {
  await once(server, 'listening');
  await Promise.all(
    children.map((child) => new Promise((sent) => child.send('listener', server, sent))),
  );
  server.close();
}
