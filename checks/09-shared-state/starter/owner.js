import { createCounter } from './counter.js';
import { within } from './limit.js';

// In the primary: returns the function that is called with each new worker.
export function createOwner() {
  // #region owner
  // Task 1: hear what each worker asks, count here, and send the answer back to it.
  return (worker) => {};
  // #endregion owner
}

// In a worker: a counter that asks the primary, { add(name, id), read(name) }, both promise the count.
export function createAsker() {
  // #region asker
  // Task 1: ask the primary. Each answer belongs to one question; after a second without one it is an error.
  return createCounter(); // so far each worker counts for itself
  // #endregion asker
}
