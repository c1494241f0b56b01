/**
 * Performs a demo, real programs under real load, and sends the page an object for each message: { origin: ms } first;
 * { events: [...] } of the timeline, without beats; { asked } and { answered } of the client, joined to the events by port;
 * { silent: { pid, sinceMs } } when an event loop stalls, and { turns: { pid, t } } when it turns again; { say };
 * { measurement }; { chart }; { doubt } if a busy machine may have distorted the demo; { end: { error } } last.
 *
 * @typedef {import('./demo-stage.js').Stage} Stage
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
import { countCrowd } from '../measure/conditions.js';
import { nowMs } from '../observe/clock.js';
import { demandTool } from '../tools/tools.js';
import { UsageError } from '../common/usage-error.js';
import { blockedByOwnWork } from '../verdict/blocked-by-own-work.js';
import { stageOf } from './demo-stage.js';
import { report } from './watched-program.js';

const LOOK_EVERY_MS = 50;
const LIMIT_MS = 30_000;
const TOO_LONG = `It was not over after ${LIMIT_MS / 1000} s.`;
const BUSY = 'This machine is very busy: run it again, or play the recording.';

/**
 * Performs a demo to its end, or until it is stopped; no process of it stays behind.
 * @param {Demo} demo
 * @param {{ root: string, send: (message: object) => void, signal: AbortSignal, votes?: import('./demo-stage.js').Votes }} options
 */
export async function perform(demo, { root, send: sendOn, signal, votes = [] }) {
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
  const counts = { watched: [], asked: { all: 0, failed: 0 } };
  const showing = { root, lab, send, votes, signal: stop.signal, ...counts };
  const error = await playToEnd(demo, showing, stop);
  const { isCrowded } = crowd(); // before its programs are ended
  await close(showing, { error, isCrowded });
  isOver = true;
}

/** @typedef {Parameters<typeof stageOf>[0]} Showing */

/** @returns {Promise<string | undefined>}  why it failed, for the wall */
async function playToEnd(/** @type {Demo} */ demo, /** @type {Showing} */ showing, stop) {
  const { send, watched, asked } = showing;
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
