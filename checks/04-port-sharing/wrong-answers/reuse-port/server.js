// breaks: one-opener
// Each child opens the port with reusePort. Node before 22.12 ignores that option.
import { fork } from 'node:child_process';
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
  child.on('message', () => {
    ready.add(child); // 'ready' is all that a child ever says
  });
  child.on('exit', () => ready.delete(child));
  child.on('error', ({ message }) => console.error(`child ${child.pid}: ${message}`));
}

