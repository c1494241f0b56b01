// The bar of lesson 8: rolling restarts one after the other under 100 requests/s, and no request fails. `node bench/reload.js
// [TIMES] [WORKERS]` counts lost requests and retries.
import { join } from 'node:path';
import { rootFolder } from '../lib/lessons/catalog.js';
import { MIXED, exitsOf, lostOf, nowMs, requestsOf, startTraffic } from '../lib/check/checking.js';
import { createRunner } from '../lib/observe/runner.js';
import { countGiven } from './argument.js';

const TIMES = countGiven(1, 20, 'reloads');
const WORKERS = countGiven(2, 4, 'workers');
const DEADLINE_MS = 120_000; // for one; on an idle machine it takes some seconds

const runner = createRunner();
const entry = join(rootFolder, 'solutions/08-graceful-reload/server.js');
const program = await runner.start({ entry, env: { NODE_CLUSTER_WORKERS: String(WORKERS) } });
await program.ready(WORKERS);
const traffic = startTraffic(program.url, MIXED);
const seconds = [];
while (seconds.length < TIMES) {
  const sinceMs = nowMs();
  program.kill(/** @type {number} */ (program.pid), 'SIGHUP');
  const wanted = (seconds.length + 1) * WORKERS;
  if (!(await program.until((events) => exitsOf(events).length >= wanted, DEADLINE_MS))) break;
  seconds.push((nowMs() - sinceMs) / 1_000);
}
const sent = await traffic.stop();
const lost = lostOf(sent, requestsOf(program.events));
const repeated = sent.filter(({ isRepeated }) => isRepeated).length;
await runner.close();

console.log(`${seconds.length} of ${TIMES} rolling restarts of ${WORKERS} workers`);
console.log(`  ${sent.length} requests: ${lost.length} failed, ${repeated} repeated by the client`);
console.log(`  seconds a restart: ${seconds.map((each) => each.toFixed(1)).join(' ')}`);
for (const { path, first, answer } of lost) {
  const seen = program.events.filter(({ client }) => client && client === first.client);
  const trace = seen.map(
    ({ what, pid, t }) => `${what} in ${pid} after ${Math.round(t - first.sentMs)} ms`,
  );
  const error = answer.error ?? first.error;
  console.log(`  ${path}: ${error}; its connection: ${trace.join(', ') || 'not seen'}`);
}
for (const { workerPid, code, signal } of exitsOf(program.events))
  if (code !== 0) console.log(`  worker ${workerPid} exited with ${signal ?? `exit code ${code}`}`);
process.exitCode = seconds.length < TIMES || lost.length > 0 ? 1 : 0;
