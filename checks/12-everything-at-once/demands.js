/** Lesson 12: judges what looks.js saw, in the sentences that a learner reads. */
import {
  demand,
  demandInTime,
  describeCrash,
  exitMoment,
  firstOf,
  forkMoment,
  forksOf,
  howItEnded,
  momentOf,
  parseJsonBody,
  primaryExitMoment,
  requestOf,
  sumOf,
} from '../../lib/check/checking.js';
import { WORKERS, attemptsIn, failuresIn, silentInvoicesIn } from './looks.js';

const SECONDS = 3; // without any fork or exit
const MARKED = 6; // moments of a kind in the X-ray
const LATE_MS = 1_500; // longer than any answer takes on a machine that isn't crowded
const MOST_SILENT = 0.5; // share of the invoices

const plural = (/** @type {number} */ count, /** @type {string} */ noun) =>
  `${count} ${noun}${count === 1 ? '' : noun.endsWith('s') ? 'es' : 's'}`;

/** "blow 3, one worker is killed (SIGKILL)" */
const asBlow = (blows, blow) => `blow ${blows.indexOf(blow) + 1}, ${blow.how}`;

const isDeploy = (/** @type {{ how: string } | undefined} */ blow) =>
  Boolean(blow?.how.includes('SIGHUP'));

const blowAt = (blows, /** @type {number} */ t) => blows.findLast(({ fromMs }) => fromMs <= t);

/** The decisive moment first: the end of all, else the last thing that happened. */
function shown({ program, forks, exits }) {
  const all = [
    ...forks.map((fork) => forkMoment(fork, 'forked')),
    ...exits.map(exitMoment),
    primaryExitMoment(program),
  ].filter(Boolean);
  return { program, moments: all.sort((a, b) => b.t - a.t).slice(0, 2 * MARKED) };
}

/** Why the capacity isn't back: the first condition that is met. */
const LACKS = [
  [
    ({ isDeploy, forks }) => isDeploy && forks.length === 0,
    () => 'Nothing was forked.',
    'SIGHUP begins a reload each time, also after one that failed or that a death has interrupted.',
    'look at what the reload waits for, and at what an earlier one has left behind',
  ],
  [
    ({ isDeploy, name, left }) => isDeploy && name !== 'bad deploy' && left.length > 0,
    ({ left }) =>
      `${SECONDS} s after the last fork or exit process ${left.join(', ')}, from before, was still running.`,
    'The reload has stopped half-way, or the old worker has something that keeps it alive: a connection, a child, a timer.',
    'look at what the reload waits for, and at what keeps a drained worker alive',
  ],
  [
    ({ alive }) => alive > WORKERS,
    ({ alive, serving }) => `${alive} workers are running, and ${serving.length} of them serve.`,
    'Two parts of the primary have each started a worker for the same place: the restart after a crash, and the reload.',
    'look at every place that forks: does it know what the other one has begun?',
  ],
  [
    () => true,
    ({ serving }) =>
      `${SECONDS} s after the last fork or exit ${serving.length === 1 ? '1 worker serves' : `${serving.length} workers serve`}.`,
    'A worker has exited, and nothing has taken its place.',
    'look at which exits are a crash, and whether a worker of a reload is watched as well as the first ones',
  ],
];

const ALONE = [
  'It is the only process: whatever ends it ends the shop.',
  'look for a process that stays when another one exits: is there a primary?',
];
const WITH_WORKERS = [
  'A signal without a handler ends a process, and so does a primary that gives up.',
  'look at what the primary does with this signal, and with the exits of its workers',
];

const crashOfPrimary = ({ pid, events }) =>
  describeCrash(events.filter((event) => event.pid === pid));

export function demandCapacity({ blows, output }) {
  const blow = blows.at(-1);
  const { program, fate, isDone } = blow;
  const when = asBlow(blows, blow);
  const expected = `After each blow ${WORKERS} workers serve again. This was ${when}.`;
  const shows = shown(blow);
  const [whyGone, tryThere] = forksOf(program.events).length === 0 ? ALONE : WITH_WORKERS;
  demand(!fate, {
    expected,
    got: `The whole server exited (${howItEnded(fate ?? {})}).`,
    why: crashOfPrimary(program) ?? whyGone,
    try: tryThere,
    ...{ shows, output },
  });
  const facts = { ...blow, isDeploy: isDeploy(blow) };
  const [, got, why, repair] = firstOf(LACKS, facts);
  const isTooMany = blow.isAtRest && blow.alive > WORKERS && blow.left.length === 0;
  const judge = isTooMany ? demand : demandInTime;
  for (const one of blows) demandLeftAlone(blows, one, output);
  judge(isDone, { expected, got: got(facts), why, try: repair, shows, output });
  for (const one of blows) demandVersion(blows, one, output);
}

