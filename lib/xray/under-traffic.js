/** Shared by all trials: traffic on fresh and on kept connections, and its results. */
import { isBegun, lostOf, startTraffic } from '../measure/traffic.js';
import { createStreams } from '../observe/client.js';
import { nowMs } from '../observe/clock.js';
import { hasPid, titleOf } from '../observe/processes.js';
import { groupBy, requestsOf } from '../observe/timeline.js';
import { ignoreStarved } from '../observe/cpu-time.js';
import { forClients } from './report/facts.js';
import { shortName } from './report/words.js';

/** @import { Up } from './launch.js' @import { Trial } from './trials.js' @import { Sent } from '../measure/traffic.js' */
/** @import { Event } from '../observe/timeline.js' */

const KEPT_CONNECTIONS = 4;
const MOST_PER_SECOND = 200; // this process sends them itself
const WARM_REQUESTS = 20;
const MOST_STREAMS = 20;

/** @param {import('./load.js').Plan} plan @param {import('../observe/client.js').Streams} streams */
function kindsOf({ rate = MOST_PER_SECOND, timeoutMs, ...plan }, streams) {
  const { path, method, headers, body } = plan;
  const perSecond = Math.max(1, Math.min(rate, MOST_PER_SECOND) / 2);
  const what = { path, method, headers, body, timeoutMs, perSecond, streams, isBodyKept: false };
  return [what, { ...what, connections: KEPT_CONNECTIONS }];
}

/** The parent of the serving processes, or the only serving process. @param {Up} up @returns {number | undefined}  its pid */
export function primaryOf(up) {
  const servers = serving(up);
  const { events } = up.program;
  const fork = events.find(({ what, workerPid }) => what === 'fork' && servers.includes(workerPid));
  if (fork || servers.length < 2) return fork?.pid ?? servers[0];
  return events.find(({ what, childPid }) => what === 'child' && servers.includes(childPid))?.pid;
}

/**
 * Sends traffic before, during and after something happens. @returns {Promise<Trial>}
 * @param {Up} up @param {import('./load.js').Plan} plan @param {Pick<Trial, 'kind' | 'pid' | 'signal' | 'command'>} about
 * @param {(atMs: number, traffic: { count: () => number, streams: import('../observe/client.js').Streams }) => Promise<any>} watch
 *   makes it happen, and returns fields of the trial
 */
export async function during({ program }, plan, about, watch) {
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
    begun: lost.filter(({ first }) => isBegun(first, requests)).length,
    repeated: sent.filter((one) => one.isRepeated && !lost.includes(one)).length,
    errors: Object.fromEntries(
      [...groupBy(lost, howLost)].map(([error, all]) => [error, all.length]),
    ),
  };
}

/** Undefined if no event stream was open at that moment. */
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

/** Assigns requests to the reload during which they ended; the first also gets all earlier ones. */
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

/** A stopping server may refuse clients; it loses only requests that it had begun. */
const begunOnly = (/** @type {Sent[]} */ sent, requests) =>
  sent.filter(({ first }) => first.error && isBegun(first, requests));

const split = (/** @type {Sent[]} */ sent) => ({
  fresh: sent.filter(({ isKept }) => !isKept).length,
  kept: sent.filter(({ isKept }) => isKept).length,
});

/** Pids of the living processes that listen for clients: on the port, or behind a server without the probe. @param {Up} up */
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

/** A process's name from the events, or else from the system. @param {Event[]} events @param {number} pid */
export function namedAmong(events, pid) {
  const start = events.find(({ what, tid, ...one }) => what === 'start' && one.pid === pid && !tid);
  if (!start) return { pid, name: titleOf(pid) };
  const isWorker = start.role === 'worker';
  return { pid, name: isWorker ? `worker ${start.worker}` : shortName(start.file) };
}
