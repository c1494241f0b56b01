/**
 * Performs a demo, real programs under real load, and sends the page an object for each message: { origin: ms } first;
 * { events: [...] } of the timeline, without beats; { asked } and { answered } of the client, joined to the events by port;
 * { silent: { pid, sinceMs } } when an event loop stalls, and { turns: { pid, t } } when it turns again; { say };
 * { measurement }; { chart }; { doubt } if a busy machine may have distorted the demo; { end: { error } } last.
 *
 * @typedef {object} Stage  what a demo works with
 * @property {(file: string, options?: Partial<import('../observe/program.js').StartOptions> & import('./watched-program.js').Names) => Promise<import('../observe/program.js').Program>} launch
 *   file: a path from the root; the program's ready() rejects in place of returning false
 * @property {() => import('../measure/load.js').Load} load
 * @property {() => ReturnType<import('../check/lab.js').Lab['openLoop']>} openLoop
 * @property {(url: string, options?: object) => Promise<import('../observe/client.js').Answer>} ask  a request that is drawn
 * @property {(key: string, place: string, only: string[]) => Promise<import('../check/run-check.js').CheckResult>} judge
 *   runs a lesson's check on a folder; only: these promises, all if empty
 * @property {(text: string) => void} say  the sentence on the slide
 * @property {() => void} begin  starts the drawing, after preparations
 * @property {(measurement: object) => void} measured
 * @property {(chart: import('../verdict/terminal.js').Chart & { isOverTime?: boolean, most?: number }) => void} drawn
 *   isOverTime: sent repeatedly, it becomes a curve; most: the value of a full bar
 * @property {(act: () => void, everyMs: number) => () => void} repeat  until the demo ends; returns a function that stops it
 * @property {AbortSignal} signal  of the demo's end
 *
 * @typedef {object} Demo
 * @property {string} name
 * @property {string} title
 * @property {import('../tools/tools.js').Tool} [needs]  must be installed
 * @property {boolean} [mayFail]  failed requests belong to its story
 * @property {() => boolean} [isPrepared]  false: its first run takes long, since it must build something
 * @property {(stage: Stage) => Promise<void>} perform
 */
import { createLab } from '../check/lab.js';
import { runCheck } from '../check/run-check.js';
import { get } from '../observe/client.js';
import { countCrowd } from '../measure/conditions.js';
import { nowMs } from '../observe/clock.js';
import { demandTool } from '../tools/tools.js';
import { UsageError } from '../common/usage-error.js';
import { Undecided } from '../verdict/outcome.js';
import { blockedByOwnWork } from '../verdict/blocked-by-own-work.js';
import { report, watchProgram } from './watched-program.js';

const LOOK_EVERY_MS = 50;
const LIMIT_MS = 30_000;
const TOO_LONG = `It was not over after ${LIMIT_MS / 1000} s.`;
const BUSY = 'This machine is very busy: run it again, or play the recording.';

/**
 * Performs a demo to its end, or until it is stopped; no process of it stays behind.
 * @param {Demo} demo
 * @param {{ root: string, send: (message: object) => void, signal: AbortSignal }} options
 */
export async function perform(demo, { root, send: sendOn, signal }) {
  let isOver = false; // a stopped demo may still send
  const send = (message) => isOver || sendOn(message);
  send({ origin: nowMs() });
  let lab;
  try {
    lab = createLab(root);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return send({ end: { error: `${error.message} ${error.hint}` } });
  }
  const stop = stopper(signal);
  const crowd = countCrowd(lab.runner.pids);
  /** @type {Showing} */
  const showing = { root, lab, send, stop, watched: [], asked: { all: 0, failed: 0 } };
  const error = await playToEnd(demo, showing);
  const { isCrowded } = crowd(); // before its programs are ended
  await close(showing, { error, isCrowded });
  isOver = true;
}

/**
 * @typedef {{ root: string, lab: import('../check/lab.js').Lab, send: (message: object) => void, stop: ReturnType<typeof stopper>,
 *   watched: import('./watched-program.js').Watched[], asked: { all: number, failed: number } }} Showing  asked: drawn requests
 */

