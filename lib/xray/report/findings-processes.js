/** Findings about processes: crashes, idle workers, uneven shares, leaks, too many workers. Pure. */
import { groupBy } from '../../observe/timeline.js';
import { serversOf, workersOf } from './facts.js';
import { at, howItEnded, nameIt, nameOf } from './words.js';

/** @import { Facts, Seen } from './facts.js' @import { Finding } from './findings.js' */

const FEW = 100; // requests, for a statement about shares
const BEHIND = 0.2; // of all requests were waiting when the last was sent
const ASKED = new Set(['SIGTERM', 'SIGINT', 'SIGHUP']); // intended
const MOST_MOMENTS = 3; // marked in the drawing, per finding
const MANY_PER_CORE = 4; // workers
/** The share of the requests, or of the clients, that counts as nearly all. */
export const NEARLY_ALL = 0.9;

/** @param {Facts} facts @returns {Finding[]} */
export const processFindings = (facts) => [
  ...crashes(facts),
  ...deaf(facts),
  ...idle(facts),
  ...uneven(facts),
  ...leaks(facts),
  ...crowded(facts),
];

/** @param {Facts} facts @returns {Finding[]} */
function crashes(facts) {
  const isUnwell = (/** @type {Seen} */ { crash, code, signal }) =>
    crash || code || (signal && !ASKED.has(signal));
  const ended = facts.processes.filter(
    (one) =>
      one.endMs !== undefined &&
      (one.listenedMs !== undefined || one.endMs >= facts.load.fromMs) &&
      isUnwell(one),
  );
  if (ended.length === 0) return [];
  const evidence = ended
    .slice(0, 3)
    .map((one) => `${nameIt(one)}: ${howItEnded(one)} at ${at(facts, one.endMs ?? 0)}`);
  const count = ended.length === 1 ? 'One process' : `${ended.length} processes`;
  return [
    {
      id: 'crash',
      weight: 100,
      says: `${count} exited while in service.`,
      evidence,
      moments: ended
        .slice(0, MOST_MOMENTS)
        .map((one) => ({ pid: one.pid, t: one.endMs ?? 0, says: howItEnded(one) })),
      see: [5, 'life-and-death'],
    },
  ];
}

/** A worker doesn't listen, but a sibling with the same file, environment and arguments does. @param {Facts} facts @returns {Finding[]} */
function deaf(facts) {
  return [...workersOf(facts)].flatMap(([primary, workers]) => {
    const settled = workers.filter(
      ({ startMs, endMs }) => startMs < facts.load.fromMs && endMs === undefined,
    );
    const listening = settled.filter(({ listenedMs }) => listenedMs !== undefined);
    const silent = settled.filter(
      ({ listenedMs, isNode, name, given }) =>
        listenedMs === undefined &&
        isNode &&
        listening.some((one) => one.name === name && one.given === given),
    );
    if (silent.length === 0) return [];
    return {
      id: 'deaf',
      weight: 60,
      says: `Of ${settled.length} workers of pid ${primary} only ${listening.length} listen on port ${facts.port}.`,
      evidence: silent.map(
        (one) =>
          `${nameIt(one)} runs the same file as those, with the same environment, and executed none of the requests`,
      ),
      see: /** @type {[number, string]} */ ([2, 'who-answers']),
    };
  });
}

/** Round robin skips no free worker. @param {Facts} facts @returns {Finding[]} */
function idle(facts) {
  if (facts.policy !== 'round robin' || !facts.load.isFresh) return [];
  const all = serversOf(facts).filter(
    ({ listenedMs = Infinity, endMs }) => listenedMs < facts.load.fromMs && endMs === undefined,
  );
  const none = all.filter(({ requests }) => requests === 0);
  if (none.length === 0 || none.length === all.length || facts.seen < 2 * all.length) return [];
  const says = `${none.length} of ${all.length} workers that listen executed none of ${facts.seen} requests.`;
  const evidence = none.map(
    (one) => `${nameIt(one)} listens since ${at(facts, one.listenedMs ?? 0)}`,
  );
  const doubt = facts.seen < FEW ? 'That is too few to judge: --seconds 30 sends more.' : undefined;
  return [{ id: 'idle', weight: 50, says, evidence, doubt, see: [3, 'blocked-worker'] }];
}

