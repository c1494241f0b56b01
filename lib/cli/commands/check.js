import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findLesson, listLessons } from '../../lessons/catalog.js';
import { placesOf } from '../../lessons/places.js';
import { checkFile, loadCheck } from '../../check/definitions.js';
import { nearest, quoted } from '../../common/nearest.js';
import { parseTimeline, processesOf, requestsOf } from '../../observe/timeline.js';
import { UsageError } from '../../common/usage-error.js';
import { drawTimeline } from '../../verdict/draw-timeline.js';
import { EXIT_CODES } from '../../verdict/outcome.js';
import { createStyle } from '../../verdict/style.js';
import { openOnes, tallyOf } from '../../verdict/tally.js';
import { judgePrediction, roughnessOf } from '../../verdict/terminal.js';
import { visible } from '../../verdict/visible.js';
import { parse } from '../args.js';
import { lastTime, nothingYet, stillFailing } from '../last-time.js';
import { earlierOf, nobody } from '../page.js';
import { nextLesson } from '../current-lesson.js';
import { keepVerdict } from '../kept-verdict.js';
import { appendHistory, placeOf, readHistory, readProgress, updateProgress } from '../progress.js';
import { createReporter } from '../report.js';
import { keepPrediction, notePrediction, predictionOf } from '../prediction.js';
import { keepSolution } from '../solution-results.js';
import { runCheck } from '../../check/run-check.js';
import { tellUnkept } from '../save-errors.js';

const MOST_OUTPUT = 4_000; // characters, on the page

const options = /** @type {const} */ ({
  in: { type: 'string' },
  solution: { type: 'boolean' },
  json: { type: 'boolean' },
  predict: { type: 'string' },
  timeline: { type: 'boolean' },
  quick: { type: 'boolean' },
  longer: { type: 'boolean' },
  all: { type: 'boolean', fromNpm: false },
  only: { type: 'string', fromNpm: false },
  try: { type: 'boolean', fromNpm: false },
});

/**
 * `check [lesson]`: runs a lesson's check and reports what the server really did.
 *
 * @param {string[]} argv
 * @param {import('../progress.js').Io} io
 * @returns {Promise<number>} exit code
 */
