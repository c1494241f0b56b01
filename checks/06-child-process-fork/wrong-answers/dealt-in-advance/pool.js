import { fork } from 'node:child_process';

const jobFile = new URL('./job.js', import.meta.url);

// Dealt in turn, at once: the queue of each child is its channel.
export function createPool(size) {
  const children = [];
  const tasks = new Map();
  let lastId = 0;

  function start(place) {
    const child = fork(jobFile);
    children[place] = child;
    child.on('message', ({ id, digest }) => {
      tasks.get(id)?.resolve(digest);
      tasks.delete(id);
    });
    child.on('exit', () => {
      start(place);
      for (const [id, task] of tasks) if (task.child === child && tasks.delete(id)) task.reject(new Error('its child died'));
    });
  }
  for (let place = 0; place < size; place += 1) start(place);

  function run(job) {
    lastId += 1;
    const child = children[lastId % size];
    child.send({ id: lastId, job });
    return new Promise((resolve, reject) => tasks.set(lastId, { resolve, reject, child }));
  }

  return { run };
}
