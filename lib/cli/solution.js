import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findLesson, lessonFiles, listLessons } from '../lessons/catalog.js';
import { createStyle } from '../verdict/style.js';
import { parse } from './args.js';
import { currentLesson } from './place.js';
import { readProgress, updateProgress } from './progress.js';
import { isUnkept } from './unkept.js';

/** @typedef {import('./progress.js').Io} Io */
/** @typedef {import('../lessons/catalog.js').Lesson} Lesson */

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
 * Finds the lesson whose solution somebody asks for, and says whether it may be seen: always when
 * the lesson has passed; otherwise the first time explains instead, and later times show it.
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
  if (progress.passed[lesson.key]) return lesson;
  const asked = progress.solutionAsked[lesson.key] ?? 0;
  updateProgress(io, ({ solutionAsked }) => {
    solutionAsked[lesson.key] = asked + 1;
  });
  if (asked > 0 || isUnkept(io)) return lesson; // nobody could ask twice
  const left = lesson.hints.length - (progress.hints[lesson.key] ?? 0);
  io.stdout.write(
    `Lesson ${lesson.number} has not passed yet, and finding the answer is how you learn it.\n` +
      (left > 0
        ? `You have ${left} of its hints left: npm run hint lesson-${lesson.number}\n`
        : '') +
      'To see the solution anyway, run the same command again.\n',
  );
  return undefined;
}
