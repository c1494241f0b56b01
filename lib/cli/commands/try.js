import { findLesson, listLessons } from '../../lessons/catalog.js';
import {
  findExperiment,
  obstacleTo,
  performExperiment,
  readExperiments,
} from '../../check/experiments.js';
import { EXIT_CODES } from '../../verdict/outcome.js';
import { createStyle } from '../../verdict/style.js';
import { wrap } from '../../verdict/terminal.js';
import { parse } from '../args.js';
import { NO_ANSWER, ask } from '../ask.js';
import { recentLesson } from '../current-lesson.js';
import { readProgress } from '../saved/progress.js';

/** @typedef {import('../../check/lab.js').Experiment} Experiment @typedef {import('../saved/progress.js').Io} Io */

const INTERRUPTED = 130;

/**
 * `try [lesson] [experiment]`: lists a lesson's experiments, and runs one or all. Exit code 3: an unexpected observation, or a tool
 * is missing. @type {import('../dispatch.js').Command}
 */
export async function run(argv, io) {
  const [name, wanted] = parse(argv, {}, io.env, 2).positionals;
  const lessons = listLessons(io.root);
  const lesson =
    name === undefined ? recentLesson(lessons, readProgress(io)) : findLesson(lessons, name);
  const experiments = await readExperiments(io.root, lesson);
  const chosen = wanted ?? (await askForOne(lesson, experiments, io));
  if (chosen === NO_ANSWER) return INTERRUPTED;
  if (chosen === '') return 0;
  let isAsExpected = true;
  for (const experiment of pick(experiments, chosen)) {
    const outcome = await perform(experiment, io);
    if (outcome === NO_ANSWER) return INTERRUPTED;
    isAsExpected = outcome && isAsExpected;
  }
  return isAsExpected ? 0 : EXIT_CODES.inconclusive;
}

/** Prints the menu, and asks at a terminal. @returns {Promise<string | undefined>} */
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

const pick = (experiments, chosen) =>
  chosen === 'all' ? experiments : [findExperiment(experiments, chosen)];

/** Prints the question before the observation, so that the reader can predict. */
async function perform(/** @type {Experiment} */ experiment, io) {
  const { title, question } = experiment;
  const { bold, cyan } = createStyle(io.stdout, io.env);
  const columns = Math.min(io.stdout.columns ?? 100, 100) - 4;
  const print = (head, text) => {
    const lines = [text].flat().flatMap((line) => wrap(line, columns));
    io.stdout.write(`  ${cyan(head)}\n${lines.map((line) => `    ${line}\n`).join('')}\n`);
  };
  io.stdout.write(`\n${bold(title)}\n\n`);
  print('What do you expect?', question);
  const missing = obstacleTo(experiment);
  if (missing) {
    const { got, why, try: command } = missing;
    print('It cannot be shown', [`${got} ${why}`, `To install it: ${command}`]);
    return false;
  }
  const isAsked = io.stdin.isTTY && io.stdout.isTTY;
  if (isAsked && (await ask(io, '  Enter to look: ')) === NO_ANSWER) return NO_ANSWER;
  const { observed, because, asExpected, obstacle } = await performExperiment(experiment, io);
  if (obstacle) {
    print('It cannot be shown now', [obstacle.got, obstacle.why]);
    return false;
  }
  print('Seen just now', observed);
  print(asExpected ? 'Why' : 'This is not what we saw. What we wanted to show', because);
  return Boolean(asExpected);
}
