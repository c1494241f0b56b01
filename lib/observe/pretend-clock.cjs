/**
 * Preloaded where a check asks "and does it still know that, so much later?" and nobody wants to wait: from the start of the
 * process on, the time of day runs FORKSHOP_PRETEND_CLOCK times as fast. Only what Date tells a program: timers are
 * pretend-timers.cjs's, and performance.now(), which the probe uses, is as it was.
 */
'use strict';

const times = Number(process.env.FORKSHOP_PRETEND_CLOCK);
const { now } = Date;
const startMs = now();

Date.now = () => Math.round(startMs + times * (now() - startMs));
globalThis.Date = new Proxy(Date, {
  construct: (date, args, target) =>
    Reflect.construct(date, args.length === 0 ? [date.now()] : args, target),
});
