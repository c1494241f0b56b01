// A CPU hog: a process that spins for ever, in a session of its own, as a neighbour's program would be.
import { spawn } from 'node:child_process';

/** Starts so many hogs. @param {number} count @returns {() => void} ends them */
export function startHogs(count) {
  const hogs = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { detached: true, stdio: 'ignore' }),
  );
  const stop = () => hogs.forEach((hog) => hog.kill('SIGKILL'));
  process.once('exit', stop);
  process.once('SIGINT', () => process.exit(130));
  return stop;
}
