/**
 * Preloaded where a check asks "and on a machine with so many cores?": os.availableParallelism() and
 * navigator.hardwareConcurrency tell FORKSHOP_PRETEND_CORES. os.cpus() tells the truth: it is the wrong question.
 */
'use strict';

const { syncBuiltinESMExports } = require('node:module');
const os = require('node:os');

const cores = Number(process.env.FORKSHOP_PRETEND_CORES);

os.availableParallelism = () => cores;
syncBuiltinESMExports();
if (globalThis.navigator) {
  Object.defineProperty(globalThis.navigator, 'hardwareConcurrency', { value: cores });
}
