/** The user's command for a reload, such as `pm2 reload shop`, run once in a shell; it is killed when we exit, or when its time is up. */
import { spawnGuarded } from '../common/child.js';
import { closeAtEnd } from '../common/run-and-close.js';

export const COMMAND_WITHIN_MS = 60_000;
const MOST_CHARACTERS = 4_000; // of what it printed last

/**
 * @typedef {{ code: number | null, printed: string }} Failed  code: null if a signal or our time limit ended it; printed: its last output
 * @param {{ command: string, cwd: string, env: NodeJS.ProcessEnv }} options
 * @returns {{ ended: Promise<Failed | undefined>, isOver: () => boolean }}  undefined: it exited with code 0
 */
export function runCommand({ command, cwd, env }) {
  const { guard, ended, end } = spawnGuarded(command, [], { cwd, env, shell: true });
  let printed = '';
  let isOver = false;
  const hear = (/** @type {Buffer} */ data) => (printed = (printed + data).slice(-MOST_CHARACTERS));
  guard.stdout?.on('data', hear);
  guard.stderr?.on('data', hear);
  const timer = setTimeout(end, COMMAND_WITHIN_MS);
  const release = closeAtEnd(end);
  return {
    isOver: () => isOver,
    ended: ended.then(({ code, error = '' }) => {
      isOver = true;
      clearTimeout(timer);
      release();
      return code === 0 ? undefined : { code, printed: printed + error };
    }),
  };
}
