// How exact the comparison is: node bench/speedup.js [ROUNDS]. Prints, for each contest, the ratio with its interval and
// how much the rounds differ, on the machine as it is and beside one CPU hog. The control against itself must give 1.
import { join } from 'node:path';
import { rootFolder } from '../lib/lessons/catalog.js';
import { lessonPaths } from '../lib/lessons/lesson-paths.js';
import { createSpinners } from '../lib/measure/spinners.js';
import { createLoad } from '../lib/measure/load.js';
import { speedupOfBlocking, speedupOfCpu } from '../lib/measure/speedup.js';
import { createRunner } from '../lib/observe/runner.js';
import { countGiven } from './argument.js';
import { startHogs } from './hog.js';

const { starter: STARTER, solution: SOLUTION } = lessonPaths('02-cluster-fork');
const rounds = countGiven(1, 5, 'rounds');
const runner = createRunner();
const load = createLoad();
const control = await start(STARTER, 1);
const spinners = createSpinners(4);

for (const hogs of [0, 1]) {
  const stop = startHogs(hogs);
  console.log(`beside ${hogs} hogs:`);
  await contest('blocking, control against itself', STARTER, 1, '/');
  await contest('blocking, 2 workers', SOLUTION, 2, '/');
  await contest('blocking, 4 workers', SOLUTION, 4, '/');
  await contest('CPU, control against itself', STARTER, 1, '/cpu');
  await contest('CPU, 2 workers', SOLUTION, 2, '/cpu');
  stop();
}
load.close();
spinners.close();
await runner.close();

async function start(folder, workers) {
  const entry = join(rootFolder, folder, 'server.js');
  const program = await runner.start({ entry, env: { NODE_CLUSTER_WORKERS: String(workers) } });
  await program.ready(workers);
  return program;
}

/** Windows of a fifth of a second, and a target that no result decides, so that every round is run. */
async function contest(name, folder, workers, path) {
  const candidate = await start(folder, workers); // alone with the control: even idle neighbours take CPU time
  const since = performance.now();
  const options = { load, control, candidate, workers, path, windowMs: 200, spinners, target: 0 };
  const measure = path === '/cpu' ? speedupOfCpu : speedupOfBlocking;
  const each = [];
  for (let round = 0; round < rounds; round += 1)
    each.push(await measure({ ...options, budgetMs: 0 }));
  await candidate.stop();
  const values = each.map(({ value }) => value);
  const middle = values.reduce((sum, value) => sum + value, 0) / rounds;
  const spread = Math.sqrt(
    values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (rounds - 1),
  );
  const ceiling = each.reduce((sum, one) => sum + one.ceiling, 0) / rounds;
  const held = each.filter(({ low, high }) => low <= middle && high >= middle).length;
  const took = (performance.now() - since) / 1000 / rounds;
  console.log(
    `  ${name}: ${middle.toFixed(2)}, CV of a round ${((100 * spread) / middle).toFixed(1)} %, ceiling ` +
      `${ceiling.toFixed(2)}, ${held} of ${rounds} intervals hold it, ${took.toFixed(1)} s a round`,
  );
}
