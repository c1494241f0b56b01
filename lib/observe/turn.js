/**
 * Whether a program had its turn. On a machine that others keep busy, what does not come in time may still come: a limit
 * counts only the time in which nothing of the program waited for a core, and one that runs out without enough of it is
 * no verdict.
 *
 * Linux tells for each thread how long it has run and how long it stood in a run queue (proc(5), schedstat). What a program
 * waits for its own processes is not taken off: who uses half of all cores has its turn. Elsewhere the load average has to do.
 */
import { readFileSync, readdirSync } from 'node:fs';
import os from 'node:os';
import { nowMs } from './clock.js';
import { countRunnable } from './processes.js';
import { Shortage } from './shortage.js';

const LOOK_EVERY_MS = 100;
const OWN_SHARE = 0.5; // of all cores
const PATIENCE = 3; // times the limit, and then it is not waited for any longer
const LEAST_PATIENCE_MS = 4_000;
const ENOUGH = 0.5; // of a limit that a clock has kept

/** A limit was reached, and the program had not had its turn. */
export class Starved extends Shortage {
  /** @param {number} waitedMs @param {number} ownMs  of these it had its turn */
  constructor(waitedMs, ownMs) {
    const cores = os.availableParallelism();
    const seconds = (/** @type {number} */ ms) => (ms / 1000).toFixed(1);
    super({
      got: `In ${seconds(waitedMs)} s the program had its turn for ${seconds(Math.max(0, ownMs))} s.`,
      why: `The machine is too busy: a moment ago ${wanting()} processes or threads wanted its ${cores} cores.`,
      try: 'close other programs, then check again',
    });
    this.name = 'Starved';
  }
}

/**
 * For where a busy machine is no reason to give up, because what was seen so far decides.
 * @param {unknown} error  any other is thrown again
 */
export function ignoreStarved(error) {
  if (!(error instanceof Starved)) throw error;
}

/**
 * Follows how long a program's processes were kept from running.
 * @param {() => Iterable<number>} pidsOf  those that are alive; none: it has not been started yet
 * @param {() => Iterable<number>} [observersOf]  who has to run, too, so that what it did is heard of in time
 * @param {(sinceMs: number) => boolean} [keptItself]  does work of its own explain what has not come since then? Then it had
 *   its turn, however long its other threads, or its observers, have waited for it
 */
export function createTurn(pidsOf, observersOf = () => [], keptItself = () => false) {
  /** @type {{ t: number, starvedMs: number, unheardMs: number }[]} how much in all up to a moment, where it grew */
  const history = [{ t: nowMs(), starvedMs: 0, unheardMs: 0 }];
  /** @type {Reading} */
  const last = { t: nowMs(), threads: readThreads(observersOf()) };

  /** For how long it was kept from running since the last look, and for how long any of all. */
  const lostUntil = (/** @type {number} */ t) => {
    const pids = [...pidsOf()];
    if (pids.length === 0) return { starvedMs: t - last.t, unheardMs: t - last.t };
    if (!isContended()) return { starvedMs: 0, unheardMs: 0 };
    const own = readThreads(withChildren(pids));
    const threads = new Map([...own, ...readThreads(observersOf())]);
    const [starvedMs, unheardMs] = [own, threads].map((some) =>
      starvedBetween(last, { t, threads: some }),
    );
    last.threads = threads;
    return { starvedMs, unheardMs };
  };
  const look = () => {
    const t = nowMs();
    if (t - last.t < LOOK_EVERY_MS) return;
    const lost = lostUntil(t);
    last.t = t;
    const before = history[history.length - 1];
    const starvedMs = before.starvedMs + lost.starvedMs;
    const unheardMs = before.unheardMs + lost.unheardMs;
    if (lost.starvedMs + lost.unheardMs > 0) history.push({ t, starvedMs, unheardMs });
  };
  const lostSince = (/** @type {number} */ t) => {
    look();
    const all = history[history.length - 1];
    const before = history.findLast((one) => one.t <= t) ?? history[0];
    return {
      starvedMs: all.starvedMs - before.starvedMs,
      unheardMs: all.unheardMs - before.unheardMs,
    };
  };
  const ownSince = (/** @type {number} */ sinceMs) => {
    const waitedMs = nowMs() - sinceMs;
    return { waitedMs, ownMs: waitedMs - lostSince(sinceMs).unheardMs };
  };
  return {
    /** For how long since then it was kept from running, in milliseconds. */
    starvedSince: (/** @type {number} */ t) => lostSince(t).starvedMs,
    /**
     * For where a clock has kept a limit, and something is missing.
     * @param {number} sinceMs
     * @param {number} limitMs
     * @returns {Starved | undefined}  if since then the program has not had its turn for even half of the limit
     */
    starvedIn(sinceMs, limitMs) {
      const { waitedMs, ownMs } = ownSince(sinceMs);
      const isStarved = ownMs < ENOUGH * limitMs && !keptItself(sinceMs);
      return isStarved ? new Starved(waitedMs, ownMs) : undefined;
    },
    /**
     * A limit that counts the program's own time, and in which its observers had their turn.
     * @param {number} limitMs
     * @returns {() => boolean}  is it reached? Throws Starved when it never seems to be
     */
    limit(limitMs) {
      look(); // what it was kept from running before does not count
      const sinceMs = nowMs();
      return () => {
        const { waitedMs, ownMs } = ownSince(sinceMs);
        if (waitedMs <= limitMs) return false;
        if (ownMs > limitMs) return true;
        if (waitedMs <= Math.max(PATIENCE * limitMs, limitMs + LEAST_PATIENCE_MS)) return false;
        if (keptItself(sinceMs)) return true;
        throw new Starved(waitedMs, ownMs);
      };
    },
  };
}

