/**
 * Finds and runs the experiments of a lesson, for the command and the learner's page.
 * @typedef {import('./lab.js').Experiment} Experiment
 * @typedef {{ observed?: string[], because?: string[], asExpected?: boolean, obstacle?: { got: string, why: string, try?: string } }}
 *   Seen  asExpected: `because` explains what was observed; obstacle: why it couldn't run; try: a command that helps
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

export class Stopped extends Error {}

/**
 * @param {string} root @param {Pick<import('../lessons/catalog.js').Lesson, 'key' | 'number'>} lesson
 * @returns {Promise<Experiment[]>} @throws {UsageError}  when it has none
 */
export async function readExperiments(root, { key, number }) {
  const file = join(root, lessonPaths(key).experiments);
  if (!existsSync(file))
    throw new UsageError(`Lesson ${number} has no experiments.`, 'Lessons that have some say so.');
  return (await import(pathToFileURL(file).href)).default;
}

/** @param {Experiment[]} experiments @param {string} chosen  a number from 1, or a name @throws {UsageError}  when it doesn't exist */
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

/** The tool that it needs and this machine lacks. @param {Experiment} experiment @returns {Seen['obstacle']} */
export const obstacleTo = ({ needs }) =>
  needs && !findTool(needs) ? explainMissing(needs) : undefined;

/**
 * Runs an experiment and kills every program that it started.
 * @param {Experiment} experiment
 * @param {{ root: string, signal?: AbortSignal, onProgram?: (started: import('./programs.js').Started) => void }} options
 * @returns {Promise<Seen>} @throws {Stopped}  when the signal aborts it
 */
export async function performExperiment(experiment, { root, signal, onProgram }) {
  const obstacle = obstacleTo(experiment);
  if (obstacle) return { obstacle };
  const lab = createLab(root, { onProgram });
  const look = experiment.run(lab);
  look.catch(() => {}); // after an abort it fails once its programs are killed
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

function whenAborted(signal) {
  let onAbort = () => {};
  const aborted = new Promise((resolve, reject) => {
    onAbort = () => reject(new Stopped('It was stopped.'));
  });
  aborted.catch(() => {});
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort);
  return { aborted, release: () => signal?.removeEventListener('abort', onAbort) };
}
