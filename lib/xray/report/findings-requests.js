/** Findings about answers that are missing, lost, wrong or late. Pure. */
import { serversOf } from './facts.js';
import { at, counted, nameIt } from './words.js';

/** @import { Facts } from './facts.js' @import { Finding } from './findings.js' */

const FEW = 100; // requests, for a statement about shares
const BEHIND = 0.2; // of all requests were waiting when the last was sent
const SELDOM = 0.01; // of the requests
const STARVED = 0.2; // of the load's time
const HALF = 0.5; // of the time
const BUSY = 0.9; // of the time
const UNAVAILABLE = 503; // may be an intended limit; Node.js sends it for too many requests on one connection
const MOST_WORKERS = 3; // named one by one

/** @param {Facts} facts @returns {Finding[]} */
export function requestFindings(facts) {
  const missing = unanswered(facts);
  const isAtTheDoor = missing.some(({ id }) => id === 'not-taken');
  return [
    ...missing,
    ...lost(facts),
    ...errors(facts),
    ...(isBehind(facts) && !isAtTheDoor ? [behind(facts)] : []),
  ];
}

/** The doubt, if other programs may be the cause. @param {Facts} facts */
export const whyStarved = ({ starved }) =>
  starved > STARVED
    ? `The machine was busy: for ${Math.round(starved * 100)} % of the time a process waited for a core that other programs had.`
    : undefined;

/** Requests with no answer, or with a status of 500 or above. @param {Facts['report']} report */
export const failedIn = ({ errors: broken, statuses }) =>
  sum(Object.entries(broken)) + sum(Object.entries(statuses).filter(([status]) => +status >= 500));

const sum = (/** @type {[string, number][]} */ counts) =>
  counts.reduce((total, [, count]) => total + count, 0);

/** Requests that a living process never answered, or never began. @param {Facts} facts @returns {Finding[]} */
function unanswered(facts) {
  const timeouts = facts.report.errors.timeout ?? 0;
  if (timeouts === 0 || facts.hangs.length > 0) return []; // the hangs explain it
  const silent = facts.processes.filter(
    (one) => one.unanswered > 0 && one.endMs === undefined && one.role !== 'primary',
  );
  const begun = silent.reduce((total, one) => total + one.unanswered, 0);
  if (2 * begun < timeouts)
    return isBehind(facts) && !hasTime(facts) ? [] : notTaken(facts, timeouts);
  const evidence = silent.map(
    (one) => `${nameIt(one)} began ${one.requests} requests and left ${one.unanswered} unfinished`,
  );
  const says = `${timeouts} of ${facts.report.requests} requests got no whole answer within 10 s.`;
  const doubt = whyStarved(facts);
  return [{ id: 'unanswered', weight: 90, says, evidence, doubt, see: [8, 'never-ending'] }];
}

/** Nothing accepts these clients: because of maxConnections, or because no process gets to it. @returns {Finding[]} */
function notTaken(/** @type {Facts} */ facts, /** @type {number} */ timeouts) {
  const { report, closed, processes } = facts;
  const limited = serversOf(facts).filter(({ most, endMs }) => most !== undefined && !endMs);
  const [first] = limited;
  const subject = closed?.unserved
    ? `${closed.unserved} of ${closed.visitors} clients never got an answer`
    : `${timeouts} of ${report.requests} requests got no answer within 10 s`;
  const why = first
    ? `${counted(limited.length, 'process takes', 'processes take')} at most ${counted(first.most ?? 0, 'connection')} each (server.maxConnections)`
    : 'no process had begun their requests';
  const busy = processes.filter((one) => (one.busy ?? 0) >= BUSY);
  return [
    {
      id: 'not-taken',
      weight: 91,
      says: `${subject}: ${why}.`,
      evidence: [
        ...(closed?.unserved || first ? [`${timeouts} requests waited 10 s for nothing`] : []),
        ...(first ? ['no process recorded the beginning of these requests'] : []),
        ...busy.map((one) => `${nameIt(one)} was busy for ${percent(one.busy)} of that time`),
      ],
      doubt: first ? undefined : whyNotTaken(facts, timeouts),
    },
  ];
}

