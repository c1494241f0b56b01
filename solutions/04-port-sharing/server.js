// #region imports
import { fork } from 'node:child_process';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
// #endregion imports
import { parseArgs } from 'node:util';

const port = process.env.PORT ?? 8080;
const options = { give: { type: 'string', default: 'connections' } };
const { give } = parseArgs({ options }).values;
if (!['connections', 'listener'].includes(give)) {
  console.error(`--give must be connections or listener, not "${give}".`);
  process.exit(1);
}

// #region children
const count = Number(process.env.NODE_CLUSTER_WORKERS ?? availableParallelism());
const ready = new Set(); // the children that can take something; the first is the next in turn

for (let number = 1; number <= count; number += 1) {
  const child = fork(new URL('child.js', import.meta.url));
  child.on('message', () => {
    ready.add(child); // 'ready' is all that a child says
    if (ready.size === count) open();
  });
  child.on('exit', () => ready.delete(child));
  child.on('error', (error) => console.error(`child ${child.pid}: ${error.message}`));
}

function open() {
  if (give === 'listener') giveListener();
  else giveConnections();
  console.log(`parent ${process.pid} gives its ${give} to ${count} children, port ${port}`);
}
// #endregion children

// #region connections
function giveConnections() {
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    const [next] = ready;
    if (!next) return socket.destroy(); // they are all dead
    ready.delete(next);
    ready.add(next); // now it is the last
    next.send('connection', socket);
  });
  server.listen(port);
}
// #endregion connections

// #region listener
function giveListener() {
  const server = createServer();
  server.listen(port, () => {
    for (const child of ready) child.send('listener', server);
    server.close(); // our copy; or we would accept as well, and answer nobody
  });
}
// #endregion listener
