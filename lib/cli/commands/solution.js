import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findLesson, lessonFiles, listLessons } from '../../lessons/catalog.js';
import { createStyle } from '../../verdict/style.js';
import { parse } from '../args.js';
import { countHintsLeft } from '../saved/shown-hints.js';
import { recentLesson } from '../current-lesson.js';
import { readProgress, updateProgress } from '../saved/progress.js';
import { hasUnreportedError } from '../saved/save-errors.js';

/** @typedef {import('../saved/progress.js').Io} Io @typedef {import('../../lessons/catalog.js').Lesson} Lesson */

/** `solution [lesson]`: prints the finished files. @type {import('../dispatch.js').Command} */
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

/** Prints why the solution may not be shown yet, if so. @param {string[]} argv @param {Io} io @returns {Lesson | undefined} */
export function lessonToReveal(argv, io) {
  const [name] = parse(argv, {}, io.env).positionals;
  const lessons = listLessons(io.root);
  const progress = readProgress(io);
  const lesson = name === undefined ? recentLesson(lessons, progress) : findLesson(lessons, name);
  const reasons = askForSolution(lesson, io);
  if (!reasons) return lesson;
  const { passedNot, hintsLeft: left } = reasons;
  const hint = left && `${left}: npm run hint lesson-${lesson.number}\n`;
  io.stdout.write(`${passedNot}\n${hint}To see the solution anyway, run the same command again.\n`);
  return undefined;
}

/**
 * Counts that the solution was asked for. It may be shown if the lesson has passed, or from the second time on.
 * @param {Lesson} lesson @param {Io} io
 * @returns {{ passedNot: string, hintsLeft: string } | undefined}  why not yet, without the last full stop; undefined: show it
 */
export function askForSolution(lesson, io) {
  const { key, number } = lesson;
  const progress = readProgress(io);
  if (progress.passed[key]) return undefined;
  const asked = progress.solutionAsked[key] ?? 0;
  updateProgress(io, ({ solutionAsked }) => {
    solutionAsked[key] = asked + 1;
  });
  if (asked > 0 || hasUnreportedError(io)) return undefined; // a count that can't be saved never reaches two
  const left = countHintsLeft(lesson, io);
  return {
    passedNot: `Lesson ${number} has not passed yet, and finding the answer is how you learn it.`,
    hintsLeft: left > 0 ? `You have ${left} of its hints left` : '',
  };
}
