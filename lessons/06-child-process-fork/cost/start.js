// What does one more worker cost? node start.js cluster, or fork, or thread. Of three, the middle one counts.
import { kinds } from './kinds.js';
import { costOfOne } from './one.js';

const costs = [];
for (let count = 0; count < 3; count += 1) costs.push(await costOfOne(kinds[process.argv[2]]));

const middle = (part) => costs.map((cost) => cost[part]).sort((a, b) => a - b)[1];
const megabytes = (part) => (middle(part) / 1e6).toFixed(1);
console.log(`${middle(0).toFixed(1)} ms, USS ${megabytes(1)} MB, RSS ${megabytes(2)} MB`);
process.exit();
