/**
 * Measures each peer: throughput beside one process, memory, and requests lost when a worker is killed, when it
 * reloads, and when it is stopped.
 *
 * @typedef {import('../../lib/measure/stats.js').Interval} Interval
 * @typedef {import('../../lib/measure/speedup.js').Speedup} Speedup
 * @typedef {{ fresh: number, kept: number }} Both
 * @typedef {{ sent: Both, lost: Both, times: number }} Lost  of several trials together
 * @typedef {object} Result  of one peer; a field is missing if it doesn't apply or couldn't be measured
 * @property {string} name
 * @property {string} about
 * @property {string} [version]
 * @property {string} [obstacle]  why nothing was measured
 * @property {Speedup} [blocking]
 * @property {Speedup} [cpu]
 * @property {Interval} [pssBytes]  of all its processes together
 * @property {Interval} [ussBytes]
 * @property {number} [processes]
 * @property {boolean} [isAlone]  one process, which no other can replace
 * @property {{ fullMs?: Interval, lost: Lost, never: number }} [kill]
 * @property {{ eachMs?: Interval, lost: Lost, wanted: number }} [reload]
 * @property {{ tookMs?: Interval, lost: Lost, left: number, never: number }} [stop]
 * @property {string[]} doubts  what could not be measured, and why
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createSpinners } from '../../lib/measure/spinners.js';
import { createLoad } from '../../lib/measure/load.js';
import { speedupOfBlocking, speedupOfCpu } from '../../lib/measure/speedup.js';
import { meanInterval } from '../../lib/measure/stats.js';
import { memoryOf } from '../../lib/observe/memory.js';
import { reservePort } from '../../lib/observe/ports.js';
import { launch } from '../../lib/xray/launch.js';
import { putUnderLoad } from '../../lib/xray/load.js';
import { tryReload } from '../../lib/xray/reload.js';
import { tryKill, tryStop } from '../../lib/xray/trials.js';
import { control } from './field.js';

/** @type {import('../../lib/xray/load.js').Plan} */
const PLAN = { path: '/', method: 'GET', headers: {}, rate: 200, seconds: 1, timeoutMs: 3_000 };

const RELOADS_MS = 90_000; // no reload begins after that

/**
 * @typedef {object} Amounts  how much of each; a quick run takes little
 * @property {number} workers
 * @property {number} trials  kills, and stops
 * @property {number} reloads  in a row, at least
 * @property {number} reloadRequests  more reloads follow until that many requests were sent
 * @property {number} blockingMs  no round of windows begins after that
 * @property {number} cpuMs
 * @property {number} untilMs  of performance.now(): nothing of a peer begins after that
 *
 * @param {import('../../lib/observe/runner.js').Runner} runner
 * @param {import('./field.js').Peer} peer
 * @param {Amounts} amounts
 * @param {(what: string) => void} say
 * @returns {Promise<Result>}
 */
export async function measurePeer(runner, peer, amounts, say) {
  const { name, about } = peer;
  const obstacle = peer.obstacle?.();
  if (obstacle) return { name, about, obstacle, doubts: [] };
  const result = /** @type {Result} */ ({ name, about, version: peer.version?.(), doubts: [] });
  const parts = { throughput, killsAndStops, reloads };
  for (const [part, measure] of Object.entries(parts)) {
    if (performance.now() > amounts.untilMs) {
      result.doubts.push(`${part}: the time was up`);
      continue;
    }
    say(part);
    try {
      const { doubts = [], ...measured } = await measure(runner, peer, amounts);
      Object.assign(result, measured);
      result.doubts.push(...doubts);
    } catch (error) {
      result.doubts.push(`${part}: ${wordsOf(error)}`);
    }
    await runner.clear();
  }
  return result;
}

function wordsOf(/** @type {any} */ error) {
  const { got, why } = error.story ?? { got: error.message, why: '' };
  return [got, why].filter(Boolean).join(' ');
}

