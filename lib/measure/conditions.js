/**
 * Under which conditions a measurement was made: it is recorded with every one, and names the cause when a machine was
 * too busy to tell.
 *
 * @typedef {object} Conditions
 * @property {string} node
 * @property {string} platform
 * @property {string} cpu
 * @property {number} cores  that this process may use
 * @property {number | null} quotaCores  the CPU quota of the container; null: none, or unknown
 * @property {number} load  the machine's load average of the last minute, before we began; it says little of what came
 *   then, and so counts only where the system does not tell how busy it was
 * @property {number | null} busyCores  cores that were busy while we measured work that needs none; null: unknown
 * @property {number | null} stealPercent  time that the hypervisor gave to others
 * @property {number | null} throttledMs  time for which the container was stopped for using up its quota
 * @property {number} [overrunBy]  so many programs wanted each core that the check ended before all promises were judged
 *
 * @typedef {object} Crowd  who wanted the cores, for a while
 * @property {boolean} isIdle  in the mean everything had a core
 * @property {boolean} isCrowded  so many wanted one, and others than ours took so much, that what did not come in time may
 *   still come
 * @property {boolean} [areOthers]  others took so much
 * @property {boolean} [isStolen]  so did other virtual machines, which no process of this one can see
 */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { countRunnable, cpuTicksOf } from '../observe/processes.js';

const MOST_BUSY_CORES = 0.6;
const CROWD_EVERY_MS = 100;
const CROWD_OF = 30; // samples: the last three seconds
const IDLE = 1; // so many want each core, at the most
const CROWDED = 3;
const OTHERS_SHARE = 0.25; // of all cores: with less, the crowd is the check's own
const STOLEN_SHARE = 0.05;
const OVERRUN = 12;
const IDLE_SHARE = 0.7; // of one core

/** @returns {Conditions} as they are now, before measuring */
export function conditionsNow() {
  return {
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    cpu: os.cpus()[0]?.model ?? 'unknown',
    cores: os.availableParallelism(),
    quotaCores: quotaCores(),
    load: Math.round(os.loadavg()[0] * 100) / 100,
    busyCores: null,
    stealPercent: null,
    throttledMs: null,
  };
}

/**
 * Watches the machine's CPU time until the returned function is called.
 * @returns {() => Pick<Conditions, 'busyCores' | 'stealPercent' | 'throttledMs'>}
 */
export function watchMachine() {
  const before = readCpuTimes();
  return () => {
    const after = readCpuTimes();
    if (!before || !after || after.total === before.total) {
      return { busyCores: null, stealPercent: null, throttledMs: null };
    }
    const total = after.total - before.total;
    const share = (field) => (after[field] - before[field]) / total;
    return {
      busyCores: Math.round(share('busy') * os.cpus().length * 100) / 100,
      stealPercent: Math.round(share('steal') * 1000) / 10,
      throttledMs: Math.round((after.throttledUs - before.throttledUs) / 1000),
    };
  };
}

/** @type {number[]} how many wanted a core, sample by sample: one list for all who ask */
const crowd = [];

/** @type {NodeJS.Timeout | undefined} */
let watching;
const counted = { samples: 0, wanting: 0 }; // since we began to watch

/**
 * Begins to count who wants a core, if nobody has yet.
 * @returns {() => number}  how many, for each core: the mean of the last three seconds. The load average is that of a
 *   minute, so also of what is over; it is told only where the system does not count.
 */
export function watchCrowd() {
  watching ??= setInterval(() => {
    const wanting = countRunnable();
    counted.samples += 1;
    counted.wanting += wanting;
    crowd.push(wanting);
    if (crowd.length > CROWD_OF) crowd.shift();
  }, CROWD_EVERY_MS).unref();
  return crowdNow;
}

function crowdNow() {
  const wanting = crowd.reduce((total, sample) => total + sample, 0) / crowd.length;
  return (Number.isFinite(wanting) ? wanting : os.loadavg()[0]) / os.availableParallelism();
}

/**
 * Counts from now on who wants a core, and who takes it.
 * @param {() => Iterable<number>} ownPids  the processes that a check or demo has started: what they take does not make a
 *   machine crowded
 * @returns {() => Crowd}  asked later
 */
