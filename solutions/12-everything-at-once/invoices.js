// #region invoices
import { fork } from 'node:child_process';

const jobFile = new URL('./job.js', import.meta.url);
const size = 1; // children of each worker
const queue = []; // tasks that wait for a child
const tasks = new Map(); // child → the task that it works on
const idle = [];

export function makeInvoice(order) {
  return new Promise((resolve, reject) => {
    queue.push({ order, resolve, reject });
    work();
  });
}

function work() {
  while (queue.length > 0 && (idle.length > 0 || tasks.size < size)) {
    const child = idle.pop() ?? startChild();
    const task = queue.shift();
    tasks.set(child, task);
    child.send(task.order);
  }
}

function startChild() {
  const child = fork(jobFile);
  child.unref(); // its worker may exit; the open response keeps it while a job is in flight
  child.channel.unref();
  child.on('message', (invoice) => {
    tasks.get(child)?.resolve(invoice);
    if (tasks.delete(child)) idle.push(child);
    work();
  });
  child.on('error', ({ message }) => forget(child, message));
  child.on('exit', (code, signal) => forget(child, signal ?? `exit code ${code}`));
  return child;
}

function forget(child, reason) {
  if (idle.includes(child)) idle.splice(idle.indexOf(child), 1);
  tasks.get(child)?.reject(new Error(`process ${child.pid} exited: ${reason}`));
  tasks.delete(child);
  work(); // another child takes what waits
}
// #endregion invoices
