/**
 * What a colleague would say after a look at a server, worst first. Pure. Each finding rests on what was observed; what a
 * busy machine may have caused, or the owner may have meant, is none.
 *
 * @typedef {import('./facts.js').Facts} Facts
 * @typedef {import('./facts.js').Seen} Seen
 *
 * @typedef {object} Finding
 * @property {string} id
 * @property {number} weight  the more, the worse
 * @property {string} says  one sentence
 * @property {string[]} evidence  pid, request, time
 * @property {{ pid: number, t: number, toMs?: number, says: string }[]} [moments]  where it is to be seen in the timeline
 * @property {[lesson: number, experiment: string]} [see]  the lesson that explains it, and its experiment that shows it
 */
import { groupBy } from '../observe/timeline.js';
import { serversOf, workersOf } from './facts.js';
import { NEARLY_ALL } from './spread.js';

const LONG_MS = 100;
const OFTEN = 3; // once is a cache that fills, a page compiled, a collection of garbage
const FEW = 100; // requests, for a statement about shares
const BEHIND = 0.2; // of all requests were waiting when the last was sent
const STARVED = 0.2; // the machine had too little time for it
const ENDS_IN_A_ROW = 5;
const ASKED = new Set(['SIGTERM', 'SIGINT', 'SIGHUP']); // somebody meant it
const UNAVAILABLE = 503; // to many clients at once it may be meant, and Node.js limits requests a connection by it
const MOST_RELOADS = 5; // named one by one
const MOST_MOMENTS = 3; // of a finding, marked in a drawing
const BACK_OFF_MS = 50; // a start that waits for less waits for nothing

/** What a look at a server under load finds. @param {Facts} facts @returns {Finding[]} */
export function findingsOf(facts) {
  return sorted([
    ...crashes(facts),
    ...unanswered(facts),
    ...failures(facts),
    ...blocking(facts),
    ...deaf(facts),
    ...uneven(facts),
    ...leaks(facts),
    ...idle(facts),
    ...behind(facts),
  ]);
}

/** @param {Finding[]} findings */
export const sorted = (findings) => findings.sort((a, b) => b.weight - a.weight);

/** A moment as it is told: seconds since the program was started. */
const at = ({ zeroMs }, /** @type {number} */ t) => `${((t - zeroMs) / 1000).toFixed(2)} s`;

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
      says: `${count} ended while in service.`,
      evidence,
      moments: ended
        .slice(0, MOST_MOMENTS)
        .map((one) => ({ pid: one.pid, t: one.endMs ?? 0, says: howItEnded(one) })),
      see: [5, 'life-and-death'],
    },
  ];
}

const howItEnded = (/** @type {Partial<Seen>} */ { crash, signal, code }) =>
  `ended ${signal ? `by ${signal}` : `with exit code ${code}`}${crash ? `, ${crash}` : ''}`;

/** A process as it is named. @param {Seen} one */
export const nameIt = ({ pid, role, worker, name }) =>
  role === 'worker' ? `worker ${worker} (pid ${pid})` : `${name} (pid ${pid})`;

/** Begun by a process that lives, and never answered. @param {Facts} facts @returns {Finding[]} */
function unanswered(facts) {
  const timeouts = facts.report.errors.timeout ?? 0;
  const silent = facts.processes.filter(
    (one) => one.unanswered > 0 && one.endMs === undefined && one.role !== 'primary',
  );
  if (timeouts === 0 || silent.length === 0 || facts.starved > STARVED) return [];
  const evidence = silent.map(
    (one) => `${nameIt(one)} began ${one.requests} requests and left ${one.unanswered} unfinished`,
  );
  const says = `${timeouts} of ${facts.report.requests} requests got no whole answer within 10 s.`;
  return [{ id: 'unanswered', weight: 90, says, evidence, see: [8, 'never-ending'] }];
}

