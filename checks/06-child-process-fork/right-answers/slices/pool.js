import { fork } from 'node:child_process';

const jobFile = new URL('./job.js', import.meta.url); // beside this file, wherever the server was started

// The server asks here for reports and does not know who builds them: run(job) promises the digest.
export function createPool(size) {
  const queue = []; // tasks that wait for a child
  const tasks = new Map(); // request id → the task that a child is working on
  const children = new Set();
  const idle = [];
  let lastId = 0;

  function run(job) {
    return new Promise((resolve, reject) => {
      queue.push({ job, resolve, reject });
      work();
    });
  }

  function work() {
    while (queue.length > 0 && (idle.length > 0 || children.size < size)) {
      const child = idle.pop() ?? startChild();
      const task = queue.shift();
      lastId += 1;
      tasks.set(lastId, { ...task, child });
      child.send({ id: lastId, job: task.job });
    }
  }

  function startChild() {
    const child = fork(jobFile);
    children.add(child);
    child.on('message', ({ id, digest }) => {
      if (!tasks.has(id)) return; // given up
      tasks.get(id).resolve(digest);
      tasks.delete(id);
      idle.push(child);
      work();
    });
    child.on('error', (error) => forget(child, error.message)); // it could not be started, or not be told
    child.on('exit', (code, signal) => forget(child, signal ?? `exit code ${code}`));
    return child;
  }

  function forget(child, reason) {
    if (!children.delete(child)) return; // told before
    if (idle.includes(child)) idle.splice(idle.indexOf(child), 1);
    for (const [id, task] of tasks) {
      if (task.child !== child) continue;
      tasks.delete(id);
      task.reject(new Error(`process ${child.pid} ended: ${reason}`));
    }
    work(); // what waits is for another
  }

  return { run, close: () => children.forEach((child) => child.kill()) };
}
