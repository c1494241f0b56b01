/**
 * Preloaded where a check asks "and is it really ready when it says so?": a process that was started with a channel stands
 * still for FORKSHOP_PRETEND_PAUSE ms when it has sent its first message. What its parent does then comes before whatever it
 * still had to do.
 */
'use strict';

const ms = Number(process.env.FORKSHOP_PRETEND_PAUSE);
const { send } = process;
const { wait } = Atomics;
if (send) process.send = sendAndPause;

function sendAndPause(...args) {
  process.send = send;
  const isSent = send.apply(process, args);
  wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  return isSent;
}
