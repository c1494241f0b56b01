/**
 * The load for a server that is not ours: on 127.0.0.1, bounded, its kind chosen by the user. Beside it the machine is
 * watched: for how long each process waited for a core, and how much memory it took.
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
 * @property {import('./silences.js').Queued} queued
 * @property {ReturnType<ReturnType<typeof watchMemory>['most']>} memory
 * @property {Map<number, import('./growth.js').Samples>} descriptors  pid → how many files and connections it had open
 */
import { readdirSync } from 'node:fs';
import { watchMemory } from '../measure/at-rate.js';
import { createLoad } from '../measure/load.js';
import { createOpenLoop } from '../measure/open-loop.js';
import { nowMs } from '../observe/clock.js';
import { ignoreStarved, queuedMsOf } from '../observe/turn.js';

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
  const queue = watchEach(program, LOOK_EVERY_MS, readQueue);
  const descriptors = watchEach(program, COUNT_EVERY_MS, readDescriptors);
  try {
    const isFresh = plan.rate !== undefined;
    const window = isFresh ? await open(program, plan) : await closed(program, plan);
    const most = memory.most();
    await program.drained(SEEN_WITHIN_MS).catch(ignoreStarved);
    descriptors.look();
    const { samples } = descriptors;
    return { window, isFresh, queued: queue.samples, memory: most, descriptors: samples };
  } finally {
    memory.stop();
    queue.stop();
    descriptors.stop();
  }
}

async function open(program, /** @type {Plan} */ { rate = 0, seconds, path, ...what }) {
  const generator = createOpenLoop();
  const how = { ratePerSecond: rate, durationMs: seconds * 1000, timeoutMs: TIMEOUT_MS };
  try {
    return await generator.fire({ url: program.url + path, ...how, ...what });
  } finally {
    generator.close();
  }
}

/** What a closed loop loses it tells in sums; the window has an entry for each all the same. */
async function closed(
  program,
  /** @type {Plan} */ { connections = 1, seconds, path, method, headers, body },
) {
  const generator = createLoad();
  const timeoutMs = seconds * 1000 + TIMEOUT_MS;
  const how = { connections, durationMs: seconds * 1000, timeoutMs, method, headers, body };
  try {
    const { startMs, endMs, answers, errors } = await generator.fire({
      url: program.url + path,
      ...how,
    });
    const lost = Array.from({ length: errors }, () => ({
      ...{ dueMs: startMs, sentMs: startMs, doneMs: endMs },
      ...{ status: undefined, error: 'connection broken' },
    }));
    const answered = answers.map((one) => ({ ...one, dueMs: one.sentMs, error: undefined }));
    return { startMs, endMs, answers: [...answered, ...lost] };
  } finally {
    generator.close();
  }
}

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

/** For how long it has waited for a core. */
function readQueue(/** @type {number} */ pid) {
  const queuedMs = queuedMsOf(pid);
  return queuedMs === undefined ? undefined : { queuedMs };
}

/** How many files and connections it has open: Linux tells, other systems do not. */
function readDescriptors(/** @type {number} */ pid) {
  try {
    return { value: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return undefined; // it has ended, or this is no Linux
  }
}
