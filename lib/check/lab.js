/**
 * What an experiment works with: real programs under the probe, and requests to them.
 *
 * @typedef {import('../observe/program.js').Program} Program
 *
 * @typedef {object} Lab
 * @property {(file: string, options?: Partial<import('../observe/program.js').StartOptions>) => Promise<Program>} launch
 *   starts a program of this repository; `file` is its path from the root
 * @property {(folder: string) => import('../observe/copy.js').Copy} copy  of a folder of this repository with its server.js, to
 *   deploy there; launch takes the copy's entry, too
 * @property {() => import('../measure/load.js').Load} load  a load generator
 * @property {() => ReturnType<typeof createOpenLoop>} openLoop  another, which sends on schedule
 * @property {import('../observe/run.js').Runner} runner  what starts its programs, and ends them
 * @property {boolean} isBrief  an experiment that takes minutes shows it in seconds
 * @property {() => Promise<number[]>} close  after that it starts nothing
 *
 * @typedef {object} Experiment  one of those that checks/NN-slug/experiments.js exports
 * @property {string} name  kebab-case
 * @property {string} title
 * @property {string} question  to be answered before it is run
 * @property {import('../tools/tools.js').Tool} [needs]  what has to be installed for it
 * @property {(lab: Lab) => Promise<{ observed: string | string[], because: string | string[], asExpected: boolean }>} run
 *   takes a few seconds; `observed` holds what was seen in this very run, `asExpected` whether `because` explains that
 */
import { join, resolve } from 'node:path';
import { createLoad } from '../measure/load.js';
import { createOpenLoop } from '../measure/open-loop.js';
import { copyProgram } from '../observe/copy.js';
import { createRunner } from '../observe/run.js';
import { commandOf } from './programs.js';

/**
 * @param {string} root  absolute path of the folder that holds the rooms
 * @param {{ isBrief?: boolean, onProgram?: (started: import('./programs.js').Started) => void }} [options]  onProgram: called
 *   when a program has been started
 * @returns {Lab}
 */
export function createLab(root, { isBrief = false, onProgram } = {}) {
  const runner = createRunner();
  /** @type {{ close(): void }[]} */
  const generators = [];
  let isOpen = true;
  const keep = (create) => {
    if (!isOpen) throw new Error('This lab is closed: it no longer starts anything.');
    const generator = create();
    generators.push(generator);
    return generator;
  };
  return {
    async launch(file, options) {
      const program = await runner.start({ entry: resolve(root, file), ...options });
      onProgram?.({ name: commandOf(program.options), program });
      return program;
    },
    copy: (folder) =>
      copyProgram(
        { place: join(root, folder), entry: join(root, folder, 'server.js') },
        runner.home,
      ),
    load: () => keep(createLoad),
    openLoop: () => keep(createOpenLoop),
    runner,
    isBrief,
    close() {
      isOpen = false;
      for (const generator of generators) generator.close();
      return runner.close();
    },
  };
}
