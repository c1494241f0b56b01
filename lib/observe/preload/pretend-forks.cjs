/**
 * Preloaded where a check asks "and how many workers would it fork?", of 99, too: cluster.fork() forks nobody. The primary
 * hears that the worker is online and then that it listens, as it would of a quick one, and may fork the next. Nothing of
 * it keeps the primary alive. The probe reports the forks as ever, those too of a primary that exits before Node.js emits
 * 'fork'; a worker that is none has no pid.
 */
'use strict';

const { ChildProcess } = require('node:child_process');
const cluster = require('node:cluster');
const { PassThrough } = require('node:stream');

const { spawn } = ChildProcess.prototype;
const port = Number(process.env.PORT);
const untold = new Set(); // children of which 'fork' has not been emitted

cluster.on('fork', ({ process: child }) => untold.delete(child));
process.on('exit', () => {
  for (const child of untold) cluster.emit('fork', workerIn(child));
});

ChildProcess.prototype.spawn = function (options) {
  const isWorker = options.envPairs?.some((pair) => pair.startsWith('NODE_UNIQUE_ID='));
  if (!isWorker) return spawn.call(this, options);
  const [, out, err] = options.stdio.map((one) => one === 'pipe' || one?.type === 'pipe');
  this.stdout = out ? new PassThrough() : null; // as where its primary wants to read what it prints
  this.stderr = err ? new PassThrough() : null;
  this.connected = true;
  this.send = () => true;
  this.disconnect = () => {};
  untold.add(this);
  setImmediate(tellOf, this);
  return 0;
};

const workerIn = (child) => Object.values(cluster.workers).find((one) => one.process === child);

/** Tells the primary of a worker what it would be told if it had started. */
function tellOf(child) {
  const worker = workerIn(child);
  if (!worker) return;
  const address = { address: null, port, addressType: 4, fd: undefined };
  for (const [state, ...about] of [['online'], ['listening', address]]) {
    worker.state = state;
    worker.emit(state, ...about);
    cluster.emit(state, worker, ...about);
  }
}
