// #region imports
import { buildReport } from './job.js';
// #endregion imports

// run(job) returns a promise for the digest. Which process computes it is the pool's business.
export function createPool(size) {
  // #region run
  // Task 2: at most `size` children, each with one job at a time. While all of them are busy, jobs wait in a queue.
  async function run(job) {
    return buildReport(job);
  }
  // #endregion run

  // #region child
  // Task 2: start a child, and resolve the promise that each of its answers belongs to.
  // Task 3: when a child exits, its job fails, and another child takes its place.
  // #endregion child

  return { run };
}
