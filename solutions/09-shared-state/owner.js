import { createCounter } from './counter.js';
import { within } from './limit.js';

// In the primary: returns the function that is called with each new worker.
export function createOwner() {
  // #region owner
  const counter = createCounter(); // the only one that counts

  return (worker) =>
    worker.on('message', ({ number, method, args }) => {
      const value = counter[method](...args);
      worker.send({ number, value }, () => {}); // it may have exited; its client will ask another worker
    });
  // #endregion owner
}

// In a worker: a counter that asks the primary. Its add(name, id) and read(name) both promise the count.
export function createAsker() {
  // #region asker
  const waiting = new Map(); // number of the question → what takes its answer
  let lastNumber = 0;

  process.on('message', ({ number, value }) => waiting.get(number)?.(value));

  async function ask(method, ...args) {
    lastNumber += 1;
    const number = lastNumber;
    const answer = new Promise((resolve) => waiting.set(number, resolve));
    process.send({ number, method, args });
    try {
      return await within(1_000, answer, 'the primary does not answer');
    } finally {
      waiting.delete(number); // answered or given up
    }
  }

  return { add: (name, id) => ask('add', name, id), read: (name) => ask('read', name) };
  // #endregion asker
}
