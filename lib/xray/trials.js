/**
 * Trials under traffic: a kill and a stop; reload.js has the third. Half of the clients open a connection for each request.
 * @typedef {import('./launch.js').Up} Up @typedef {import('../observe/timeline.js').Event} Event
 * @typedef {import('../measure/traffic.js').Sent} Sent
 * @typedef {{ fresh: number, kept: number }} Both  requests on fresh connections, and on kept ones
 * @typedef {{ pid: number, name: string }} Named  a process
 *
 * @typedef {object} Trial
 * @property {'kill' | 'stop' | 'reload'} kind
 * @property {number} [pid]  to which the signal went @property {string} [signal]
 * @property {string} [command]  that was run instead @property {{ code: number | null, printed: string }} [failed]  set if it failed
 * @property {number} atMs @property {number} zeroMs  when the program was started
 * @property {Both} sent @property {Both} lost @property {number} begun  of those lost: by a process
 * @property {number} repeated  reset on an idle kept connection and sent again, as browsers do
 * @property {Record<string, number>} errors  of those lost, by kind
 * @property {number} [tookMs]  until all was as before, or the program had exited; missing if never
 * @property {number} [waitedMs]  for that
 * @property {import('../observe/program.js').Fate} [fate]  how the program's first process exited
 * @property {number} [servers]  how many processes served before @property {number} [replaced]  how many of them have gone
 * @property {{ atMs: number, tookMs?: number, sent: Both, lost: Both }[]} [each]  of several reloads; a request
 *   belongs to the last that began before its answer
 * @property {Named[]} left  alive after the program's first process
 * @property {Named[]} [remaining]  served before, and still alive after a reload
 * @property {boolean} [isFull]  beside those, as many new ones served
 * @property {(Named & { error: string })[]} [crashes]  after SIGTERM
 * @property {Named & { first: string }} [unreached]  served, and never got the signal
 * @property {StreamCounts} [streams]  open when it happened
 * @typedef {{ open: number, ended: number, broken: number, held: number, holders: Named[] }} StreamCounts  ended: properly, by the server;
 *   held: until our clients left; holders: the processes that served those
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../observe/clock.js';
import { isLiving } from '../observe/processes.js';
import { during, namedAmong, primaryOf, serving } from './under-traffic.js';

const AFTERWARDS_MS = 500;
const TURNS = 50; // of an event loop, each of 20 ms at least
const FULL_WITHIN_MS = 10_000;
const STOPPED_WITHIN_MS = 10_000; // then Docker and its like send SIGKILL
const GONE_WITHIN_MS = 2_000;

/**
 * Kills a serving process by SIGKILL, and waits until as many serve as before. @param {Up} up @param {import('./load.js').Plan} plan
 * @returns {Promise<Trial | undefined>}  undefined: there is only one process, which nothing could replace
 */
export async function tryKill(up, plan) {
  const servers = serving(up);
  const pid = servers.find((one) => one !== up.program.pid);
  if (pid === undefined) return undefined;
  const isWorker = up.program.events.some((one) => one.what === 'fork' && one.workerPid === pid);
  if (servers.length < 2 && !isWorker) return undefined;
  return during(up, plan, { kind: 'kill', pid, signal: 'SIGKILL' }, async (atMs) => {
    up.program.kill(pid, 'SIGKILL');
    let isFull = false;
    const look = () => {
      const now = serving(up); // once: it may be reaped between two looks
      isFull = now.length >= servers.length && !now.includes(pid);
      return isFull || isOver(up.program, pid, atMs);
    };
    await up.program.until(look, FULL_WITHIN_MS);
    const waitedMs = nowMs() - atMs;
    const tookMs = isFull ? waitedMs : undefined;
    await sleep(AFTERWARDS_MS);
    return { tookMs, waitedMs, servers: servers.length, fate: up.program.fate };
  });
}

/**
 * Nothing will replace it: its parent has received the exit, has turned its event loop many times since, waits for no timer,
 * and has started nothing since the kill; some start a replacement before they receive the exit.
 */
function isOver(/** @type {import('./launch.js').Program} */ { events }, pid, killedMs) {
  const heard = events.findLast((one) => one.what === 'worker-exit' && one.workerPid === pid);
  if (!heard) return false;
  const since = events.filter((one) => one.pid === heard.pid && one.t > killedMs);
  const beats = since.filter(({ what, t }) => what === 'beat' && t > heard.t);
  const isWaiting = beats.some(({ timers }) => timers > 0);
  const hasStarted = since.some(({ what }) => what === 'child');
  return beats.length >= TURNS && !isWaiting && !hasStarted;
}

/** Sends SIGTERM to the program's first process, as a process manager does. @param {Up} up @param {import('./load.js').Plan} plan */
export async function tryStop(up, plan) {
  const { program } = up;
  const how = /** @type {const} */ ({ kind: 'stop', pid: Number(program.pid), signal: 'SIGTERM' });
  const target = primaryOf(up);
  return during(up, plan, how, async (atMs) => {
    program.kill(how.pid, how.signal);
    const fate = await program.ended(STOPPED_WITHIN_MS);
    const tookMs = fate && nowMs() - atMs;
    const pids = fate ? await program.survivorsAfter(GONE_WITHIN_MS) : [];
    const { events } = program;
    const crashes = events.filter(({ what, t }) => what === 'crash' && t > atMs);
    return {
      ...{ fate, tookMs, left: pids.map((one) => namedAmong(events, one)) },
      crashes: crashes.map(({ pid, error }) => ({
        ...namedAmong(events, pid),
        error: error.split('\n')[0],
      })),
      unreached: unreachedIn(events, { first: how.pid, target, atMs }),
    };
  });
}

/** With the signal it would have exited, or called its handler. */
function unreachedIn(/** @type {Event[]} */ events, { first, target, atMs }) {
  const isHeard = events.some(
    ({ what, pid, t }) => what === 'signal' && pid === target && t > atMs,
  );
  if (target === undefined || target === first || isHeard || !isLiving(target)) return undefined;
  return { ...namedAmong(events, target), first: namedAmong(events, first).name };
}