/** A replaced worker that exits with a code has reached its limit, or given up. */
function demandLeftAlone(blows, blow, output) {
  const cut = blow.exits.find(({ workerPid, code }) => code > 0 && blow.old.includes(workerPid));
  (blow.isStarved ? demandInTime : demand)(!cut, {
    expected: `A worker that is replaced has finished and exits with code 0. This was ${asBlow(blows, blow)}.`,
    got: `Process ${cut?.workerPid} exited (${howItEnded(cut ?? {})}).`,
    why: 'It has reached its limit: something keeps it alive, such as an idle connection, a child, or a timer. Or it crashed.',
    try: 'look at what keeps a drained worker alive',
    shows: shown(blow),
    output,
  });
}

function demandVersion(blows, blow, output) {
  const { version, told } = blow;
  const other = told.find((one) => one !== undefined && one !== version);
  demand(other === undefined, {
    expected: `After ${asBlow(blows, blow)}: /health says version ${version}.`,
    got: `It says version ${other}.`,
    why: 'A process loads its code once; a new process loads what is there at that moment.',
    try: 'look at which process loads page.js, and when',
    shows: shown(blow),
    output,
  });
}

const KEPT = 'An order that was acknowledged is there from then on, and counts once.';

export function demandOrders({ program, placed, requests, stats, output }) {
  const acknowledged = placed.filter((one) => one.isAcknowledged);
  const wrong = acknowledged.flatMap(({ order, tries, reads }) =>
    reads
      .filter(({ error, status }) => !error && status < 500)
      .filter(({ status, body }) => status === 404 || !isSame(body, order))
      .map((read) => ({ order, read, tries })),
  );
  const [one] = wrong;
  const [writer, reader] = [one?.tries.at(-1), one?.read].map(
    (answer) => answer && requestOf(requests, answer),
  );
  demand(!one, {
    expected: KEPT,
    got: `Process ${writer?.pid} acknowledged order ${one?.order.id}. Process ${reader?.pid} was asked for it and answered with status ${one?.read.status}. It was so with ${wrong.length} of ${acknowledged.length} orders.`,
    why: 'Workers share nothing. What one of them remembers is unknown to the others, and gone when it exits.',
    try: 'decide which process owns the orders, and when an order may be acknowledged',
    shows: { program, moments: [momentOf(reader, 'does not know the order')] },
    output,
  });
  demandCount({ acknowledged, placed, stats, output });
}

/** What every worker says is what was acknowledged, give or take orders whose clients gave up. */
function demandCount({ acknowledged, placed, stats, output }) {
  const piecesOf = (all) => sumOf(all.map(({ order }) => order.pieces));
  const [least, most] = [acknowledged, placed].map((all) => ({
    orders: all.length,
    pieces: piecesOf(all),
  }));
  const told = stats.filter(Boolean);
  demandInTime(told.length > 0, {
    expected: KEPT,
    got: 'At the end /stats was not answered.',
    try: 'curl localhost:8080/stats',
    output,
  });
  const counts = ['orders', 'pieces'].flatMap((what) =>
    told.map((one) => ({ what, told: one[what], least: least[what], most: most[what] })),
  );
  const off = counts.find((one) => !(one.told >= one.least && one.told <= one.most));
  const isMore = off?.told > off?.most;
  demand(!off, {
    expected: `${plural(least.orders, 'order')} of ${plural(least.pieces, 'piece')} were acknowledged, and /stats says so.`,
    got: `It says ${off?.told} ${off?.what}.`,
    why: isMore
      ? 'A client that got no answer sends its order again, with the same id, perhaps to another worker. It has been counted twice.'
      : 'Orders are missing from the count: they were kept where not everything arrives, or not everything survives.',
    try: isMore
      ? 'look at what happens to an id that has come before'
      : 'look at which process counts, and when it is told',
    output,
  });
}

function isSame(/** @type {string} */ body, order) {
  const read = parseJsonBody(body);
  return Object.entries(order).every(([key, value]) => read[key] === value);
}

/** How requests failed: the first condition that is met. */
const FAILURES = [
  [
    ({ refused }) => refused,
    'For a moment no process listened.',
    'look at the order in a reload: which comes first, the new worker or the end of the old one?',
  ],
  [
    ({ isAnswered }) => isAnswered,
    'They were answered, but with an error: something that the answer needed had gone first.',
    'look at what a worker lets go of while requests are in flight: children, the channel to the primary',
  ],
  [
    ({ slain }) => slain,
    'The worker that had them was killed, or crashed. The check has left it alone, or only stopped it for a moment.',
    'look at what kills workers, and how it tells a worker that hangs from a worker that is blocked',
  ],
  [
    () => true,
    'A worker exited before it answered what it had begun, or closed their connections.',
    'look at what ends a worker, and at which connections are closed, by which call, and when',
  ],
];