export function countCrowd(ownPids) {
  watchCrowd();
  const { samples, wanting } = counted;
  const sinceThen = watchOthers(ownPids);
  return () => {
    const mean = (counted.wanting - wanting) / (counted.samples - samples);
    const perCore = Number.isFinite(mean) ? mean / os.availableParallelism() : crowdNow();
    const { others, stolen } = sinceThen();
    const areOthers = !(others < OTHERS_SHARE); // unknown, or many
    const isCrowded = perCore > CROWDED && areOthers;
    return { isIdle: perCore <= IDLE, areOthers, isCrowded, isStolen: stolen > STOLEN_SHARE };
  };
}

/** @returns {() => { others: number, stolen: number }}  shares of all cores, since then; NaN where the system does not tell */
function watchOthers(ownPids) {
  const read = () => ({ ...readCpuTimes(), own: cpuTicksOf([process.pid, ...ownPids()]) });
  const before = read();
  return () => {
    const after = read();
    const [busy, own, steal, total] = ['busy', 'own', 'steal', 'total'].map(
      (field) => after[field] - before[field],
    );
    return { others: (busy - own) / total, stolen: steal / total };
  };
}

/**
 * Do so many want each core that going on is of no use? What then takes a process a second takes it twelve.
 * @returns {number | undefined}  how many
 */
export function overrunNow() {
  const wanting = watchCrowd()();
  return wanting > OVERRUN ? Math.round(wanting) : undefined;
}

let lastLook = { t: 0, idleMs: 0, wanting: Infinity };

/**
 * Was a core idle when this was last asked, and is one now? Asked again and again, some milliseconds apart.
 * @returns {boolean}
 */
export function hasIdleCore() {
  const cores = os.availableParallelism();
  const before = lastLook;
  const wanting = countRunnable();
  if (!Number.isNaN(wanting)) {
    lastLook = { ...before, wanting };
    return Math.max(wanting, before.wanting) <= cores;
  }
  const idleMs = os.cpus().reduce((sum, { times }) => sum + times.idle, 0);
  lastLook = { t: performance.now(), idleMs, wanting };
  return idleMs - before.idleMs > IDLE_SHARE * (lastLook.t - before.t);
}

/** The first line of /proc/stat, see proc(5): user nice system idle iowait irq softirq steal. */
function readCpuTimes() {
  const line = readText('/proc/stat')?.split('\n')[0];
  if (!line) return undefined;
  const [user, nice, system, idle, iowait, irq, softirq, steal] = line
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const busy = user + nice + system + irq + softirq;
  const throttledUs = Number(
    /throttled_usec (\d+)/.exec(readText('/sys/fs/cgroup/cpu.stat') ?? '')?.[1] ?? 0,
  );
  return { busy, steal, total: busy + idle + iowait + steal, throttledUs };
}

/** cgroup 2: "max 100000" or "150000 100000". */
function quotaCores() {
  const [quota, period] = (readText('/sys/fs/cgroup/cpu.max') ?? 'max').split(' ').map(Number);
  return Number.isFinite(quota) && period > 0 ? quota / period : null;
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // not this system's
  }
}

/**
 * What about this machine could spoil a measurement, in words; undefined where nothing did.
 * @param {Conditions} conditions
 * @returns {string | undefined}
 */
export function disturbanceOf({ quotaCores: quota, load, cores, ...during }) {
  const busyCores = during.busyCores ?? 0;
  const stealPercent = during.stealPercent ?? 0;
  const throttledMs = during.throttledMs ?? 0;
  if (stealPercent > 100 * STOLEN_SHARE)
    return `other virtual machines took ${stealPercent} % of this machine's CPU time (steal)`;
  if (throttledMs > 20)
    return `the container was stopped for ${throttledMs} ms for using up its quota of ${quota} CPUs`;
  if (busyCores > MOST_BUSY_CORES)
    return `other programs kept ${busyCores.toFixed(1)} of ${cores} cores busy`;
  if (during.busyCores === null && load > 2 * cores)
    return `the machine had a load of ${load} on ${cores} cores before we began`;
  return undefined;
}
