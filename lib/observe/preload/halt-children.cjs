/**
 * Preloaded to test a server that exits before its child has read its file: each process but the first, whose parent is the keeper
 * (FORKSHOP_HALT_BELOW), stops itself before the first line of its file, until SIGCONT. Nothing stops on Windows.
 */
'use strict';

const { isMainThread } = require('node:worker_threads');

if (isMainThread && process.ppid !== Number(process.env.FORKSHOP_HALT_BELOW)) halt();

function halt() {
  try {
    process.kill(process.pid, 'SIGSTOP');
  } catch {
    // Windows
  }
}
