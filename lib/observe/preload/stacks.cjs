/**
 * Preloaded after the probe, to find out where an event loop stands still. A thread watches the main thread; after 100 ms of silence
 * it asks for the stack as a debugger does, which works even inside a loop or a regular expression, but not inside a system call.
 * Each answer that arrives during the silence is appended to the timeline:
 *   stack       pid, calls: innermost first, in the format of Error: "isPlain (/shop/server.js:14:9)"
 */
'use strict';

const { appendFileSync } = require('node:fs');
const { Session } = require('node:inspector');
const { Worker, isMainThread, workerData } = require('node:worker_threads');

const BEAT_MS = 20;
const SILENT_MS = 100;
const AGAIN_MS = 500;
const MOST_CALLS = 30;
const EXPRESSION = `(() => {
  const { stackTraceLimit, prepareStackTrace } = Error;
  Error.stackTraceLimit = ${MOST_CALLS};
  Error.prepareStackTrace = undefined;
  const { stack } = new Error();
  Object.assign(Error, { stackTraceLimit, prepareStackTrace });
  return stack;
})()`;

if (isMainThread && process.env.FORKSHOP_TIMELINE) beat();
else if (workerData?.forkshopBeats) watch(workerData);

function beat() {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  setInterval(() => Atomics.add(beats, 0, 1), BEAT_MS).unref();
  const file = process.env.FORKSHOP_TIMELINE;
  const data = { forkshopBeats: beats, file, pid: process.pid };
  const env = { ...process.env, NODE_OPTIONS: '' }; // no probe in this thread
  new Worker(__filename, { workerData: data, env, stdout: true, stderr: true }).unref();
}

function watch({ forkshopBeats: beats, file, pid }) {
  const session = new Session();
  session.connectToMainThread();
  let last = Atomics.load(beats, 0);
  let sinceMs = performance.now();
  let askedMs = -Infinity;
  setInterval(() => {
    const now = performance.now();
    const count = Atomics.load(beats, 0);
    if (count !== last) [last, sinceMs, askedMs] = [count, now, -Infinity];
    if (count === 0 || now - sinceMs < SILENT_MS || now - askedMs < AGAIN_MS) return;
    askedMs = now;
    session.post('Runtime.evaluate', { expression: EXPRESSION }, (error, answer) => {
      if (error || Atomics.load(beats, 0) !== count) return;
      const calls = String(answer.result.value)
        .split('\n')
        .map((line) => line.replace(/^\s*at /, ''));
      const t = Number(process.hrtime.bigint() / 1000n) / 1000;
      const event = { t, pid, what: 'stack', calls: calls.slice(3) };
      appendFileSync(file, `${JSON.stringify(event)}\n`);
    });
  }, BEAT_MS);
}
