import { buildReport } from './job.js';

export function createPool() {
  return { run };
}

async function run(job) {
  await new Promise(setImmediate); // give the others a chance
  return buildReport(job);
}
