// Does a new process go on where its parent was, with the parent's variables, as after the fork() of Unix?
import { fork } from 'node:child_process';
import cluster from 'node:cluster';

const kind = cluster.isWorker ? 'cluster worker' : (process.argv[2] ?? 'parent');
let count = 0;
console.log(`${kind}: at the top, count is ${count}`);

if (kind === 'parent') {
  count = 42;
  cluster.fork();
  fork(import.meta.filename, ['forked child']);
} else {
  console.log(`${kind}: at the end, count is ${count}`);
  process.exit();
}
console.log(`${kind}: at the end, count is ${count}`);
