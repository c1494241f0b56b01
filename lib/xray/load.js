/**
 * The load for a user's server, on 127.0.0.1, and what we watch beside it: waits for a core, other programs, memory.
 * @typedef {import('../observe/program.js').Program} Program
 * @typedef {{ path: string, method: string, headers: Record<string, string>, body?: string, rate?: number, connections?: number,
 *   seconds: number, timeoutMs?: number }} Plan  of the load; rate: requests a second, for an open loop; connections: clients, for a
 *   closed loop; timeoutMs: of a request in a trial, by default 10 s
 * @typedef {object} Loaded
 * @property {import('../measure/open-loop.js').OpenWindow} window
 * @property {boolean} isFresh  a new connection for each request
 * @property {import('./report/silences.js').Stretch[]} stretches  from beat to beat, of the whole run
 * @property {number} othersCores  the mean number of cores that other programs had; NaN if the system doesn't say
 * @property {Map<number, number>} writes  pid → the file descriptor to which it waited to write at the end
 * @property {ReturnType<ReturnType<typeof watchMemory>['most']>} memory
 * @property {Map<number, import('./report/growth.js').Samples>} descriptors  pid → open files and connections
 */
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { watchMemory } from '../measure/constant-rate.js';
import { watchOthers } from '../measure/conditions.js';
import { createOpenLoop } from '../measure/open-loop.js';
import { waitsToWrite } from '../observe/blocked-write.js';
import { nowMs } from '../observe/clock.js';
import { ignoreStarved } from '../observe/cpu-time.js';

const COUNT_EVERY_MS = 100;
const TIMEOUT_MS = 10_000;
const SEEN_WITHIN_MS = 1_000;

/** @param {Program} program @param {Plan} plan @returns {Promise<Loaded>}  when all is answered or has timed out */
export async function putUnderLoad(program, plan) {
  const memory = watchMemory(program);
  const descriptors = watchDescriptors(program);
  const othersShare = watchOthers(() => program.pids());
  try {
    const window = await fire(program, plan);
    const stretches = program.stretches(); // now, so that the last stretch of a hung process ends with the load
    const most = memory.most();
    const othersCores = othersShare() * availableParallelism();
    await program.drained(SEEN_WITHIN_MS).catch(ignoreStarved);
    descriptors.look();
    return {
      ...{ window, isFresh: plan.rate !== undefined, memory: most, othersCores },
      ...{ stretches, descriptors: descriptors.samples, writes: writesOf(program) },
    };
  } finally {
    memory.stop();
    descriptors.stop();
  }
}

/** An open loop with fresh connections, or a closed loop with kept ones. */
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

function watchDescriptors(/** @type {Program} */ program) {
  /** @type {Map<number, import('./report/growth.js').Samples>} */
  const samples = new Map();
  const look = () => {
    void program.events; // reads on, which takes in new processes
    for (const pid of program.lastBeats.keys()) {
      const value = descriptorsOf(pid);
      if (value === undefined) continue;
      if (!samples.has(pid)) samples.set(pid, []);
      samples.get(pid)?.push({ t: nowMs(), value });
    }
  };
  look();
  const timer = setInterval(look, COUNT_EVERY_MS);
  return { samples, look, stop: () => clearInterval(timer) };
}

/** @returns {number | undefined}  undefined: the process has exited, or this is no Linux */
function descriptorsOf(/** @type {number} */ pid) {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return undefined;
  }
}
