import { join } from 'node:path';
import { checkFile, loadCheck } from './definitions.js';
import { countCrowd } from '../measure/conditions.js';
import { readIfThere } from '../common/files.js';
import { lessonPaths } from '../lessons/lesson-paths.js';
import { tasksOf } from '../lessons/tasks.js';
import { closingGenerators } from '../measure/generator.js';
import { createRunner } from '../observe/run.js';
import { temporaryFolder } from '../observe/temporary.js';
import { runSession } from './session.js';
import { Broken } from '../verdict/outcome.js';
import { blockedByOwnWork } from '../verdict/blocked-by-own-work.js';

const DEADLINE_MS = 90_000; // checks have their own deadlines; this one is for a bug in a check
const PATIENCE = 2; // times that, on a machine that is too busy

/**
 * @typedef {object} CheckResult  what `check --json` prints
 * @property {string} lesson  its key
 * @property {'passed' | 'failed' | 'inconclusive'} verdict  of the promises that were judged
 * @property {boolean} isWhole  all promises were judged
 * @property {import('../verdict/outcome.js').PromiseRecord[]} promises  in the order in which they were judged
 * @property {number} of  how many promises the lesson has
 * @property {import('../lessons/tasks.js').Task[]} tasks  of the lesson, with the ids of their promises
 * @property {Measurement[]} measurements
 * @property {import('../verdict/terminal.js').Chart[]} charts
 * @property {number} seconds
 * @property {import('../measure/conditions.js').Conditions | null} conditions
 * @property {string} output  what the learner's program printed, its last part
 * @property {string[]} spared  what may be the program's and was left alone, a sentence for each
 * @property {string | null} fault  what went wrong in Forkshop itself
 *
 * @typedef {import('../verdict/terminal.js').Measurement} Measurement
 */

/**
 * Runs the check of a lesson, in this process, and collects what it reports. One at a time.
 *
 * @param {object} options
 * @param {string} options.root
 * @param {string} options.key
 * @param {string} [options.subject]  the file or folder that is judged; the learner's own unless told
 * @param {string[]} [options.only]  judge these promises, with what they stand on, and nothing else
 * @param {string[]} [options.first]  judge these first, and their task before all others
 * @param {boolean} [options.isThrough]  judge every promise; else the check ends with the first task that is not done
 * @param {string} [options.timelineFile]  where to leave the timeline of the program
 * @param {boolean} [options.isQuick]  leave out the measurements that decide nothing
 * @param {boolean} [options.isLonger]  measure several times as long
 * @param {AbortSignal} [options.signal]  ends the check, and what it started
 * @param {number} [options.deadlineMs]  after so many milliseconds the check ends. A promise that has failed by then makes
 *   it failed, and so does work of the program's own that has taken that time; else it is undecided, and our fault, unless the machine is too busy: then it gets the same time once more
 * @param {import('../observe/run.js').Runner} [options.runner]  one that is kept for the next check
 * @param {(record: { promise: import('../verdict/outcome.js').PromiseRecord, task?: import('../lessons/tasks.js').Task, number: number, of: number, programs: number[] }) => void} [options.onPromise]
 *   called as soon as a promise is decided; task: that it belongs to; programs: the numbers of those that were started for it
 * @param {(started: import('./programs.js').Started) => void} [options.onProgram]  called when a program has been started
 * @returns {Promise<CheckResult>}
 * @throws {import('../common/usage-error.js').EnvironmentError}  when there is no room for temporary files
 */
