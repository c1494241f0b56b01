/** A learner's prediction of the number that a lesson measures. */
import { UsageError } from '../../common/usage-error.js';
import { createStyle } from '../../verdict/style.js';
import { format } from '../../verdict/terminal.js';
import { readProgress, updateProgress } from './progress.js';
import { changedFiles } from '../starter-files.js';

/** @typedef {import('../../lessons/catalog.js').Lesson} Lesson @typedef {import('./progress.js').Io} Io */

const IN_MS = { ms: 1, s: 1000 };
const UNITS = { ms: 'milliseconds', s: 'seconds', times: 'times as fast' };

/**
 * @param {string | undefined} text  a number above 0, perhaps with a unit @param {Pick<Lesson, 'number' | 'predicts'>} lesson
 * @returns {number | undefined}  in the lesson's unit @throws {UsageError}
 */
export function parsePrediction(text, { number, predicts }) {
  if (text === undefined) return undefined;
  const [, digits, typed = ''] = /^\s*(.*?)\s*(ms|s|x|times)?\s*$/i.exec(text) ?? [];
  const unit = typed.toLowerCase().replace('x', 'times');
  const value = Number(digits.replace(',', '.'));
  const example = `For example: npm run check lesson-${number} -- --predict 3.5`;
  if (digits === '' || !Number.isFinite(value) || value <= 0)
    throw new UsageError(`A prediction is a number above 0, not "${text}".`, example);
  if (!unit || !predicts || unit === predicts) return value;
  if (unit in IN_MS && predicts in IN_MS) return (value * IN_MS[unit]) / IN_MS[predicts];
  throw new UsageError(`Lesson ${number} asks for ${UNITS[predicts]}, not "${text}".`, example);
}

/** @param {number} value @param {Pick<Lesson, 'predicts'>} lesson */
const predictionInWords = (value, { predicts }) =>
  `${format(value)}${predicts ? ` ${UNITS[predicts]}` : ''}`;

/**
 * Sets a prediction, unless its lesson has passed.
 * @param {import('./progress.js').Progress} progress  changed in place @param {string} key @param {number | undefined} value
 */
export function setPrediction({ passed, predictions }, key, value) {
  if (value !== undefined && !passed[key]) predictions[key] = value;
}

/**
 * Saves the prediction for a lesson whose files are still the starter's, and says that there is nothing to judge yet.
 * @param {Lesson} lesson @param {number} value @param {Io} io @returns {boolean}  false: files have changed, so judge them
 */
export function savePrediction(lesson, value, io) {
  const { key, number, title } = lesson;
  if (changedFiles(io.root, key).length > 0) return false;
  updateProgress(io, (progress) => {
    progress.lastLesson = key;
    setPrediction(progress, key, value);
  });
  const { bold } = createStyle(io.stdout, io.env);
  const kept = readProgress(io).predictions[key] ?? value;
  io.stdout.write(
    `${bold(`Lesson ${number}: ${title}`)}\n\n` +
      `Noted: you predict ${predictionInWords(kept, lesson)}. Until the lesson has passed you can correct it in the same way.\n` +
      `Nothing is judged: your files are as they were given. Begin with task 1 in lessons/${key}/README.md\n`,
  );
  return true;
}
