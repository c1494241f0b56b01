/**
 * Preloaded into our child processes (child.js), so that each exits with its parent. It must run before any other code: if the
 * parent is gone already, a later listener for 'disconnect' never fires.
 */
'use strict';
const { isMainThread } = require('node:worker_threads');

if (isMainThread) process.on('disconnect', () => process.exit());
if (isMainThread && process.connected === false) process.exit();
