/**
 * Preloaded to count how many workers a program would fork, even 99, without starting one. The primary gets 'online' and 'listening' as
 * from a quick worker; nothing keeps it alive. The probe reports each fork, without a pid, even if the primary exits before 'fork'.
 */
'use strict';

const { ChildProcess } = require('node:child_process');
const cluster = require('node:cluster');
const { PassThrough } = require('node:stream');

const { spawn } = ChildProcess.prototype;
const port = Number(process.env.PORT);
const unreported = new Set(); // children whose 'fork' has not been emitted

cluster.on('fork', ({ process: child }) => unreported.delete(child));
process.on('exit', () => {
  for (const child of unreported) cluster.emit('fork', workerIn(child));
});

ChildProcess.prototype.spawn = function (options) {
  const isWorker = options.envPairs?.some((pair) => pair.startsWith('NODE_UNIQUE_ID='));
  if (!isWorker) return spawn.call(this, options);
  const [, out, err] = options.stdio.map((one) => one === 'pipe' || one?.type === 'pipe');
  this.stdout = out ? new PassThrough() : null; // for a primary that reads its workers' output
  this.stderr = err ? new PassThrough() : null;
  this.connected = true;
  this.send = () => true;
  this.disconnect = () => {};
  unreported.add(this);
  setImmediate(emitStart, this);
  return 0;
};

const workerIn = (child) => Object.values(cluster.workers).find((one) => one.process === child);

/** Emits what the primary would get from a worker that starts. */
function emitStart(child) {
  const worker = workerIn(child);
  if (!worker) return;
  const address = { address: null, port, addressType: 4, fd: undefined };
  for (const [state, ...about] of [['online'], ['listening', address]]) {
    worker.state = state;
    worker.emit(state, ...about);
    cluster.emit(state, worker, ...about);
  }
}
