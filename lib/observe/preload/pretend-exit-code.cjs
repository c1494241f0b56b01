/** Preloaded to replace exit code 1 of a cluster's worker, after an exception or by itself, by FORKSHOP_PRETEND_EXIT_CODE. */
'use strict';

const { isWorker } = require('node:cluster');
const { isMainThread } = require('node:worker_threads');

const { process } = globalThis;
const wanted = Number(process.env.FORKSHOP_PRETEND_EXIT_CODE);

if (isWorker && isMainThread) process.on('exit', pretend);

function pretend(code) {
  if (code === 1) process.exitCode = wanted;
}
