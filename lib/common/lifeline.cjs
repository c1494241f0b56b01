/**
 * Preloaded into our own child processes (child.js): each ends with its parent. It must be the very first code that runs: the
 * parent may be gone before any other, and who begins to listen for 'disconnect' after that hears nothing.
 */
'use strict';
const { isMainThread } = require('node:worker_threads');

if (isMainThread) process.on('disconnect', () => process.exit());
if (isMainThread && process.connected === false) process.exit();
