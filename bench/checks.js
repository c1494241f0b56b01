// Checks a solution many times in a row and counts the verdicts: node bench/checks.js LESSON [TIMES] [HOGS] [quick]
// The bar, for 100 checks when idle and 50 beside one CPU hog: no check fails, at most 2 of 100 are undecided.
import { listLessons, findLesson, rootFolder } from '../lib/lessons/catalog.js';
import { runCheck } from '../lib/check/run-check.js';
import { quantile } from '../lib/measure/stats.js';
import { join } from 'node:path';
import { countGiven } from './argument.js';
import { startHogs } from './hog.js';

const [name = '2', , hogs = '0', quick] = process.argv.slice(2);
const times = countGiven(2, 100, 'checks');
const { key } = findLesson(listLessons(rootFolder), name);
const stopHogs = startHogs(Number(hogs));
const results = [];
for (let count = 0; count < times; count += 1) {
  const result = await runCheck({
    root: rootFolder,
    key,
    subject: join(rootFolder, 'solutions', key),
    isQuick: quick === 'quick',
  });
  results.push(result);
  if (result.verdict !== 'passed') console.log(count + 1, describe(result));
}
stopHogs();

const count = (verdict) => results.filter((one) => one.verdict === verdict).length;
const seconds = results.map((one) => one.seconds);
console.log(`${key}, ${times} checks of the solution beside ${hogs} hogs:`);
console.log(
  `  passed ${count('passed')}, failed ${count('failed')}, undecided ${count('inconclusive')}`,
);
console.log(
  `  seconds: median ${quantile(seconds, 0.5)}, 95 % ${quantile(seconds, 0.95)}, most ${Math.max(...seconds)}`,
);
for (const { name: measured } of results[0].measurements) console.log(`  ${summary(measured)}`);
process.exitCode = count('failed') > 0 || count('inconclusive') > 0.02 * results.length ? 1 : 0;

function summary(measured) {
  const found = results.flatMap(({ measurements }) =>
    measurements.filter(({ name, value }) => name === measured && value !== null),
  );
  const values = found.map(({ value }) => value);
  const half = found.map(({ low, high, value }) => (100 * (high - low)) / 2 / value);
  const spread = [0.05, 0.5, 0.95].map((q) => quantile(values, q).toFixed(2)).join(' / ');
  return `${measured}: 5 % / 50 % / 95 % of values ${spread}; half an interval, median ${quantile(half, 0.5).toFixed(1)} %`;
}

function describe({ verdict, fault, promises }) {
  const told = promises.filter((one) => one.verdict === 'failed' || one.verdict === 'inconclusive');
  return `${verdict}: ${fault ?? ''} ${told.map(({ id, got, why }) => `${id}: ${got} ${why ?? ''}`).join('; ')}`;
}
