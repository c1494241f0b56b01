/** Preloaded to multiply the duration of every Atomics.wait with a time limit, as in blockFor(), by FORKSHOP_PRETEND_WAITS. */
'use strict';

const times = Number(process.env.FORKSHOP_PRETEND_WAITS);
const { wait } = Atomics;

Atomics.wait = (array, index, value, ms = Infinity) => wait(array, index, value, ms * times);