function whyNotTaken(/** @type {Facts} */ facts, /** @type {number} */ timeouts) {
  const { requests } = facts.report;
  if (facts.seen === 0) return 'No Node.js process has begun a request, so the cause is unknown.';
  const isSeldom = !facts.closed?.unserved && timeouts <= SELDOM * requests;
  return isSeldom ? 'These are too few to name a cause.' : whyStarved(facts);
}

/** @param {number} [share] */
export const percent = (share = 0) => `${Math.round(share * 100)} %`;

/** @param {Facts} facts @returns {Finding[]} */
function lost(facts) {
  const broken = Object.entries(facts.report.errors).filter(([kind]) => kind !== 'timeout');
  if (sum(broken) === 0) return [];
  const says = `${sum(broken)} of ${facts.report.requests} requests were lost: their connection was refused or broken.`;
  const cut = facts.processes.filter(({ endMs, ...one }) => endMs !== undefined && one.unanswered);
  const evidence = [
    ...broken.map(([kind, count]) => `${kind}: ${count}`),
    ...cut
      .slice(0, MOST_WORKERS)
      .map((one) => `${nameIt(one)} exited with ${one.unanswered} unfinished`),
    ...endedUnderLoad(facts),
  ];
  return [{ id: 'lost', weight: 95, says, evidence, see: [5, 'life-and-death'] }];
}

/** Statuses of 500 or above, by worker. @param {Facts} facts @returns {Finding[]} */
function errors(facts) {
  const { statuses, requests } = facts.report;
  const all = Object.entries(statuses).filter(([status]) => Number(status) >= 500);
  const isMeant = all.every(([status]) => !facts.load.isOpen && Number(status) === UNAVAILABLE);
  if (sum(all) === 0) return [];
  const by = facts.processes.filter(({ failed }) => failed > 0);
  const alike = facts.processes.filter(({ requests: count }) => count > 0);
  return [
    {
      id: 'errors',
      weight: 80,
      says: `${sum(all)} of ${requests} requests were answered with a server error.`,
      evidence: [
        ...all.map(([status, count]) => `status ${status}: ${count}`),
        ...(alike.length > 1
          ? by
              .slice(0, 2 * MOST_WORKERS)
              .map((one) => `${nameIt(one)}: ${one.failed} of ${one.requests}`)
          : []),
      ],
      doubt: isMeant ? 'With many clients at once a 503 may be an intended limit.' : undefined,
    },
  ];
}

/** Serving processes that exited with code 0, which is no crash. @param {Facts} facts */
function endedUnderLoad(facts) {
  const { fromMs, toMs } = facts.load;
  const ended = facts.processes.filter(
    ({ listenedMs, endMs = 0, crash, code, signal }) =>
      listenedMs !== undefined && endMs >= fromMs && endMs <= toMs && !crash && !code && !signal,
  );
  const [first] = ended;
  if (!first) return [];
  const more = ended.length > 1 ? `, and ${ended.length - 1} more` : '';
  return [`${nameIt(first)}: exited with code 0 at ${at(facts, first.endMs ?? 0)}${more}`];
}

function isBehind(/** @type {Facts} */ { report, load, hangs }) {
  const { unanswered: waiting, requests } = report;
  return load.isOpen && hangs.length === 0 && requests >= FEW && waiting >= BEHIND * requests;
}

/** Could a process have taken more? */
const hasTime = (/** @type {Facts} */ facts) =>
  serversOf(facts).some(({ busy = 1 }) => busy < HALF);

/** @returns {Finding} */
function behind(/** @type {Facts} */ facts) {
  const { unanswered: waiting, requests, ratePerSecond, throughputPerSecond } = facts.report;
  return {
    id: 'behind',
    weight: 65,
    says: `It does not keep up with ${Math.round(ratePerSecond)} requests a second: the queue only grew.`,
    evidence: [
      `when the last was sent, ${waiting} of ${requests} were waiting`,
      `it answered ${throughputPerSecond.toFixed(1)} a second`,
    ],
    doubt: whyStarved(facts),
    see: [7, 'article'],
  };
}
