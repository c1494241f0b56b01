/**
 * Where a demo is performed: real programs, real load, and what happens there sent on to whoever watches.
 *
 * What is sent, an object each: { events: [...] } of the timeline, without the beats; { asked: [...] } and
 * { answered: [...] } of the client, joined to the events by port; { silent: { pid, sinceMs } } and { turns: { pid, t } }
 * of an event loop that has not turned for a while, and does again; { say }; { measurement }; { chart };
 * { origin: ms } before anything else; { doubt } when others kept the machine so busy that it may have shown something else than usual;
 * { end: { error } } at the end. A process that could not tell its end itself is told by an `exit` with the signal that it
 * got here, if it got one.
 *
 * @typedef {object} Stage  what a demo works with
 * @property {(file: string, options?: Partial<import('../observe/program.js').StartOptions> & { as?: string, hosts?: Record<string, string> }) => Promise<import('../observe/program.js').Program>} launch
 *   `file` is a path from the root; `as` is how its lanes are called; `hosts` how a primary is called that listens at an address. Its ready() rejects where it is not: the demo ends there
 * @property {() => import('../measure/load.js').Load} load
 * @property {() => ReturnType<import('../check/lab.js').Lab['openLoop']>} openLoop
 * @property {(url: string, options?: object) => Promise<import('../observe/client.js').Answer>} ask  a request that is drawn
 * @property {(key: string, place: string, only: string[]) => Promise<import('../check/run-check.js').CheckResult>} judge
 *   has a lesson's check judge these promises of the program in a place, or all
 * @property {(text: string) => void} say  what is happening, in words
 * @property {() => void} begin  the drawing begins here: what was before is preparation
 * @property {(measurement: object) => void} measured
 * @property {(chart: import('../verdict/terminal.js').Chart & { isOverTime?: boolean, most?: number }) => void} drawn
 *   isOverTime: it is told again and again, and becomes a curve; most: the whole, of which a full bar stands
 * @property {(act: () => void, everyMs: number) => () => void} repeat  until the demo is over, or what it returns is called
 * @property {AbortSignal} signal  of its end, whatever it ends by: what still goes on then is to stop
 *
 * @typedef {{ name: string, title: string, needs?: import('../tools/tools.js').Tool, mayFail?: boolean, isPrepared?: () => boolean, perform: (stage: Stage) => Promise<void> }} Demo
 *   needs: what has to be installed for it; mayFail: requests that fail are a part of its story;
 *   isPrepared: false where its first run has to do what takes long
 */
import { createLab } from '../check/lab.js';
import { runCheck } from '../check/run-check.js';
import { get } from '../observe/client.js';
import { countCrowd } from '../measure/conditions.js';
import { nowMs } from '../observe/clock.js';
import { isLiving } from '../observe/processes.js';
import { demandTool } from '../tools/tools.js';
import { UsageError } from '../common/usage-error.js';
import { Undecided } from '../verdict/outcome.js';
import { blockedByOwnWork } from '../verdict/blocked-by-own-work.js';
import { SILENT_MS, pickDrawnFields } from '../web/pick-drawn-fields.js';

const LOOK_EVERY_MS = 50;
const LOOKS_WITHOUT = 2; // whoever notices the end of a child tells it sooner
const LIMIT_MS = 30_000;
const TOO_LONG = `It was not over after ${LIMIT_MS / 1000} s.`;
const BUSY = 'This machine is very busy: run it again, or play the recording.';

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
  const asked = { all: 0, failed: 0 };
  const crowd = countCrowd(lab.runner.pids);
  const stage = {
    ...doors({ lab, send, watched, asked, root, signal: stop.signal }),
    signal: stop.signal,
    say: (text) => send({ say: text }),
    begin: () => send({ origin: nowMs() }),
    measured: (measurement) => send({ measurement }),
    drawn: (/** @type {any} */ { isOverTime, ...chart }) =>
      send({ chart: isOverTime ? { ...chart, t: nowMs() } : chart }),
    repeat: (act, everyMs) => repeat(act, everyMs, stop.signal),
  };
  stage.repeat(() => watched.forEach((one) => report(one, send)), LOOK_EVERY_MS);
  let error;
  try {
    if (demo.needs) demandTool(demo.needs);
    await Promise.race([demo.perform(stage), stop.stopped]);
    if (asked.failed > 0 && !demo.mayFail) error = failedWords(asked);
  } catch (/** @type {any} */ fault) {
    error = wordsOf(fault);
  } finally {
    stop.release();
    watched.forEach((one) => report(one, send));
    const own = watched.map(({ program }) => program.ownWork()).find(Boolean);
    const { isCrowded } = crowd(); // while the programs are there
    const left = await lab.close();
    if (left.length > 0) error ??= `These processes could not be ended: ${left.join(', ')}.`;
    if (error && own) error += ` ${blockedByOwnWork(own).why}`;
    else if (watched.length > 0 && isCrowded) send({ doubt: BUSY });
    send({ end: { error } });
    isOver = true;
  }
}

