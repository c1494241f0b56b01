import { createCounter } from './counter.js';
import { within } from './limit.js';

// In the primary: returns the function that is called with each new worker.
export function createOwner() {
  // #region owner
  // Task 1: listen to each worker, do here what it asks for, and send the result back.
  return (worker) => {};
  // #endregion owner
}

// In a worker: a counter that asks the primary. Its add(name, id) and read(name) both promise the count.
export function createAsker() {
  // #region asker
  // Task 1: ask the primary, and match each answer with its question. After a second without one, reject.
  return createCounter(); // so far each worker counts for itself
  // #endregion asker
}
