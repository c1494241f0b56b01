/** Findings of a trial: after a kill, a stop or a reload. Pure. */
import { at, counted, whatWasDone } from './words.js';

/** @import { Trial } from '../trials.js' @import { Finding } from './findings.js' */

const MOST_RELOADS = 5; // named one by one
const MOST_NAMED = 3;
const ASKED_CODES = [0, 130, 143]; // 128 plus the number of SIGINT or SIGTERM

/** Nothing could save the requests that a killed process had begun, so they are no finding. @param {Trial} trial @returns {Finding[]} */
export function trialFindings(trial) {
  if (trial.kind === 'kill') return atKill(trial);
  return trial.kind === 'stop' ? atStop(trial) : atReload(trial);
}

const when = (/** @type {Trial} */ trial) => `${whatWasDone(trial)} at ${at(trial, trial.atMs)}`;
const named = (/** @type {{ pid: number, name: string }[]} */ all) =>
  all.map((one) => `${one.name} (pid ${one.pid})`).join(', ');
const kindsOf = (/** @type {Trial} */ { errors }) =>
  Object.entries(errors).map(([error, count]) => `${error}: ${count}`);
const split = (/** @type {Trial} */ { lost }) =>
  `${lost.fresh} on fresh connections, ${lost.kept} on kept ones`;

/** @returns {Finding[]} */
function atKill(/** @type {Trial} */ trial) {
  const { errors, tookMs, waitedMs = 0, fate } = trial;
  const evidence = [when(trial)];
  const found = /** @type {Finding[]} */ ([]);
  if (fate)
    found.push({
      ...{ id: 'goes-down', weight: 87, evidence, see: [2, 'one-dies'] },
      says: 'A worker was killed, and the whole server exited.',
    });
  else if (tookMs === undefined)
    found.push({
      ...{ id: 'not-replaced', weight: 85, evidence, see: [5, 'life-and-death'] },
      says: `A worker was killed, and nothing took its place within ${(waitedMs / 1000).toFixed(1)} s.`,
    });
  if (errors.ECONNREFUSED)
    found.push({
      ...{ id: 'goes-down', weight: 86, evidence, see: [2, 'one-dies'] },
      says: `With one worker killed, ${counted(errors.ECONNREFUSED, 'client was', 'clients were')} refused.`,
    });
  return found;
}

/** @returns {Finding[]} */
function atStop(/** @type {Trial} */ trial) {
  const { fate, lost, left, unreached, streams } = trial;
  const found = endedBadly(trial);
  const evidence = [when(trial)];
  if (unreached) found.push(notPassedOn(trial, unreached));
  else if (!fate)
    found.push({
      ...{ id: 'does-not-stop', weight: 84, see: [8, 'never-ending'] },
      says: `It still ran 10 s after SIGTERM${streams?.held ? `, held by ${counted(streams.held, 'open stream')}` : ''}; process managers send SIGKILL then.`,
      evidence: [...evidence, ...heldBy(trial)],
    });
  const total = lost.fresh + lost.kept;
  if (total > 0)
    found.push({
      ...{ id: 'stop-loses', weight: 83 },
      says: `Stopping lost ${counted(total, 'request')} that it had begun.`,
      evidence: [...evidence, split(trial), ...kindsOf(trial)],
      see: [8, lost.kept > 0 && !fate?.signal ? 'disconnect-only' : 'kill-all'],
    });
  if (left.length > 0 && !unreached)
    found.push({
      ...{ id: 'left-behind', weight: 82, see: [5, 'orphans'] },
      says: 'It exited and left processes behind.',
      evidence: [...evidence, named(left)],
    });
  return found;
}

