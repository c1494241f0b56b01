// Which of them gets its own debugger port? Run it with one: node --inspect inspect.js
import { fork } from 'node:child_process';
import cluster from 'node:cluster';
import { url } from 'node:inspector';

const kind = cluster.isWorker ? 'cluster worker' : (process.argv[2] ?? 'parent');
console.log(`${kind}: ${url() ? `port ${new URL(url()).port}` : 'no debugger'}`);
if (kind === 'parent') {
  cluster.fork();
  fork(import.meta.filename, ['forked child']);
  fork(import.meta.filename, ['forked child, told'], { execArgv: ['--inspect=127.0.0.1:0'] });
} else process.exit();