/** What the wall is told of a fault; one of ours is for the terminal. */
function wordsOf(/** @type {any} */ fault) {
  if (fault instanceof Stopped) return fault.message;
  if (fault?.story) return [fault.story.got, fault.story.try].filter(Boolean).join(' To fix it: ');
  console.error(fault);
  return 'It could not be shown this time. Run it again, or play the recording.';
}

const failedWords = ({ failed, all }) =>
  `${failed} of ${all} requests failed, which is not what this shows. Try again, or play the recording.`;

class Stopped extends Error {}

/** What is shown of a program that does not stand as it should would be false. @returns {never} */
function notReady(file, listeners) {
  throw new Undecided({
    got: `${file} was to have ${listeners} that listen, and has fewer.`,
    why: 'A program that has not come up shows nothing that is true.',
    try: 'run it again, or play the recording',
  });
}

function doors({ lab, send, watched, asked, root, signal }) {
  return {
    load: lab.load,
    openLoop: lab.openLoop,
    async launch(file, /** @type {any} */ { as, hosts = {}, ...options } = {}) {
      const program = await lab.launch(file, options);
      const isReady = program.ready.bind(program);
      program.ready = async (listeners) => (await isReady(listeners)) || notReady(file, listeners);
      const kill = program.kill.bind(program);
      const killed = new Map();
      program.kill = (pid, name) => {
        killed.set(pid, { t: nowMs(), signal: name });
        return kill(pid, name);
      };
      const lives = { killed, missed: new Map(), ended: new Set(), roles: new Map() };
      watched.push({ program, as, hosts, called: [], seen: 0, silent: new Set(), ...lives });
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
      asked.all += 1;
      if (error || Number(status) >= 400) asked.failed += 1;
      send({ answered: { id, t: doneMs, client, status, error } });
      return answer;
    },
  };
}

/** Rejects `stopped` when the watcher goes or time is up; the signal tells of the end of the demo, too. */
function stopper(signal) {
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

/** A demo that is stopped may wait for what never comes: what it repeats ends without it. */
function repeat(act, everyMs, /** @type {AbortSignal} */ signal) {
  const timer = setInterval(act, everyMs);
  const stop = () => clearInterval(timer);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop);
  return stop;
}

/** Of an event what is drawn, with the name of its machine if it has one. */
function drawn(event, watched) {
  const called = event.what === 'listening' ? calledAt(event, watched) : undefined;
  return { ...pickDrawnFields(event, watched.as), ...(called && { called }) };
}

/** The name of the machine that listens there, by its primary; the second of that name is there again. */
function calledAt({ pid, address }, { hosts, called, roles }) {
  const name = hosts[address];
  if (!name || roles.get(pid) !== 'primary') return undefined;
  called.push(name);
  return called.filter((one) => one === name).length > 1 ? `${name} again` : name;
}

/** Sends what a program's timeline says anew, who has ended, and which of its event loops is silent. */
function report(watched, send) {
  const { program, silent, ended } = watched;
  const events = program.events.slice(watched.seen);
  watched.seen += events.length;
  for (const event of events) noteLife(event, watched);
  const told = events.filter(({ what }) => what !== 'beat').map((event) => drawn(event, watched));
  if (told.length > 0) send({ events: told });
  tellEnds(watched, send);
  const now = nowMs();
  for (const [pid, beatMs] of program.lastBeats) {
    if (ended.has(pid) || watched.missed.has(pid)) continue; // the dead are not blocked
    const isSilent = now - beatMs > SILENT_MS;
    if (isSilent && !silent.has(pid)) send({ silent: { pid, sinceMs: beatMs } });
    else if (!isSilent && silent.has(pid)) send({ turns: { pid, t: beatMs } });
    if (isSilent) silent.add(pid);
    else silent.delete(pid);
  }
}

function noteLife({ what, pid, tid, role, workerPid }, { roles, ended }) {
  if (what === 'start' && tid === undefined) roles.set(pid, role);
  if (what === 'exit' && tid === undefined) ended.add(pid);
  if (what === 'worker-exit') ended.add(workerPid);
}

/** Who was killed tells nothing, and nobody else does when his parent was killed, too. */
function tellEnds({ program, roles, ended, missed, killed }, send) {
  for (const pid of roles.keys()) {
    if (ended.has(pid) || isLiving(pid)) continue;
    const { t, looks } = missed.get(pid) ?? { t: nowMs(), looks: 0 };
    missed.set(pid, { t, looks: looks + 1 });
    const fate = pid === program.pid ? program.fate : undefined;
    const signal = fate?.signal ?? killed.get(pid)?.signal;
    if (looks < LOOKS_WITHOUT && !signal) continue;
    ended.add(pid);
    const atMs = killed.get(pid)?.signal === 'SIGKILL' ? killed.get(pid).t : t; // that one works at once
    send({ events: [{ t: atMs, pid, what: 'exit', signal }] });
  }
}
