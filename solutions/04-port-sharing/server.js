// #region imports
import { fork } from 'node:child_process';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
// #endregion imports

const port = process.env.PORT ?? 8080;

const options = { give: { type: 'string', default: 'connections' } };
const { give } = parseArgs({ options }).values;
if (!['connections', 'listener'].includes(give)) {
  console.error(`--give must be connections or listener, not "${give}".`);
  process.exit(1);
}

// #region children
const count = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
const ready = new Set(); // the children that serve, the next in turn first

for (let number = 1; number <= count; number += 1) {
  const child = fork(new URL('child.js', import.meta.url));
  child.on('message', () => {
    ready.add(child); // 'ready' is all that a child ever says
    if (ready.size === count) open();
  });
  child.on('exit', () => ready.delete(child));
  child.on('error', ({ message }) => console.error(`child ${child.pid}: ${message}`));
}

function open() {
  if (give === 'connections') giveConnections();
  else giveListener();
}

function tell() {
  console.log(`parent ${process.pid} has opened port ${port} for ${count} children, gives ${give}`);
}
// #endregion children

// #region connections
function giveConnections() {
  createServer({ pauseOnConnect: true }, deal).listen(port, tell);
}

function deal(socket) {
  const [next] = ready;
  if (!next) return socket.destroy(); // none is left
  ready.delete(next);
  ready.add(next); // its next turn comes after all the others
  next.send('connection', socket, (error) => {
    if (!error) return;
    ready.delete(next); // it has just died; 'exit' comes later
    deal(socket);
  });
}
// #endregion connections

// #region listener
function giveListener() {
  const server = createServer();
  server.listen(port, () => {
    tell();
    for (const child of ready) child.send('listener', server);
    server.close(); // our copy: we would accept clients, and answer none
  });
}
// #endregion listener
