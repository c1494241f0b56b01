/** Preloaded to pretend a number of cores. os.cpus() keeps its true result: it isn't the function to ask. */
'use strict';

const { syncBuiltinESMExports } = require('node:module');
const os = require('node:os');

const cores = Number(process.env.FORKSHOP_PRETEND_CORES);

os.availableParallelism = () => cores;
syncBuiltinESMExports();
const navigator = globalThis.navigator ?? {}; // a global since Node 21
Object.defineProperty(navigator, 'hardwareConcurrency', { value: cores });
