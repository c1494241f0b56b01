import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findLesson, listLessons } from '../lessons/catalog.js';
import { placesOf } from '../lessons/places.js';
import { createLab } from '../check/lab.js';
import { nearest, quoted } from '../common/nearest.js';
import { Starved } from '../observe/turn.js';
import { explainMissing, findTool } from '../tools/tools.js';
import { UsageError } from '../common/usage-error.js';
import { EXIT_CODES } from '../verdict/outcome.js';
import { createStyle } from '../verdict/style.js';
import { wrap } from '../verdict/terminal.js';
import { parse } from './args.js';
import { LEFT, ask } from './ask.js';
import { currentLesson } from './place.js';
import { readProgress } from './progress.js';

/** @typedef {import('../check/lab.js').Experiment} Experiment */
/** @typedef {import('./progress.js').Io} Io */

const INTERRUPTED = 130;

/**
 * `try [lesson] [experiment]`: shows a lesson's experiments, and runs one by its number or name, or all of them.
 *
 * @param {string[]} argv
 * @param {Io} io
 * @returns {Promise<number>} exit code: 3 when something was seen that is not explained, or something is not installed,
 *   130 when a question was left with Ctrl-C or Ctrl-D
 */
export async function run(argv, io) {
  const [name, wanted] = parse(argv, {}, io.env, 2).positionals;
  const lessons = listLessons(io.root);
  const lesson =
    name === undefined ? currentLesson(lessons, readProgress(io)) : findLesson(lessons, name);
  const experiments = await readExperiments(io.root, lesson);
  const chosen = wanted ?? (await askForOne(lesson, experiments, io));
  if (chosen === LEFT) return INTERRUPTED;
  if (chosen === '') return 0;
  let isAsExpected = true;
  for (const experiment of pick(experiments, chosen)) {
    const outcome = await perform(experiment, io);
    if (outcome === LEFT) return INTERRUPTED;
    isAsExpected = outcome && isAsExpected;
  }
  return isAsExpected ? 0 : EXIT_CODES.inconclusive;
}

/**
 * @param {string} root
 * @param {import('../lessons/catalog.js').Lesson} lesson
 * @returns {Promise<Experiment[]>}
 */
async function readExperiments(root, { key, number }) {
  const file = join(root, placesOf(key).experiments);
  if (!existsSync(file))
    throw new UsageError(`Lesson ${number} has no experiments.`, 'Lessons that have some say so.');
  return (await import(pathToFileURL(file).href)).default;
}

/**
 * The menu; on a terminal it asks which.
 * @returns {Promise<string | undefined>}
 */
async function askForOne({ number, title }, experiments, io) {
  const { bold } = createStyle(io.stdout, io.env);
  const lines = experiments.map(
    ({ name, title: what }, index) => `  ${index + 1}  ${name}: ${what}`,
  );
  io.stdout.write(
    `${bold(`Experiments of lesson ${number}: ${title}`)}\n\n${lines.join('\n')}\n\n`,
  );
  if (!(io.stdin.isTTY && io.stdout.isTTY)) {
    io.stdout.write(
      `Run one: npm run try lesson-${number} 1, or all of them: npm run try lesson-${number} all\n`,
    );
    return '';
  }
  return ask(io, 'Which one? A number, or "all": ');
}

function pick(experiments, chosen) {
  if (chosen === 'all') return experiments;
  const found = experiments[Number(chosen) - 1] ?? experiments.find(({ name }) => name === chosen);
  if (found) return [found];
  const names = experiments.map(({ name }) => name);
  const guess = nearest(chosen, names);
  throw new UsageError(
    `There is no experiment ${quoted(chosen)}.`,
    `${guess ? `Did you mean ${guess}? ` : ''}There are: ${names.map((name, index) => `${index + 1} ${name}`).join(', ')}.`,
  );
}

/** Prints the question first and what was seen after it, so that there is a moment to think. */
async function perform({ title, question, needs, run: look }, io) {
  const { bold, cyan } = createStyle(io.stdout, io.env);
  const columns = Math.min(io.stdout.columns ?? 100, 100) - 4;
  const print = (head, text) => {
    const lines = (Array.isArray(text) ? text : [text]).flatMap((line) => wrap(line, columns));
    io.stdout.write(`  ${cyan(head)}\n${lines.map((line) => `    ${line}\n`).join('')}\n`);
  };
  io.stdout.write(`\n${bold(title)}\n\n`);
  print('What do you expect?', question);
  if (needs && !findTool(needs)) {
    const { got, why, try: command } = explainMissing(needs);
    print('It cannot be shown', [`${got} ${why}`, `To install it: ${command}`]);
    return false;
  }
  const isAsked = io.stdin.isTTY && io.stdout.isTTY;
  if (isAsked && (await ask(io, '  Enter to look: ')) === LEFT) return LEFT;
  const lab = createLab(io.root);
  try {
    const { observed, because, asExpected } = await look(lab);
    print('Seen just now', observed);
    print(asExpected ? 'Why' : 'This is not what we saw. What we wanted to show', because);
    return asExpected;
  } catch (error) {
    if (!(error instanceof Starved)) throw error;
    print('It cannot be shown now', [error.story.got, error.story.why]);
    return false;
  } finally {
    await lab.close();
  }
}