export function demandNoFailures(scene) {
  const { program, stop, blows, output } = scene;
  const failures = failuresIn(scene);
  const mayBeLate = (attempt) => isLate(attempt) || blowAt(blows, attempt.doneMs)?.isStarved;
  const certain = failures.filter((one) => isSlain(one, blows) || !mayBeLate(one.attempt));
  demand(certain.length === 0, storyOfFailures(scene, certain));
  demandInTime(failures.length === 0, storyOfFailures(scene, failures));
  (stop.lost.every(mayBeLate) ? demandInTime : demand)(stop.lost.length === 0, {
    expected: 'SIGTERM at the end: requests in flight are answered.',
    got: `${stop.lost.length} of ${stop.answers.length} invoices in flight failed (${reasonOf(stop.lost[0])}).`,
    why: 'A worker may not exit, and its child may not either, before the answer is sent.',
    try: 'look at what SIGTERM ends first: the worker, its children, or the work',
    shows: shown({ program, ...stop }),
    output,
  });
}

function storyOfFailures(scene, failures) {
  const { program, requests, blows, output } = scene;
  const [first] = failures;
  if (!first) return {};
  const [, why, repair] = firstOf(FAILURES, {
    isAnswered: failures.some(({ attempt }) => !attempt.error),
    refused: failures.some(({ attempt }) => attempt.error === 'ECONNREFUSED'),
    slain: isSlain(first, blows),
  });
  const reasons = new Set(failures.map(({ attempt }) => reasonOf(attempt)));
  const begun = failures.map(({ attempt }) =>
    requests.find((one) => one.client === attempt.client && one.startMs >= attempt.sentMs),
  );
  const moments = [
    first.death && exitMoment(first.death),
    ...begun.map((request) => momentOf(request, 'a request that fails')),
  ].filter(Boolean);
  return {
    expected: 'No request fails, except those in the hands of a worker that the check has killed.',
    got: `${failures.length} of ${attemptsIn(scene).length} failed (${[...reasons].join(', ')}), the first ${whenOf(first, blows)}.`,
    ...{ why, try: repair },
    shows: { program, moments: moments.slice(0, MARKED) },
    output,
  };
}

/** Did its worker die while nothing was deployed? Then no limit of a drain can have ended it, however crowded the machine was. */
const isSlain = (/** @type {{ death?: any }} */ { death }, blows) =>
  death !== undefined && !isDeploy(blowAt(blows, death.t));

const reasonOf = (answer) => answer?.error ?? `status ${answer?.status}`;

/** On a crowded machine an answer may come after the limit of a drain, which then cuts it. */
const isLate = (
  /** @type {import('../../lib/observe/client.js').Answer} */ { limitMs, sentMs, doneMs },
) => limitMs !== undefined || doneMs - sentMs > LATE_MS;

/** "/invoice, 0.4 s after the begin of blow 3, a new version is deployed" */
function whenOf({ path, failedMs }, blows) {
  const blow = blowAt(blows, failedMs);
  if (!blow) return `${path}, before the first blow`;
  const seconds = ((failedMs - blow.fromMs) / 1_000).toFixed(1);
  return `${path}, ${seconds} s after the begin of ${asBlow(blows, blow)}`;
}

export function demandHealth(scene) {
  const { program, output } = scene;
  const { made, silent } = silentInvoicesIn(scene);
  const [one] = silent;
  demand(silent.length <= MOST_SILENT * made.length, {
    expected: '/health is answered at any time, also while an invoice is made.',
    got: `In ${silent.length} of ${made.length} invoices an event loop did not turn from begin to end (${Math.round(one?.endMs - one?.startMs)} ms): no client of that process was answered.`,
    why: 'The invoice was made, or waited for, on a thread that has requests to answer.',
    try: 'look at which process computes, and at whether the worker waits for it or is told',
    shows: {
      program,
      moments: silent.slice(0, MARKED).map((each) => momentOf(each, 'nothing else runs')),
    },
    output,
  });
}

export function demandEnd({ program, stop, output }) {
  const { fate, isAtRest, left, haveStayed, exits, forksAfter } = stop;
  const expected =
    'SIGTERM: the workers finish, silent connections are closed, no process stays, and the exit code is 0.';
  const story = { expected, output, shows: shown({ program, forks: forksAfter, exits }) };
  demand(forksAfter.length === 0, {
    ...story,
    got: `${plural(forksAfter.length, 'worker')} forked after SIGTERM.`,
    why: 'Something took the exit of a worker for a crash, or a timer was still running.',
    try: 'look at every place that forks: does it know that the server is stopping?',
  });
  demandInTime(fate, {
    isFinal: isAtRest,
    ...story,
    got: `${SECONDS} s after the last exit of a worker the server was still running.`,
    why: 'A process stays while it listens, has a connection, a child, an open channel or a timer.',
    try: 'look at what keeps it alive: a silent connection, a child of its pool, a timer',
  });
  demand(fate.code === 0, {
    ...story,
    got: `The primary exited (${howItEnded(fate)}).`,
    why:
      crashOfPrimary(program) ??
      "A stop on request isn't a failure, and whatever started the server reads its exit code.",
    try: 'let the primary exit by itself when its last worker has exited',
  });
  demandInTime(left.length === 0, {
    isFinal: haveStayed,
    ...story,
    got: `The server exited, and ${plural(left.length, 'process')} of it stayed: ${left.join(', ')}.`,
    why: 'A child whose parent is gone keeps running if something in it is still to come.',
    try: 'look at what a child does when its channel closes',
  });
}
