/** The actions of the learner's buttons: diff, reset, spot, and measuring the solution. */
import { join } from 'node:path';
import { runCheck } from '../check/run-check.js';
import { UsageError } from '../common/usage-error.js';
import { changesOf } from '../lessons/answer-programs.js';
import { lessonPaths } from '../lessons/lesson-paths.js';
import { solutionDiffs } from './commands/diff.js';
import { askForSolution } from './commands/solution.js';
import { saveSolutionResult } from './saved/solution-results.js';
import { RIGHT, judge, askForSpot, nextSitting } from './commands/spot.js';
import { hasUnreportedError } from './saved/save-errors.js';
import { changedFiles, restoreStarter } from './starter-files.js';

/** @typedef {import('./saved/progress.js').Io} Io @typedef {import('../lessons/catalog.js').Lesson} Lesson */
/** @typedef {import('../learner/page-actions.js').PageActions} PageActions */

/** @param {Io} io @returns {Omit<PageActions, 'runIfIdle'>} */
export function pageActionsOf(io) {
  const { root } = io;
  return {
    compare(lesson) {
      const reasons = askForSolution(lesson, io);
      if (!reasons) return { files: solutionDiffs(root, lesson.key) };
      const { passedNot, hintsLeft } = reasons;
      return { reason: `${passedNot} ${hintsLeft && `${hintsLeft}.`}`.trim() };
    },
    changed: ({ key }) => changedFiles(root, key).map(pathOf),
    reset({ key }) {
      const changed = changedFiles(root, key);
      return { changed: changed.map(pathOf), backup: restoreStarter(changed, io) };
    },
    ...spotActionsOf(io),
    async measure({ key }, { signal, ...hear }) {
      const subject = join(root, lessonPaths(key).solution);
      const result = await runCheck({ root, key, subject, signal, ...hear });
      const { fault, verdict, measurements } = result;
      if (!signal.aborted) saveSolutionResult(result, io);
      if (fault) return { fault: `This is a fault in Forkshop: ${fault}` };
      const isMeasured = measurements.some(({ isHeadline }) => isHeadline);
      return isMeasured ? { verdict } : { fault: unmeasured(result) };
    },
  };
}

/** @param {Io} io @returns {Pick<PageActions, 'spots' | 'judge'>} */
function spotActionsOf(io) {
  /** @type {{ key: string, sitting: import('../lessons/answers.js').Answer[], ids: string[] } | undefined} */
  let shown;
  return {
    async spots(lesson) {
      const reason = askForSpot(lesson, io);
      if (reason && !hasUnreportedError(io)) return { reason };
      const { promises, sitting } = await nextSitting(lesson, io);
      shown = { key: lesson.key, sitting, ids: Object.keys(promises) };
      return {
        changes: sitting.map((answer) => changesOf(io.root, lesson.key, answer)),
        promises: Object.entries(promises).map(([id, sentence]) => ({ id, sentence })),
        right: RIGHT,
      };
    },
    async judge(lesson, index, said, { signal, ...hear }) {
      const answer = shown?.key === lesson.key ? shown.sitting[index] : undefined;
      if (!answer || !shown || ![RIGHT, ...shown.ids].includes(said))
        throw new UsageError('These changes are no longer shown.', 'Begin again with new ones.');
      const { isSeen, result } = await judge({ lesson, answer, said, io, signal, hear });
      const { isRight, breaks, why } = answer;
      return { isSeen, isRight, breaks, why, bug: result.fault };
    },
  };
}

const pathOf = (/** @type {import('./starter-files.js').Changed} */ { key, file }) =>
  `${lessonPaths(key).mine}/${file}`;

/** Says which promise of the solution kept it from being measured. */
function unmeasured(/** @type {import('../check/run-check.js').CheckResult} */ { promises }) {
  const open = promises.find(({ verdict }) => verdict !== 'passed');
  return ['The solution could not be measured here.', open?.got, open?.why]
    .filter(Boolean)
    .join(' ');
}
