/**
 * A started program: whether it is ready or why it never will be, what it did, what it printed, how it exited.
 * @typedef {{ kind: 'ended' | 'excess' | 'unstarted' | 'orphaned', code?: number | null, signal?: string | null,
 *   of?: 'processes' | 'memory' | 'output' | 'timeline', amount?: number, error?: string }} Fate  how its first process exited;
 *   orphaned: its parent, the keeper, is gone; of: the limit that it exceeded, by an amount of processes or bytes; error: why it
 *   didn't start
 *
 * @typedef {object} StartOptions
 * @property {string} entry  absolute path of the program
 * @property {string[]} [args]  behind the entry
 * @property {Record<string, string>} [env]  beside the inherited variables, which are scrubbed
 * @property {'requests' | 'life' | 'waits'} [probe]  life: no requests, for floods; waits: also the arguments of blockFor()
 * @property {number} [pretendCores]  the result of os.availableParallelism()
 * @property {number} [pretendExitCode]  replaces exit code 1 of workers
 * @property {boolean} [pretendForks]  cluster.fork() is reported but starts no process: how many would it fork?
 * @property {number} [pretendWaits]  multiplies the duration of every blockFor()
 * @property {boolean} [seesStacks]  report the stack of an event loop that stands still, by a thread in each process
 * @property {boolean} [followsChildren]  preload the probe even into children with a replaced environment
 * @property {boolean} [haltsChildren]  children stop themselves before the first line of their file, until SIGCONT
 * @property {string} [cwd]  the root by default; of a native program its own folder, which is removed with the run
 * @property {boolean} [isNative]  an executable such as redis-server, which no probe sees into
 * @property {boolean} [isExternal]  the user's own server: it gets the user's environment, no port, none of our packages, wider limits
 * @property {string} [temporary]  the name of its own folder for temporary files, passed as TMPDIR
 */
