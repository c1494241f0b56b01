// A CPU hog: a process that spins for as long as its parent lives, in a session of its own, as a neighbour's program.
import { spawn } from 'node:child_process';

const SPIN = 'const { ppid } = process; for (let n = 0; n % 1e7 || process.ppid === ppid; n += 1);';

/** Starts so many hogs. @param {number} count @returns {() => void} ends them */
export function startHogs(count) {
  const hogs = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', SPIN], { detached: true, stdio: 'ignore' }),
  );
  const stop = () => hogs.forEach((hog) => hog.kill('SIGKILL'));
  process.once('exit', stop);
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  return stop;
}
