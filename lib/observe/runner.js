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
import { dirname, join } from 'node:path';
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
  const home = join(temporaryFolder(), name);
  const swept = sweep();
  const keeper = startKeeper(name, home);
  const programs = programsOf(keeper, name, home);
  let isOpen = true;
  const endAll = async () => {
    isOpen = false;
    const left = await programs.stop();
    await swept;
    return left;
  };
  return {
    home,
    async start(options) {
      const [port] = await Promise.all([reservePort(), swept]);
      if (!isOpen) throw new Error('This runner is closed: it no longer starts anything.');
      return programs.start(port, options);
    },
    async clear() {
      const left = await endAll();
      programs.forget();
      removeHome(home);
      isOpen = keeper.connected;
      if (isOpen) mkdirSync(home, { mode: 0o700 });
      return left;
    },
    spared: programs.spared,
    pids: () => [Number(keeper.pid), ...programs.pids()],
    isOpen: () => isOpen && keeper.connected,
    async close() {
      const left = await endAll();
      if (keeper.connected) keeper.disconnect();
      removeHome(home);
      return left;
    },
  };
}

/**
 * Each message of a keeper is about one of its programs.
 * @param {import('node:child_process').ChildProcess} keeper @param {string} name  of the runner's folder @param {string} home  its path
 */
function programsOf(keeper, name, home) {
  /** @type {Map<string, Program>} */
  const byId = new Map();
  const all = () => [...byId.values()];
  let count = 0;
  let spared = [];
  keeper.on('message', (/** @type {any} */ message) => {
    const { started, ended, excess, failed, stopped } = message;
    byId.get(started ?? ended ?? excess ?? failed ?? stopped)?.takeMessage(message);
  });
  keeper.on('exit', () => all().forEach((program) => program.takeMessage({ orphaned: true })));
  keeper.on('error', () => {}); // a message to a keeper that was just killed; see 'exit'
  return {
    start(/** @type {number} */ port, /** @type {import('./program.js').StartOptions} */ options) {
      forgetSilence(port);
      const id = `${name}/${(count += 1)}`;
      const place = { id, folder: join(dirname(home), id), port, compileCache: copyCache(home) };
      const program = new Program(keeper, place, options);
      byId.set(id, program);
      program.stopped.then(() => releasePort(port));
      program.begin();
      return program;
    },
    pids: () => all().flatMap((program) => [...program.pids()]),
    async stop() {
      const left = await Promise.all(all().map((program) => program.stop()));
      spared = all().flatMap(({ spared: pids, port }) => pids.map((pid) => ({ pid, port })));
      if (byId.size > 0) await makeCache(); // for the next run
      return left.flat();
    },
    spared: () => spared,
    forget: () => byId.clear(),
  };
}

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
