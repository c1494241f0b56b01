// Neither has anything to do. Who stays?
import { fork } from 'node:child_process';
import cluster from 'node:cluster';

if (cluster.isPrimary && process.argv[2] !== 'idle') {
  const kinds = {
    'cluster worker': cluster.fork().process,
    'forked child': fork(import.meta.filename, ['idle']),
  };
  setTimeout(() => {
    for (const [kind, { exitCode }] of Object.entries(kinds))
      console.log(`${kind}: ${exitCode === null ? 'is there' : `ended, exit code ${exitCode}`}`);
    process.exit();
  }, 1_000);
}
