// #region imports
import { createCounter } from './counter.js';
// #endregion imports

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';

// In a worker: a counter that asks Redis. Its add(name, id) and read(name) both promise the count.
export function createStore() {
  // #region store
  // Task 3: count in Redis, each id once, in one step. No answer for a second, or no connection: reject.
  return createCounter(); // so far each worker counts for itself
  // #endregion store
}
