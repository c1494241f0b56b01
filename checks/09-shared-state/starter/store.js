// #region imports
import { createCounter } from './counter.js';
// #endregion imports

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';

// In a worker: a counter that asks Redis, { add(name, id), read(name) }, both promise the count.
export function createStore() {
  // #region store
  // Task 3: count in Redis, in one step, an id once. Redis silent: an error after a second; away: at once. No crash.
  return createCounter(); // so far each worker counts for itself
  // #endregion store
}
