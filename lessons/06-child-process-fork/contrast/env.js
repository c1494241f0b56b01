// Both are given one variable. What becomes of the parent's own?
import { fork } from 'node:child_process';
import cluster from 'node:cluster';

const kind = cluster.isWorker ? 'cluster worker' : process.argv[2];
if (kind) {
  const { GIVEN, PATH } = process.env;
  console.log(`${kind}: GIVEN is ${GIVEN}, PATH is ${PATH ? 'there' : 'missing'}`);
  process.exit();
}

const env = { GIVEN: 'yes' };
cluster.fork(env);
fork(import.meta.filename, ['forked child, env replaced'], { env });
fork(import.meta.filename, ['forked child, env merged'], { env: { ...process.env, ...env } });
