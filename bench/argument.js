// The numbers on the command line of a benchmark.

/**
 * A number on the command line; exits with code 2 unless it is a whole number of at least 1.
 * @param {number} position  on the command line, from 1
 * @param {number} standard  the default
 * @param {string} what  the noun for a message, such as 'saves'
 * @returns {number}
 */
export function countGiven(position, standard, what) {
  const given = process.argv[1 + position];
  const count = Number(given ?? standard);
  if (Number.isInteger(count) && count >= 1) return count;
  console.error(`How many ${what}? A whole number such as ${standard}, not ${given}.`);
  return process.exit(2);
}