/**
 * @typedef {{ ranMs: number, queuedMs: number }} Thread
 * @typedef {{ t: number, threads: Map<string, Thread> }} Reading
 */

/**
 * How long, between two readings, the program was kept from running: as long as the thread that waited longest.
 * @param {Reading} before
 * @param {Reading} now
 * @param {number} [cores]
 */
export function starvedBetween(before, now, cores = os.availableParallelism()) {
  const tookMs = now.t - before.t;
  let ranMs = 0;
  let queuedMs = 0;
  for (const [id, thread] of now.threads) {
    const old = before.threads.get(id) ?? { ranMs: 0, queuedMs: 0 };
    ranMs += thread.ranMs - old.ranMs;
    queuedMs = Math.max(queuedMs, thread.queuedMs - old.queuedMs);
  }
  const isItself = ranMs > OWN_SHARE * tookMs * cores;
  return isItself ? 0 : Math.min(tookMs, queuedMs);
}

/** Whoever is just being started is not reported yet, and its parent stands still until it runs. */
function withChildren(/** @type {number[]} */ pids) {
  const namesOf = (/** @type {number} */ pid) => read(`/proc/${pid}/task/${pid}/children`);
  const children = pids.flatMap((pid) => namesOf(pid).match(/\d+/g) ?? []);
  return new Set([...pids, ...children.map(Number)]);
}

function readThreads(/** @type {Iterable<number>} */ pids) {
  /** @type {Map<string, Thread>} */
  const found = new Map();
  for (const pid of pids) {
    for (const tid of namesIn(`/proc/${pid}/task`)) {
      const thread = threadOf(pid, tid);
      if (thread) found.set(tid, thread);
    }
  }
  if (process.platform !== 'linux') found.set('all', guess());
  return found;
}

/** Where the system does not tell, half of the time on a machine with a high load. @returns {Thread} */
const guess = () => ({ ranMs: 0, queuedMs: nowMs() / 2 });

/**
 * For how long the first thread of a process has had a core, and has waited for one, all its life. Linux only.
 * @param {number} pid
 * @param {number | string} [tid]  another of its threads
 * @returns {Thread | undefined}
 */
export function threadOf(pid, tid = pid) {
  const [ran, queued] = read(`/proc/${pid}/task/${tid}/schedstat`).split(' ').map(Number);
  return queued === undefined ? undefined : { ranMs: ran / 1e6, queuedMs: queued / 1e6 };
}

/** How many processes and threads want a core, ourselves left out. */
function wanting() {
  const running = countRunnable();
  return Number.isNaN(running) ? Math.round(os.loadavg()[0]) : running - 1;
}

/** Does somebody have to wait for a core just now? */
export const isContended = () => wanting() >= os.availableParallelism();

function read(/** @type {string} */ file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // it ended, or this is another system
  }
}

function namesIn(/** @type {string} */ folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
