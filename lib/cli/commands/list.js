import { listLessons } from '../../lessons/catalog.js';
import { findTool } from '../../tools/tools.js';
import { createStyle } from '../../verdict/style.js';
import { parse } from '../args.js';
import { lessonToDo } from '../current-lesson.js';
import { readProgress } from '../saved/progress.js';

/**
 * `list`: shows all lessons, which have passed, which is next, and which need a tool that isn't installed.
 * @type {import('../dispatch.js').Command}
 */
export async function run(argv, io) {
  parse(argv, {}, io.env, 0);
  const lessons = listLessons(io.root);
  const progress = readProgress(io);
  const style = createStyle(io.stdout, io.env);
  const next = lessonToDo(lessons, progress);
  const longest = Math.max(...lessons.map(({ slug }) => slug.length));
  const line = (/** @type {import('../../lessons/catalog.js').Lesson} */ lesson) => {
    const { key, number, slug, minutes, title, needs } = lesson;
    const missing = needs.filter((tool) => !findTool(tool)).join(', ');
    const passed = progress.passed[key];
    const state = passed ? style.green('✔') : lesson === next ? style.cyan('→') : ' ';
    const name = `${state} ${String(number).padStart(2)}  ${slug.padEnd(longest)}`;
    return `${name}  ${minutes} min  ${title}${missing && ` (not installed: ${missing})`}`;
  };
  const count = lessons.filter(({ key }) => progress.passed[key]).length;
  io.stdout.write(`${style.bold(`Lessons: ${count} of ${lessons.length} passed`)}\n\n`);
  io.stdout.write(`${lessons.map(line).join('\n')}\n\n`);
  io.stdout.write(
    count === lessons.length
      ? 'You have passed them all.\n'
      : `Continue with: npm run check lesson-${next.number}\n`,
  );
  return 0;
}
