/** A command of the user's, run once in a shell, as `pm2 reload shop`; it ends with us, and in time. */
import { spawn } from 'node:child_process';
import { keepTrack } from '../measure/generator.js';

const ENDS_WITHIN_MS = 60_000;
const MOST_CHARACTERS = 4_000; // of what it printed last

/**
 * @typedef {object} Failed  how a command ended that did not end well
 * @property {number | null} code  null: by a signal, or it was not over in time
 * @property {string} printed  the last of it
 *
 * @param {{ command: string, cwd: string, env: NodeJS.ProcessEnv }} what
 * @returns {{ ended: Promise<Failed | undefined>, isOver: () => boolean }}  undefined: it ended with exit code 0
 */
export function runCommand({ command, cwd, env }) {
  const isGroup = process.platform !== 'win32';
  const child = spawn(command, {
    ...{ cwd, env, shell: true, detached: isGroup, windowsHide: true },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  let isOver = false;
  const hear = (/** @type {Buffer} */ data) => (printed = (printed + data).slice(-MOST_CHARACTERS));
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  const kill = () => {
    if (isOver || !child.pid) return; // its number may be another's
    try {
      process.kill(isGroup ? -child.pid : child.pid, 'SIGKILL');
    } catch {
      // it has just ended
    }
  };
  const timer = setTimeout(kill, ENDS_WITHIN_MS);
  const release = keepTrack(kill);
  const ended = new Promise((resolve) => {
    const end = (/** @type {number | null} */ code) => {
      isOver = true;
      clearTimeout(timer);
      release();
      resolve(code === 0 ? undefined : { code, printed });
    };
    child.on('error', (error) => ((printed += error.message), end(null)));
    child.on('exit', (code) => end(code)); // and not 'close': what it has left running may hold its output open
  });
  return { ended, isOver: () => isOver };
}
