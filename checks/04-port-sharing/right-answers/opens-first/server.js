// accepts: the port is open from the start; who comes too early waits in the parent, and is dealt later
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
const waiting = [];
const ready = new Set(); // the children that serve, the next in turn at its head

for (let number = 1; number <= count; number += 1) {
  const child = fork(new URL('child.js', import.meta.url));
  child.on('message', () => {
    ready.add(child); // 'ready' is all that a child ever says
    while (waiting.length > 0) deal(waiting.shift());
    if (ready.size === count && give === 'listener') giveListener();
  });
  child.on('exit', () => ready.delete(child));
  child.on('error', ({ message }) => console.error(`child ${child.pid}: ${message}`));
}

const server = createServer({ pauseOnConnect: true }, deal).listen(port);

function deal(socket) {
  const [next] = ready;
  if (!next) return waiting.push(socket);
  ready.delete(next);
  ready.add(next);
  next.send('connection', socket, (error) => error && deal(socket)); // it has just died
}

function giveListener() {
  let left = count;
  const sent = () => {
    left -= 1;
    if (left === 0) server.close(); // not sooner: it may be waiting behind a connection
  };
  for (const child of ready) child.send('listener', server, sent);
}
