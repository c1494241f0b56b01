/** Checks one lesson: judges it, prints, saves the result, and passes everything on to the page and the board. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCheck } from '../check/run-check.js';
import { lessonPaths } from '../lessons/lesson-paths.js';
import { parseTimeline, processesOf, requestsOf } from '../observe/timeline.js';
import { drawTimeline } from '../verdict/draw-timeline.js';
import { createStyle } from '../verdict/style.js';
import { openPromises, tallyOf } from '../verdict/tally.js';
import { judgePrediction, roughnessOf } from '../verdict/terminal.js';
import { visible } from '../verdict/visible.js';
import { saveVerdict } from './saved/last-verdict.js';
import { noPage } from './learner-page.js';
import {
  earlierHeadlines,
  lessonHistory,
  noHistory,
  stillFailing,
} from './saved/lesson-history.js';
import { setPrediction } from './saved/prediction.js';
import { appendHistory, readHistory } from './saved/history.js';
import { readProgress, updateProgress } from './saved/progress.js';
import { createReporter } from './report.js';
import { reportSaveErrors } from './saved/save-errors.js';
import { saveSolutionResult } from './saved/solution-results.js';
import { writablePath } from './saved/saved-files.js';
import { saveScene } from './saved/scene-file.js';

/** @typedef {import('./saved/progress.js').Io} Io @typedef {import('../check/run-check.js').CheckResult} CheckResult */

const MOST_OUTPUT = 4_000; // characters of the program's output, on the page

/**
 * The task that was open last time is judged first; if it is still open, the other tasks are not judged.
 * @param {object} options @param {import('../lessons/catalog.js').Lesson} options.lesson
 * @param {import('../lessons/catalog.js').Lesson[]} options.lessons @param {Io} options.io
 * @param {string} [options.subject]  default: the learner's files @param {number} [options.prediction]
 * @param {string[]} [options.only]  judge only these promises, with their dependencies
 * @param {boolean} [options.isAll]  judge all tasks, even if one fails @param {boolean} [options.isJson]
 * @param {boolean} [options.isQuick]  skip measurements that decide nothing @param {boolean} [options.isLonger]  measure longer
 * @param {number} [options.seed]  for a check that draws; a random one by default
 * @param {boolean} [options.isHelped]  print what to try at once @param {boolean} [options.hasKeys]  of `npm start`
 * @param {boolean} [options.hasTimeline] @param {AbortSignal} [options.signal] @param {number} [options.deadlineMs]
 * @param {import('../observe/runner.js').Runner} [options.runner]  reused from the previous check
 * @param {import('./learner-page.js').Audience} [options.audience]  beside the terminal @returns {Promise<CheckResult>}
 */
export async function checkLesson(options) {
  const { lesson, io, subject, prediction, isJson, hasTimeline, signal } = options;
  const { key } = lesson;
  const timeline = hasTimeline ? writablePath(io, 'timeline.jsonl') : undefined;
  const predicted = prediction ?? readProgress(io).predictions[key];
  const history = readHistory(io);
  const before = subject ? noHistory : lessonHistory(history, key);
  const reporter = createReporter({ ...options, prediction: predicted, before });
  if (!isJson) reporter.begin();
  const audience = options.audience ?? noPage;
  const onPromise = (/** @type {any} */ decided) => {
    if (!isJson) reporter.promise(decided);
    audience.promise(decided);
  };
  const result = await judge(options, {
    ...{ onPromise, onProgram: audience.program, timelineFile: timeline },
    first: before.failed,
  });
  if (signal?.aborted) return result;
  const tally = tallyOf(result, before.verdicts);
  if (subject === join(io.root, lessonPaths(key).solution)) saveSolutionResult(result, io);
  const progress = subject ? readProgress(io) : save(result, prediction, before, io);
  if (isJson) printJson({ ...result, ...tally, prediction: predicted, timeline }, io);
  else reporter.end(result, progress, saveScene(io, result, lesson.number));
  const earlier = earlierHeadlines(history, key);
  const summary = { ...summaryOf(result, progress.predictions[key]), ...tally, earlier };
  audience.end(summary);
  if (!subject)
    saveVerdict(io, key, { ...summary, promises: result.promises, before: before.verdicts });
  if (timeline && !isJson) showTimeline(timeline, io);
  reportSaveErrors(io);
  return result;
}

/** @param {Parameters<typeof checkLesson>[0]} options */
function judge({ lesson, io, isAll, ...options }, more) {
  const { subject, only, isQuick, isLonger, seed, signal, deadlineMs, runner } = options;
  const { root } = io;
  return runCheck({
    ...{ root, key: lesson.key, subject, only, isThrough: isAll, isQuick, isLonger, seed },
    ...{ signal, deadlineMs, runner, ...more },
  });
}

/** The whole check for page and board, without its promises, which they have received one by one. */
function summaryOf(/** @type {CheckResult} */ result, prediction) {
  const { verdict, isWhole, of, tasks, charts, seconds, conditions, output, fault } = result;
  const { scene, seed } = result;
  const measurements = result.measurements.map((one) => ({
    ...{ ...one, roughness: roughnessOf(one) },
    ...(one.isHeadline && prediction && { judged: judgePrediction(prediction, one) }),
  }));
  return {
    ...{
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
      scene,
      seed,
    },
    output: output.slice(-MOST_OUTPUT),
  };
}

function printJson(record, /** @type {Io} */ io) {
  io.stdout.write(`${JSON.stringify(record, null, 2)}\n`);
}

/** Saves a check of the learner's own files. @returns {import('./saved/progress.js').Progress} */
function save(/** @type {CheckResult} */ result, prediction, before, /** @type {Io} */ io) {
  const at = new Date().toISOString();
  const { lesson, verdict, isWhole, promises, measurements, seconds, conditions } = result;
  const verdicts = Object.fromEntries(promises.map((one) => [one.id, one.verdict]));
  const isDone = verdict === 'passed' && isWhole;
  const task = isDone ? null : (openPromises(result)[0]?.task ?? before.task); // with --only no promise may be open
  const failed = stillFailing(before, verdicts);
  const entry = { at, lesson, verdict, isWhole, verdicts, task, failed };
  appendHistory(io, { ...entry, measurements, prediction, seconds, conditions });
  return updateProgress(io, (progress) => {
    progress.lastLesson = lesson;
    setPrediction(progress, lesson, prediction);
    if (isDone) progress.passed[lesson] ??= { at };
  });
}

function showTimeline(/** @type {string} */ file, /** @type {Io} */ io) {
  const events = parseTimeline(readFileSync(file, { encoding: 'utf8', flag: 'a+' }));
  const names = new Map(
    processesOf(events).map(({ pid, role, worker }) => [
      pid,
      role === 'worker' ? `worker ${worker}` : 'one process',
    ]),
  );
  const lines = drawTimeline(requestsOf(events), names, io.stdout.columns ?? 100).map(visible);
  const { bold } = createStyle(io.stdout, io.env);
  io.stdout.write(
    `${bold('Which process executed requests, and when')}\n\n${lines.join('\n')}\n\n`,
  );
}
