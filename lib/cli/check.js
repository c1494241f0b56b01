import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findLesson, listLessons } from '../catalog.js';
import { parseTimeline, processesOf, requestsOf } from '../observe/timeline.js';
import { UsageError } from '../usage-error.js';
import { drawTimeline } from '../verdict/draw-timeline.js';
import { EXIT_CODES } from '../verdict/outcome.js';
import { createStyle } from '../verdict/style.js';
import { parse } from './args.js';
import { nextLesson } from './place.js';
import {
  appendHistory,
  homeFolder,
  readHistory,
  readProgress,
  updateProgress,
} from './progress.js';
import { createReporter } from './report.js';
import { runCheck } from './run-check.js';

const options = /** @type {const} */ ({
  in: { type: 'string' },
  solution: { type: 'boolean' },
  json: { type: 'boolean' },
  predict: { type: 'string' },
  timeline: { type: 'boolean' },
  quick: { type: 'boolean' },
});

/**
 * `check [lesson]`: runs a lesson's check and tells what the server really did.
 *
 * @param {string[]} argv
 * @param {import('./progress.js').Io} io
 * @returns {Promise<number>} exit code
 */
export async function run(argv, io) {
  const { values, positionals } = parse(argv, options, io.env);
  const lessons = listLessons(io.root);
  const [name] = positionals;
  const lesson =
    name === undefined ? nextLesson(lessons, readProgress(io)) : findLesson(lessons, name);
  const subject = subjectOf(values, lesson, io.root);
  const prediction = predictionOf(values.predict);
  const interrupt = new AbortController();
  const onSignal = () => interrupt.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    const result = await checkLesson({
      ...{ lesson, lessons, subject, prediction, io, signal: interrupt.signal },
      isJson: values.json,
      isQuick: values.quick,
      hasTimeline: values.timeline,
    });
    if (interrupt.signal.aborted) return 130;
    return result.fault ? EXIT_CODES.inconclusive : EXIT_CODES[result.verdict];
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}

/**
 * Checks one lesson, prints as it goes, and keeps the result.
 *
 * @param {object} options
 * @param {import('../catalog.js').Lesson} options.lesson
 * @param {import('../catalog.js').Lesson[]} options.lessons
 * @param {import('./progress.js').Io} options.io
 * @param {string} [options.subject]  the learner's own files unless told
 * @param {number} [options.prediction]
 * @param {boolean} [options.isJson]
 * @param {boolean} [options.isQuick]  leave out the measurements that decide nothing
 * @param {boolean} [options.hasTimeline]
 * @param {AbortSignal} [options.signal]
 * @returns {Promise<import('./run-check.js').CheckResult>}
 */
export async function checkLesson({
  lesson,
  lessons,
  io,
  subject,
  prediction,
  isJson,
  isQuick,
  hasTimeline,
  signal,
}) {
  const timelineFile = hasTimeline ? join(homeFolder(io), 'timeline.jsonl') : undefined;
  if (timelineFile) mkdirSync(homeFolder(io), { recursive: true });
  const foretold = prediction ?? readProgress(io).predictions[lesson.key];
  const before = subject ? undefined : lastMeasurements(lesson.key, io);
  const reporter = createReporter({ lesson, lessons, io, prediction: foretold, before, subject });
  if (!isJson) reporter.begin();
  const onPromise = isJson ? undefined : reporter.promise;
  const { root } = io;
  const result = await runCheck({
    root,
    key: lesson.key,
    subject,
    timelineFile,
    isQuick,
    signal,
    onPromise,
  });
  if (signal?.aborted) return result;
  if (!subject) keep(result, prediction, io);
  if (isJson) printJson({ ...result, prediction: foretold, timeline: timelineFile }, io);
  else reporter.end(result, readProgress(io));
  if (timelineFile && !isJson) showTimeline(timelineFile, io);
  return result;
}

function printJson(result, io) {
  io.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
}

/** What was measured the last time that the learner's own files were, by name. */
function lastMeasurements(key, io) {
  const last = readHistory(io).findLast(
    ({ lesson, measurements }) => lesson === key && measurements?.length > 0,
  );
  return Object.fromEntries((last?.measurements ?? []).map(({ name, value }) => [name, value]));
}

/** Remembers a check of the learner's own files; of others' only a person who asks for them needs to know. */
function keep(result, prediction, io) {
  const at = new Date().toISOString();
  const { lesson, verdict, promises, measurements, seconds, conditions } = result;
  const failed = promises.filter((one) => one.verdict === 'failed').map(({ id }) => id);
  appendHistory(io, { at, lesson, verdict, failed, measurements, prediction, seconds, conditions });
  updateProgress(io, (progress) => {
    progress.lastLesson = lesson;
    if (prediction !== undefined) progress.predictions[lesson] = prediction;
    if (verdict === 'passed') progress.passed[lesson] ??= { at };
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
  const lines = drawTimeline(requestsOf(events), names, io.stdout.columns ?? 100);
  const { bold } = createStyle(io.stdout, io.env);
  io.stdout.write(`${bold('Who executed requests, and when')}\n\n${lines.join('\n')}\n\n`);
}

/** @param {Record<string, any>} values */
function subjectOf({ in: folder, solution }, { key }, root) {
  if (folder !== undefined && solution) {
    throw new UsageError(
      '--in and --solution name two different things to check.',
      'Give one of them.',
    );
  }
  if (solution) return join(root, 'solutions', key);
  if (folder === undefined) return undefined;
  const place = resolve(process.env.INIT_CWD ?? process.cwd(), folder);
  if (statSync(place, { throwIfNoEntry: false })) return place;
  throw new UsageError(
    `There is no folder ${place}.`,
    'After --in comes the folder in which your server.js is.',
  );
}

function predictionOf(text) {
  if (text === undefined) return undefined;
  const value = Number(text.replace(',', '.').replace(/x$/i, ''));
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  throw new UsageError(
    `A prediction is a number above 0, not "${text}".`,
    'For example: npm run check -- --predict 3.5',
  );
}
