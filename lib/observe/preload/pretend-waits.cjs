/**
 * Preloaded where a check asks "and on a machine where a page takes longer?": every Atomics.wait with a time limit, as in
 * blockFor(), waits FORKSHOP_PRETEND_WAITS times as long as it is told.
 */
'use strict';

const times = Number(process.env.FORKSHOP_PRETEND_WAITS);
const { wait } = Atomics;

Atomics.wait = (array, index, value, ms = Infinity) => wait(array, index, value, ms * times);
