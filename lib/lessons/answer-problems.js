import { join } from 'node:path';
import { UsageError } from '../common/usage-error.js';
import { applyPatches } from './answer-programs.js';
import { KINDS, answersOf, howToWrite } from './answers.js';
import { lessonPaths } from './lesson-paths.js';
import { promiseIds } from './promise-ids.js';

/** @typedef {import('./answers.js').Answer} Answer @typedef {import('./compare-rooms.js').Problem} Problem */

/**
 * Do both kinds of answers exist, do they name promises of the check, and does each still fit the solution?
 * @param {string} root @param {string} key @returns {Generator<Problem>} @throws {UsageError}  if the catalogue can't be parsed
 */
export function* answerProblems(root, key) {
  const { checks, solution } = lessonPaths(key);
  const answers = answersOf(root, key);
  const known = promiseIds(root, key);
  for (const { kind, isRight } of KINDS) {
    const where = `${checks}/${kind}.md`;
    const mine = answers.filter((answer) => answer.isRight === isRight);
    if (mine.length === 0) yield { where, problem: 'There is no answer in it.', mend: howToWrite };
    for (const [index, { name, breaks }] of mine.entries()) {
      const unknown = breaks.find((id) => !known.has(id));
      if (unknown) {
        const problem = `"${name}" breaks "${unknown}", which ${checks}/check.js does not hold.`;
        yield { where, problem, mend: 'Name a promise of the check by its id.' };
      }
      if (mine.findIndex((one) => one.name === name) !== index)
        yield { where, problem: `"${name}" is there twice.`, mend: 'Rename one.' };
    }
    for (const answer of mine) {
      const misfit = misfitOf(join(root, solution), answer);
      if (misfit) yield { where, problem: misfit.message, mend: misfit.hint };
    }
  }
}

function misfitOf(/** @type {string} */ solution, /** @type {Answer} */ answer) {
  try {
    applyPatches(solution, answer);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error;
  }
}