/** @param {Facts} facts @returns {Finding[]} */
function failures(facts) {
  const { errors, statuses, requests } = facts.report;
  const broken = Object.entries(errors).filter(([kind]) => kind !== 'timeout');
  const lost = sum(broken);
  const isFault = (/** @type {number} */ status) =>
    status >= 500 && (facts.load.isOpen || status !== UNAVAILABLE);
  const refused = Object.entries(statuses).filter(([status]) => isFault(Number(status)));
  const failed = sum(refused);
  const found = /** @type {Finding[]} */ ([]);
  if (lost > 0) {
    const says = `${lost} of ${requests} requests were lost: their connection was refused or broken.`;
    found.push({
      id: 'lost',
      weight: 95,
      says,
      evidence: [...broken.map(([kind, count]) => `${kind}: ${count}`), ...endedUnderLoad(facts)],
      see: [5, 'life-and-death'],
    });
  }
  if (failed > 0) {
    const says = `${failed} of ${requests} requests were answered with an error of the server.`;
    found.push({
      id: 'errors',
      weight: 80,
      says,
      evidence: refused.map(([status, count]) => `status ${status}: ${count}`),
    });
  }
  return found;
}

/** Those that served and left in peace, which is no crash. @param {Facts} facts */
function endedUnderLoad(facts) {
  const { fromMs, toMs } = facts.load;
  const ended = facts.processes.filter(
    ({ listenedMs, endMs = 0, crash, code, signal }) =>
      listenedMs !== undefined && endMs >= fromMs && endMs <= toMs && !crash && !code && !signal,
  );
  const [first] = ended;
  if (!first) return [];
  const more = ended.length > 1 ? `, and ${ended.length - 1} more` : '';
  return [`${nameIt(first)}: ended with exit code 0 at ${at(facts, first.endMs ?? 0)}${more}`];
}

const sum = (/** @type {[string, number][]} */ counts) =>
  counts.reduce((total, [, count]) => total + count, 0);

/**
 * On a busy machine a loop stands still for reasons that are not its own: it is believed then if most requests do it.
 * @param {Facts} facts
 * @returns {Finding[]}
 */
function blocking(facts) {
  const long = facts.silences.filter(({ ms }) => ms >= LONG_MS);
  return [...groupBy(long, ({ under }) => under)].flatMap(([path, silences]) => {
    const isUsual = path !== undefined && silences.length * 2 >= facts.report.requests;
    if (silences.length < OFTEN || (facts.starved > STARVED && !isUsual)) return [];
    const worst = silences.reduce((a, b) => (b.ms > a.ms ? b : a));
    const what = path === undefined ? 'Something other than a request' : path;
    const pids = [...new Set(silences.map(({ pid }) => pid))];
    return {
      id: 'blocks',
      weight: 70 + Math.min(9, silences.length / 100),
      says: `${what} kept the event loop for up to ${worst.ms} ms: nobody else is served in that time.`,
      evidence: [
        `${silences.length} times for ${LONG_MS} ms or more, in ${pids.length === 1 ? `pid ${pids[0]}` : `${pids.length} processes`}`,
        `the longest: pid ${worst.pid} at ${at(facts, worst.fromMs)}`,
      ],
      moments: longest(silences).map((one) => ({
        ...{ pid: one.pid, t: one.fromMs, toMs: one.fromMs + one.ms },
        says: `silent for ${one.ms} ms`,
      })),
      see: /** @type {[number, string]} */ ([1, 'block-or-wait']),
    };
  });
}

const longest = (/** @type {import('./silences.js').Silence[]} */ silences) =>
  [...silences].sort((a, b) => b.ms - a.ms).slice(0, MOST_MOMENTS);

/**
 * A worker that runs the same file as a sibling, was given the same environment and arguments, and does not listen as that
 * does. One that was given others may have another job.
 * @param {Facts} facts
 * @returns {Finding[]}
 */
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

/** Round robin passes nobody by who is free. @param {Facts} facts @returns {Finding[]} */
function idle(facts) {
  if (facts.policy !== 'round robin' || !facts.load.isFresh || facts.seen < FEW) return [];
  const all = serversOf(facts).filter(
    ({ listenedMs = Infinity, endMs }) => listenedMs < facts.load.fromMs && endMs === undefined,
  );
  const none = all.filter(({ requests }) => requests === 0);
  if (none.length === 0 || none.length === all.length) return [];
  const says = `${none.length} of ${all.length} workers that listen executed none of ${facts.seen} requests.`;
  const evidence = none.map(
    (one) => `${nameIt(one)} listens since ${at(facts, one.listenedMs ?? 0)}`,
  );
  return [{ id: 'idle', weight: 50, says, evidence, see: [3, 'blocked-worker'] }];
}

