/**
 * Runs other people's server programs, each under the probe (program.js). The keeper (keeper.js) is the programs' parent
 * and outlives this process.
 *
 * @typedef {object} Runner
 * @property {string} home  a folder of its own, which is removed at the end
 * @property {(options: import('./program.js').StartOptions) => Promise<Program>} start
 * @property {() => Promise<number[]>} close  ends every program, and tells the pids that would not go (none)
 */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { scrub } from './environment.js';
import { freePort } from './ports.js';
import { Program } from './program.js';
import { temporaryFolder } from './temporary.js';

/**
 * Opens a runner with a keeper of its own.
 * @returns {Runner}
 */
export function createRunner() {
  const home = join(temporaryFolder(), `forkshop-${randomUUID()}`);
  const options = { detached: true, env: scrub(process.env), execArgv: [] };
  const keeper = fork(new URL('keeper.js', import.meta.url), [home], options);
  mkdirSync(home, { mode: 0o700 }); // now that there is one who removes it, whatever happens to us
  const programs = new Map();
  let isOpen = true;
  keeper.on('message', (/** @type {any} */ message) => {
    const id =
      message.started ?? message.ended ?? message.excess ?? message.failed ?? message.stopped;
    programs.get(id)?.hear(message);
  });
  keeper.on('exit', () => programs.forEach((program) => program.hear({ orphaned: true })));
  keeper.on('error', () => {}); // a message to a keeper that has just been killed; 'exit' tells
  return {
    home,
    async start(options) {
      const port = await freePort();
      if (!isOpen) throw new Error('This runner is closed: it starts nothing any more.');
      const program = new Program(keeper, { home, port }, options);
      programs.set(program.id, program);
      program.begin();
      return program;
    },
    async close() {
      isOpen = false;
      const left = await Promise.all([...programs.values()].map((program) => program.stop()));
      if (keeper.connected) keeper.disconnect();
      rmSync(home, { recursive: true, force: true, maxRetries: 3 });
      return left.flat();
    },
  };
}