import { closeSync, mkdirSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from './clock.js';
import { endRun, findFamily, findMember, signalGroup } from './run-processes.js';
import { environmentOf, rootFolder } from './environment.js';
import { LIMITS, EXTERNAL_LIMITS } from './limits.js';
import { ownWorkIn, servingSince, stretchesOf } from './own-work.js';
import { listProcesses, processAt, signal } from './processes.js';
import { isSettled } from './settled.js';
import { noteShortage } from './shortage.js';
import { holdersOf } from './sockets.js';
import { openTimeline } from './timeline.js';
import { watchCpuTime, threadOf } from './cpu-time.js';

const POLL_MS = 4;
const GONE_POLL_MS = 20; // one look reads every process of the machine
const READY_DEADLINE_MS = 10_000;
const CALM_MS = 10; // a queued request would have begun by then
const DRAIN_DEADLINE_MS = 3_000;
const OUTPUT_SHOWN = 16 * 1024;
const ENDING = new Set(['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGKILL']);

/** A reported pid that doesn't provably belong to the run. */
export class Stranger extends Error {
  constructor(pid) {
    super(`Process ${pid} does not belong to this run.`);
    this.name = 'Stranger';
    this.pid = pid;
  }
}

export class Program {
  /** @type {Fate | undefined} undefined while it runs */
  fate;
  pid;
  /** @type {number | undefined} see processes.js */
  born;
  /** @type {Map<number, number>} pid → last turn of its event loop */
  lastBeats = new Map();
  lastRequestMs = 0;
  /** Processes that still listened on its port after its exit, and don't provably belong to it. @type {number[]} */
  spared = [];
  /** @type {Map<number, number>} pid → birth of every process that provably belongs to it */
  known = new Map();
  /** When a signal killed its first process, which could not report that itself; not set by stop(). @type {number | undefined} */
  killedMs;
  /** When the check first signalled one of its processes to end: later exits may be due to that. */
  firstSignalMs = Infinity;
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
    this.limits = options.isExternal ? EXTERNAL_LIMITS : LIMITS;
    this.cwd = options.cwd ?? (options.isNative ? this.folder : rootFolder);
    this.timeline = openTimeline(join(this.folder, 'timeline.jsonl'), this.limits.timeline);
    this.options = options;
    this.compileCache = compileCache;
    this.temporary = options.temporary && join(this.folder, options.temporary);
    if (this.temporary) mkdirSync(this.temporary);
    const observers = [process.pid, keeper.pid].filter((pid) => pid !== undefined);
    this.cpuTime = watchCpuTime(
      () => this.pids(),
      () => observers,
      (sinceMs) => this.ownWork({ sinceMs }) !== undefined,
    );
    this.stopped = new Promise((resolve) => (this.noteStopped = resolve));
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** @returns {import('./timeline.js').Event[]}  all reported so far */
  get events() {
    if (!this.closed) this.#read();
    return this.timeline.events;
  }

  #read() {
    for (const { t, pid, tid, what, workerPid } of this.timeline.read()) {
      if (tid !== undefined) continue; // a thread's event loop isn't its process's
      if (what === 'beat') this.lastBeats.set(pid, t);
      else if (what === 'exit') this.lastBeats.delete(pid);
      else if (what === 'worker-exit') this.lastBeats.delete(workerPid);
      else if (what === 'request' || what === 'response') this.lastRequestMs = t;
    }
    if (this.timeline.isFull())
      this.fate ??= { kind: 'excess', of: 'timeline', amount: this.limits.timeline };
  }

  begin() {
    const { entry, args = [], isNative = false, isExternal } = this.options;
    const { id, folder, cwd, limits } = this;
    const [command, ...rest] = isNative ? [entry, ...args] : [process.execPath, entry, ...args];
    const env = environmentOf(this);
    const how = { env, cwd, folder, isExternal, limits };
    this.send({ start: id, command, args: rest, ...how });
  }

  pids() {
    const pids = new Set(this.timeline.events.flatMap(pidsIn));
    return this.pid ? pids.add(this.pid) : pids;
  }

  send(message) {
    if (this.keeper.connected) this.keeper.send(message, () => {});
    else this.takeMessage({ orphaned: true });
  }

  takeMessage(message) {
    const isNews = this.fate === undefined && this.firstSignalMs === Infinity;
    this.#take(message);
    if (isNews && this.fate) this.hasEndedUnasked = true;
  }

  #take(message) {
    if (message.started) this.#noteStart(message);
    else if (message.stopped) this.#noteEnd(message.left);
    else if (message.excess) this.fate = { kind: 'excess', of: message.of, amount: message.amount };
    else if (message.failed) this.fate ??= { kind: 'unstarted', error: message.error };
    else if (message.ended) {
      if (message.signal && !this.closed) this.killedMs = message.t;
      this.fate ??= { kind: 'ended', code: message.code, signal: message.signal };
    } else if (message.orphaned) {
      this.fate ??= { kind: 'orphaned' };
      endRun(this).then((left) => this.#noteEnd(left));
    }
  }

  #noteEnd(/** @type {number[]} */ left) {
    const { isExternal, env } = this.options;
    const hasOwnPort = !isExternal && !env?.PORT; // only this program may listen there
    if (hasOwnPort) this.spared = holdersOf(this.port, () => listProcesses().map(({ pid }) => pid));
    this.noteStopped(left);
  }

  #noteStart({ pid, born }) {
    Object.assign(this, { pid, born });
    if (born !== undefined) this.known.set(pid, born); // otherwise it has already exited
  }

  /**
   * Waits until `find` returns something, the program exits, or the deadline passes, counting only time in which the program got a
   * core. Rejects with Starved if it got too little. @returns {Promise<T | undefined>}
   * @template T @param {(events: import('./timeline.js').Event[]) => T | undefined | false} find @param {number} [deadlineMs]
   */
  async until(find, deadlineMs = READY_DEADLINE_MS) {
    const isReached = this.cpuTime.limit(deadlineMs);
    for (;;) {
      const { fate } = this; // read first, so that its last events are still found
      const found = find(this.events);
      if (found) return found;
      if (fate || isReached()) return undefined;
      await sleep(POLL_MS);
    }
  }

  /**
   * Waits until `isDone`, or nothing more will happen by itself, or the program exits. @returns {Promise<boolean>}  whether it is done
   * @param {(events: import('./timeline.js').Event[]) => boolean} isDone @param {number} [deadlineMs]
   */
  async settled(isDone, deadlineMs) {
    let done = false;
    await this.until(
      (events) => (done = isDone(events)) || isSettled(events, this.cpuTime.starvedSince),
      deadlineMs,
    );
    return done;
  }

  /**
   * Waits until that many processes listen on the program's port; a primary that hands connections to workers doesn't count.
   * @param {number} listeners @param {number} [deadlineMs] @returns {Promise<boolean>}  false as soon as they clearly never will
   */
  ready(listeners, deadlineMs) {
    return this.settled((events) => {
      const here = events.filter(({ what, port }) => what === 'listening' && port === this.port);
      const dealt = here.filter(({ handle }) => handle === 'handed');
      const counted = dealt.length > 0 ? dealt : here;
      return new Set(counted.map(({ pid }) => pid)).size >= listeners;
    }, deadlineMs);
  }

  /** @returns {number[]}  the pids of processes that are reported to listen on its port and don't belong to the run */
  strangers() {
    const ended = new Set(this.events.flatMap(endedIn));
    const listening = this.events.filter(
      ({ what, port, pid }) => what === 'listening' && port === this.port && !ended.has(pid),
    );
    const pids = [...new Set(listening.map(({ pid }) => pid))];
    return pids.filter((pid) => !findMember(this, pid));
  }

  /** Waits until no request is in flight: a while without one, in which every process's event loop has turned. */
  async drained(deadlineMs = DRAIN_DEADLINE_MS) {
    const fromMs = nowMs();
    await this.until(() => {
      const sinceMs = Math.max(this.lastRequestMs, fromMs);
      return nowMs() > sinceMs + CALM_MS && [...this.lastBeats.values()].every((t) => t > sinceMs);
    }, deadlineMs);
  }

  /**
   * Signals one process of this run. @param {number} pid @param {NodeJS.Signals} name @returns {boolean}  false if it has already exited
   * @throws {Stranger}  when the process with this pid doesn't provably belong to the run
   */
  kill(pid, name) {
    const one = findMember(this, pid);
    if (!one && processAt(pid)) throw new Stranger(pid); // otherwise it has exited, and its parent may not know yet
    this.#note(name);
    return one !== undefined && signal(one, name);
  }

  #note(/** @type {NodeJS.Signals} */ name) {
    if (ENDING.has(name)) this.firstSignalMs = Math.min(this.firstSignalMs, nowMs());
  }

  /** Signals the whole process group, as Ctrl-C in a terminal does. */
  interrupt(name = /** @type {NodeJS.Signals} */ ('SIGINT')) {
    this.#note(name);
    return signalGroup(this, name);
  }

  /** Ctrl-C signals the group, SIGTERM only the first process. @param {'Ctrl-C' | 'SIGTERM'} how */
  askToStop(how) {
    return how === 'Ctrl-C' ? this.interrupt() : this.kill(Number(this.pid), 'SIGTERM');
  }

  /** Waits until the first process exits. @param {number} [deadlineMs] @returns {Promise<Fate | undefined>}  undefined at the deadline */
  async ended(deadlineMs) {
    await this.until(() => this.fate !== undefined, deadlineMs);
    return this.fate;
  }

  /** All its living processes. @returns {number[]} pids */
  survivors() {
    return findFamily(this, { thoroughly: true }).map((one) => one.pid);
  }

  /** Waits until none of its processes lives. @param {number} deadlineMs @returns {Promise<number[]>}  the pids that still do */
  async survivorsAfter(deadlineMs) {
    const isReached = this.cpuTime.limit(deadlineMs);
    let left = this.survivors();
    while (left.length > 0 && !isReached()) {
      await sleep(GONE_POLL_MS);
      left = this.survivors();
    }
    return left;
  }

  /** The last 16 kB that the program printed. */
  output() {
    if (this.closed) return this.lastOutput;
    return readEnd(this.#outputFile(), OUTPUT_SHOWN);
  }

  /**
   * The program's own work that kept its event loops from turning, for which the machine isn't to blame.
   * @param {{ sinceMs?: number, spans?: import('./own-work.js').Span[] }} [when]  spans: the intervals that count; by default all in which
   *   it served @returns {import('./own-work.js').OwnWork & { printedBytes: number } | undefined}  printedBytes: its whole output
   */
  ownWork({ sinceMs = 0, spans = [] } = {}) {
    const { events } = this;
    const toMs = this.closed ? (events.at(-1)?.t ?? sinceMs) : nowMs();
    const decisive = spans.length > 0 ? spans : servingSince(events, sinceMs, toMs);
    const own = ownWorkIn(events, this.stretches(), decisive);
    return own && { ...own, printedBytes: this.#printedBytes() };
  }

  stretches() {
    return stretchesOf(this.events, nowMs(), threadOf);
  }

  #printedBytes() {
    return this.closed ? this.lastPrintedBytes : sizeOf(this.#outputFile());
  }

  #outputFile = () => join(this.folder, 'output.txt');

  /** Kills the program and all its processes. @returns {Promise<number[]>} the pids that couldn't be killed */
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

/** '' if the file doesn't exist, or this process has no file descriptor left. */
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
