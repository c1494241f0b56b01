/** Load at a constant rate on one program, and the CPU time and memory that it took. */
import os from 'node:os';
import { memoryOf } from '../observe/memory.js';
import { processesOf } from '../observe/timeline.js';
import { busySharesOf, reportOf } from './load-report.js';

const LOOK_EVERY_MS = 1_000; // one sample reads every process of the machine
const TIMEOUT_MS = 30_000; // as vegeta's

/**
 * Uses keep-alive connections, as vegeta does. Memory counts until the last answer, cores while requests are sent.
 * @param {ReturnType<typeof import('./open-loop.js').createOpenLoop>} openLoop @param {import('../observe/program.js').Program} program
 * @param {{ ratePerSecond: number, durationMs: number, timeoutMs?: number, isRandom?: boolean }} options
 * @returns {Promise<import('./load-report.js').Measured & { window: import('./open-loop.js').OpenWindow }>}
 */
export async function measureAtRate(openLoop, program, options) {
  const memory = watchMemory(program);
  const before = os.cpus();
  let coresBusy = [];
  const noteCores = () => (coresBusy = busySharesOf(before, os.cpus()));
  const timer = setTimeout(noteCores, options.durationMs);
  const load = { timeoutMs: TIMEOUT_MS, ...options, isFresh: false, url: `${program.url}/` };
  try {
    const window = await openLoop.fire(load);
    if (coresBusy.length === 0) noteCores();
    return { window, report: reportOf(window), coresBusy, processes: memory.most() };
  } finally {
    clearTimeout(timer);
    memory.stop();
  }
}

/** The peak memory of each of a program's processes, by samples. @param {import('../observe/program.js').Program} program */
export function watchMemory(program) {
  /** @type {Map<number, { pid: number, role: string, rssBytes: number, ussBytes?: number, pssBytes?: number }>} */
  const most = new Map();
  const look = () => {
    for (const { pid, role, endMs } of processesOf(program.events)) {
      const memory = endMs === undefined ? memoryOf(pid) : undefined;
      if (memory && memory.rssBytes >= (most.get(pid)?.rssBytes ?? 0))
        most.set(pid, { pid, role, ...memory });
    }
  };
  look();
  const timer = setInterval(look, LOOK_EVERY_MS);
  return { most: () => (look(), [...most.values()]), stop: () => clearInterval(timer) };
}
