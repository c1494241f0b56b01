/**
 * What a server does when something happens to it under traffic: a worker is killed, it is told to stop, or to reload.
 * Half of the clients open a connection for each request, half keep theirs; every answer is joined to the server's record.
 *
 * @typedef {import('./launch.js').Up} Up
 * @typedef {import('../observe/timeline.js').Event} Event
 * @typedef {import('../measure/traffic.js').Sent} Sent
 *
 * @typedef {{ fresh: number, kept: number }} Both  requests on fresh connections, and on kept ones
 *
 * @typedef {object} Trial
 * @property {'kill' | 'stop' | 'reload'} kind
 * @property {number} [pid]  to which the signal went
 * @property {string} [signal]
 * @property {string} [command]  that was run instead
 * @property {{ code: number | null, printed: string }} [failed]  how that command ended, where it failed
 * @property {number} atMs
 * @property {number} zeroMs  when the program was started
 * @property {Both} sent
 * @property {Both} lost
 * @property {number} underWay  of those lost: a process had begun them
 * @property {number} repeated  reset on an idle kept connection, and sent once more by our client, as browsers do
 * @property {Record<string, number>} errors  of those lost, by kind
 * @property {number} [tookMs]  until all was as before, or the program had ended; missing when it never was
 * @property {number} [waitedMs]  for it to be as before
 * @property {import('../observe/program.js').Fate} [fate]  how the program's first process ended
 * @property {number} [servers]  how many processes served before
 * @property {number} [replaced]  how many of them have gone
 * @property {{ atMs: number, tookMs?: number, sent: Both, lost: Both }[]} [each]  of several reloads; a request belongs to the
 *   one that had begun last when it was answered or given up
 * @property {{ pid: number, name: string }[]} left  what still ran after the program's first process had ended
 * @property {{ pid: number, name: string }[]} [remaining]  those that served before and were still there after a reload
 * @property {boolean} [isFull]  beside them, as many others served
 * @property {{ pid: number, name: string, error: string }[]} [crashes]  after it was told to stop
 * @property {{ pid: number, name: string, first: string }} [unreached]  it served, and the signal to the first process never came
 *   to it
 * @property {StreamCounts} [streams]  answers without an end of their own that were open when it happened
 *
 * @typedef {object} StreamCounts
 * @property {number} open
 * @property {number} ended  by the server, as HTTP has it
 * @property {number} broken  off
 * @property {number} held  until our clients left, at the end
 * @property {{ pid: number, name: string }[]} holders  that served those
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
 * Kills a process that serves, by SIGKILL, and waits until as many serve as before.
 * @param {Up} up
 * @param {import('./load.js').Plan} plan
 * @returns {Promise<Trial | undefined>}  undefined when one process is all there is: none could replace it
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
 * Nothing more comes: the process that had forked it has heard of its end, has turned its event loop many times since, waits for
 * no timer, and has started nothing since it was killed; some do that before they hear of the end.
 */
function isOver(/** @type {import('./launch.js').Program} */ { events }, pid, killedMs) {
  const told = events.findLast((one) => one.what === 'worker-exit' && one.workerPid === pid);
  if (!told) return false;
  const since = events.filter((one) => one.pid === told.pid && one.t > killedMs);
  const beats = since.filter(({ what, t }) => what === 'beat' && t > told.t);
  const isWaiting = beats.some(({ timers }) => timers > 0);
  const hasStarted = since.some(({ what }) => what === 'child');
  return beats.length >= TURNS && !isWaiting && !hasStarted;
}

/**
 * Sends SIGTERM to the program's first process, as a process manager does.
 * @param {Up} up
 * @param {import('./load.js').Plan} plan
 * @returns {Promise<Trial>}
 */
export async function tryStop(up, plan) {
  const { program } = up;
  const how = /** @type {const} */ ({ kind: 'stop', pid: Number(program.pid), signal: 'SIGTERM' });
  const target = primaryOf(up);
  return during(up, plan, how, async (atMs) => {
    program.kill(how.pid, how.signal);
    const fate = await program.ended(STOPPED_WITHIN_MS);
    const tookMs = fate && nowMs() - atMs;
    const pids = fate ? await program.gone(GONE_WITHIN_MS) : [];
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

/** Had it got the signal, it would have ended, or its handler would have been called. */
function unreachedIn(/** @type {Event[]} */ events, { first, target, atMs }) {
  const isHeard = events.some(
    ({ what, pid, t }) => what === 'signal' && pid === target && t > atMs,
  );
  if (target === undefined || target === first || isHeard || !isLiving(target)) return undefined;
  return { ...namedAmong(events, target), first: namedAmong(events, first).name };
}
