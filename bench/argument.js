// The numbers on the command line of a benchmark.

/**
 * Ends the process with exit code 2 when it is no whole number from 1.
 * @param {number} position  on the command line, from 1
 * @param {number} standard  where it is missing
 * @param {string} what  as people say it, such as 'saves'
 * @returns {number}
 */
export function countGiven(position, standard, what) {
  const given = process.argv[1 + position];
  const count = Number(given ?? standard);
  if (Number.isInteger(count) && count >= 1) return count;
  console.error(`How many ${what}? A whole number such as ${standard}, not ${given}.`);
  return process.exit(2);
}
