// Our open loop beside vegeta, in turn, on lesson 7's solution with four workers at 200 requests a second:
// `node bench/vegeta.js [ROUNDS [SECONDS]]`. Exit code 1 when they differ by more than the bar, 3 without vegeta.
import os from 'node:os';
import { conditionsNow, disturbanceOf, watchMachine } from '../lib/measure/conditions.js';
import { explainMissing, findTool } from '../lib/tools/tools.js';
import { countGiven } from './argument.js';
import { BAR, compareWith, differencesOf } from './peer.js';

const rounds = countGiven(1, 1, 'rounds');
const seconds = countGiven(2, 10, 'seconds');
const vegeta = findTool('vegeta');
if (!vegeta) {
  const { got, try: command } = explainMissing('vegeta');
  console.error(`${got} To install it: ${command}`);
  process.exit(3);
}

const conditions = conditionsNow();
const machine = watchMachine();
const both = await compareWith(vegeta, { rounds, durationMs: seconds * 1000 });
const { busyCores, ...during } = machine();

console.log(`Node ${process.versions.node}, ${os.availableParallelism()} cores, busy ${busyCores}`);
for (const [name, side] of [
  ['ours', both.ours],
  ['vegeta', both.theirs],
])
  for (const { throughputPerSecond, p50, p90, p99, success, lateMs } of /** @type {any} */ (side))
    console.log(
      `${name}: throughput ${throughputPerSecond.toFixed(2)}, p50 ${p50.toFixed(2)}, p90 ${p90.toFixed(2)}, ` +
        `p99 ${p99.toFixed(2)} ms, success ${success}${lateMs === undefined ? '' : `, p99 of lateness ${lateMs.toFixed(2)} ms`}`,
    );
console.log(
  `bar: throughput within ${BAR.throughput * 100} %, p50 and p90 within ${BAR.latency * 100} % or ${BAR.latencyMs} ms`,
);
for (const { name, ours, theirs, share, isNear } of differencesOf(both)) {
  console.log(
    `${name}: ours ${ours.toFixed(2)}, vegeta ${theirs.toFixed(2)}, apart ${(share * 100).toFixed(1)} %: ${isNear ? 'within' : 'OUTSIDE'}`,
  );
  if (!isNear) process.exitCode = 1;
}
const disturbance = disturbanceOf({ ...conditions, ...during });
if (disturbance) console.log(`Do not trust it: ${disturbance}.`);
