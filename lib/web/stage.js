/**
 * Where a demo is performed: real programs, real load, and what happens there sent on to whoever watches.
 *
 * What is sent, an object each: { events: [...] } of the timeline, without the beats; { asked: [...] } and
 * { answered: [...] } of the client, joined to the events by port; { silent: { pid, sinceMs } } and { turns: { pid, t } }
 * of an event loop that has not turned for a while, and does again; { say }; { measurement }; { chart };
 * { origin: ms } before anything else; { end: { error } } at the end.
 *
 * @typedef {object} Stage  what a demo works with
 * @property {(file: string, options?: Partial<import('../observe/program.js').StartOptions> & { as?: string }) => Promise<import('../observe/program.js').Program>} launch
 *   `file` is a path from the root; `as` is how its lanes are called. Its ready() rejects where it is not: the demo ends there
 * @property {() => import('../measure/load.js').Load} load
 * @property {() => ReturnType<import('../check/lab.js').Lab['openLoop']>} openLoop
 * @property {(url: string, options?: object) => Promise<import('../observe/client.js').Answer>} ask  a request that is drawn
 * @property {(key: string, place: string, only: string[]) => Promise<import('../check/run-check.js').CheckResult>} judge
 *   has a lesson's check judge these promises of the program in a place, or all
 * @property {(text: string) => void} say  what is happening, in words
 * @property {() => void} begin  the drawing begins here: what was before is preparation
 * @property {(measurement: object) => void} measured
 * @property {(chart: import('../verdict/terminal.js').Chart) => void} drawn
 * @property {AbortSignal} signal
 *
 * @typedef {{ name: string, title: string, needs?: import('../tools/tools.js').Tool, perform: (stage: Stage) => Promise<void> }} Demo
 *   needs: what has to be installed for it
 */
import { createLab } from '../check/lab.js';
import { runCheck } from '../check/run-check.js';
import { get } from '../observe/client.js';
import { nowMs } from '../observe/clock.js';
import { demandTool } from '../tools/tools.js';
import { UsageError } from '../common/usage-error.js';
import { Undecided } from '../verdict/outcome.js';
import { SILENT_MS, brief } from './brief.js';

const LOOK_EVERY_MS = 50;
const LIMIT_MS = 30_000;

/**
 * Performs a demo to its end, or until it is stopped; afterwards nothing of it is left.
 * @param {Demo} demo
 * @param {{ root: string, send: (message: object) => void, signal: AbortSignal }} options
 */
export async function perform(demo, { root, send: sendOn, signal }) {
  let isOver = false; // a demo that was stopped does not know it at once
  const send = (message) => isOver || sendOn(message);
  send({ origin: nowMs() });
  let lab;
  try {
    lab = createLab(root);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return send({ end: { error: `${error.message} ${error.hint}` } });
  }
  const watched = [];
  const stop = stopper(signal);
  const stage = {
    ...doors({ lab, send, watched, root, signal: stop.signal }),
    signal: stop.signal,
    say: (text) => send({ say: text }),
    begin: () => send({ origin: nowMs() }),
    measured: (measurement) => send({ measurement }),
    drawn: (chart) => send({ chart }),
  };
  const timer = setInterval(() => watched.forEach((one) => report(one, send)), LOOK_EVERY_MS);
  let error;
  try {
    if (demo.needs) demandTool(demo.needs);
    await Promise.race([demo.perform(stage), stop.stopped]);
  } catch (/** @type {any} */ fault) {
    error = wordsOf(fault);
  } finally {
    clearInterval(timer);
    watched.forEach((one) => report(one, send));
    stop.release();
    const left = await lab.close();
    if (left.length > 0) error ??= `These processes could not be ended: ${left.join(', ')}.`;
    send({ end: { error } });
    isOver = true;
  }
}

/** What the wall is told of a fault; one of ours is for the terminal. */
function wordsOf(/** @type {any} */ fault) {
  if (fault instanceof Stopped) return fault.message;
  if (fault?.story) return [fault.story.got, fault.story.try].filter(Boolean).join(' To mend it: ');
  console.error(fault);
  return 'It could not be shown this time. Run it again, or play the recording.';
}

class Stopped extends Error {}

/** What is shown of a program that does not stand as it should would be false. @returns {never} */
function notReady(file, listeners) {
  throw new Undecided({
    got: `${file} was to have ${listeners} that listen, and has fewer: this machine is too busy.`,
    why: 'A program that has not come up shows nothing that is true.',
    try: 'run it again, or play the recording',
  });
}

function doors({ lab, send, watched, root, signal }) {
  return {
    load: lab.load,
    openLoop: lab.openLoop,
    async launch(file, /** @type {any} */ { as, ...options } = {}) {
      const program = await lab.launch(file, options);
      const isReady = program.ready.bind(program);
      program.ready = async (listeners) => (await isReady(listeners)) || notReady(file, listeners);
      watched.push({ program, as, seen: 0, silent: new Set() });
      return program;
    },
    judge(key, place, only) {
      const some = only.length > 0 ? only : undefined;
      const { runner } = lab;
      return runCheck({ root, key, subject: place, only: some, isQuick: true, runner, signal });
    },
    async ask(url, options) {
      const id = Math.random().toString(36).slice(2, 8);
      send({ asked: { id, t: nowMs(), path: new URL(url).pathname } });
      const answer = await get(url, options);
      const { client, status, error, doneMs } = answer;
      send({ answered: { id, t: doneMs, client, status, error } });
      return answer;
    },
  };
}

/** Rejects `stopped` when the watcher goes or time is up. */
function stopper(signal) {
  const end = new AbortController();
  const stopped = new Promise((resolve, reject) => {
    end.signal.addEventListener('abort', () => reject(new Stopped('It was stopped.')));
  });
  stopped.catch(() => {});
  const onAbort = () => end.abort();
  const timer = setTimeout(onAbort, LIMIT_MS);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort);
  const release = () => (clearTimeout(timer), signal.removeEventListener('abort', onAbort));
  return { signal: end.signal, stopped, release };
}

/** Sends what a program's timeline says anew, and which of its event loops is silent. */
function report(watched, send) {
  const { program, as, silent } = watched;
  const events = program.events.slice(watched.seen);
  watched.seen += events.length;
  const told = events.filter(({ what }) => what !== 'beat').map((event) => brief(event, as));
  if (told.length > 0) send({ events: told });
  const { fate, pid: first } = program;
  if (fate?.signal && !watched.isTold) {
    watched.isTold = true; // a signal leaves no time to report it
    send({ events: [{ t: nowMs(), pid: first, what: 'exit', signal: fate.signal }] });
  }
  const now = nowMs();
  for (const [pid, beatMs] of program.lastBeats) {
    const isSilent = now - beatMs > SILENT_MS;
    if (isSilent && !silent.has(pid)) send({ silent: { pid, sinceMs: beatMs } });
    else if (!isSilent && silent.has(pid)) send({ turns: { pid, t: beatMs } });
    if (isSilent) silent.add(pid);
    else silent.delete(pid);
  }
}
