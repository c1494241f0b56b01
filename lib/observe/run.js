/**
 * Runs other people's server programs, each under the probe (program.js). The keeper (keeper.js) is the programs' parent
 * and outlives this process.
 *
 * @typedef {object} Runner
 * @property {string} home  a folder of its own, which is removed at the end
 * @property {(options: import('./program.js').StartOptions) => Promise<Program>} start
 * @property {() => Promise<number[]>} close  ends every program, and tells the pids that would not go (none)
 * @property {() => Promise<number[]>} clear  does the same, and can start others afterwards
 * @property {() => { pid: number, port: number }[]} spared  what still listened where a program had, when all were ended last:
 *   not proved to belong to it, it lives
 * @property {() => number[]} pids  of its keeper, and of its programs as far as they have reported them
 * @property {() => boolean} isOpen  false when it is closed, or a program has killed the keeper
 */
import { fork } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { withoutTerminal } from '../common/child.js';
import { forgetSilence } from './client.js';
import { copyCache, makeCache } from './compile-cache.js';
import { environmentOfOurs } from './environment.js';
import { markInEnvironment } from './mark.js';
import { freePort, letGo } from './ports.js';
import { Program } from './program.js';
import { removeHome, sweep } from './sweep.js';
import { nameHome, temporaryFolder } from './temporary.js';

const WAKE_MS = 500;

/** @type {Set<import('node:child_process').ChildProcess>} */
const keepers = new Set();

/**
 * Opens a runner with a keeper of its own. What an earlier one has left, killed together with its keeper, is ended and removed
 * before the first program starts.
 * @returns {Runner}
 */
export function createRunner() {
  const name = nameHome();
  const temporary = temporaryFolder();
  const home = join(temporary, name);
  const env = { ...environmentOfOurs(), ...markInEnvironment(name) };
  const options = { detached: true, env, execArgv: [], stdio: withoutTerminal() };
  const swept = sweep();
  const keeper = fork(new URL('keeper.js', import.meta.url), [home], options);
  mkdirSync(home, { mode: 0o700 }); // now that there is one who removes it, whatever happens to us
  const programs = new Map();
  let count = 0;
  /** @type {{ pid: number, port: number }[]} */
  let spared = [];
  let isOpen = true;
  keeper.on('message', (/** @type {any} */ message) => {
    const id =
      message.started ?? message.ended ?? message.excess ?? message.failed ?? message.stopped;
    programs.get(id)?.hear(message);
  });
  const waking = setInterval(() => wake(keeper), WAKE_MS);
  waking.unref();
  if (keepers.size === 0) process.on('SIGTSTP', rest);
  keepers.add(keeper);
  keeper.on('exit', () => {
    clearInterval(waking);
    keepers.delete(keeper);
    if (keepers.size === 0) process.off('SIGTSTP', rest);
  });
  keeper.on('exit', () => programs.forEach((program) => program.hear({ orphaned: true })));
  keeper.on('error', () => {}); // a message to a keeper that has just been killed; 'exit' tells
  const endAll = async () => {
    isOpen = false;
    const left = await Promise.all([...programs.values()].map((program) => program.stop()));
    spared = [...programs.values()].flatMap((one) =>
      one.spared.map((pid) => ({ pid, port: one.port })),
    );
    if (programs.size > 0) await makeCache(); // for the next time
    await swept;
    return left.flat();
  };
  return {
    home,
    async start(options) {
      const [port] = await Promise.all([freePort(), swept]);
      if (!isOpen) throw new Error('This runner is closed: it no longer starts anything.');
      forgetSilence(port);
      const id = `${name}/${(count += 1)}`;
      const place = { id, folder: join(temporary, id), port, compileCache: copyCache(home) };
      const program = new Program(keeper, place, options);
      programs.set(program.id, program);
      program.stopped.then(() => letGo(port));
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

/** After Ctrl-Z. The keepers are told before, since they wake a check that a program has stopped. */
async function rest() {
  const tellAll = (/** @type {boolean} */ rests) =>
    Promise.all([...keepers].map((one) => new Promise((told) => one.send({ rests }, told))));
  await tellAll(true);
  process.kill(process.pid, 'SIGSTOP');
  await tellAll(false);
}

/** A program may have stopped its parent; one that runs does not mind. */
function wake(/** @type {import('node:child_process').ChildProcess} */ keeper) {
  if (process.platform !== 'win32') keeper.kill('SIGCONT');
}
