/**
 * The load for a server that is not ours: on 127.0.0.1, bounded, its kind chosen by the user. Beside it the machine is
 * watched: for how long each process ran and waited for a core, what others took, and how much memory there was.
 *
 * @typedef {import('../observe/program.js').Program} Program
 *
 * @typedef {object} Plan  of the load
 * @property {string} path
 * @property {string} method
 * @property {Record<string, string>} headers
 * @property {string} [body]
 * @property {number} [rate]  an open loop: so many a second, whatever comes back
 * @property {number} [connections]  instead, a closed loop of so many
 * @property {number} seconds
 * @property {number} [timeoutMs]  of a request in a trial; 10 s unless told otherwise
 *
 * @typedef {object} Loaded
 * @property {import('../measure/open-loop.js').OpenWindow} window
 * @property {boolean} isFresh  a new connection for each request
 * @property {import('./report/silences.js').Times} times
 * @property {number} othersCores  how many cores other programs than this one took in the mean; NaN where the system does not tell
 * @property {Map<number, number>} writes  pid → the file descriptor to which it waited to write when all was over
 * @property {ReturnType<ReturnType<typeof watchMemory>['most']>} memory
 * @property {Map<number, import('./report/growth.js').Samples>} descriptors  pid → how many files and connections it had open
 */
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { watchMemory } from '../measure/at-rate.js';
import { watchOthers } from '../measure/conditions.js';
import { createOpenLoop } from '../measure/open-loop.js';
import { waitsToWrite } from '../observe/blocked.js';
import { nowMs } from '../observe/clock.js';
import { ignoreStarved, threadOf } from '../observe/turn.js';

const LOOK_EVERY_MS = 50;
const COUNT_EVERY_MS = 100;
const TIMEOUT_MS = 10_000;
const SEEN_WITHIN_MS = 1_000;

/**
 * @param {Program} program
 * @param {Plan} plan
 * @returns {Promise<Loaded>}  when all is answered, or given up
 */
export async function putUnderLoad(program, plan) {
  const memory = watchMemory(program);
  const times = watchEach(program, LOOK_EVERY_MS, threadOf);
  const descriptors = watchEach(program, COUNT_EVERY_MS, readDescriptors);
  const othersShare = watchOthers(() => program.pids());
  try {
    const window = await fire(program, plan);
    const most = memory.most();
    const othersCores = othersShare() * availableParallelism();
    await program.drained(SEEN_WITHIN_MS).catch(ignoreStarved);
    descriptors.look();
    return {
      ...{ window, isFresh: plan.rate !== undefined, memory: most, othersCores },
      ...{ times: times.samples, descriptors: descriptors.samples, writes: writesOf(program) },
    };
  } finally {
    memory.stop();
    times.stop();
    descriptors.stop();
  }
}

/** An open loop with a connection for each request, or a closed one of clients that keep theirs. */
async function fire(program, /** @type {Plan} */ { rate, connections, seconds, path, ...what }) {
  const generator = createOpenLoop();
  const isClosed = rate === undefined;
  const how = isClosed ? { isClosed, isFresh: false, connections } : { ratePerSecond: rate };
  const { method, headers, body } = what;
  try {
    return await generator.fire({
      ...{ url: program.url + path, method, headers, body, ...how },
      ...{ durationMs: seconds * 1000, timeoutMs: TIMEOUT_MS },
    });
  } finally {
    generator.close();
  }
}

const writesOf = (/** @type {Program} */ program) =>
  new Map(
    [...program.lastBeats.keys()].flatMap((pid) => {
      const fd = waitsToWrite(pid);
      return fd === undefined ? [] : [/** @type {[number, number]} */ ([pid, fd])];
    }),
  );

/**
 * Looks at each process again and again.
 * @template {object} T
 * @param {Program} program
 * @param {number} everyMs
 * @param {(pid: number) => T | undefined} read  undefined: it has ended, or this system does not tell
 */
function watchEach(program, everyMs, read) {
  /** @type {Map<number, (T & { t: number })[]>} */
  const samples = new Map();
  const look = () => {
    void program.events; // reads on, which takes in new processes
    for (const pid of program.lastBeats.keys()) {
      const found = read(pid);
      if (found === undefined) continue;
      if (!samples.has(pid)) samples.set(pid, []);
      samples.get(pid)?.push({ t: nowMs(), ...found });
    }
  };
  look();
  const timer = setInterval(look, everyMs);
  return { samples, look, stop: () => clearInterval(timer) };
}

/** How many files and connections it has open: Linux tells, other systems do not. */
function readDescriptors(/** @type {number} */ pid) {
  try {
    return { value: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return undefined; // it has ended, or this is no Linux
  }
}