/**
 * Dealt by the program itself, and nearly all to one: also from other addresses, and many at once.
 * @param {Facts} facts
 * @returns {Finding[]}
 */
function uneven({ spread, processes }) {
  if (!spread?.clients || (spread.ownAtOnce ?? 0) < NEARLY_ALL * spread.clients) return [];
  const { pid, peers, requests, own, clients, ownAtOnce } = spread;
  const nameOf = (/** @type {number} */ one) =>
    nameIt(/** @type {Seen} */ (processes.find((any) => any.pid === one)));
  const others = processes.filter((one) => peers.includes(one.pid) && one.pid !== pid);
  return [
    {
      id: 'uneven',
      weight: 55,
      says: `${nameOf(pid)} executed ${own} of ${requests} requests, and ${others.length === 1 ? 'another that was' : `${others.length} others that were`} started alike the rest.`,
      evidence: [
        ...others.slice(0, 3).map((one) => `${nameIt(one)}: ${one.requests}`),
        `of ${clients} more clients that came at once, each from an address of its own, it got ${ownAtOnce}`,
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

/** What grows in one process grows in its siblings: it is told once. @param {Facts} facts @returns {Finding[]} */
function leaks({ growths, processes, report }) {
  if (report.unanswered > BEHIND * report.requests || report.errors.timeout) return []; // what waits is held rightly
  return [...groupBy(growths, ({ of }) => of)].map(([of, all]) => {
    const worst = all.reduce((a, b) => (b.to - b.from > a.to - a.from ? b : a));
    const one = processes.find(({ pid }) => pid === worst.pid);
    const where = one ? nameIt(one) : `pid ${worst.pid}`;
    return {
      id: 'leaks',
      weight: 68,
      says: whatGrows(worst),
      evidence: [
        `${where}, which executed ${worst.requests} requests: more each of the ${worst.times} times that it was looked at again`,
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
    return `Requests leave files or connections open: ${from} became ${to}, also when all were answered.`;
  return `Memory grows with the requests, and is not given back: ${mb(from)} MB became ${mb(to)} after garbage collections.`;
}

/** It falls behind the rate, and the machine had time for it. @param {Facts} facts @returns {Finding[]} */
function behind(facts) {
  const { unanswered: waiting, requests, ratePerSecond, throughputPerSecond } = facts.report;
  if (!facts.load.isOpen || requests < FEW || facts.starved > STARVED) return [];
  if (waiting < BEHIND * requests) return [];
  return [
    {
      id: 'behind',
      weight: 65,
      says: `It does not keep up with ${Math.round(ratePerSecond)} requests a second: the queue only grew.`,
      evidence: [
        `when the last was sent, ${waiting} of ${requests} were waiting`,
        `it answered ${throughputPerSecond.toFixed(1)} a second`,
      ],
      see: [7, 'article'],
    },
  ];
}

/**
 * Of a program that has not come to listen, or not stayed: does it start workers again and again, without a pause?
 * @param {import('../observe/timeline.js').Event[]} events
 * @param {number} zeroMs
 * @returns {Finding[]}
 */
export function crashLoops(events, zeroMs) {
  const ends = events.filter(
    ({ what, code, signal }) => what === 'worker-exit' && (code || signal),
  );
  if (ends.length < ENDS_IN_A_ROW || events.some(({ what }) => what === 'worker-listening'))
    return [];
  const pauses = ends.flatMap(({ t, pid }) => {
    const next = events.find((one) => one.what === 'fork' && one.pid === pid && one.t >= t);
    return next ? [next.t - t] : [];
  });
  const quick = pauses.filter((ms) => ms < BACK_OFF_MS);
  if (quick.length < ENDS_IN_A_ROW) return [];
  const crash = events.find(({ what }) => what === 'crash');
  return [
    {
      id: 'crash-loop',
      weight: 100,
      says: `Its workers ended before they listened, and ${quick.length} were replaced at once, without a pause.`,
      evidence: [
        `${ends.length} workers ended, the first at ${((ends[0].t - zeroMs) / 1000).toFixed(2)} s`,
        ...(crash ? [`pid ${crash.pid}: ${crash.error.split('\n')[0]}`] : []),
      ],
      see: [5, 'crash-loop'],
    },
  ];
}

/** Of several reloads, those in which requests were lost. @param {import('./trials.js').Trial} trial */
function whichReloads({ each = [] }) {
  const lossy = each.flatMap(({ lost }, index) => {
    const count = lost.fresh + lost.kept;
    return count > 0 ? [`${count} in number ${index + 1}`] : [];
  });
  const more =
    lossy.length > MOST_RELOADS ? [`in ${lossy.length} of the ${each.length} in all`] : [];
  return each.length > 1 ? [[...lossy.slice(0, MOST_RELOADS), ...more].join(', ')] : [];
}

/** What the trial did to the program. @param {import('./trials.js').Trial} trial */
export const whatWasDone = ({ command, signal, pid }) =>
  command === undefined ? `${signal} to pid ${pid}` : `\`${command}\``;

/**
 * What a trial finds. Requests that a killed process had begun nobody could have saved: they are told, and are no finding.
 * @param {import('./trials.js').Trial} trial
 * @returns {Finding[]}
 */
export function trialFindings(trial) {
  const { kind, lost, sent, errors, tookMs, waitedMs = 0, fate, left } = trial;
  const found = /** @type {Finding[]} */ ([]);
  const add = (id, weight, says, evidence, /** @type {[number, string]} */ see) =>
    found.push({ id, weight, says, evidence, see });
  const when = `${whatWasDone(trial)} at ${at(trial, trial.atMs)}`;
  const total = lost.fresh + lost.kept;
  const of = sent.fresh + sent.kept;
  const kinds = Object.entries(errors).map(([error, count]) => `${error}: ${count}`);
  const split = `${lost.fresh} on fresh connections, ${lost.kept} on kept ones`;
  if (kind === 'kill' && fate)
    add('goes-down', 87, 'A worker was killed, and all of it ended.', [when], [2, 'one-dies']);
  else if (kind === 'kill' && tookMs === undefined)
    add(
      'not-replaced',
      85,
      `A worker was killed, and nobody took its place within ${(waitedMs / 1000).toFixed(1)} s.`,
      [when],
      [5, 'life-and-death'],
    );
  if (kind === 'kill' && errors.ECONNREFUSED)
    add(
      'goes-down',
      86,
      `With one worker killed, ${errors.ECONNREFUSED} clients were refused.`,
      [when],
      [2, 'one-dies'],
    );
  if (kind === 'stop' && !fate)
    add(
      'does-not-stop',
      84,
      'It still ran 10 s after SIGTERM; process managers send SIGKILL then.',
      [when],
      [8, 'never-ending'],
    );
  const atStop = lost.kept > 0 && !fate?.signal ? 'disconnect-only' : 'kill-all';
  if (kind === 'stop' && total > 0)
    add(
      'stop-loses',
      83,
      `Stopping lost ${total} requests that it had begun.`,
      [when, split, ...kinds],
      [8, atStop],
    );
  if (kind === 'stop' && left.length > 0) {
    const names = left.map((one) => `${one.name} (pid ${one.pid})`).join(', ');
    add('left-behind', 82, 'It ended and left processes behind.', [when, names], [5, 'orphans']);
  }
  if (kind === 'reload' && fate)
    add(
      'reload-ends',
      88,
      `${trial.signal ?? 'The command'} ended it instead of reloading it.`,
      [when],
      [8, 'kill-all'],
    );
  else if (kind === 'reload' && total > 0)
    add(
      'reload-loses',
      81,
      `${trial.each && trial.each.length > 1 ? `${trial.each.length} reloads` : 'A reload'} lost ${total} of ${of} requests.`,
      [when, split, ...whichReloads(trial), ...kinds],
      [8, 'one-by-one'],
    );
  return found;
}