export async function runCheck({
  root,
  key,
  subject,
  signal,
  onPromise,
  onProgram,
  runner,
  deadlineMs = DEADLINE_MS,
  ...options
}) {
  const since = performance.now();
  temporaryFolder(); // reported now: a check without one has nothing to report
  /** @type {CheckResult} */
  const result = {
    lesson: key,
    verdict: 'inconclusive',
    isWhole: false,
    promises: [],
    of: 0,
    tasks: [],
    measurements: [],
    charts: [],
    seconds: 0,
    conditions: null,
    output: '',
    spared: [],
    fault: null,
  };
  const own = runner ?? createRunner(); // it starts while the check is loaded
  const crowd = countCrowd(own.pids);
  const programs = /** @type {import('../observe/program.js').Program[]} */ ([]);
  const hasFailedYet = () => hasFailed(result);
  const time = limitTime({ deadlineMs, signal, programs, hasFailed: hasFailedYet, crowd });
  try {
    const definition = await loadCheck(checkFile(root, key));
    const text = readIfThere(join(root, lessonPaths(key).text)) ?? '';
    result.tasks = tasksOf(definition.taskOf, text);
    result.of = Object.keys(definition.promises).length;
    const place = subject ?? join(root, 'lessons', key);
    const toNote = (/** @type {import('./programs.js').Started} */ started) => {
      if (!started.isReference) programs.push(started.program);
      onProgram?.(started);
    };
    const session = {
      ...options,
      root,
      place,
      runner: own,
      signal: time.signal,
      onProgram: toNote,
    };
    const toTake = (record) => take(record, result, onPromise);
    await closingGenerators(() => runSession(definition, session, toTake));
  } catch (/** @type {any} */ error) {
    if (time.isLate() && hasFailed(result))
      result.verdict = 'failed'; // a program that never answers takes its check that long
    else if (!time.isLate() || !crowd().isCrowded) result.fault ??= String(error?.stack ?? error); // too busy: nobody's fault
  } finally {
    time.release();
    const left = await (runner ? runner.clear() : own.close());
    result.spared = own.spared().map(explainSpared);
    if (left.length > 0) result.fault ??= `These processes could not be ended: ${left.join(', ')}.`;
  }
  if (result.fault) result.verdict = 'inconclusive';
  result.seconds = Math.round((performance.now() - since) / 10) / 100;
  return result;
}

const explainSpared = ({ pid, port }) =>
  `Process ${pid} listens on port ${port}, which your program had. Nothing proves that your program started it, so it lives.`;

/** Ends a check when it is told to, or when it takes too long. */
function limitTime({ deadlineMs, signal, programs, hasFailed, crowd }) {
  const end = new AbortController(); // not AbortSignal.any() with a timeout, which Node 20 forgets
  const stop = () => end.abort(new Error('The check ended before it had a verdict.'));
  let deadlines = 0;
  const timer = setTimeout(() => {
    deadlines += 1;
    const late = lateBy(programs, deadlineMs * deadlines);
    if (late) end.abort(late);
    else if (!hasFailed() && deadlines < PATIENCE && crowd().isCrowded) timer.refresh();
    else stop();
  }, deadlineMs);
  signal?.addEventListener('abort', stop, { once: true });
  const release = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  };
  return { signal: end.signal, isLate: () => deadlines > 0, release };
}

/** What made a check so slow, if it was a program's own work. @returns {Broken | undefined} */
function lateBy(/** @type {import('../observe/program.js').Program[]} */ programs, ms) {
  const own = programs.map((program) => program.ownWork()).find(Boolean);
  const got = `It was not over after ${ms / 1000} s.`;
  return (
    own &&
    new Broken({ expected: 'The check of a promise takes seconds.', got, ...blockedByOwnWork(own) })
  );
}

const hasFailed = (/** @type {CheckResult} */ { promises }) =>
  promises.some(({ verdict }) => verdict === 'failed');

/** Takes in one record of the session. */
function take({ promise, measurement, chart, fault, ...record }, result, onPromise) {
  if (promise) {
    result.promises.push(promise);
    const task = result.tasks.find(({ number }) => number === promise.task);
    onPromise?.({ promise, task, ...record });
  } else if (measurement) result.measurements.push(measurement);
  else if (chart) result.charts.push(chart);
  else if (fault) result.fault ??= fault;
  else Object.assign(result, record); // the last one: verdict, isWhole, conditions, output
}
