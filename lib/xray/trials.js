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
import { isBegun, lostOf, startTraffic } from '../measure/traffic.js';
import { nowMs } from '../observe/clock.js';
import { createStreams } from '../observe/client.js';
import { hasPid, isLiving, titleOf } from '../observe/processes.js';
import { groupBy, haveTurned, requestsOf, turnsOf } from '../observe/timeline.js';
import { runCommand } from './command.js';
import { forClients } from './facts.js';
import { ignoreStarved } from '../observe/turn.js';
import { shortName } from './words.js';

const KEPT_CONNECTIONS = 4;
const MOST_PER_SECOND = 200; // this process sends them itself
const WARM_REQUESTS = 20;
const AFTERWARDS_MS = 500;
const TURNS = 50; // of an event loop, each of 20 ms at least
const FULL_WITHIN_MS = 10_000;
const STOPPED_WITHIN_MS = 10_000; // then Docker and its like send SIGKILL
const GONE_WITHIN_MS = 2_000;
const BEGINS_WITHIN_MS = 5_000;
const RELOADED_WITHIN_MS = 30_000;
const HELD_FOR_MS = 10_000; // by answers without an end
const MOST_STREAMS = 20;
const COMMAND_WITHIN_MS = 60_000;
const TURNS_BETWEEN = 5; // of whoever reloads: it may not yet have heard of the last end itself

/** @returns {import('../measure/traffic.js').Kind[]} */
function kindsOf(
  /** @type {import('./load.js').Plan} */ { rate = MOST_PER_SECOND, timeoutMs, ...plan },
  /** @type {import('../observe/client.js').Streams} */ streams,
) {
  const { path, method, headers, body } = plan;
  const perSecond = Math.max(1, Math.min(rate, MOST_PER_SECOND) / 2);
  const what = { path, method, headers, body, timeoutMs, perSecond, streams, isBodyKept: false };
  return [what, { ...what, connections: KEPT_CONNECTIONS }];
}

/**
 * Kills a process that serves, by SIGKILL, and waits until as many serve as before.
 * @param {Up} up
 * @param {import('./load.js').Plan} plan
 * @returns {Promise<Trial | undefined>}  undefined when one process is all there is: nobody could replace it
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
 * Nobody comes any more: whoever had forked it has heard of its end, has turned its event loop many times since, waits for
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

/**
 * Has it reload, by a signal to whoever started those that serve or to the one process that serves, or by a command; and waits until all that
 * served before have gone and others serve.
 * @param {Up} up
 * @param {import('./load.js').Plan} plan
 * @param {{ signal: NodeJS.Signals } | { command: string, cwd: string, env: NodeJS.ProcessEnv }} how
 * @param {{ times?: number, requests?: number, budgetMs?: number }} [amount]  times: one after the other, under the same
 *   traffic, and then more until so many requests were sent; budgetMs: none begins after that
 * @returns {Promise<Trial>}
 */
export async function tryReload(up, plan, how, amount = {}) {
  const { times = 1, requests = 0, budgetMs = Infinity } = amount;
  const isCommand = 'command' in how;
  const about = isCommand
    ? { command: how.command }
    : { signal: how.signal, pid: primaryOf(up) ?? Number(up.program.pid) };
  return during(
    up,
    plan,
    { kind: 'reload', ...about },
    async (atMs, { count: countSent, streams }) => {
      const all = [await reloadOnce(up, how, streams)];
      const isEnough = () => all.length >= times && countSent() >= requests;
      const canGoOn = () => all.at(-1)?.tookMs !== undefined && nowMs() < atMs + budgetMs;
      while (!isEnough() && canGoOn()) all.push(await reloadOnce(up, how, streams));
      if (!up.program.fate) await sleep(AFTERWARDS_MS);
      const each = all.map((one) => ({ atMs: one.atMs, tookMs: one.tookMs }));
      return { ...all.at(-1), atMs, ...(times > 1 && { each }), fate: up.program.fate };
    },
  );
}

async function reloadOnce(
  /** @type {Up} */ up,
  how,
  /** @type {import('../observe/client.js').Streams} */ streams,
) {
  const { program } = up;
  const servers = serving(up);
  const isCommand = 'command' in how;
  const target = primaryOf(up) ?? Number(program.pid);
  const atMs = nowMs();
  const command = isCommand ? runCommand(how) : undefined;
  if (!isCommand) program.kill(target, how.signal);
  const remain = () => serving(up).filter((one) => servers.includes(one));
  const isNews = ({ t, what }) =>
    t > atMs && ['fork', 'exit', 'child', 'worker-exit'].includes(what);
  const hasNews = () => program.events.some(isNews);
  if (command) await program.until(() => hasNews() || command.isOver(), COMMAND_WITHIN_MS);
  const hasFailed = command?.isOver() && (await command.ended);
  if (!hasFailed) await program.until(hasNews, BEGINS_WITHIN_MS);
  const isFull = () => serving(up).length - remain().length >= servers.length;
  const isDone = () => remain().length === 0 && isFull();
  const withinMs = streams.isFull() ? HELD_FOR_MS : RELOADED_WITHIN_MS;
  const done = hasNews() && (await program.until(isDone, withinMs));
  const tookMs = done ? nowMs() - atMs : undefined;
  const failed = await command?.ended;
  await atEase(program, target);
  return {
    ...{ atMs, tookMs, servers: servers.length, replaced: servers.length - remain().length },
    ...{ isFull: isFull(), remaining: remain().map((pid) => namedAmong(program.events, pid)) },
    ...(failed && { failed }),
  };
}

