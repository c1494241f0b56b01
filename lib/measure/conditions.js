/**
 * The machine's conditions during a measurement, recorded with it: if the machine was too busy, they name the cause.
 * @typedef {object} Conditions
 * @property {string} node @property {string} platform @property {string} cpu
 * @property {number} cores  that this process may use
 * @property {number | null} quotaCores  the container's CPU quota; null: none, or unknown
 * @property {number} load  average of the minute before; counts only if busyCores is unknown
 * @property {number | null} busyCores  while we measured work that needs none; null: unknown
 * @property {number | null} stealPercent  CPU time that the hypervisor gave to other virtual machines
 * @property {number | null} throttledMs  for which the container was stopped because its quota was used up
 * @property {number} [overrunBy]  how many processes wanted each core, if that ended the check early
 * @typedef {{ isIdle: boolean, isCrowded: boolean, areOthers?: boolean, isStolen?: boolean }} Crowd  contention for the cores:
 *   isIdle: on average every runnable thread had a core; areOthers: other programs took many of the cores; isCrowded: a missing event
 *   may still arrive; isStolen: other virtual machines took them
 */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { countRunnable, cpuTicksOf } from '../observe/processes.js';

const MOST_BUSY_CORES = 0.6;
const CROWD_EVERY_MS = 100;
const CROWD_OF = 30; // samples: the last three seconds
const IDLE = 1; // runnable threads for each core, at most
const CROWDED = 3;
const OTHERS_SHARE = 0.25; // of all cores; below that the check itself makes the crowd
const MUCH_STOLEN_PERCENT = 5;
const OVERRUN = 12;
const IDLE_SHARE = 0.7; // of one core

/** @returns {Conditions} before a measurement */
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

/** @returns {() => Pick<Conditions, 'busyCores' | 'stealPercent' | 'throttledMs'>}  from this call until that one */
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

/** @type {number[]} runnable threads, sample by sample, for all callers */
const crowd = [];

let watching;
const counted = { samples: 0, wanting: 0 }; // since the first sample

/** Samples how many threads want a core. @returns {() => number}  for each core: the mean of three seconds, or else the load average */
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
 * Measures from now on how many threads want a core, and whose they are.
 * @param {() => Iterable<number>} ownPids  the check's own processes, which don't count as others @returns {() => Crowd}
 */
export function countCrowd(ownPids) {
  watchCrowd();
  const { samples, wanting } = counted;
  const sinceThen = watchOthers(ownPids);
  const machine = watchMachine();
  return () => {
    const mean = (counted.wanting - wanting) / (counted.samples - samples);
    const perCore = Number.isFinite(mean) ? mean / os.availableParallelism() : crowdNow();
    const areOthers = !(sinceThen() < OTHERS_SHARE); // or the system doesn't say (NaN)
    const isCrowded = perCore > CROWDED && areOthers;
    const isStolen = Number(machine().stealPercent) > MUCH_STOLEN_PERCENT;
    return { isIdle: perCore <= IDLE, areOthers, isCrowded, isStolen };
  };
}

/**
 * @param {() => Iterable<number>} ownPids  beside this process
 * @returns {() => number}  the share of all cores that others have taken since; NaN if the system doesn't say
 */
export function watchOthers(ownPids) {
  const read = () => ({ ...readCpuTimes(), own: cpuTicksOf([process.pid, ...ownPids()]) });
  const before = read();
  return () => {
    const after = read();
    const [busy, own, total] = ['busy', 'own', 'total'].map(
      (field) => after[field] - before[field],
    );
    return (busy - own) / total;
  };
}

/** How many threads want each core, if a second of work takes twelve because of them. @returns {number | undefined} */
export function overrunNow() {
  const wanting = watchCrowd()();
  return wanting > OVERRUN ? Math.round(wanting) : undefined;
}

let lastLook = { t: 0, idleMs: 0, wanting: Infinity };

/** Was a core idle at the previous call, and is one now? For calls some milliseconds apart. @returns {boolean} */
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
    return undefined; // another system than Linux
  }
}

/** The disturbance that may have spoiled a measurement, in words. @param {Conditions} conditions @returns {string | undefined} */
export function disturbanceOf({ quotaCores: quota, load, cores, ...during }) {
  const busyCores = during.busyCores ?? 0;
  const stealPercent = during.stealPercent ?? 0;
  const throttledMs = during.throttledMs ?? 0;
  if (stealPercent > MUCH_STOLEN_PERCENT)
    return `other virtual machines took ${stealPercent} % of this machine's CPU time (steal)`;
  if (throttledMs > 20)
    return `the container was stopped for ${throttledMs} ms for using up its quota of ${quota} CPUs`;
  if (busyCores > MOST_BUSY_CORES)
    return `other programs kept ${busyCores.toFixed(1)} of ${cores} cores busy`;
  if (during.busyCores === null && load > 2 * cores)
    return `the machine had a load of ${load} on ${cores} cores before we began`;
  return undefined;
}
