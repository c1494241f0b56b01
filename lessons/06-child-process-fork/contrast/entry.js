// Which file does each of them run, and with which arguments? Try it with one: node entry.js --verbose
import { fork } from 'node:child_process';
import cluster from 'node:cluster';
import { basename } from 'node:path';

if (cluster.isPrimary) {
  cluster.fork();
  fork(new URL('hello.js', import.meta.url), ['--mine']);
} else {
  const [, file, ...args] = process.argv;
  console.log(`cluster worker: runs ${basename(file)} with [${args}]`);
  process.exit();
}
