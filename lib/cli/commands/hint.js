import { findLesson, listLessons } from '../../lessons/catalog.js';
import { createStyle } from '../../verdict/style.js';
import { wrap } from '../../verdict/terminal.js';
import { parse } from '../args.js';
import { showNextHint } from '../saved/shown-hints.js';
import { lessonToDo } from '../current-lesson.js';
import { readProgress } from '../saved/progress.js';

/** `hint [lesson]`: the open task's next hint, below those shown before. @type {import('../dispatch.js').Command} */
export async function run(argv, io) {
  const [wanted] = parse(argv, {}, io.env).positionals;
  const lessons = listLessons(io.root);
  const lesson =
    wanted === undefined ? lessonToDo(lessons, readProgress(io)) : findLesson(lessons, wanted);
  const { number, title } = lesson;
  const { name, shown, of } = showNextHint(lesson, io);
  const style = createStyle(io.stdout, io.env);
  const head = style.bold(`Lesson ${number}: ${title}`);
  if (!name) {
    io.stdout.write(`${head}\n\nIt has passed: there is nothing to hint at.\n`);
    io.stdout.write(`Compare with ours: npm run diff lesson-${number}\n`);
    return 0;
  }
  io.stdout.write(`${head}  ${name}\n\n`);
  shown.forEach((hint, index) => {
    const count = style.cyan(`Hint ${index + 1} of ${of}`);
    const columns = Math.min(io.stdout.columns ?? 100, 100) - 4;
    const lines = hint.includes('\n') ? hint.split('\n') : wrap(hint, columns); // code stays as it is
    io.stdout.write(`${count}\n${lines.map((line) => `  ${line}\n`).join('')}\n`);
  });
  io.stdout.write(
    shown.length < of
      ? `One more hint: npm run hint lesson-${number}\n`
      : `That was the last hint for this. Compare with the solution: npm run diff lesson-${number}\n`,
  );
  return 0;
}
