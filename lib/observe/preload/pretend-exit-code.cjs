/**
 * Preloaded where a check asks "and if a worker exits with another code?": a cluster's worker that would exit with code 1,
 * because of an exception or by itself, exits with FORKSHOP_PRETEND_EXIT_CODE, as after process.exit() with that code.
 */
'use strict';

const { isWorker } = require('node:cluster');
const { isMainThread } = require('node:worker_threads');

const { process } = globalThis;
const wanted = Number(process.env.FORKSHOP_PRETEND_EXIT_CODE);

if (isWorker && isMainThread) process.on('exit', pretend);

function pretend(code) {
  if (code === 1) process.exitCode = wanted;
}
