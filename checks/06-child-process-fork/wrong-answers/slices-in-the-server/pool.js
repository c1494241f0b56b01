import { buildReport } from './job.js';

export function createPool() {
  return { run };
}

async function run(job) {
  return buildReport(job);
}
