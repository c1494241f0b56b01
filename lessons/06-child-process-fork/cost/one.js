// Starts one worker and reports what it took: milliseconds to its first message, its own bytes, bytes resident.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownBytes } from './memory.js';

export async function costOfOne(start) {
  const [own, resident] = [ownBytes('self'), process.memoryUsage.rss()];
  const sinceMs = performance.now();
  const worker = start();
  const [its] = await once(worker, 'message');
  const ms = performance.now() - sinceMs;
  await sleep(50); // it comes to rest
  if (worker.pid) return [ms, ownBytes(worker.pid), its];
  return [ms, ownBytes('self') - own, its - resident]; // a thread: how much its process has grown
}
