/**
 * Whether a program got enough CPU time. On a busy machine a late event may still arrive, so a deadline counts only time in which no
 * thread of the program waited for a core (schedstat in proc(5); elsewhere the load average must do). A program whose own processes
 * use half of all cores isn't starved.
 */
import { readFileSync, readdirSync } from 'node:fs';
import os from 'node:os';
import { nowMs } from './clock.js';
import { countRunnable } from './processes.js';
import { Shortage } from './shortage.js';

const LOOK_EVERY_MS = 100;
const OWN_SHARE = 0.5; // of all cores
const PATIENCE = 3; // times the limit; then waiting ends
const LEAST_PATIENCE_MS = 4_000;
const ENOUGH = 0.5; // share of a limit that was kept by a clock

/** A deadline passed, and the program had got too little CPU time. */
export class Starved extends Shortage {
  /** @param {number} waitedMs @param {number} ownMs  time in which it didn't wait for a core */
  constructor(waitedMs, ownMs) {
    const cores = os.availableParallelism();
    const seconds = (/** @type {number} */ ms) => (ms / 1000).toFixed(1);
    super({
      got: `In ${seconds(waitedMs)} s the program could run for ${seconds(Math.max(0, ownMs))} s.`,
      why: `The machine is too busy: a moment ago ${wanting()} processes or threads wanted its ${cores} cores.`,
      try: 'close other programs, then check again',
    });
    this.name = 'Starved';
  }
}

/** For a busy machine that is no obstacle, because earlier events decide. @param {unknown} error  any other is thrown again */
export function ignoreStarved(error) {
  if (!(error instanceof Starved)) throw error;
}

/**
 * Watches how long a program's processes were kept from running.
 * @param {() => Iterable<number>} pidsOf  its living processes; none if it hasn't started
 * @param {() => Iterable<number>} [observersOf]  processes that must run as well, for its events to be read in time
 * @param {(sinceMs: number) => boolean} [hasOwnWork]  does its own work explain the silence since then? Then it isn't starved
 */
export function watchCpuTime(pidsOf, observersOf = () => [], hasOwnWork = () => false) {
  const { look, lostSince } = recordLosses(pidsOf, observersOf);
  const ownSince = (/** @type {number} */ sinceMs) => {
    const waitedMs = nowMs() - sinceMs;
    return { waitedMs, ownMs: waitedMs - lostSince(sinceMs).observerStarvedMs };
  };
  return {
    /** In ms. */
    starvedSince: (/** @type {number} */ t) => lostSince(t).starvedMs,
    /**
     * For a limit that was kept by a clock, when something is missing. @param {number} sinceMs @param {number} limitMs
     * @returns {Starved | undefined}  if the program has had less than half of the limit as its own time
     */
    starvedIn(sinceMs, limitMs) {
      const { waitedMs, ownMs } = ownSince(sinceMs);
      const isStarved = ownMs < ENOUGH * limitMs && !hasOwnWork(sinceMs);
      return isStarved ? new Starved(waitedMs, ownMs) : undefined;
    },
    /** In the program's own time. @param {number} limitMs @returns {() => boolean}  is it over? Throws Starved if it seems to never end */
    limit(limitMs) {
      look(); // earlier starvation doesn't count
      const sinceMs = nowMs();
      return () => {
        const { waitedMs, ownMs } = ownSince(sinceMs);
        if (waitedMs <= limitMs) return false;
        if (ownMs > limitMs) return true;
        if (waitedMs <= Math.max(PATIENCE * limitMs, limitMs + LEAST_PATIENCE_MS)) return false;
        if (hasOwnWork(sinceMs)) return true;
        throw new Starved(waitedMs, ownMs);
      };
    },
  };
}

/** starvedMs: how long the program was kept from running; observerStarvedMs: it or an observer. */
function recordLosses(pidsOf, observersOf) {
  /** @type {{ t: number, starvedMs: number, observerStarvedMs: number }[]} totals, at each time when they grew */
  const history = [{ t: nowMs(), starvedMs: 0, observerStarvedMs: 0 }];
  const last = { t: nowMs(), threads: readThreads(observersOf()) };

  const lostUntil = (/** @type {number} */ t) => {
    const pids = [...pidsOf()];
    if (pids.length === 0) return { starvedMs: t - last.t, observerStarvedMs: t - last.t };
    if (!isContended()) return { starvedMs: 0, observerStarvedMs: 0 };
    const own = readThreads(withChildren(pids));
    const threads = new Map([...own, ...readThreads(observersOf())]);
    const [starvedMs, observerStarvedMs] = [own, threads].map((some) =>
      starvedBetween(last, { t, threads: some }),
    );
    last.threads = threads;
    return { starvedMs, observerStarvedMs };
  };
  const look = () => {
    const t = nowMs();
    if (t - last.t < LOOK_EVERY_MS) return;
    const lost = lostUntil(t);
    last.t = t;
    const before = history[history.length - 1];
    const starvedMs = before.starvedMs + lost.starvedMs;
    const observerStarvedMs = before.observerStarvedMs + lost.observerStarvedMs;
    if (lost.starvedMs + lost.observerStarvedMs > 0)
      history.push({ t, starvedMs, observerStarvedMs });
  };
  const lostSince = (/** @type {number} */ t) => {
    look();
    const all = history[history.length - 1];
    const before = history.findLast((one) => one.t <= t) ?? history[0];
    return {
      starvedMs: all.starvedMs - before.starvedMs,
      observerStarvedMs: all.observerStarvedMs - before.observerStarvedMs,
    };
  };
  return { look, lostSince };
}

/** @typedef {{ ranMs: number, queuedMs: number }} Thread @typedef {{ t: number, threads: Map<string, Thread> }} Reading */

/** A thread's longest wait for a core between two readings. @param {Reading} before @param {Reading} now @param {number} [cores] */
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

/** A child that is being spawned isn't in the timeline yet, and its parent waits until the child runs. */
function withChildren(/** @type {number[]} */ pids) {
  const namesOf = (/** @type {number} */ pid) => read(`/proc/${pid}/task/${pid}/children`);
  const children = pids.flatMap((pid) => namesOf(pid).match(/\d+/g) ?? []);
  return new Set([...pids, ...children.map(Number)]);
}

function readThreads(/** @type {Iterable<number>} */ pids) {
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

/** Without schedstat: half of the time on a machine with a high load. @returns {Thread} */
const guess = () => ({ ranMs: 0, queuedMs: nowMs() / 2 });

/**
 * How long a thread has had a core, and waited for one, since its start. @returns {Thread | undefined}  undefined outside Linux
 * @param {number} pid @param {number | string} [tid]  the main thread by default
 */
export function threadOf(pid, tid = pid) {
  const [ran, queued] = read(`/proc/${pid}/task/${tid}/schedstat`).split(' ').map(Number);
  return queued === undefined ? undefined : { ranMs: ran / 1e6, queuedMs: queued / 1e6 };
}

/** How many threads want a core, without this one. */
function wanting() {
  const running = countRunnable();
  return Number.isNaN(running) ? Math.round(os.loadavg()[0]) : running - 1;
}

/** Does any thread wait for a core at this moment? */
export const isContended = () => wanting() >= os.availableParallelism();

function read(/** @type {string} */ file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // it has exited, or this isn't Linux
  }
}

function namesIn(/** @type {string} */ folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