/** The program deals nearly all connections to one process, even many at once from many addresses. @param {Facts} facts @returns {Finding[]} */
function uneven(facts) {
  const { spread, processes } = facts;
  if (!spread?.clients || (spread.ownAtOnce ?? 0) < NEARLY_ALL * spread.clients) return [];
  const { pid, peers, requests, own, clients, ownAtOnce } = spread;
  const others = processes.filter((one) => peers.includes(one.pid) && one.pid !== pid);
  return [
    {
      id: 'uneven',
      weight: 55,
      says: `${nameOf(facts, pid)} executed ${own} of ${requests} requests, and ${others.length === 1 ? 'another that was' : `${others.length} others that were`} started alike the rest.`,
      evidence: [
        ...others.slice(0, 3).map((one) => `${nameIt(one)}: ${one.requests}`),
        `of ${clients} more clients at once, each from its own address, it got ${ownAtOnce}`,
      ],
      see: [4, 'first-come'],
    },
  ];
}

/** Lesson and experiment. @type {Record<import('./growth.js').Growth['of'], [number, string]>} */
const LEAKS = {
  listeners: [6, 'cost'],
  descriptors: [8, 'never-ending'],
  memory: [5, 'life-and-death'],
};

/** One finding for all siblings that leak alike. @param {Facts} facts @returns {Finding[]} */
function leaks(facts) {
  const { growths, report, streams } = facts;
  const isHeld = report.unanswered > BEHIND * report.requests || report.errors.timeout || streams;
  if (isHeld) return []; // a request in flight rightly holds memory and connections
  return [...groupBy(growths, ({ of }) => of)].map(([of, all]) => {
    const worst = all.reduce((a, b) => (b.to - b.from > a.to - a.from ? b : a));
    const where = nameOf(facts, worst.pid);
    return {
      id: 'leaks',
      weight: 68,
      says: whatGrows(worst),
      evidence: [
        `${where}, which executed ${worst.requests} requests: more at each of ${worst.times} later looks`,
        ...(all.length > 1 ? [`in ${all.length} processes alike`] : []),
        ...(of === 'memory' ? ['a cache looks the same for as long as it fills'] : []),
      ],
      see: LEAKS[of],
    };
  });
}

/** @param {import('./growth.js').Growth} growth */
function whatGrows({ of, event, from, to }) {
  const mb = (/** @type {number} */ bytes) => Math.round(bytes / 2 ** 20);
  if (of === 'listeners')
    return `Requests leave listeners for '${event}' on one and the same object: ${from} became ${to}.`;
  if (of === 'descriptors')
    return `Requests leave files or connections open: ${from} became ${to}, even after all were answered.`;
  return `Memory grows with the requests, and is not given back: ${mb(from)} MB became ${mb(to)} after garbage collections.`;
}

/** More than a few workers per core add memory and switching, but no speed. @param {Facts} facts @returns {Finding[]} */
function crowded(facts) {
  const serving = serversOf(facts).filter(({ endMs }) => endMs === undefined);
  if (serving.length <= MANY_PER_CORE * facts.cores) return [];
  const bytes = serving.reduce(
    (sum, { memory }) => sum + (memory?.pssBytes ?? memory?.rssBytes ?? 0),
    0,
  );
  return [
    {
      id: 'too-many',
      weight: 40,
      says: `${serving.length} processes serve on ${facts.cores === 1 ? 'one core' : `${facts.cores} cores`}.`,
      evidence: [
        `together they hold ${Math.round(bytes / 2 ** 20)} MB`,
        '--scale shows how many are enough',
      ],
      see: [2, 'more-workers'],
    },
  ];
}
