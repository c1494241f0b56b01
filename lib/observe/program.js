/**
 * One started program: it tells when it is ready or why it never will be, what it did, what it printed, how it ended;
 * and it ends it with all that it started.
 *
 * @typedef {object} Fate  how a program's first process came to its end
 * @property {'ended' | 'excess' | 'unstarted' | 'orphaned'} kind  orphaned: its parent, the keeper, is gone
 * @property {number | null} [code]
 * @property {string | null} [signal]
 * @property {'processes' | 'memory' | 'output' | 'timeline'} [of]  what it took too much of
 * @property {number} [amount]  processes, or bytes
 * @property {string} [error]  why it could not be started
 *
 * @typedef {object} StartOptions
 * @property {string} entry  absolute path of the program
 * @property {string[]} [args]  behind the entry on its command line
 * @property {Record<string, string>} [env]  beside the inherited variables, which are scrubbed
 * @property {'requests' | 'life' | 'waits'} [probe]  life: report processes only, no requests (for floods of tiny ones); waits:
 *   beside requests, how long each blockFor() was told to block
 * @property {number} [pretendCores]  what os.availableParallelism() tells
 * @property {number} [pretendExitCode]  a worker that would end with exit code 1 ends with this one
 * @property {boolean} [pretendForks]  cluster.fork() is reported, but starts no process: how many would it fork?
 * @property {number} [pretendWaits]  so many times as long as it should lasts every blockFor()
 * @property {boolean} [followsChildren]  children whose environment the program has replaced are under the probe, too
 * @property {boolean} [haltsChildren]  its children stop themselves before the first line of their file, until SIGCONT
 * @property {string} [cwd]  the root unless told otherwise; a native program's is its own folder, which goes with the run
 * @property {boolean} [isNative]  the entry is executed as it is, not by Node: redis-server. No probe sees into it.
 * @property {boolean} [isTheirs]  a program that is nobody's lesson: the environment is the user's own, no port is given to
 *   it, nothing of ours is found by its imports, and it may take as much of the machine as its owner lets it
 * @property {string} [temporary]  the name of a folder of its own for temporary files, which TMPDIR tells it
 */