export async function run(argv, io) {
  const { values, positionals } = parse(argv, options, io.env);
  const lessons = listLessons(io.root);
  const [name] = positionals;
  const lesson =
    name === undefined ? nextLesson(lessons, readProgress(io)) : findLesson(lessons, name);
  const subject = subjectOf(values, lesson, io.root);
  const prediction = predictionOf(values.predict, lesson);
  const isOnlyNoted = prediction !== undefined && !subject && !values.json && !values.only;
  if (isOnlyNoted && notePrediction(lesson, prediction, io)) return 0;
  const interrupt = new AbortController();
  const onSignal = () => interrupt.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    const result = await checkLesson({
      ...{ lesson, lessons, subject, prediction, io, signal: interrupt.signal },
      only: await promisesOf(values, lesson, io.root),
      isAll: values.all,
      isJson: values.json,
      isQuick: values.quick,
      isLonger: values.longer,
      isHelped: values.try,
      hasTimeline: values.timeline,
    });
    if (interrupt.signal.aborted) return 130;
    return result.fault ? EXIT_CODES.inconclusive : EXIT_CODES[result.verdict];
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

/**
 * Checks one lesson, prints as it goes, and keeps the result. The task that was open last time is judged first; if it is
 * still not done, the others are not judged.
 *
 * @param {object} options
 * @param {import('../../lessons/catalog.js').Lesson} options.lesson
 * @param {import('../../lessons/catalog.js').Lesson[]} options.lessons
 * @param {import('../progress.js').Io} options.io
 * @param {string} [options.subject]  the learner's own files unless told
 * @param {number} [options.prediction]
 * @param {string[]} [options.only]  judge these promises, with what they depend on, and nothing else
 * @param {boolean} [options.isAll]  judge the promises of all tasks, whichever of them fails
 * @param {boolean} [options.isJson]
 * @param {boolean} [options.isQuick]  leave out the measurements that decide nothing
 * @param {boolean} [options.isLonger]  measure several times as long
 * @param {boolean} [options.isHelped]  tell what to try at once
 * @param {boolean} [options.hasKeys]  its reader has the keys of `npm start`
 * @param {boolean} [options.hasTimeline]
 * @param {AbortSignal} [options.signal]
 * @param {number} [options.deadlineMs]  how long the check may take; see runCheck
 * @param {import('../../observe/run.js').Runner} [options.runner]  one that is kept for the next check
 * @param {import('../page.js').Audience} [options.audience]  who watches beside the terminal
 * @returns {Promise<import('../../check/run-check.js').CheckResult>}
 */
export async function checkLesson({
  lesson,
  lessons,
  io,
  subject,
  prediction,
  isAll,
  isJson,
  isHelped,
  hasKeys,
  hasTimeline,
  signal,
  audience = nobody,
  ...options
}) {
  const timelineFile = hasTimeline ? placeOf(io, 'timeline.jsonl') : undefined;
  const { key } = lesson;
  const foretold = prediction ?? readProgress(io).predictions[key];
  const history = readHistory(io);
  const before = subject ? nothingYet : lastTime(history, key);
  const { isLonger } = options;
  const known = { prediction: foretold, before, subject, isLonger, isHelped, hasKeys };
  const reporter = createReporter({ lesson, lessons, io, ...known });
  if (!isJson) reporter.begin();
  const onPromise = (/** @type {any} */ decided) => {
    if (!isJson) reporter.promise(decided);
    audience.promise(decided);
  };
  const onProgram = audience.program;
  const { root } = io;
  const result = await runCheck({
    ...{ root, key, subject, timelineFile, signal, onPromise, onProgram },
    ...{ first: before.failed, isThrough: isAll },
    ...options,
  });
  if (signal?.aborted) return result;
  const tally = tallyOf(result, before.verdicts);
  if (subject === solutionOf(root, key)) keepSolution(result, io);
  const progress = subject ? readProgress(io) : keep(result, prediction, before, io);
  if (isJson) printJson({ ...result, ...tally, prediction: foretold, timeline: timelineFile }, io);
  else reporter.end(result, progress);
  const { [key]: shown } = progress.predictions;
  const told = { ...briefly(result, shown), ...tally, earlier: earlierOf(history, key) };
  audience.end(told);
  if (!subject) keepVerdict(io, key, { promises: result.promises, ...told });
  if (timelineFile && !isJson) showTimeline(timelineFile, io);
  tellUnkept(io);
  return result;
}

/** What is told of a whole check, beside its promises, which are told already. */
function briefly(
  { verdict, isWhole, of, tasks, charts, seconds, conditions, output, fault, ...result },
  prediction,
) {
  const measurements = result.measurements.map((one) => ({
    ...{ ...one, roughness: roughnessOf(one) },
    ...(one.isHeadline && prediction && { judged: judgePrediction(prediction, one) }),
  }));
  const told = {
    verdict,
    isWhole,
    of,
    tasks,
    measurements,
    charts,
    seconds,
    conditions,
    fault,
    prediction,
  };
  return { ...told, output: output.slice(-MOST_OUTPUT) };
}

function printJson(result, io) {
  io.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
}

/** Remembers a check of the learner's own files; others' matter only to the person who asks for them. */
function keep(result, prediction, before, io) {
  const at = new Date().toISOString();
  const { lesson, verdict, isWhole, promises, measurements, seconds, conditions } = result;
  const verdicts = Object.fromEntries(promises.map((one) => [one.id, one.verdict]));
  const isDone = verdict === 'passed' && isWhole;
  const task = isDone ? null : (openOnes(result)[0]?.task ?? before.task); // with --only nothing may be open
  const told = { at, lesson, verdict, isWhole, verdicts, task };
  const failed = stillFailing(before, verdicts);
  appendHistory(io, { ...told, failed, measurements, prediction, seconds, conditions });
  return updateProgress(io, (progress) => {
    progress.lastLesson = lesson;
    keepPrediction(progress, lesson, prediction);
    if (isDone) progress.passed[lesson] ??= { at };
  });
}

function showTimeline(file, io) {
  const events = parseTimeline(readFileSync(file, { encoding: 'utf8', flag: 'a+' }));
  const names = new Map(
    processesOf(events).map(({ pid, role, worker }) => [
      pid,
      role === 'worker' ? `worker ${worker}` : 'one process',
    ]),
  );
  const lines = drawTimeline(requestsOf(events), names, io.stdout.columns ?? 100).map(visible);
  const { bold } = createStyle(io.stdout, io.env);
  io.stdout.write(`${bold('Who executed requests, and when')}\n\n${lines.join('\n')}\n\n`);
}

/** The promises named by --only. @param {Record<string, any>} values */
async function promisesOf({ only }, { key, number }, root) {
  if (only === undefined) return undefined;
  const { promises } = await loadCheck(checkFile(root, key));
  const ids = only.split(',').map((id) => id.trim());
  const strange = ids.find((id) => !Object.hasOwn(promises, id));
  if (strange === undefined) return ids;
  const known = Object.keys(promises);
  const guess = nearest(strange, known);
  throw new UsageError(
    `Lesson ${number} has no promise ${quoted(strange)}.`,
    `${guess ? `Did you mean ${guess}? ` : ''}Its promises are: ${known.join(', ')}.`,
  );
}

const solutionOf = (root, key) => join(root, placesOf(key).solution);

/** @param {Record<string, any>} values */
function subjectOf({ in: folder, solution }, { key }, root) {
  if (folder !== undefined && solution) {
    throw new UsageError(
      '--in and --solution name two different things to check.',
      'Give one of them.',
    );
  }
  if (solution) return solutionOf(root, key);
  if (folder === undefined) return undefined;
  if (folder === '') throw new UsageError('--in names no folder.', 'Is a variable of yours unset?');
  const place = resolve(process.env.INIT_CWD ?? process.cwd(), folder);
  if (statSync(place, { throwIfNoEntry: false })) return place;
  throw new UsageError(
    `There is no folder ${place}.`,
    'After --in comes the folder that has your server.js.',
  );
}
