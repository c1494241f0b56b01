/**
 * What was seen of a server, put in order. Pure: events, answers and samples in, facts out.
 *
 * @typedef {import('../../observe/timeline.js').Event} Event
 * @typedef {import('./silences.js').Silence} Silence
 *
 * @typedef {object} Seen  one process; times as in the timeline
 * @property {number} pid
 * @property {number | undefined} ppid
 * @property {string} name  of its program
 * @property {boolean} isNode  the probe sees into it
 * @property {'primary' | 'worker' | 'process'} role
 * @property {number} [worker]  the cluster's id
 * @property {number} [given]  to a worker: the same for the same environment and arguments
 * @property {number} threads  worker threads that it started
 * @property {number} startMs
 * @property {number} [endMs]
 * @property {number | null} [code]
 * @property {string | null} [signal]
 * @property {string} [crash]  the error that ended it, its first line
 * @property {number} [listenedMs]  since when it has listened on the port
 * @property {number} [most]  its server's maxConnections
 * @property {string} [handle]  as the probe has it: 'kernel', 'handed', 'received'
 * @property {number} requests  that it executed under load
 * @property {number} unanswered  of them: begun while a client still waited, and not finished
 * @property {number} failed  of them: answered with an error of the server
 * @property {number} [busy]  the share of the time in which its event loop worked, while requests were sent
 * @property {number} [timers]  of its own that kept it alive, at every look
 * @property {number} [lateMs]  how late the event loop came to a timer: 99 of 100 times sooner
 * @property {{ rssBytes: number, ussBytes?: number, pssBytes?: number }} [memory]  the most under load
 *
 * @typedef {object} Facts
 * @property {number} zeroMs  when its first Node.js process began: times are told from there
 * @property {number} port
 * @property {string | undefined} address
 * @property {number[]} otherPorts
 * @property {number[]} holders  the processes that hold a listening socket there, whatever they are (Linux; else none)
 * @property {'round robin' | 'none' | undefined} policy  of the cluster that has the port
 * @property {Seen[]} processes  in order of their start
 * @property {Silence[]} silences  under load
 * @property {import('./hangs.js').Hang[]} hangs  at its end
 * @property {import('../stacks.js').Stacks} [stacks]  where silences were looked for once more
 * @property {{ visitors: number, unserved: number } | undefined} closed  of a closed loop: its clients, and those that never got an answer
 * @property {number} streams  answers without an end of their own, which our clients have ended
 * @property {number} cores
 * @property {{ fromMs: number, toMs: number, lastDueMs: number, isOpen: boolean, isFresh: boolean }} load
 * @property {import('../../measure/report.js').Report} report  of the load, latency from the due time
 * @property {number} seen  requests under load that processes with the probe have begun
 * @property {number} counted  of them, those that were counted and not recorded one by one: there was a flood
 * @property {import('./growth.js').Growth[]} growths  with each request, under load
 * @property {import('../spread.js').Spread} [spread]  where one of several alike executed nearly all
 * @property {number} starved  the share of the load's time in which the hungriest process waited for a core that other
 *   programs had
 */
import { reportOf } from '../../measure/report.js';
import { groupBy, processesOf } from '../../observe/timeline.js';
import { growthsOf } from './growth.js';
import { hangsOf } from './hangs.js';
import { seenOf, unseen } from './seen.js';
import { silencesOf } from './silences.js';

const ROUND_ROBIN = 2; // cluster.SCHED_RR

/**
 * @param {object} seen
 * @param {Event[]} seen.events  of the whole run
 * @param {number} seen.zeroMs
 * @param {number} seen.port
 * @param {number[]} seen.otherPorts
 * @param {number[]} seen.holders
 * @param {number} seen.cores
 * @param {boolean} seen.isOpen  the load was an open loop
 * @param {import('../load.js').Loaded} seen.loaded
 * @param {{ pid: number, ppid: number, name: string }[]} seen.family  alive at the end of the load
 * @returns {Facts}
 */
