// Processes with one socket each on the same port: the kernel chooses (reusePort, Node.js 23.1).
import { fork } from 'node:child_process';
import http from 'node:http';
import { handle } from '../app.js';

if (process.env.IS_CHILD) {
  http.createServer(handle).listen({ port: process.env.PORT, reusePort: true });
  process.on('disconnect', () => process.exit());
} else {
  for (let count = Number(process.env.NODE_CLUSTER_WORKERS); count > 0; count -= 1) startOne();
}

function startOne() {
  const env = { ...process.env, IS_CHILD: '1' };
  fork(new URL(import.meta.url), { env }).on('exit', startOne);
}
