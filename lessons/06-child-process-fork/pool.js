// #region imports
import { buildReport } from './job.js';
// #endregion imports

// The server asks here for reports and does not know who builds them: run(job) promises the digest.
export function createPool(size) {
  // #region run
  // Task 2: at most `size` children, each with one job at a time. Whatever comes while all are busy waits in a queue.
  async function run(job) {
    return buildReport(job);
  }
  // #endregion run

  // #region child
  // Task 2: start a child, and settle the promise that belongs to each of its answers.
  // Task 3: when a child ends, its task fails, and another child takes its place.
  // #endregion child

  return { run };
}