import { closeSync, mkdirSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from './clock.js';
import { endRun, findFamily, findMember, signalGroup } from './ending.js';
import { environmentOf, rootFolder } from './environment.js';
import { LIMITS, THEIR_LIMITS } from './limits.js';
import { ownWorkIn, servingSince, stretchesOf } from './own-work.js';
import { listProcesses, processAt, signal } from './processes.js';
import { isSettled } from './settled.js';
import { noteShortage } from './shortage.js';
import { holdersOf } from './sockets.js';
import { openTimeline } from './timeline.js';
import { createTurn, threadOf } from './turn.js';

const POLL_MS = 4;
const GONE_POLL_MS = 20; // a look reads every process of the machine
const READY_DEADLINE_MS = 10_000;
const CALM_MS = 10; // the next of several queued requests would have begun by then
const DRAIN_DEADLINE_MS = 3_000;
const OUTPUT_SHOWN = 16 * 1024;
const ENDING = new Set(['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGKILL']); // signals that are sent so that a process ends

/** A pid that is reported is that of a process which isn't proved to belong to the run. */
export class Stranger extends Error {
  /** @param {number} pid */
  constructor(pid) {
    super(`Process ${pid} does not belong to this run.`);
    this.name = 'Stranger';
    this.pid = pid;
  }
}

/** One started program: its timeline, its output, its fate. */
export class Program {
  /** @type {Fate | undefined} undefined while it runs */
  fate;
  /** @type {number | undefined} */
  pid;
  /** @type {number | undefined} when it was started, see processes.js */
  born;
  /** @type {Map<number, number>} when each process's event loop last turned */
  lastBeats = new Map();
  lastRequestMs = 0;
  /** The processes that listen on its port when it has been ended: not proved to belong to it, they live. @type {number[]} */
  spared = [];
  /** @type {Map<number, number>} every process that was proved to belong to it, and when it was born */
  known = new Map();
  /** When the check first told one of its processes to end: what ends later may do so for that. */
  toldMs = Infinity;
  /** Has it come to its end, though the check had told none of its processes to? */
  hasEndedUnasked = false;
  sinceMs = nowMs();

  /**
   * @param {import('node:child_process').ChildProcess} keeper
   * @param {{ id: string, folder: string, port: number, compileCache?: string }} place  id: see mark.js; folder: of its files
   * @param {StartOptions} options
   */
  constructor(keeper, { id, folder, port, compileCache }, options) {
    this.keeper = keeper;
    this.id = id;
    this.port = port;
    this.folder = folder;
    mkdirSync(this.folder, { recursive: true });
    this.limits = options.isTheirs ? THEIR_LIMITS : LIMITS;
    this.cwd = options.cwd ?? (options.isNative ? this.folder : rootFolder);
    this.timeline = openTimeline(join(this.folder, 'timeline.jsonl'), this.limits.timeline);
    this.options = options;
    this.compileCache = compileCache;
    /** Where its temporary files are, if it was given a place of its own for them. */
    this.temporary = options.temporary && join(this.folder, options.temporary);
    if (this.temporary) mkdirSync(this.temporary);
    const observers = [process.pid, keeper.pid].filter((pid) => pid !== undefined);
    this.turn = createTurn(
      () => this.pids(),
      () => observers,
      (sinceMs) => this.ownWork({ sinceMs }) !== undefined,
    );
    this.stopped = new Promise((resolve) => (this.noteStopped = resolve));
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Everything that has been reported up to now. @returns {import('./timeline.js').Event[]} */
  get events() {
    if (!this.closed) this.#read();
    return this.timeline.events;
  }

  #read() {
    for (const { t, pid, tid, what, workerPid } of this.timeline.read()) {
      if (tid !== undefined) continue; // a thread's loop is not its process's
      if (what === 'beat') this.lastBeats.set(pid, t);
      else if (what === 'exit') this.lastBeats.delete(pid);
      else if (what === 'worker-exit') this.lastBeats.delete(workerPid);
      else if (what === 'request' || what === 'response') this.lastRequestMs = t;
    }
    if (this.timeline.isFull())
      this.fate ??= { kind: 'excess', of: 'timeline', amount: this.limits.timeline };
  }

  begin() {
    const { entry, args = [], isNative = false, isTheirs } = this.options;
    const { id, folder, cwd, limits } = this;
    const [command, ...rest] = isNative ? [entry, ...args] : [process.execPath, entry, ...args];
    const env = environmentOf(this);
    const how = { env, cwd, folder, isTheirs, limits };
    this.send({ start: id, command, args: rest, ...how });
  }

  /** Its processes, as far as it has reported them. */
  pids() {
    const pids = new Set(this.timeline.events.flatMap(pidsIn));
    return this.pid ? pids.add(this.pid) : pids;
  }

  send(message) {
    if (this.keeper.connected) this.keeper.send(message, () => {});
    else this.hear({ orphaned: true });
  }

  /** What the keeper says of this program. */
  hear(message) {
    const isNews = this.fate === undefined && this.toldMs === Infinity;
    this.#take(message);
    if (isNews && this.fate) this.hasEndedUnasked = true;
  }

  #take(message) {
    if (message.started) this.#noteStart(message);
    else if (message.stopped) this.#noteEnd(message.left);
    else if (message.excess) this.fate = { kind: 'excess', of: message.of, amount: message.amount };
    else if (message.failed) this.fate ??= { kind: 'unstarted', error: message.error };
    else if (message.ended)
      this.fate ??= { kind: 'ended', code: message.code, signal: message.signal };
    else if (message.orphaned) {
      this.fate ??= { kind: 'orphaned' };
      endRun(this).then((left) => this.#noteEnd(left));
    }
  }

  #noteEnd(/** @type {number[]} */ left) {
    const { isTheirs, env } = this.options;
    const hasOwnPort = !isTheirs && !env?.PORT; // nobody else has a right to it
    if (hasOwnPort) this.spared = holdersOf(this.port, () => listProcesses().map(({ pid }) => pid));
    this.noteStopped(left);
  }

  #noteStart({ pid, born }) {
    Object.assign(this, { pid, born });
    if (born !== undefined) this.known.set(pid, born); // else it has ended already
  }

  /**
   * Waits until `find` finds something in the events, the program is at its end, or time is up: its own, in which it had
   * its turn. Rejects with Starved when it has too little of that.
   * @template T
   * @param {(events: import('./timeline.js').Event[]) => T | undefined | false} find
   * @param {number} [deadlineMs]
   * @returns {Promise<T | undefined>}
   */
  async until(find, deadlineMs = READY_DEADLINE_MS) {
    const isReached = this.turn.limit(deadlineMs);
    for (;;) {
      const { fate } = this; // before the look: what it did last is still seen
      const found = find(this.events);
      if (found) return found;
      if (fate || isReached()) return undefined;
      await sleep(POLL_MS);
    }
  }

  /**
   * Waits until `isDone`, or nothing more is going to happen by itself, or the program is at its end.
   * @param {(events: import('./timeline.js').Event[]) => boolean} isDone
   * @param {number} [deadlineMs]
   * @returns {Promise<boolean>}  whether it is done
   */
  async settled(isDone, deadlineMs) {
    let done = false;
    await this.until(
      (events) => (done = isDone(events)) || isSettled(events, this.turn.starvedSince),
      deadlineMs,
    );
    return done;
  }

  /**
   * Waits until so many processes listen on the program's port. A primary that deals to others does not count itself.
   * @param {number} listeners
   * @param {number} [deadlineMs]
   * @returns {Promise<boolean>}  whether they all do; false as soon as it is plain that they never will
   */
  ready(listeners, deadlineMs) {
    return this.settled((events) => {
      const here = events.filter(({ what, port }) => what === 'listening' && port === this.port);
      const dealt = here.filter(({ handle }) => handle === 'handed');
      const counted = dealt.length > 0 ? dealt : here;
      return new Set(counted.map(({ pid }) => pid)).size >= listeners;
    }, deadlineMs);
  }

  /**
   * Processes that are said to listen on the program's port, and are none of this run: not the probe has said so.
   * @returns {number[]}  pids
   */
  strangers() {
    const ended = new Set(this.events.flatMap(endedIn));
    const listening = this.events.filter(
      ({ what, port, pid }) => what === 'listening' && port === this.port && !ended.has(pid),
    );
    const pids = [...new Set(listening.map(({ pid }) => pid))];
    return pids.filter((pid) => !findMember(this, pid));
  }

  /** Waits until no request is left: a while without one, in which every process's event loop has turned. */
  async drained(deadlineMs = DRAIN_DEADLINE_MS) {
    const fromMs = nowMs();
    await this.until(() => {
      const sinceMs = Math.max(this.lastRequestMs, fromMs);
      return nowMs() > sinceMs + CALM_MS && [...this.lastBeats.values()].every((t) => t > sinceMs);
    }, deadlineMs);
  }

  /**
   * Sends a signal to one process of this run.
   * @param {number} pid
   * @param {NodeJS.Signals} name
   * @returns {boolean}  false when it has ended already
   * @throws {Stranger}  when the process that has this pid isn't proved to belong to the run
   */
  kill(pid, name) {
    const one = findMember(this, pid);
    if (!one && processAt(pid)) throw new Stranger(pid); // else it has exited, and its parent may not know yet
    this.#note(name);
    return one !== undefined && signal(one, name);
  }

  #note(/** @type {NodeJS.Signals} */ name) {
    if (ENDING.has(name)) this.toldMs = Math.min(this.toldMs, nowMs());
  }

  /**
   * Sends a signal to the whole process group, as Ctrl-C in a terminal does.
   */
  interrupt(name = /** @type {NodeJS.Signals} */ ('SIGINT')) {
    this.#note(name);
    return signalGroup(this, name);
  }

  /**
   * Tells it to stop: SIGTERM reaches only its first process.
   * @param {'Ctrl-C' | 'SIGTERM'} how
   */
  tellToStop(how) {
    return how === 'Ctrl-C' ? this.interrupt() : this.kill(Number(this.pid), 'SIGTERM');
  }

  /**
   * Waits for the end of the program's first process.
   * @param {number} [deadlineMs]
   * @returns {Promise<Fate | undefined>}  undefined when it still runs then
   */
  async ended(deadlineMs) {
    await this.until(() => this.fate !== undefined, deadlineMs);
    return this.fate;
  }

  /** Everything that the program started, itself included, that is still alive. @returns {number[]} pids */
  survivors() {
    return findFamily(this, { thoroughly: true }).map((one) => one.pid);
  }

  /**
   * Waits until nothing of the program is alive.
   * @param {number} deadlineMs
   * @returns {Promise<number[]>}  the pids of what still is
   */
  async gone(deadlineMs) {
    const isReached = this.turn.limit(deadlineMs);
    let left = this.survivors();
    while (left.length > 0 && !isReached()) {
      await sleep(GONE_POLL_MS);
      left = this.survivors();
    }
    return left;
  }

  /** What the program printed, its last 16 kB. */
  output() {
    if (this.closed) return this.lastOutput;
    return readEnd(this.#outputFile(), OUTPUT_SHOWN);
  }

  /**
   * The work of its own with which it kept its event loops from turning: what came too late for that is not the machine's fault.
   * @param {{ sinceMs?: number, spans?: import('./own-work.js').Span[] }} [when]  spans: the intervals that count; else all
   *   the time since then in which it served
   * @returns {import('./own-work.js').OwnWork & { printedBytes: number } | undefined}  with all that it has printed
   */
  ownWork({ sinceMs = 0, spans = [] } = {}) {
    const { events } = this;
    const toMs = this.closed ? (events.at(-1)?.t ?? sinceMs) : nowMs();
    const decisive = spans.length > 0 ? spans : servingSince(events, sinceMs, toMs);
    const own = ownWorkIn(events, this.stretches(), decisive);
    return own && { ...own, printedBytes: this.#printedBytes() };
  }

  /** From beat to beat of its processes, up to now. */
  stretches() {
    return stretchesOf(this.events, nowMs(), threadOf);
  }

  #printedBytes() {
    return this.closed ? this.lastPrintedBytes : sizeOf(this.#outputFile());
  }

  #outputFile = () => join(this.folder, 'output.txt');

  /** Ends the program and everything that it started. @returns {Promise<number[]>} the pids that would not go */
  async stop() {
    if (!this.closed) {
      this.#read();
      this.lastOutput = this.output();
      this.lastPrintedBytes = this.#printedBytes();
      this.#note('SIGKILL');
      this.closed = true;
      this.timeline.close();
      this.send({ stop: this.id });
    }
    return this.stopped;
  }
}

const endedIn = (/** @type {import('./timeline.js').Event} */ { what, pid, workerPid }) =>
  what === 'exit' ? [pid] : what === 'worker-exit' && workerPid ? [workerPid] : [];

const pidsIn = (/** @type {import('./timeline.js').Event} */ { what, pid, childPid }) =>
  what === 'start' ? [pid] : what === 'child' && childPid ? [childPid] : [];

/** The end of a text file; of one that is not there, or that can't be opened for want of descriptors, nothing. */
function readEnd(file, most) {
  try {
    return readWhatIsThere(file, most);
  } catch (error) {
    if (!noteShortage(error)) throw error;
    return '';
  }
}

const sizeOf = (file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

function readWhatIsThere(file, most) {
  const size = sizeOf(file);
  if (size === 0) return '';
  const fd = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(Math.min(size, most));
    readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return (size > bytes.length ? '[...] ' : '') + bytes.toString('utf8');
  } finally {
    closeSync(fd);
  }
}
