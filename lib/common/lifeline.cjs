/** Preloaded into our child processes, so that each exits with its parent, even if that exits before any other code runs. */
'use strict';
const { isMainThread } = require('node:worker_threads');

if (isMainThread) process.on('disconnect', () => process.exit());
if (isMainThread && process.connected === false) process.exit();
