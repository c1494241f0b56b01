/**
 * The one door to processes of ours: whatever is started here ends with this process, however that ends, by SIGKILL, too. What runs
 * synchronously is over before we go on. Programs that are judged have another parent, the keeper (lib/observe/keeper.js).
 */
import { fork, spawn } from 'node:child_process';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';

export { execFileSync, spawnSync } from 'node:child_process';

const LIFELINE = ['--require', fileURLToPath(new URL('lifeline.cjs', import.meta.url))];
const isWindows = process.platform === 'win32';

/**
 * @typedef {import('node:child_process').ChildProcess} ChildProcess
 *
 * @typedef {object} Ended  how a command came to its end
 * @property {number | null} code
 * @property {string | null} signal
 * @property {string} [error]  why it could not be started
 */

/**
 * Starts a file of ours that is told what to do by messages, and ends with its channel.
 * @param {URL} file
 * @param {import('node:child_process').ForkOptions & { args?: string[] }} [options]
 * @returns {ChildProcess}
 */
export function forkOurs(file, { args = [], ...options } = {}) {
  return fork(file, args, { stdio: withoutTerminal(), ...options, execArgv: LIFELINE });
}

/**
 * Standard streams, and a channel, for a process of ours that neither asks nor prints. A Node.js process that has the terminal
 * puts it back, when it exits, into the mode in which it found it: a question that we ask meanwhile would lose its own.
 * @returns {('ignore' | 'inherit' | 'ipc')[]}
 */
export function withoutTerminal() {
  const [stdout, stderr] = [1, 2].map((fd) => (isatty(fd) ? 'ignore' : 'inherit'));
  return /** @type {any} */ (['ignore', stdout, stderr, 'ipc']);
}

/**
 * Starts Node.js with these arguments, as for a command of ours. It must end by process.exit(): the channel that is its lifeline
 * keeps it alive.
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions & { stdio?: any[] }} [options]  stdio: three of them
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
 * Starts any command, in a process group of its own, below a guard that ends the group with us.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, shell?: boolean, stdio?: any[], removes?: string[] }} [options]  stdio: three
 *   of them; removes: what the guard removes where we are gone
 * @returns {{ guard: ChildProcess, ended: Promise<Ended>, end: () => void }}  guard: has its streams; end: kills the group,
 *   after that `ended` resolves, too
 */
export function spawnGuarded(command, args, { stdio, env = process.env, removes, ...how } = {}) {
  const [stdin, stdout, stderr] = stdio ?? ['ignore', 'pipe', 'pipe'];
  const guard = fork(new URL('guard.js', import.meta.url), removes, {
    ...{ execArgv: [], detached: !isWindows, env: ownEnvironment() },
    stdio: [stdin, stdout, stderr, 'ipc'],
  });
  guard.send({ command, args, env, ...how }, () => {}); // not started: 'error' tells
  /** @type {Ended} */
  let told = { code: null, signal: null };
  guard.on('message', (/** @type {any} */ message) => (told = { ...told, ...message }));
  const ended = new Promise((resolve) => {
    guard.on('error', ({ message }) => resolve({ ...told, error: message }));
    guard.on('exit', (code, signal) => resolve({ ...told, signal: told.signal ?? signal }));
  });
  return { guard, ended, end: () => guard.connected && guard.disconnect() };
}

/** The guard is ours: what changes Node.js in the user's environment is for the command. */
function ownEnvironment() {
  return { ...process.env, NODE_OPTIONS: '' };
}
