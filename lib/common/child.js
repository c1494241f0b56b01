/**
 * Starts processes of ours. Each exits when this process exits, even by SIGKILL; the synchronous ones exit before we continue.
 * Programs under test have another parent, the keeper (lib/observe/keeper.js).
 */
import { fork, spawn } from 'node:child_process';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';

export { execFileSync, spawnSync } from 'node:child_process';

const LIFELINE = ['--require', fileURLToPath(new URL('lifeline.cjs', import.meta.url))];
const isWindows = process.platform === 'win32';

/**
 * @typedef {import('node:child_process').ChildProcess} ChildProcess
 * @typedef {{ code: number | null, signal: string | null, error?: string }} Ended  how a command exited; error: why it didn't start
 */

/**
 * Forks a file of ours that takes its work as messages and exits when its channel closes.
 * @param {URL} file @param {import('node:child_process').ForkOptions & { args?: string[] }} [options] @returns {ChildProcess}
 */
export function forkOurs(file, { args = [], ...options } = {}) {
  return fork(file, args, { stdio: withoutTerminal(), ...options, execArgv: LIFELINE });
}

/**
 * The stdio option for a process of ours with a channel. Node.js resets the terminal on exit, which would spoil a question that we ask
 * then, so it doesn't get the terminal. @returns {('ignore' | 'inherit' | 'ipc')[]}
 */
export function withoutTerminal() {
  const [stdout, stderr] = [1, 2].map((fd) => (isatty(fd) ? 'ignore' : 'inherit'));
  return /** @type {any} */ (['ignore', stdout, stderr, 'ipc']);
}

/**
 * Starts Node.js for a command of ours, which must call process.exit(): the channel that is its lifeline keeps it alive.
 * @param {string[]} args @param {import('node:child_process').SpawnOptions & { stdio?: any[] }} [options]  stdio: three of them
 * @returns {import('node:child_process').ChildProcessWithoutNullStreams}
 */
export function spawnOurs(args, { stdio = ['pipe', 'pipe', 'pipe'], ...options } = {}) {
  const child = spawn(process.execPath, [...LIFELINE, ...args], {
    ...options,
    stdio: [...stdio, 'ipc'],
  });
  return /** @type {any} */ (child);
}

/**
 * Starts any command in its own process group, below a guard that kills the group when this process exits.
 * @param {string} command @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, shell?: boolean, stdio?: any[], removes?: string[] }} [options]  stdio: three of
 *   them; removes: paths that the guard removes if this process exits first
 * @returns {{ guard: ChildProcess, ended: Promise<Ended>, end: () => void }}  guard has the streams; end kills the group
 */
export function spawnGuarded(command, args, { stdio, env = process.env, removes, ...how } = {}) {
  const [stdin, stdout, stderr] = stdio ?? ['ignore', 'pipe', 'pipe'];
  const guard = fork(new URL('guard.js', import.meta.url), removes, {
    ...{ execArgv: [], detached: !isWindows, env: ownEnvironment() },
    stdio: [stdin, stdout, stderr, 'ipc'],
  });
  guard.send({ command, args, env, ...how }, () => {}); // 'error' reports a guard that didn't start
  let outcome = { code: null, signal: null };
  guard.on('message', (/** @type {any} */ message) => (outcome = { ...outcome, ...message }));
  const ended = new Promise((resolve) => {
    guard.on('error', ({ message }) => resolve({ ...outcome, error: message }));
    guard.on('exit', (code, signal) => resolve({ ...outcome, signal: outcome.signal ?? signal }));
  });
  return { guard, ended, end: () => guard.connected && guard.disconnect() };
}

/** The user's NODE_OPTIONS are for the command, not for the guard. */
function ownEnvironment() {
  return { ...process.env, NODE_OPTIONS: '' };
}
