// accepts: no pool.js, children started before the first request, ids by randomUUID
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import express from 'express';

const size = Number(process.env.JOB_CHILDREN ?? availableParallelism());
const jobFile = fileURLToPath(new URL('./job.js', import.meta.url));
const freed = new EventEmitter().setMaxListeners(0);
const free = [];

function addChild() {
  const child = fork(jobFile, [], { env: { ...process.env, KIND: 'job' } });
  child.once('exit', () => {
    const index = free.indexOf(child);
    if (index >= 0) free.splice(index, 1);
    addChild();
  });
  free.push(child);
  freed.emit('free');
}
for (let count = 0; count < size; count += 1) addChild();

async function build(job) {
  while (free.length === 0) await once(freed, 'free');
  const child = free.shift();
  const id = randomUUID();
  const digest = await new Promise((resolve) => {
    const gone = () => resolve(undefined);
    child.once('exit', gone);
    child.on('message', function hear(message) {
      if (message.id !== id) return;
      child.off('message', hear).off('exit', gone);
      resolve(message.digest);
    });
    child.send({ id, job }, (error) => error && gone());
  });
  if (digest !== undefined) free.push(child);
  freed.emit('free');
  return digest;
}

const app = express();
app.get('/', (request, response) => response.type('text').send('hello\n'));
app.get('/report', (request, response, next) => {
  const { name = 'ada', rows = 100_000 } = request.query;
  build({ name, rows: Number(rows) }).then((digest) => {
    if (digest === undefined) response.status(503).send('The child that built it has ended.\n');
    else response.json({ digest });
  }, next);
});
app.listen(process.env.PORT ?? 8080);
