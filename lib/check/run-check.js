import { join } from 'node:path';
import { checkFile, loadCheck } from './definitions.js';
import { countCrowd } from '../measure/conditions.js';
import { readIfThere } from '../common/files.js';
import { lessonPaths } from '../lessons/lesson-paths.js';
import { tasksOf } from '../lessons/tasks.js';
import { runAndClose } from '../common/run-and-close.js';
import { createRunner } from '../observe/runner.js';
import { temporaryFolder } from '../observe/temporary-folder.js';
import { runSession } from './session.js';
import { Broken } from '../verdict/outcome.js';
import { blockedByOwnWork } from '../verdict/blocked-by-own-work.js';

const DEADLINE_MS = 90_000; // against a bug in a check: looks have their own deadlines
const LONGER_DEADLINE_MS = 900_000; // with --longer a look may take five minutes, and is taken twice
const PATIENCE = 2; // times that, on a crowded machine

/**
 * @typedef {object} CheckResult  what `check --json` prints
 * @property {string} lesson  its key
 * @property {'passed' | 'failed' | 'inconclusive'} verdict  of the promises that were judged
 * @property {boolean} isWhole  all promises were judged
 * @property {import('../verdict/outcome.js').PromiseRecord[]} promises  in the order in which they were judged
 * @property {number} of  how many promises the lesson has
 * @property {import('../lessons/tasks.js').Task[]} tasks  with the ids of their promises
 * @property {Measurement[]} measurements @property {import('../verdict/terminal.js').Chart[]} charts @property {number} seconds
 * @property {import('../measure/conditions.js').Conditions | null} conditions
 * @property {string} output  the end of what the learner's program printed
 * @property {string[]} spared  a sentence for each process that may be the program's and wasn't killed
 * @property {number} [seed]  of a check that draws something
 * @property {import('../verdict/scene-strip.js').Scene} [scene]  of a check that plays one
 * @property {string | null} fault  what went wrong in Forkshop itself
 * @typedef {import('../verdict/terminal.js').Measurement} Measurement
 */

/**
 * Runs the check of a lesson in this process and collects its reports.
 * @param {Pick<import('./session.js').SessionOptions, 'root' | 'only' | 'first' | 'isThrough' | 'timelineFile' | 'isQuick' | 'isLonger' | 'seed' | 'signal' | 'onProgram'> & {
 *   key: string, subject?: string, deadlineMs?: number, runner?: import('../observe/runner.js').Runner,
 *   onPromise?: (record: { promise: import('../verdict/outcome.js').PromiseRecord, task?: import('../lessons/tasks.js').Task, number: number, of: number, programs: number[] }) => void
 * }} options  subject: the file or folder to judge, the learner's by default; deadlineMs: then the check ends, failed if a promise has
 *   failed or the program's own work took the time, else undecided with a fault (on a crowded machine it gets the same time again, and
 *   no fault); runner: to reuse, stays open
 * @returns {Promise<CheckResult>}
 * @throws {import('../common/usage-error.js').EnvironmentError}  when there is no room for temporary files
 */
export async function runCheck(options) {
  const { root, key, signal, onPromise, isLonger } = options;
  const { deadlineMs = isLonger ? LONGER_DEADLINE_MS : DEADLINE_MS } = options;
  const since = performance.now();
  temporaryFolder(); // throws here rather than in the middle of the check
  const result = emptyResult(key);
  const runner = options.runner ?? createRunner(); // its keeper starts while the check file loads
  const crowd = countCrowd(runner.pids);
  const programs = /** @type {import('../observe/program.js').Program[]} */ ([]);
  const hasFailedYet = () => hasFailed(result);
  const time = limitTime({ deadlineMs, signal, programs, hasFailed: hasFailedYet, crowd });
  const onProgram = (/** @type {import('./programs.js').Started} */ started) => {
    if (!started.isReference) programs.push(started.program);
    options.onProgram?.(started);
  };
  try {
    const definition = await loadCheck(checkFile(root, key));
    Object.assign(result, contentsOf(definition, root, key));
    const place = options.subject ?? join(root, 'lessons', key);
    const session = { ...options, place, runner, signal: time.signal, onProgram };
    const toTake = (record) => take(record, result, onPromise);
    await runAndClose(() => runSession(definition, session, toTake));
  } catch (/** @type {any} */ error) {
    if (time.isLate() && hasFailed(result))
      result.verdict = 'failed'; // a program that never answers makes its check late
    else if (!time.isLate() || !crowd().isCrowded) result.fault ??= String(error?.stack ?? error);
  } finally {
    time.release();
    const left = await (options.runner ? runner.clear() : runner.close());
    result.spared = runner.spared().map(explainSpared);
    if (left.length > 0)
      result.fault ??= `These processes could not be killed: ${left.join(', ')}.`;
  }
  if (result.fault) result.verdict = 'inconclusive';
  result.seconds = Math.round((performance.now() - since) / 10) / 100;
  return result;
}

function contentsOf({ taskOf, promises }, /** @type {string} */ root, /** @type {string} */ key) {
  const text = readIfThere(join(root, lessonPaths(key).text)) ?? '';
  return { tasks: tasksOf(taskOf, text), of: Object.keys(promises).length };
}

/** @returns {CheckResult} */
const emptyResult = (/** @type {string} */ lesson) => ({
  ...{ lesson, verdict: 'inconclusive', isWhole: false, promises: [], of: 0, tasks: [] },
  ...{
    measurements: [],
    charts: [],
    seconds: 0,
    conditions: null,
    output: '',
    spared: [],
    fault: null,
  },
});

const explainSpared = ({ pid, port }) =>
  `Process ${pid} listens on port ${port}, which your program had. Nothing proves that your program started it, so it was left running.`;

function limitTime({ deadlineMs, signal, programs, hasFailed, crowd }) {
  const end = new AbortController(); // not AbortSignal.any() with a timeout, which Node 20 garbage-collects
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

/** @returns {Broken | undefined}  if a program's own work made the check so slow */
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

function take({ promise, measurement, chart, fault, ...record }, result, onPromise) {
  if (promise) {
    result.promises.push(promise);
    const task = result.tasks.find(({ number }) => number === promise.task);
    onPromise?.({ promise, task, ...record });
  } else if (measurement) result.measurements.push(measurement);
  else if (chart) result.charts.push(chart);
  else if (fault) result.fault ??= fault;
  else Object.assign(result, record); // { seed }, { scene }, or the last record: verdict, isWhole, conditions, output
}
