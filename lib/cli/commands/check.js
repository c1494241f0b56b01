import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkFile, loadCheck } from '../../check/definitions.js';
import { nearest, quoted } from '../../common/nearest.js';
import { UsageError } from '../../common/usage-error.js';
import { findLesson, listLessons } from '../../lessons/catalog.js';
import { lessonPaths } from '../../lessons/lesson-paths.js';
import { EXIT_CODES } from '../../verdict/outcome.js';
import { parse } from '../args.js';
import { checkLesson } from '../check-lesson.js';
import { lessonToDo } from '../current-lesson.js';
import { interruptible } from '../interrupt.js';
import { parsePrediction, savePrediction } from '../saved/prediction.js';
import { readProgress } from '../saved/progress.js';

const INTERRUPTED = 130;

const options = /** @type {const} */ ({
  in: { type: 'string' },
  solution: { type: 'boolean' },
  json: { type: 'boolean' },
  predict: { type: 'string' },
  timeline: { type: 'boolean' },
  quick: { type: 'boolean' },
  longer: { type: 'boolean' },
  seed: { type: 'string' },
  all: { type: 'boolean', fromNpm: false },
  only: { type: 'string', fromNpm: false },
  try: { type: 'boolean', fromNpm: false },
});

/** `check [lesson]`: runs a lesson's check and reports what the server really did. @type {import('../dispatch.js').Command} */
export async function run(argv, io) {
  const { values, positionals } = parse(argv, options, io.env);
  const lessons = listLessons(io.root);
  const [name] = positionals;
  const lesson =
    name === undefined ? lessonToDo(lessons, readProgress(io)) : findLesson(lessons, name);
  const subject = subjectOf(values, lesson, io.root);
  const prediction = parsePrediction(values.predict, lesson);
  const isOnlyNoted = prediction !== undefined && !subject && !values.json && !values.only;
  if (isOnlyNoted && savePrediction(lesson, prediction, io)) return 0;
  return interruptible(async (signal) => {
    const result = await checkLesson({
      ...{ lesson, lessons, subject, prediction, io, signal },
      only: await promisesOf(values, lesson, io.root),
      isAll: values.all,
      isJson: values.json,
      isQuick: values.quick,
      isLonger: values.longer,
      seed: parseSeed(values.seed),
      isHelped: values.try,
      hasTimeline: values.timeline,
    });
    if (signal.aborted) return INTERRUPTED;
    return result.fault ? EXIT_CODES.inconclusive : EXIT_CODES[result.verdict];
  });
}

/** @param {string | undefined} text */
function parseSeed(text) {
  if (text === undefined || /^\d{1,9}$/.test(text))
    return text === undefined ? undefined : Number(text);
  throw new UsageError(
    `A seed is a whole number of at most nine digits, not ${quoted(text)}.`,
    'For example: npm run check lesson-12 -- --seed 42',
  );
}

/** @param {Record<string, any>} values */
async function promisesOf({ only }, { key, number }, root) {
  if (only === undefined) return undefined;
  const { promises } = await loadCheck(checkFile(root, key));
  const ids = only.split(',').map((id) => id.trim());
  const unknown = ids.find((id) => !Object.hasOwn(promises, id));
  if (unknown === undefined) return ids;
  const known = Object.keys(promises);
  const guess = nearest(unknown, known);
  throw new UsageError(
    `Lesson ${number} has no promise ${quoted(unknown)}.`,
    `${guess ? `Did you mean ${guess}? ` : ''}Its promises are: ${known.join(', ')}.`,
  );
}

/** @param {Record<string, any>} values */
function subjectOf({ in: folder, solution }, { key }, root) {
  if (folder !== undefined && solution) {
    throw new UsageError(
      '--in and --solution name two different things to check.',
      'Give one of them.',
    );
  }
  if (solution) return join(root, lessonPaths(key).solution);
  if (folder === undefined) return undefined;
  if (folder === '') throw new UsageError('--in names no folder.', 'Is a variable of yours unset?');
  const path = resolve(process.env.INIT_CWD ?? process.cwd(), folder);
  if (statSync(path, { throwIfNoEntry: false })) return path;
  throw new UsageError(
    `There is no folder ${path}.`,
    'After --in, name the folder that has your server.js.',
  );
}
