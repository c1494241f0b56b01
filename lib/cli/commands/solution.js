import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findLesson, lessonFiles, listLessons } from '../../lessons/catalog.js';
import { createStyle } from '../../verdict/style.js';
import { parse } from '../args.js';
import { hintsLeft } from '../hints.js';
import { currentLesson } from '../current-lesson.js';
import { readProgress, updateProgress } from '../progress.js';
import { isUnkept } from '../save-errors.js';

/** @typedef {import('../progress.js').Io} Io */
/** @typedef {import('../../lessons/catalog.js').Lesson} Lesson */

/**
 * `solution [lesson]`: shows the finished files; before the lesson has passed, only when asked twice.
 *
 * @param {string[]} argv
 * @param {Io} io
 * @returns {Promise<number>} exit code
 */
export async function run(argv, io) {
  const lesson = lessonToReveal(argv, io);
  if (!lesson) return 0;
  const style = createStyle(io.stdout, io.env);
  for (const file of lessonFiles(io.root, lesson.key)) {
    const path = `solutions/${lesson.key}/${file}`;
    io.stdout.write(`${style.bold(`// ${path}`)}\n\n`);
    io.stdout.write(`${readFileSync(join(io.root, path), 'utf8').trimEnd()}\n\n`);
  }
  return 0;
}

/**
 * Finds the lesson whose solution somebody asks for, unless it may not be seen yet.
 *
 * @param {string[]} argv
 * @param {Io} io
 * @returns {Lesson | undefined} undefined when the explanation was printed instead
 */
export function lessonToReveal(argv, io) {
  const [name] = parse(argv, {}, io.env).positionals;
  const lessons = listLessons(io.root);
  const progress = readProgress(io);
  const lesson = name === undefined ? currentLesson(lessons, progress) : findLesson(lessons, name);
  const reasons = reasonsToWait(lesson, io);
  if (!reasons) return lesson;
  const { passedNot, hintsLeft: left } = reasons;
  const hint = left && `${left}: npm run hint lesson-${lesson.number}\n`;
  io.stdout.write(`${passedNot}\n${hint}To see the solution anyway, run the same command again.\n`);
  return undefined;
}

/**
 * Says whether a lesson's solution may be seen: always when it has passed; otherwise the first time explains instead,
 * and later times show it.
 *
 * @param {Lesson} lesson
 * @param {Io} io
 * @returns {{ passedNot: string, hintsLeft: string } | undefined} the explanation; undefined when it may be seen;
 *   hintsLeft: without its full stop, empty when there are none
 */
export function reasonsToWait(lesson, io) {
  const { key, number } = lesson;
  const progress = readProgress(io);
  if (progress.passed[key]) return undefined;
  const asked = progress.solutionAsked[key] ?? 0;
  updateProgress(io, ({ solutionAsked }) => {
    solutionAsked[key] = asked + 1;
  });
  if (asked > 0 || isUnkept(io)) return undefined; // nobody could ask twice
  const left = hintsLeft(lesson, io);
  return {
    passedNot: `Lesson ${number} has not passed yet, and finding the answer is how you learn it.`,
    hintsLeft: left > 0 ? `You have ${left} of its hints left` : '',
  };
}
