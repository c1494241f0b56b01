/**
 * Preloaded where a check asks "and does it still know that, so much later?" and nobody wants to wait: from the start of the
 * process on, time runs FORKSHOP_PRETEND_CLOCK times as fast, as Date, performance.now(), process.hrtime() and
 * process.uptime() tell it. Timers are pretend-timers.cjs's. The probe, which is loaded before, keeps the true clock. Nanoseconds
 * are never the same twice, as without it: some programs make names of them.
 * With FORKSHOP_PRETEND_SKIPS every Atomics.wait with a time limit, as in blockFor(), is over at once, and the clocks tell that it
 * took exactly so long: with a clock that stands still otherwise, what is measured is the same on every machine.
 */
'use strict';

const { process } = globalThis;
const { bigint } = process.hrtime;
const times = Number(process.env.FORKSHOP_PRETEND_CLOCK);
let skippedMs = 0;
if (process.env.FORKSHOP_PRETEND_SKIPS) skipWaits();

function skipWaits() {
  const { load, wait } = Atomics;
  Atomics.wait = (array, index, value, ms = Infinity) => {
    if (ms === Infinity || load(array, index) !== value) return wait(array, index, value, ms);
    skippedMs += ms;
    return 'timed-out';
  };
}

/** A clock that has told the same up to now, and runs faster from now on. */
function faster(clock, unitsOfMs = 1) {
  const start = clock();
  return () => start + times * (clock() - start) + skippedMs * unitsOfMs;
}

const now = faster(Date.now);
Date.now = () => Math.round(now());
performance.now = faster(performance.now.bind(performance));
process.uptime = faster(process.uptime, 1e-3);
const fasterNs = faster(() => Number(bigint()), 1e6);
let lastNs = 0;
const elapsedNs = () => (lastNs = Math.max(Math.round(fasterNs()), lastNs + 1));
process.hrtime = Object.assign(
  ([seconds, nanoseconds] = [0, 0]) => {
    const ns = elapsedNs() - seconds * 1e9 - nanoseconds;
    return [Math.floor(ns / 1e9), ns % 1e9];
  },
  { bigint: () => BigInt(elapsedNs()) },
);
globalThis.Date = new Proxy(Date, {
  construct: (date, args, target) =>
    Reflect.construct(date, args.length === 0 ? [date.now()] : args, target),
});
