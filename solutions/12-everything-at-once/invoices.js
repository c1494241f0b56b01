// #region invoices
import { fork } from 'node:child_process';

const jobFile = new URL('./job.js', import.meta.url);
const waiting = []; // for the child's answers, in the order of the questions
let child; // of this worker: it makes one invoice after the other

export function makeInvoice(order) {
  child ??= startChild();
  child.send(order, () => {}); // if it has just exited, 'disconnect' follows
  return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
}

function startChild() {
  const started = fork(jobFile);
  started.unref(); // its worker may exit; the open response keeps it while a job is in flight
  started.channel.unref();
  started.on('message', (invoice) => waiting.shift().resolve(invoice));
  started.on('disconnect', () => {
    child = undefined; // the next invoice starts another one
    for (const { reject } of waiting.splice(0)) reject(new Error('the invoice was interrupted'));
  });
  return started;
}
// #endregion invoices