/** @returns {Promise<string | undefined>}  why it failed, for the wall */
async function playToEnd(/** @type {Demo} */ demo, /** @type {Showing} */ showing) {
  const { send, stop, watched, asked } = showing;
  const stage = stageOf(showing);
  stage.repeat(() => watched.forEach((one) => report(one, send)), LOOK_EVERY_MS);
  try {
    if (demo.needs) demandTool(demo.needs);
    await Promise.race([demo.perform(stage), stop.stopped]);
    return asked.failed > 0 && !demo.mayFail ? failedWords(asked) : undefined;
  } catch (fault) {
    return wordsOf(fault);
  } finally {
    stop.release();
    watched.forEach((one) => report(one, send));
  }
}

async function close(/** @type {Showing} */ { lab, send, watched }, { error, isCrowded }) {
  const ownWork = watched.map(({ program }) => program.ownWork()).find(Boolean);
  const left = await lab.close();
  if (left.length > 0) error ??= `These processes could not be ended: ${left.join(', ')}.`;
  if (error && ownWork) error += ` ${blockedByOwnWork(ownWork).why}`;
  else if (watched.length > 0 && isCrowded) send({ doubt: BUSY });
  send({ end: { error } });
}

/** A fault in words for the wall; an unexpected one goes to the terminal as well. */
function wordsOf(/** @type {any} */ fault) {
  if (fault instanceof Stopped) return fault.message;
  if (fault?.story) return [fault.story.got, fault.story.try].filter(Boolean).join(' To fix it: ');
  console.error(fault);
  return 'It could not be shown this time. Run it again, or play the recording.';
}

const failedWords = ({ failed, all }) =>
  `${failed} of ${all} requests failed, which is not what this shows. Try again, or play the recording.`;

class Stopped extends Error {}

/** @returns {Stage} */
function stageOf(/** @type {Showing} */ { root, lab, send, stop, watched, asked }) {
  const { signal } = stop;
  return {
    load: lab.load,
    openLoop: lab.openLoop,
    launch: (file, options) => launch(file, options, { lab, watched }),
    judge(key, place, only) {
      const some = only.length > 0 ? only : undefined;
      const { runner } = lab;
      return runCheck({ root, key, subject: place, only: some, isQuick: true, runner, signal });
    },
    ask: (url, options) => ask(url, options, { send, asked }),
    signal,
    say: (text) => send({ say: text }),
    begin: () => send({ origin: nowMs() }),
    measured: (measurement) => send({ measurement }),
    drawn: ({ isOverTime, ...chart }) =>
      send({ chart: isOverTime ? { ...chart, t: nowMs() } : chart }),
    repeat: (act, everyMs) => repeat(act, everyMs, signal),
  };
}

async function launch(file, /** @type {any} */ { as, hosts, ...options } = {}, { lab, watched }) {
  const program = await lab.launch(file, options);
  const isReady = program.ready.bind(program);
  program.ready = async (listeners) => (await isReady(listeners)) || notReady(file, listeners);
  watched.push(watchProgram(program, { as, hosts }));
  return program;
}

/** @returns {never} */
function notReady(file, listeners) {
  throw new Undecided({
    got: `${file} was to have ${listeners} that listen, and has fewer.`,
    why: 'A program that has not come up shows nothing that is true.',
    try: 'run it again, or play the recording',
  });
}

async function ask(url, options, { send, asked }) {
  const id = Math.random().toString(36).slice(2, 8);
  send({ asked: { id, t: nowMs(), path: new URL(url).pathname } });
  const answer = await get(url, options);
  const { client, status, error, doneMs } = answer;
  asked.all += 1;
  if (error || Number(status) >= 400) asked.failed += 1;
  send({ answered: { id, t: doneMs, client, status, error } });
  return answer;
}

/** Its `stopped` rejects when the page leaves or time is up; its signal aborts at the end of the demo as well. */
function stopper(/** @type {AbortSignal} */ signal) {
  const end = new AbortController();
  const stopped = new Promise((resolve, reject) => {
    end.signal.addEventListener('abort', () => reject(end.signal.reason));
  });
  stopped.catch(() => {});
  const onAbort = () => end.abort(new Stopped('It was stopped.'));
  const timer = setTimeout(() => end.abort(new Stopped(TOO_LONG)), LIMIT_MS);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort);
  const release = () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    end.abort(new Stopped('It is over.'));
  };
  return { signal: end.signal, stopped, release };
}

/** The signal stops it, because a stopped demo may never do so. */
function repeat(act, everyMs, /** @type {AbortSignal} */ signal) {
  const timer = setInterval(act, everyMs);
  const stop = () => clearInterval(timer);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop);
  return stop;
}
