/**
 * The experiments of a lesson, found and performed; the command and the learner's page show them.
 *
 * @typedef {import('./lab.js').Experiment} Experiment
 *
 * @typedef {object} Seen  what came of an experiment
 * @property {string[]} [observed]  what was seen in this very run
 * @property {string[]} [because]
 * @property {boolean} [asExpected]  `because` explains what was seen
 * @property {{ got: string, why: string, try?: string }} [obstacle]  why it could not be shown, in place of the rest; try: a
 *   command that helps
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nearest, quoted } from '../common/nearest.js';
import { UsageError } from '../common/usage-error.js';
import { lessonPaths } from '../lessons/lesson-paths.js';
import { Shortage } from '../observe/shortage.js';
import { explainMissing, findTool } from '../tools/tools.js';
import { Undecided } from '../verdict/outcome.js';
import { createLab } from './lab.js';

/** An experiment was stopped before it was over. */
export class Stopped extends Error {}

/**
 * @param {string} root
 * @param {Pick<import('../lessons/catalog.js').Lesson, 'key' | 'number'>} lesson
 * @returns {Promise<Experiment[]>}
 * @throws {UsageError}  when it has none
 */
export async function readExperiments(root, { key, number }) {
  const file = join(root, lessonPaths(key).experiments);
  if (!existsSync(file))
    throw new UsageError(`Lesson ${number} has no experiments.`, 'Lessons that have some say so.');
  return (await import(pathToFileURL(file).href)).default;
}

/**
 * @param {Experiment[]} experiments
 * @param {string} chosen  a number from 1, or a name
 * @returns {Experiment}
 * @throws {UsageError}  when there is no such experiment
 */
export function findExperiment(experiments, chosen) {
  const found = experiments[Number(chosen) - 1] ?? experiments.find(({ name }) => name === chosen);
  if (found) return found;
  const names = experiments.map(({ name }) => name);
  const guess = nearest(chosen, names);
  throw new UsageError(
    `There is no experiment ${quoted(chosen)}.`,
    `${guess ? `Did you mean ${guess}? ` : ''}There are: ${names.map((name, index) => `${index + 1} ${name}`).join(', ')}.`,
  );
}

/** What has to be installed for it and is not here. @param {Experiment} experiment @returns {Seen['obstacle']} */
export const obstacleTo = ({ needs }) =>
  needs && !findTool(needs) ? explainMissing(needs) : undefined;

/**
 * Performs an experiment; afterwards nothing of it is left.
 * @param {Experiment} experiment
 * @param {object} options
 * @param {string} options.root
 * @param {AbortSignal} [options.signal]  ends it
 * @param {(started: import('./programs.js').Started) => void} [options.onProgram]  called when a program has been started
 * @returns {Promise<Seen>}
 * @throws {Stopped}  when it was ended
 */
export async function performExperiment(experiment, { root, signal, onProgram }) {
  const obstacle = obstacleTo(experiment);
  if (obstacle) return { obstacle };
  const lab = createLab(root, { onProgram });
  const look = experiment.run(lab);
  look.catch(() => {}); // one that was stopped fails later, and nobody minds
  const stop = whenAborted(signal);
  try {
    const { observed, because, asExpected } = await Promise.race([look, stop.aborted]);
    return { observed: [observed].flat(), because: [because].flat(), asExpected };
  } catch (error) {
    if (error instanceof Shortage || error instanceof Undecided) return { obstacle: error.story };
    throw error;
  } finally {
    stop.release();
    await lab.close();
  }
}

/** @param {AbortSignal} [signal] */
function whenAborted(signal) {
  /** @type {() => void} */
  let onAbort = () => {};
  /** @type {Promise<never>} */
  const aborted = new Promise((resolve, reject) => {
    onAbort = () => reject(new Stopped('It was stopped.'));
  });
  aborted.catch(() => {});
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort);
  return { aborted, release: () => signal?.removeEventListener('abort', onAbort) };
}
