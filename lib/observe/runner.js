/**
 * Runs server programs under the probe (program.js). Their parent is the keeper (keeper.js), which outlives this process.
 * @typedef {object} Runner
 * @property {string} home  its folder, removed at the end
 * @property {(options: import('./program.js').StartOptions) => Promise<Program>} start
 * @property {() => Promise<number[]>} close  kills every program, and resolves to the pids that couldn't be killed
 * @property {() => Promise<number[]>} clear  the same, but others can start afterwards
 * @property {() => { pid: number, port: number }[]} spared  processes that still listened on a program's port when all were last
 *   ended, and live because they don't provably belong to it
 * @property {() => number[]} pids  of the keeper and its programs, as far as reported
 * @property {() => boolean} isOpen  false after close(), or when a program has killed the keeper
 */
import { fork } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { withoutTerminal } from '../common/child.js';
import { forgetSilence } from './client.js';
import { copyCache, makeCache } from './compile-cache.js';
import { environmentOfOurs } from './environment.js';
import { markInEnvironment } from './mark.js';
import { reservePort, releasePort } from './ports.js';
import { Program } from './program.js';
import { removeHome, sweep } from './sweep.js';
import { nameHome, temporaryFolder } from './temporary-folder.js';

const WAKE_MS = 500;

/** @type {Set<import('node:child_process').ChildProcess>} */
const keepers = new Set();

/** Starts a keeper, and cleans up after earlier runners that were killed together with theirs. @returns {Runner} */
export function createRunner() {
  const name = nameHome();
  const temporary = temporaryFolder();
  const home = join(temporary, name);
  const swept = sweep();
  const keeper = startKeeper(name, home);
  const programs = new Map();
  let count = 0;
  /** @type {{ pid: number, port: number }[]} */
  let spared = [];
  let isOpen = true;
  keeper.on('message', (/** @type {any} */ message) => {
    const id =
      message.started ?? message.ended ?? message.excess ?? message.failed ?? message.stopped;
    programs.get(id)?.takeMessage(message);
  });
  keeper.on('exit', () => programs.forEach((program) => program.takeMessage({ orphaned: true })));
  keeper.on('error', () => {}); // a message to a keeper that was just killed; see 'exit'
  const endAll = async () => {
    isOpen = false;
    const left = await Promise.all([...programs.values()].map((program) => program.stop()));
    spared = [...programs.values()].flatMap((one) =>
      one.spared.map((pid) => ({ pid, port: one.port })),
    );
    if (programs.size > 0) await makeCache(); // for the next run
    await swept;
    return left.flat();
  };
  return {
    home,
    async start(options) {
      const [port] = await Promise.all([reservePort(), swept]);
      if (!isOpen) throw new Error('This runner is closed: it no longer starts anything.');
      forgetSilence(port);
      const id = `${name}/${(count += 1)}`;
      const place = { id, folder: join(temporary, id), port, compileCache: copyCache(home) };
      const program = new Program(keeper, place, options);
      programs.set(program.id, program);
      program.stopped.then(() => releasePort(port));
      program.begin();
      return program;
    },
    async clear() {
      const left = await endAll();
      programs.clear();
      removeHome(home);
      isOpen = keeper.connected;
      if (isOpen) mkdirSync(home, { mode: 0o700 });
      return left;
    },
    spared: () => spared,
    pids: () => [Number(keeper.pid), ...[...programs.values()].flatMap((one) => [...one.pids()])],
    isOpen: () => isOpen && keeper.connected,
    async close() {
      const left = await endAll();
      if (keeper.connected) keeper.disconnect();
      removeHome(home);
      return left;
    },
  };
}

/** @param {string} name  of the runner's folder @param {string} home  its path */
function startKeeper(name, home) {
  const env = { ...environmentOfOurs(), ...markInEnvironment(name) };
  const options = { detached: true, env, execArgv: [], stdio: withoutTerminal() };
  const keeper = fork(new URL('keeper.js', import.meta.url), [home], options);
  mkdirSync(home, { mode: 0o700 }); // now the keeper removes it, even if this process is killed
  const waking = setInterval(() => wake(keeper), WAKE_MS);
  waking.unref();
  if (keepers.size === 0) process.on('SIGTSTP', suspend);
  keepers.add(keeper);
  keeper.on('exit', () => {
    clearInterval(waking);
    keepers.delete(keeper);
    if (keepers.size === 0) process.off('SIGTSTP', suspend);
  });
  return keeper;
}

/** On Ctrl-Z: warns the keepers first, because they wake a check that a program has stopped. */
async function suspend() {
  const notifyAll = (/** @type {boolean} */ suspends) =>
    Promise.all([...keepers].map((one) => new Promise((sent) => one.send({ suspends }, sent))));
  await notifyAll(true);
  process.kill(process.pid, 'SIGSTOP');
  await notifyAll(false);
}

/** Continues a keeper that a program has stopped; SIGCONT does nothing to a running process. */
function wake(/** @type {import('node:child_process').ChildProcess} */ keeper) {
  if (process.platform !== 'win32') keeper.kill('SIGCONT');
}
