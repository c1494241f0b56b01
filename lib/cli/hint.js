import { findLesson, listLessons } from '../lessons/catalog.js';
import { createStyle } from '../verdict/style.js';
import { wrap } from '../verdict/terminal.js';
import { parse } from './args.js';
import { nextLesson } from './place.js';
import { readProgress, updateProgress } from './progress.js';
import { isUnkept } from './unkept.js';

/**
 * `hint [lesson]`: shows one more hint each time, and all that were shown before.
 *
 * @param {string[]} argv
 * @param {import('./progress.js').Io} io
 * @returns {Promise<number>} exit code
 */
export async function run(argv, io) {
  const [name] = parse(argv, {}, io.env).positionals;
  const lessons = listLessons(io.root);
  const lesson =
    name === undefined ? nextLesson(lessons, readProgress(io)) : findLesson(lessons, name);
  const { key, number, title, hints } = lesson;
  const progress = updateProgress(io, (progress) => {
    progress.hints[key] = Math.min((progress.hints[key] ?? 0) + 1, hints.length);
    progress.lastLesson = key;
  });
  const shown = isUnkept(io) ? hints.length : progress.hints[key]; // all, if they cannot be counted
  const style = createStyle(io.stdout, io.env);
  io.stdout.write(`${style.bold(`Lesson ${number}: ${title}`)}\n\n`);
  hints.slice(0, shown).forEach((hint, index) => {
    const count = style.cyan(`Hint ${index + 1} of ${hints.length}`);
    const lines = wrap(hint.trim(), Math.min(io.stdout.columns ?? 100, 100) - 4);
    io.stdout.write(`${count}\n${lines.map((line) => `  ${line}\n`).join('')}\n`);
  });
  io.stdout.write(
    shown < hints.length
      ? `One more hint: npm run hint lesson-${number}\n`
      : `That was the last hint. Compare with the solution: npm run diff lesson-${number}\n`,
  );
  return 0;
}
