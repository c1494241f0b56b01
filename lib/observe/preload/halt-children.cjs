/**
 * Preloaded where a check asks "and if the server dies before its child has read its file?": each process of the run but
 * the first, whose parent is FORKSHOP_HALT_BELOW, the keeper, stops itself here, between the report of its start and the
 * first line of its own file. SIGCONT lets it go on. Where the system has no such signal, nothing stops.
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
