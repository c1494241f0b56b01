/**
 * Preloaded where a check asks "and ten seconds later?" and has one: every timer that the program sets, by whatever door of
 * node:timers, comes FORKSHOP_PRETEND_HASTE times as early as it is told. Clocks tell the time as it is, and Node's own
 * timers (of a connection that is kept, for example) are as long as ever.
 */
'use strict';

const timers = require('node:timers');
const { syncBuiltinESMExports } = require('node:module');
const { promisify } = require('node:util');
const later = require('node:timers/promises');

const times = Number(process.env.FORKSHOP_PRETEND_HASTE);
const soon = (ms) => ms / times; // NaN, which is 1 ms, stays NaN

for (const name of ['setTimeout', 'setInterval']) {
  const set = timers[name];
  const setSoon = (run, ms, ...args) => set(run, soon(ms), ...args);
  const promised = later[name];
  later[name] = (ms, ...args) => promised(soon(ms), ...args);
  if (set[promisify.custom]) setSoon[promisify.custom] = later[name];
  timers[name] = setSoon;
  globalThis[name] = setSoon;
}
const { wait } = later.scheduler;
later.scheduler.wait = (ms, ...args) => wait.call(later.scheduler, soon(ms), ...args);
syncBuiltinESMExports();
