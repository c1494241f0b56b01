import { fork } from 'node:child_process';

const jobFile = new URL('./job.js', import.meta.url);

// Dealt in turn, and whoever asked first gets what comes first.
export function createPool(size) {
  const children = [];
  const asked = [];
  let turn = 0;
  return {
    run(job) {
      if (children.length < size) {
        children.push(fork(jobFile));
        children.at(-1).on('message', ({ digest }) => asked.shift()(digest));
      }
      turn += 1;
      children[turn % children.length].send({ id: turn, job });
      return new Promise((resolve) => asked.push(resolve));
    },
  };
}
