// The parent is in a different folder from its files. What does fork find?
import { fork } from 'node:child_process';
import cluster from 'node:cluster';
import { tmpdir } from 'node:os';

if (cluster.isWorker) {
  console.log(`cluster worker: runs in ${process.cwd()}`);
  process.exit();
}
process.chdir(tmpdir());
cluster.fork();
fork(new URL('hello.js', import.meta.url), ['by URL']);
fork(new URL('hello.js', import.meta.url), ['by URL, with cwd'], { cwd: '/' });
fork('./hello.js', { silent: true }).on('exit', (code) => {
  console.log(`forked child, by './hello.js': exit code ${code}`);
});
