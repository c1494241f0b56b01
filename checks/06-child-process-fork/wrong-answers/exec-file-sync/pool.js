import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const jobFile = fileURLToPath(new URL('./job.js', import.meta.url));

export function createPool() {
  return {
    run: async ({ name, rows }) => String(execFileSync(process.execPath, [jobFile, name, rows])).trim(),
  };
}
