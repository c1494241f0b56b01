/**
 * Preloaded where a check asks "and what does it do when so much time has passed?" and nobody wants to wait: a timer that
 * is to fire after FROM ms or more, but before UNTIL ms, fires BY times as soon. FORKSHOP_PRETEND_TIMERS tells "FROM UNTIL BY",
 * and behind that, if it is another one, the FROM of what fires again and again: who counts ticks counts them faster. Behind
 * that, the time after which even the longest of them fires. And monitorEventLoopDelay() looks BY times as often, so that who
 * takes a percentile has as many short gaps soon.
 * With FORKSHOP_PRETEND_BELOW, the pid of the keeper, only in the processes that the program starts, not in itself.
 * Only what a program sets itself: Node's own timers (keep-alive and the like) and clocks are as they were.
 */
'use strict';

const { syncBuiltinESMExports } = require('node:module');
const hooks = require('node:perf_hooks');
const timers = require('node:timers');
const promises = require('node:timers/promises');

const times = process.env.FORKSHOP_PRETEND_TIMERS.split(' ').map(Number);
const [from, until, by, ticksFrom = from, most = Infinity] = times;
const shortened = (ms, least = from) => (ms >= least && ms < until ? Math.min(ms / by, most) : ms);

/** Replaces a function one of whose arguments, the first or the second, is a time. */
function shorten(object, name, index) {
  const original = object[name];
  const least = name === 'setInterval' ? ticksFrom : from;
  const replacement = function (...args) {
    if (args.length > index) args[index] = shortened(args[index], least);
    return original.apply(this, args);
  };
  const properties = Object.getOwnPropertyDescriptors(original); // with promisify's
  delete properties.prototype;
  object[name] = Object.defineProperties(replacement, properties);
}

if (process.ppid !== Number(process.env.FORKSHOP_PRETEND_BELOW)) shortenAll();

function shortenAll() {
  for (const name of ['setTimeout', 'setInterval']) {
    shorten(timers, name, 1);
    globalThis[name] = timers[name];
    shorten(promises, name, 0);
  }
  shorten(AbortSignal, 'timeout', 0);
  const { wait } = promises.scheduler;
  promises.scheduler.wait = (ms, ...args) => wait.call(promises.scheduler, shortened(ms), ...args);
  const { monitorEventLoopDelay } = hooks;
  hooks.monitorEventLoopDelay = ({ resolution = 10, ...options } = {}) =>
    monitorEventLoopDelay({ ...options, resolution: Math.ceil(resolution / by) });
  syncBuiltinESMExports();
}
