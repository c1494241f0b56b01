/** Shows the failures of the last check one by one, for the keys n and t of `npm start`. */
import { openPromises } from '../verdict/tally.js';
import { createStyle } from '../verdict/style.js';
import { promiseDetails } from '../verdict/terminal.js';
import { allVisible } from '../verdict/visible.js';

/** @param {import('./saved/progress.js').Io} io */
export function createFailureViewer(io) {
  /** @type {import('../verdict/outcome.js').PromiseRecord[]} */
  let failures = [];
  let at = 0;
  const style = createStyle(io.stdout, io.env);
  const print = (/** @type {string[]} */ ...lines) =>
    void io.stdout.write(`\n${lines.join('\n')}\n`);
  const open = (/** @type {boolean} */ isTold) => {
    const columns = Math.min(io.stdout.columns ?? 100, 110);
    print(...promiseDetails(failures[at], { isTold }, style, columns));
  };
  return {
    /** @param {import('../check/run-check.js').CheckResult} result */
    load(result) {
      failures = openPromises(allVisible(result));
      at = 0;
    },
    next() {
      if (failures.length < 2) return print('No other promise fails.');
      at = (at + 1) % failures.length;
      open(false);
    },
    try() {
      if (failures.length === 0) return print('No promise fails.');
      if (!failures[at].try) return print('There is nothing to try here. Key h gives a hint.');
      open(true);
    },
  };
}
