/** The picture of the last scene that a check of a lesson has played, as a file to take along. */
import { writeWhole } from '../../common/files.js';
import { pictureOfCheck } from '../../verdict/scene-picture.js';
import { trySaving } from './save-errors.js';
import { writablePath } from './saved-files.js';

/**
 * @param {import('./progress.js').Io} io @param {import('../../check/run-check.js').CheckResult} result @param {number} number  of the lesson
 * @returns {string | undefined}  absolute path; undefined if the check has played no scene, or the file can't be written
 */
export function saveScene(io, { scene, ...result }, number) {
  if (!scene) return undefined;
  let path;
  const isSaved = trySaving(io, () => {
    path = writablePath(io, `lesson-${number}.svg`);
    writeWhole(path, pictureOfCheck({ ...result, scene }, number));
  });
  return isSaved ? path : undefined;
}