/** Starts it in a new folder, calls the function, and stops it. */
async function having(runner, peer, workers, work) {
  const folder = mkdtempSync(join(runner.home, 'p-')); // short, since PM2's socket is in it
  try {
    const port = await reservePort(workers + 1);
    const order = await peer.order({ port, workers, folder });
    const up = await launch(runner, order, PLAN);
    try {
      return await work(up, order);
    } finally {
      await up.program.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Compares it with one process, in alternating windows. */
const throughput = (runner, peer, /** @type {Amounts} */ { workers, blockingMs, cpuMs }) =>
  having(runner, control, 1, (one) =>
    having(runner, peer, workers, async (up) => {
      const load = createLoad();
      const spinners = createSpinners(workers);
      const contest = { load, control: one.program, candidate: up.program, workers };
      try {
        const blocking = await speedupOfBlocking({
          ...{ ...contest, path: '/block', windowMs: 250, budgetMs: blockingMs, target: 0 },
        });
        const cpu = await speedupOfCpu({
          ...{ ...contest, spinners, path: '/spin', windowMs: 500, budgetMs: cpuMs },
        });
        return { blocking, cpu };
      } finally {
        load.close();
        spinners.close();
      }
    }),
  );

/** Kills a worker, then stops the whole: several times, each with a new start. */
async function killsAndStops(runner, peer, /** @type {Amounts} */ { workers, trials: times }) {
  const all = [];
  while (all.length < times) all.push(await having(runner, peer, workers, killAndStop));
  const kills = all.flatMap(({ kill }) => kill ?? []);
  const stops = all.flatMap(({ stop }) => stop ?? []);
  const of = (/** @type {'pssBytes' | 'ussBytes'} */ size) => {
    const values = all.flatMap(({ sizes }) => sizes[size] ?? []);
    return values.length === all.length ? meanInterval(values) : undefined;
  };
  return {
    ...{ pssBytes: of('pssBytes'), ussBytes: of('ussBytes'), processes: all[0].sizes.processes },
    kill: kills.length > 0 ? { fullMs: timesOf(kills), ...summaryOf(kills) } : undefined,
    stop: stops.length > 0 && {
      ...{ tookMs: timesOf(stops), ...summaryOf(stops) },
      left: stops.filter(({ left }) => left.length > 0).length,
    },
    isAlone: all.every(({ isAlone }) => isAlone),
    doubts: all.flatMap(({ doubts }) => doubts),
  };
}

/** @typedef {import('../../lib/xray/trials.js').Trial} Trial */

async function killAndStop(/** @type {import('../../lib/xray/launch.js').Up} */ up) {
  const doubts = /** @type {string[]} */ ([]);
  /** A result that a busy machine leaves undecided becomes a doubt, and the rest stays. */
  const told = (/** @type {string} */ what, /** @type {Promise<Trial | undefined>} */ trial) =>
    trial.catch((error) => void doubts.push(`${what}: ${wordsOf(error)}`));
  await putUnderLoad(up.program, PLAN);
  const sizes = memoryOfAll(up.program);
  const kill = await told('a kill', tryKill(up, PLAN));
  const isAlone = !kill && doubts.length === 0;
  return { sizes, kill, stop: await told('a stop', tryStop(up, PLAN)), isAlone, doubts };
}

const summaryOf = (/** @type {Trial[]} */ trials) => ({
  lost: lostIn(trials),
  never: trials.filter(({ tookMs }) => tookMs === undefined).length,
});

async function reloads(runner, peer, /** @type {Amounts} */ amounts) {
  const { workers, reloads: times, reloadRequests: requests } = amounts;
  if (!peer.reload) return {};
  return having(runner, peer, workers, async (up, order) => {
    const amount = { times, requests, budgetMs: RELOADS_MS };
    const { each = [], ...trial } = await tryReload(up, PLAN, peer.reload(order), amount);
    const { sent, lost, failed } = trial;
    if (failed) throw new Error(`The command failed: ${failed.printed.trim().split('\n').at(-1)}`);
    const eachMs = each.flatMap(({ tookMs }) => tookMs ?? []);
    return {
      reload: {
        ...{ eachMs: eachMs.length > 0 ? meanInterval(eachMs) : undefined },
        ...{ lost: { sent, lost, times: eachMs.length }, wanted: times },
      },
    };
  });
}

/** @param {{ tookMs?: number }[]} trials @returns {Interval | undefined} */
function timesOf(trials) {
  const times = trials.flatMap(({ tookMs }) => tookMs ?? []);
  return times.length > 0 ? meanInterval(times) : undefined;
}

/** @param {{ sent: Both, lost: Both }[]} trials @returns {Lost} */
function lostIn(trials) {
  const sum = (/** @type {'sent' | 'lost'} */ what) => ({
    fresh: trials.reduce((total, one) => total + one[what].fresh, 0),
    kept: trials.reduce((total, one) => total + one[what].kept, 0),
  });
  return { sent: sum('sent'), lost: sum('lost'), times: trials.length };
}

/** The memory of every process of the program, including those that aren't Node.js. */
function memoryOfAll(/** @type {import('../../lib/observe/program.js').Program} */ program) {
  const all = program.survivors().flatMap((pid) => memoryOf(pid) ?? []);
  const sum = (/** @type {'pssBytes' | 'ussBytes'} */ what) =>
    all.every((one) => one[what] !== undefined)
      ? all.reduce((total, one) => total + Number(one[what]), 0)
      : undefined;
  return { pssBytes: sum('pssBytes'), ussBytes: sum('ussBytes'), processes: all.length };
}
