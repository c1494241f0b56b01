/**
 * Where an event loop stands still: preloaded after the probe, where a first look has seen that one does. A thread watches the
 * first one from beside; when that has been silent for 100 ms, it asks for the stack, as a debugger does, also in the midst
 * of a loop or of a regular expression. What waits in the system cannot answer until it is back. Each answer that came while
 * the silence lasted is appended to the timeline:
 *   stack       pid, calls: the innermost first, each as Error has it: "isPlain (/shop/server.js:14:9)"
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
  const env = { ...process.env, NODE_OPTIONS: '' }; // no probe looks into this thread
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
