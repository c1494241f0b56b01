// accepts: a child that has taken a connection says so before it gets another, as in the cluster module
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
let idle = [];
const waiting = [];
const ready = new Set(); // the children that serve, the next in turn at its head

for (let number = 1; number <= count; number += 1) {
  const child = fork(new URL('child.js', import.meta.url));
  child.on('message', (message) => {
    if (message === 'taken') return free(child);
    ready.add(child);
    idle.push(child);
    if (ready.size === count) open();
  });
  child.on('exit', () => {
    ready.delete(child);
    idle = idle.filter((other) => other !== child);
  });
  child.on('error', ({ message }) => console.error(`child ${child.pid}: ${message}`));
}

function open() {
  console.log(`parent ${process.pid} opens port ${port} for ${count} children and gives ${give}`);
  if (give === 'connections') giveConnections();
  else giveListener();
}

function giveConnections() {
  createServer({ pauseOnConnect: true }, (socket) => {
    waiting.push(socket);
    deal();
  }).listen(port);
}

function free(child) {
  if (!ready.has(child)) return;
  idle.push(child);
  deal();
}

function deal() {
  if (waiting.length === 0 || idle.length === 0) return;
  const socket = waiting.shift();
  idle.shift().send('connection', socket, (error) => {
    if (!error) return;
    waiting.unshift(socket); // that child has just died
    deal();
  });
}

function giveListener() {
  const server = createServer();
  server.listen(port, () => {
    for (const child of ready) child.send('listener', server);
    server.close(); // only our copy; we would accept with it, and answer nobody
  });
}
