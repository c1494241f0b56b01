/**
 * Preloaded where a check asks "and if a worker ends with another exit code?": a cluster's worker that would end with code
 * 1, because of an exception or by itself, ends with FORKSHOP_PRETEND_EXIT_CODE, as after process.exit() with that code.
 * With FORKSHOP_PRETEND_BELOW, the pid of the keeper, every process does so that the program starts, a worker or not.
 */
'use strict';

const { isWorker } = require('node:cluster');
const { isMainThread } = require('node:worker_threads');

const { process } = globalThis;
const wanted = Number(process.env.FORKSHOP_PRETEND_EXIT_CODE);

const { FORKSHOP_PRETEND_BELOW: keeper } = process.env;
const isMeant = keeper ? process.ppid !== Number(keeper) : isWorker;

if (isMeant && isMainThread) process.on('exit', pretend);

function pretend(code) {
  if (code === 1) process.exitCode = wanted;
}