/** An uncaught error, or an exit code that signals failure. @returns {Finding[]} */
function endedBadly(/** @type {Trial} */ trial) {
  const { crashes = [], fate } = trial;
  const code = fate?.code ?? 0;
  const isFailed = !ASKED_CODES.includes(code);
  if (crashes.length === 0 && !isFailed) return [];
  const [first] = crashes;
  const says = first
    ? `Asked to stop, ${first.name} (pid ${first.pid}) crashed: ${first.error}.`
    : `Asked to stop, it exited with code ${code}, which signals failure.`;
  const more = crashes.slice(1, MOST_NAMED).map((one) => `${named([one])} crashed: ${one.error}`);
  const evidence = [
    when(trial),
    ...(first && isFailed ? [`it exited with code ${code}`] : []),
    ...more,
  ];
  return [{ id: 'stop-fails', weight: 86, says, evidence, see: [8, 'kill-all'] }];
}

/** @param {Trial} trial @param {NonNullable<Trial['unreached']>} target @returns {Finding} */
function notPassedOn(trial, target) {
  const after = trial.fate
    ? `the first process exited, and left behind: ${named(trial.left)}`
    : 'everything still ran 10 s later; process managers send SIGKILL then';
  return {
    id: 'not-passed-on',
    weight: 85,
    says: `SIGTERM went to the first process, ${target.first} (pid ${trial.pid}), and never reached ${named([target])}.`,
    evidence: [
      when(trial),
      after,
      'npm and sh do not pass it on: start the server itself, or by exec',
    ],
    see: [5, 'orphans'],
  };
}

/** Streams that were still open at the end. @returns {string[]} */
function heldBy(/** @type {Trial} */ { streams }) {
  if (!streams?.held) return [];
  return [
    `${streams.held} of ${counted(streams.open, 'open stream')} stayed open, in ${named(streams.holders)}: neither server.close() nor worker.disconnect() closes them`,
  ];
}

/** @returns {Finding[]} */
function atReload(/** @type {Trial} */ trial) {
  const {
    fate,
    lost,
    sent,
    each,
    signal,
    replaced = 0,
    servers = 0,
    remaining = [],
    isFull,
  } = trial;
  const total = lost.fresh + lost.kept;
  const evidence = [when(trial)];
  if (fate)
    return [
      {
        ...{ id: 'reload-ends', weight: 88, evidence, see: [8, 'kill-all'] },
        says: `${signal ?? 'The command'} stopped it instead of reloading it.`,
      },
    ];
  const found = /** @type {Finding[]} */ ([]);
  if (total > 0)
    found.push({
      ...{ id: 'reload-loses', weight: 81, see: [8, 'one-by-one'] },
      says: `${each && each.length > 1 ? `${each.length} reloads` : 'A reload'} lost ${total} of ${sent.fresh + sent.kept} requests.`,
      evidence: [...evidence, split(trial), ...whichReloads(trial), ...kindsOf(trial)],
    });
  const isHeld = isFull && remaining.length > 0;
  if (isHeld) found.push(remains(trial));
  else if (trial.tookMs === undefined && !trial.failed && total === 0)
    found.push({
      ...{ id: 'no-reload', weight: 20, evidence },
      says: `${replaced} of ${counted(servers, 'process was', 'processes were')} replaced.`,
      doubt: 'So the losses of a reload are unknown.',
    });
  return found;
}

/** New processes serve, but old ones stay. @returns {Finding} */
function remains(/** @type {Trial} */ trial) {
  const { remaining = [], servers = 0, streams } = trial;
  const why = streams?.held
    ? `: ${counted(streams.held, 'open stream')} ${streams.held === 1 ? 'holds' : 'hold'} them`
    : '';
  return {
    id: 'reload-remains',
    weight: 82,
    says: `After a reload ${remaining.length} of ${servers} old processes still ran${why}.`,
    evidence: [when(trial), named(remaining), ...heldBy(trial)],
    see: [8, 'never-ending'],
  };
}

/** The reloads that lost requests. @returns {string[]} */
function whichReloads(/** @type {Trial} */ { each = [] }) {
  const lossy = each.flatMap(({ lost }, index) => {
    const count = lost.fresh + lost.kept;
    return count > 0 ? [`${count} in number ${index + 1}`] : [];
  });
  const more =
    lossy.length > MOST_RELOADS ? [`in ${lossy.length} of the ${each.length} in all`] : [];
  return each.length > 1 ? [[...lossy.slice(0, MOST_RELOADS), ...more].join(', ')] : [];
}