export function factsOf({ events, zeroMs, loaded, family, isOpen, ...about }) {
  const { port } = about;
  const { window, isFresh, times, memory, descriptors, writes, othersCores } = loaded;
  const dues = window.answers.map(({ dueMs }) => dueMs);
  const [fromMs, toMs] = [window.startMs, window.endMs];
  const load = { fromMs, toMs, lastDueMs: Math.max(...dues), isOpen, isFresh };
  const alive = new Set(family.map(({ pid }) => pid));
  const during = events.filter(({ t }) => t >= fromMs); // a flood is counted a beat later
  const known = processesOf(events);
  const stillThere = new Set(known.map(({ pid }) => pid).filter((pid) => alive.has(pid)));
  const silences = silencesOf(events, { fromMs, toMs, times, alive: stillThere });
  const hangs = hangsOf(events, { silences, times, writes, toMs });
  const node = known.map((one) =>
    seenOf(one, { events, during, port, memory, alive, load, hangs }),
  );
  const others = family.filter(({ pid }) => !known.some((one) => one.pid === pid));
  return {
    ...{ zeroMs, ...about, load, silences, hangs },
    address: events.find((one) => one.what === 'listening' && one.port === port)?.address,
    policy: policyOf(events, port),
    processes: [...others.map((one) => unseen(one, zeroMs)), ...node],
    report: reportOf(window),
    closed: isOpen ? undefined : visitorsOf(window.answers),
    streams: window.answers.filter(({ isStream }) => isStream).length,
    growths: growthsOf({
      ...{ events: during, fromMs, toMs, descriptors },
      requestsOf: (pid) => node.find((one) => one.pid === pid)?.requests ?? 0,
    }),
    seen: node.reduce((sum, { requests }) => sum + requests, 0),
    counted: during.reduce((sum, { more = 0 }) => sum + more, 0),
    starved: starvedShare(times, { fromMs, toMs, othersCores }),
  };
}

/** Clients that sent one request after the other. */
function visitorsOf(/** @type {import('../../measure/open-loop.js').Sent[]} */ answers) {
  const all = groupBy(answers, ({ visitor }) => visitor);
  const isServed = (/** @type {typeof answers} */ own) =>
    own.some(({ status }) => status !== undefined);
  return { visitors: all.size, unserved: [...all.values()].filter((own) => !isServed(own)).length };
}

/** Of the primary whose workers listen there: the policy at its last fork. */
function policyOf(/** @type {Event[]} */ events, port) {
  const told = events.find(({ what, ...one }) => what === 'worker-listening' && one.port === port);
  const fork = events.findLast(({ what, pid }) => what === 'fork' && pid === told?.pid);
  if (!fork) return undefined;
  return fork.policy === ROUND_ROBIN ? 'round robin' : 'none';
}

/** What its own processes take from one another is not counted: it cannot have waited for others for longer than they ran. */
function starvedShare(
  /** @type {import('./silences.js').Times} */ times,
  { fromMs, toMs, othersCores },
) {
  const shares = [...times.values()].map((samples) => {
    const within = samples.filter(({ t }) => t >= fromMs && t <= toMs);
    const [first, last] = [within[0], within.at(-1)];
    if (!last || last.t === first.t) return 0;
    return (last.queuedMs - first.queuedMs) / (last.t - first.t);
  });
  const most = Math.max(0, ...shares);
  return Number.isNaN(othersCores) ? most : Math.min(most, Math.max(0, othersCores));
}

/**
 * Those that listen on the port for clients: not a primary that deals to its workers.
 * @param {Facts} facts
 * @returns {Seen[]}
 */
export function serversOf({ processes }) {
  return forClients(processes.filter(({ listenedMs }) => listenedMs !== undefined));
}

/**
 * Of all that listen on a port, those that do it for clients: not the process that opened it for others.
 * @template {{ handle?: any, [more: string]: any }} T
 * @param {T[]} listening
 * @returns {T[]}
 */
export function forClients(listening) {
  const of = (/** @type {string} */ kind) => listening.filter(({ handle }) => handle === kind);
  return [of('handed'), of('received'), listening].find((some) => some.length > 0) ?? [];
}

/**
 * The workers that a primary has forked, by primary.
 * @param {Facts} facts
 * @returns {Map<number, Seen[]>}
 */
export const workersOf = ({ processes }) =>
  groupBy(
    processes.filter(({ role }) => role === 'worker'),
    ({ ppid }) => ppid,
  );
