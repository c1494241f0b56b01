/**
 * The tools of an experiment: real programs under the probe, and load.
 * @typedef {import('../observe/program.js').Program} Program
 * @typedef {object} Lab
 * @property {(file: string, options?: Partial<import('../observe/program.js').StartOptions>) => Promise<Program>} launch
 *   starts a program of this repository; file: relative to its root
 * @property {(folder: string) => import('../observe/program-copy.js').Copy} copy  of a folder with a server.js, to deploy there
 * @property {() => import('../measure/load.js').Load} load  closed loop
 * @property {() => ReturnType<typeof createOpenLoop>} openLoop  sends on schedule
 * @property {import('../observe/runner.js').Runner} runner  of its programs
 * @property {boolean} isBrief  show in seconds what takes minutes
 * @property {() => Promise<number[]>} close  kills its programs; the lab starts nothing afterwards
 *
 * @typedef {object} Experiment  exported by checks/NN-slug/experiments.js
 * @property {string} name  kebab-case
 * @property {string} title
 * @property {string} question  for the learner to answer before the run
 * @property {import('../tools/tools.js').Tool} [needs]  must be installed
 * @property {(lab: Lab) => Promise<{ observed: string | string[], because: string | string[], asExpected: boolean }>} run
 *   takes seconds; asExpected: whether `because` explains what was observed
 */
import { join, resolve } from 'node:path';
import { createLoad } from '../measure/load.js';
import { createOpenLoop } from '../measure/open-loop.js';
import { copyProgram } from '../observe/program-copy.js';
import { createRunner } from '../observe/runner.js';
import { commandOf } from './programs.js';

/**
 * @param {string} root  absolute path of the folder that holds the rooms
 * @param {{ isBrief?: boolean, onProgram?: (started: import('./programs.js').Started) => void }} [options] @returns {Lab}
 */
export function createLab(root, { isBrief = false, onProgram } = {}) {
  const runner = createRunner();
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