/** The next signal would come too early for one that has yet to hear that the last of its old workers has gone. */
async function atEase(/** @type {import('./launch.js').Program} */ program, pid) {
  const sinceMs = nowMs();
  if (turnsOf(program.events, pid) === 0) return; // the probe does not look into it
  const hasTurned = () => haveTurned(program.events, [pid], TURNS_BETWEEN, sinceMs);
  await program.until(() => !hasPid(pid) || hasTurned(), BEGINS_WITHIN_MS).catch(ignoreStarved);
}

/** Who started those that serve, or else the one that does. @returns {number | undefined} */
function primaryOf(/** @type {Up} */ up) {
  const servers = serving(up);
  const { events } = up.program;
  const fork = events.find(({ what, workerPid }) => what === 'fork' && servers.includes(workerPid));
  if (fork || servers.length < 2) return fork?.pid ?? servers[0];
  return events.find(({ what, childPid }) => what === 'child' && servers.includes(childPid))?.pid;
}

/** Traffic before, while and after something happens. @returns {Promise<Trial>} */
async function during({ program }, plan, about, watch) {
  const streams = createStreams(MOST_STREAMS);
  const traffic = startTraffic(program.url, kindsOf(plan, streams));
  let atMs, seen;
  try {
    await program.until(() => traffic.count() >= WARM_REQUESTS || streams.isFull());
    atMs = nowMs();
    seen = await watch(atMs, { count: traffic.count, streams });
  } finally {
    traffic.close();
  }
  const sent = await traffic.stop();
  await program.drained().catch(ignoreStarved);
  const requests = requestsOf(program.events);
  const ordinary = sent.filter(({ first, answer }) => !first.isStream && !answer.isStream);
  const lost =
    about.kind === 'stop' ? begunOnly(ordinary, requests) : lostOf(ordinary, requests, isServed);
  return {
    ...{ ...about, atMs, zeroMs: program.sinceMs, left: [], ...seen },
    ...(seen.each && { each: shareOut(seen.each, sent, lost) }),
    sent: split(sent),
    lost: split(lost),
    streams: streamsIn(sent, requests, { events: program.events, atMs }),
    underWay: lost.filter(({ first }) => isBegun(first, requests)).length,
    repeated: sent.filter((one) => one.isRepeated && !lost.includes(one)).length,
    errors: Object.fromEntries(
      [...groupBy(lost, howLost)].map(([error, all]) => [error, all.length]),
    ),
  };
}

/** What became of the answers without an end that were open at that moment. @returns {StreamCounts | undefined} */
function streamsIn(/** @type {Sent[]} */ sent, requests, { events, atMs }) {
  const open = sent
    .map(({ answer }) => answer)
    .filter(({ isStream, sentMs, doneMs }) => isStream && sentMs < atMs && doneMs > atMs);
  if (open.length === 0) return undefined;
  const held = open.filter(({ hasLeft }) => hasLeft);
  const isOf = (/** @type {import('../observe/client.js').Answer} */ { client, sentMs, doneMs }) =>
    requests.find((one) => one.client === client && one.startMs >= sentMs && one.startMs <= doneMs);
  const pids = new Set(held.flatMap((one) => isOf(one)?.pid ?? []));
  return {
    ...{ open: open.length, held: held.length },
    broken: open.filter(({ error }) => error).length,
    ended: open.filter(({ error, hasLeft }) => !error && !hasLeft).length,
    holders: [...pids].map((pid) => namedAmong(events, pid)),
  };
}

/** To each of several reloads what ended in its time: the first has what came before it, too. */
function shareOut(/** @type {{ atMs: number }[]} */ each, sent, lost) {
  const ofWhich = ({ first }) =>
    Math.max(
      0,
      each.findLastIndex(({ atMs }) => atMs <= first.doneMs),
    );
  return each.map((one, index) => {
    const own = (/** @type {Sent[]} */ all) => split(all.filter((any) => ofWhich(any) === index));
    return { ...one, sent: own(sent), lost: own(lost) };
  });
}

const howLost = (/** @type {Sent} */ { first, answer }) =>
  first.error ?? answer.error ?? `status ${answer.status}`;

const isServed = ({ status = 0 }) => status > 0 && status < 500;

/** Whoever comes to a server that stops is refused; lost is what it had begun. */
const begunOnly = (/** @type {Sent[]} */ sent, requests) =>
  sent.filter(({ first }) => first.error && isBegun(first, requests));

const split = (/** @type {Sent[]} */ sent) => ({
  fresh: sent.filter(({ isKept }) => !isKept).length,
  kept: sent.filter(({ isKept }) => isKept).length,
});

/**
 * The processes that listen on the port for clients and have not ended. Where a server without the probe has the port, those
 * behind it.
 * @param {Up} up
 * @returns {number[]}
 */
export function serving({ program, port, otherPorts }) {
  const listening = program.events.filter(({ what }) => what === 'listening');
  const there = listening.filter((one) => one.port === port);
  const here = there.length > 0 ? there : listening.filter((one) => otherPorts.includes(one.port));
  const ended = new Set(program.events.flatMap(endedIn));
  const pids = new Set(forClients(here).map(({ pid }) => pid));
  return [...pids].filter((pid) => !ended.has(pid) && hasPid(pid));
}

const endedIn = (/** @type {Event} */ { what, pid, tid, workerPid }) =>
  what === 'exit' && tid === undefined ? [pid] : what === 'worker-exit' ? [workerPid] : [];

/**
 * What a process is called that only events tell of, or the system.
 * @param {import('../observe/timeline.js').Event[]} events
 * @param {number} pid
 * @returns {{ pid: number, name: string }}
 */
function namedAmong(events, pid) {
  const start = events.find(({ what, tid, ...one }) => what === 'start' && one.pid === pid && !tid);
  if (!start) return { pid, name: titleOf(pid) };
  const isWorker = start.role === 'worker';
  return { pid, name: isWorker ? `worker ${start.worker}` : shortName(start.file) };
}
