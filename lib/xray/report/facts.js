/**
 * The facts about a server under X-ray. Pure: events, answers and samples in, facts out.
 * @typedef {import('../../observe/timeline.js').Event} Event @typedef {import('./silences.js').Silence} Silence
 * @typedef {object} Seen  one process; times as in the timeline
 * @property {number} pid @property {number | undefined} ppid @property {string} name  of its program
 * @property {boolean} isNode  only then does the probe see into it
 * @property {'primary' | 'worker' | 'process'} role @property {number} [worker]  the cluster's id
 * @property {number} [given]  to a worker: equal for equal environments and arguments
 * @property {number} threads  worker threads that it started
 * @property {number} startMs @property {number} [endMs] @property {number | null} [code] @property {string | null} [signal]
 * @property {string} [crash]  the first line of the error that crashed it
 * @property {number} [listenedMs]  when it began to listen on the port @property {number} [most]  its server's maxConnections
 * @property {string} [handle]  as the probe has it: 'kernel', 'handed', 'received'
 * @property {number} requests  that it executed under load
 * @property {number} unanswered  of these: begun while the client still waited, and not finished
 * @property {number} failed  of these: answered with a status of 500 or above
 * @property {number} [busy]  the share of the load's time in which its event loop worked
 * @property {number} [timers]  its own, active at every look
 * @property {number} [lateMs]  99 of 100 timers fired sooner than this after they were due
 * @property {{ rssBytes: number, ussBytes?: number, pssBytes?: number }} [memory]  its peak under load
 *
 * @typedef {object} Facts
 * @property {number} zeroMs  when its first Node.js process started
 * @property {number} port @property {string | undefined} address @property {number[]} otherPorts
 * @property {number[]} holders  processes of any kind with a listening socket on the port (empty outside Linux)
 * @property {'round robin' | 'none' | undefined} policy  of the cluster on the port
 * @property {Seen[]} processes  in order of their start
 * @property {Silence[]} silences  under load @property {import('./hangs.js').Hang[]} hangs  at its end
 * @property {import('../stacks.js').Stacks} [stacks]  of a second start, made if event loops were silent
 * @property {{ visitors: number, unserved: number } | undefined} closed  clients of a closed loop; unserved: never got an answer
 * @property {number} streams  endless answers, which our clients closed @property {number} cores
 * @property {{ fromMs: number, toMs: number, lastDueMs: number, isOpen: boolean, isFresh: boolean }} load
 * @property {import('../../measure/load-report.js').Report} report  of the load, latency from the due time
 * @property {number} seen  requests under load that the probe saw begin
 * @property {number} counted  of these: only counted, in a flood
 * @property {import('./growth.js').Growth[]} growths  under load
 * @property {import('../spread.js').Spread} [spread]  set if one of several like processes executed nearly all
 * @property {number} starved  the largest share of the load's time for which a process waited for a core that other programs had
 */
import { reportOf } from '../../measure/load-report.js';
import { groupBy, processesOf } from '../../observe/timeline.js';
import { growthsOf } from './growth.js';
import { hangsOf } from './hangs.js';
import { seenOf, unseen } from './seen.js';
import { silencesOf, spentIn } from './silences.js';

const ROUND_ROBIN = 2; // cluster.SCHED_RR

/**
 * @param {Pick<Facts, 'zeroMs' | 'port' | 'otherPorts' | 'holders' | 'cores'> & { events: Event[], isOpen: boolean,
 *   loaded: import('../load.js').Loaded, family: { pid: number, ppid: number, name: string }[] }} seen  events: of the whole
 *   run; isOpen: the load was an open loop; family: the processes that were alive at its end @returns {Facts}
 */
export function factsOf({ events, zeroMs, loaded, family, isOpen, ...about }) {
  const { port } = about;
  const { window, isFresh, stretches, memory, descriptors, writes, othersCores } = loaded;
  const dues = window.answers.map(({ dueMs }) => dueMs);
  const [fromMs, toMs] = [window.startMs, window.endMs];
  const load = { fromMs, toMs, lastDueMs: Math.max(...dues), isOpen, isFresh };
  const alive = new Set(family.map(({ pid }) => pid));
  const during = events.filter(({ t }) => t >= fromMs); // a flood is counted a beat later
  const known = processesOf(events);
  const stillThere = new Set(known.map(({ pid }) => pid).filter((pid) => alive.has(pid)));
  const silences = silencesOf(events, { fromMs, toMs, stretches, alive: stillThere });
  const hangs = hangsOf(events, { silences, stretches, writes, toMs });
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
    starved: starvedShare(stretches, { fromMs, toMs, othersCores }),
  };
}

function visitorsOf(/** @type {import('../../measure/open-loop.js').Sent[]} */ answers) {
  const all = groupBy(answers, ({ visitor }) => visitor);
  const isServed = (/** @type {typeof answers} */ own) =>
    own.some(({ status }) => status !== undefined);
  return { visitors: all.size, unserved: [...all.values()].filter((own) => !isServed(own)).length };
}

/** The policy of the primary whose workers listen there, at its last fork. */
function policyOf(/** @type {Event[]} */ events, port) {
  const told = events.find(({ what, ...one }) => what === 'worker-listening' && one.port === port);
  const fork = events.findLast(({ what, pid }) => what === 'fork' && pid === told?.pid);
  if (!fork) return undefined;
  return fork.policy === ROUND_ROBIN ? 'round robin' : 'none';
}

/**
 * Other programs can't have kept a process waiting for longer than they ran: beyond that, its siblings had the core.
 * @param {import('./silences.js').Stretch[]} stretches
 */
function starvedShare(stretches, { fromMs, toMs, othersCores }) {
  const pids = new Set(stretches.map(({ pid }) => pid));
  const shares = [...pids].map(
    (pid) => spentIn(stretches, 'queuedMs', { pid, fromMs, toMs }) / (toMs - fromMs),
  );
  const most = Math.max(0, ...shares);
  return Number.isNaN(othersCores) ? most : Math.min(most, Math.max(0, othersCores));
}

/** The processes that listen for clients, without a primary that deals to its workers. @param {Facts} facts @returns {Seen[]} */
export function serversOf({ processes }) {
  return forClients(processes.filter(({ listenedMs }) => listenedMs !== undefined));
}

/**
 * The serving processes among those that listen on a port: not the process that opened the port for others.
 * @template {{ handle?: any, [more: string]: any }} T @param {T[]} listening @returns {T[]}
 */
export function forClients(listening) {
  const of = (/** @type {string} */ kind) => listening.filter(({ handle }) => handle === kind);
  return [of('handed'), of('received'), listening].find((some) => some.length > 0) ?? [];
}

/** Workers by the pid of their primary. @param {Facts} facts */
export const workersOf = ({ processes }) =>
  groupBy(
    processes.filter(({ role }) => role === 'worker'),
    ({ ppid }) => ppid,
  );
