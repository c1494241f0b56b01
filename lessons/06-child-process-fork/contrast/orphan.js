// Both have a timer that would end them after a second. Their parent dies before that. Which one notices?
import { fork } from 'node:child_process';
import cluster from 'node:cluster';
import { once } from 'node:events';

const kind = cluster.isWorker ? 'cluster worker' : process.argv[2];
if (kind) {
  let reason = 'its parent is gone';
  process.on('exit', () => console.log(`${kind}: ends because ${reason}`));
  setTimeout(() => {
    reason = 'its time is up';
    process.exit();
  }, 1_000);
  process.send('ready');
} else {
  const child = fork(import.meta.filename, ['forked child']);
  await Promise.all([once(cluster.fork(), 'message'), once(child, 'message')]);
  process.kill(process.pid, 'SIGKILL');
}
