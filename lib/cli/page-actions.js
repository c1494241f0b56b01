/** What the page can have done: the parts of the commands try, spot, diff, reset and check --solution, for a learner's page. */
import { join } from 'node:path';
import { runCheck } from '../check/run-check.js';
import { UsageError } from '../common/usage-error.js';
import { changesOf } from '../lessons/answers.js';
import { placesOf } from '../lessons/places.js';
import { patchesOf } from './commands/diff.js';
import { changedFiles, putBack } from './commands/reset.js';
import { reasonsToWait } from './commands/solution.js';
import { keepSolution } from './solution-results.js';
import { RIGHT, judge, reasonToWait, sittingOf } from './commands/spot.js';
import { isUnkept } from './save-errors.js';

/** @typedef {import('./progress.js').Io} Io */
/** @typedef {import('../lessons/catalog.js').Lesson} Lesson */
/** @typedef {import('../learner/page-actions.js').Reach} Reach */

/**
 * @param {Io} io
 * @returns {Omit<Reach, 'aside'>}
 */
export function reachOf(io) {
  const { root } = io;
  /** @type {{ key: string, sitting: import('../lessons/answers.js').Answer[], ids: string[] } | undefined} */
  let shown;
  return {
    compare(lesson) {
      const reasons = reasonsToWait(lesson, io);
      if (!reasons) return { files: patchesOf(root, lesson.key) };
      const { passedNot, hintsLeft } = reasons;
      return { reason: `${passedNot} ${hintsLeft && `${hintsLeft}.`}`.trim() };
    },
    changed: ({ key }) => changedFiles(root, key).map(pathOf),
    reset({ key }) {
      const changed = changedFiles(root, key);
      return { changed: changed.map(pathOf), backup: putBack(changed, io) };
    },
    async spots(lesson) {
      const reason = reasonToWait(lesson, io);
      if (reason && !isUnkept(io)) return { reason };
      const { promises, sitting } = await sittingOf(lesson, io);
      shown = { key: lesson.key, sitting, ids: Object.keys(promises) };
      return {
        changes: sitting.map((answer) => changesOf(root, lesson.key, answer)),
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
    async measure({ key }, { signal, ...hear }) {
      const subject = join(root, placesOf(key).solution);
      const result = await runCheck({ root, key, subject, signal, ...hear });
      const { fault, verdict, measurements } = result;
      if (!signal.aborted) keepSolution(result, io);
      if (fault) return { fault: `This is a fault in Forkshop: ${fault}` };
      const isMeasured = measurements.some(({ isHeadline }) => isHeadline);
      return isMeasured ? { verdict } : { fault: unmeasured(result) };
    },
  };
}

const pathOf = (/** @type {import('./commands/reset.js').Changed} */ { key, file }) =>
  `${placesOf(key).mine}/${file}`;

/** Nothing was measured: a promise of the solution could not be decided here. */
function unmeasured(/** @type {import('../check/run-check.js').CheckResult} */ { promises }) {
  const open = promises.find(({ verdict }) => verdict !== 'passed');
  return ['The solution could not be measured here.', open?.got, open?.why]
    .filter(Boolean)
    .join(' ');
}
