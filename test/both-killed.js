// A check that is killed together with its keeper: run as a program, it starts the program that it is given.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listProcesses } from '../lib/observe/processes.js';
import { createRunner } from '../lib/observe/runner.js';
import { staying } from './escapes.js';
import { limitMs } from './limits.js';
import { until } from './nothing-left.js';

const self = fileURLToPath(import.meta.url);

/**
 * Starts a check with a program, waits until the program has left what it leaves, and kills check and keeper.
 * @param {string} text  of the program
 */
export async function onBoth(text) {
  const folder = mkdtempSync(join(tmpdir(), 'both '));
  const entry = join(folder, 'server.mjs');
  writeFileSync(entry, text);
  const mark = `${Math.random()}`;
  const check = fork(self, [entry, mark]);
  const [{ home }] = await once(check, 'message');
  await until('it has left', () => staying(mark).length > 0, limitMs(10));
  const keepers = listProcesses().filter(({ ppid }) => ppid === check.pid);
  for (const pid of [...keepers.map((one) => one.pid), Number(check.pid)])
    process.kill(pid, 'SIGKILL');
  await once(check, 'exit');
  rmSync(folder, { recursive: true });
  return { home, mark };
}

if (process.argv[1] === self) {
  const [entry, mark] = process.argv.slice(2);
  const runner = createRunner();
  await runner.start({ entry, env: { MARK: mark }, temporary: 'temporary' });
  process.send?.({ home: runner.home });
  setInterval(() => {}, 1e6);
}
