import cluster from 'node:cluster';

export function createPool(size) {
  const waiting = [];
  const ready = [];
  let ids = 0;

  const next = () => {
    while (ready.length > 0 && waiting.length > 0) {
      const worker = ready.shift();
      worker.task = waiting.shift();
      worker.send({ id: worker.task.id, job: worker.task.job }, () => {});
    }
  };

  const add = () => {
    const worker = cluster.fork();
    worker.on('message', ({ id, digest }) => {
      if (id !== undefined) worker.task.resolve(digest);
      worker.task = undefined;
      ready.push(worker);
      next();
    });
    worker.on('exit', (code, signal) => {
      if (ready.includes(worker)) ready.splice(ready.indexOf(worker), 1);
      worker.task?.reject(new Error(`ended by ${signal ?? code}`));
      add();
    });
  };
  for (let count = 0; count < size; count += 1) add();

  return {
    run: (job) =>
      new Promise((resolve, reject) => {
        waiting.push({ id: (ids += 1), job, resolve, reject });
        next();
      }),
  };
}
