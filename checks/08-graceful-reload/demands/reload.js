/** What the check of lesson 8 demands of what it has seen, in the words that a learner reads. */
import { demand, eventsOf, exitsOf, forksOf, whyOfCrash } from '../../../lib/check/checking.js';
import {
  HEARD,
  LIMIT_MS,
  LOAD_PER_SECOND,
  PATIENCE_MS,
  TURNED,
  WORKERS,
  busy,
  fewestOf,
  haveTurned,
  isHung,
  isStarved,
  leftOf,
  mostOf,
  servingOf,
} from '../looks/reload.js';

export const SECONDS = PATIENCE_MS / 1_000;
const LEAST_OF_LIMIT = 0.8;

export const firstOf = (faults, facts) => faults.find(([isSo]) => isSo(facts)) ?? [];

/** What the primary threw, if it ended by that. */
export const whyOfPrimary = ({ events, pid }) =>
  whyOfCrash(events.filter((event) => event.pid === pid));

/** Something has not come in time: whose fault was it? */
export function demandCalm(program, fromMs, missing, pids = [], turns = TURNED) {
  const more = ' If it says so again, the program waits for something that never comes.';
  const isDeaf = pids.length > 0 && haveTurned(program, pids, fromMs, turns);
  if (!isDeaf && isStarved(program, fromMs)) throw busy(missing, more);
}

/** Somebody has not ended, or not come: the same. */
export function demandMoves(program, fromMs, missing) {
  if (!isHung(program, fromMs)) demandCalm(program, fromMs, missing);
}

/** A worker that threw shall be told of first: all else may come of that. */
export function demandUnbroken({ events, pid: primary }, { expected, output }) {
  const why = whyOfCrash(events.filter(({ pid }) => pid !== primary));
  const isSetTooLate = why?.includes('ERR_HTTP_HEADERS_SENT');
  demand(!why, {
    expected,
    got: 'A worker crashed.',
    why,
    try: isSetTooLate
      ? "if (!response.headersSent) response.setHeader('Connection', 'close'): the headers of an answer that has begun are sent"
      : 'look below for what it printed',
    output,
  });
}

export function demandPrimaryApart({ program: { pid }, loaders }) {
  demand(!loaders.includes(pid), {
    expected: 'Only the workers load app.js.',
    got: `Process ${pid}, the primary, has loaded it, too.`,
    why: 'The primary lives on through all reloads. What it loads once it keeps: the old code, with its timers and its database connections. And what it loads may end it.',
    try: "the primary imports neither './app.js' nor './worker.js'; the workers do, by await import('./worker.js')",
  });
}

const NOBODY_FORKED = `Nothing was forked, and its event loop has turned ${HEARD} times since.`;

/** [condition, got, why, try]: what is to be mended first in a reload. */
const RELOAD_FAULTS = [
  [
    ({ fate }) => fate,
    ({ fate }) => `The primary ended (${fate.signal ?? `exit code ${fate.code}`}).`,
    'SIGHUP ends a process that has no handler for it.',
    "process.on('SIGHUP', reload); in the primary",
  ],
  [
    ({ forks }) => forks === 0,
    () => NOBODY_FORKED,
    'Was the handler called? It belongs in the primary.',
    "process.on('SIGHUP', reload); in the primary",
  ],
  [
    ({ left }) => left.length > 0,
    ({ forks, left }) =>
      `${SECONDS} s later ${forks} had been forked, and of the old workers ${left.length} still ran: process ${left.join(', ')}.`,
    'An old worker goes on with the old code until it is told to leave.',
    "for each old worker, one after the other: fork, wait for 'listening', tell the old one to drain, wait for its 'exit'",
  ],
  [
    () => true,
    ({ serving }) =>
      `${SECONDS} s later ${serving} ${serving === 1 ? 'worker' : 'workers'} listened, and it was not done.`,
    'For each old worker that leaves a new one has to come.',
    "for each old worker: fork, wait for 'listening', tell the old one to drain, wait for its 'exit'",
  ],
];

export function demandRenewed(roll, expected, version) {
  const { program, fromMs, forks } = roll;
  const { got } = roll.isRenewed ? {} : storyOfRoll(roll);
  if (got && !roll.fate && forks === 0) demandCalm(program, fromMs, got, [program.pid], HEARD);
  if (got && !roll.fate && forks > 0) demandMoves(program, fromMs, got);
  demand(roll.isRenewed, { expected, ...storyOfRoll(roll), output: roll.output });
  const { versions = [] } = roll;
  const other = versions.find((each) => each !== version);
  demand(other === undefined, {
    expected: `When the old workers have ended, /version says "${version}".`,
    got: `It says "${other}".`,
    why: 'A process loads its code once. A new process loads what is there then.',
    try: 'fork each new worker after the signal, and let it load ./app.js itself',
    output: roll.output,
  });
}

function storyOfRoll({ program, old, fate, forks }) {
  const left = leftOf(program.events, old);
  const facts = { fate, forks, left, serving: servingOf(program.events).length };
  const [, got, why, repair] = firstOf(RELOAD_FAULTS, facts);
  return { got: got(facts), why: whyOfPrimary(program) ?? why, try: repair };
}

export function demandReload(roll) {
  demandRenewed(roll, 'After SIGHUP there is a new process in the place of each worker.', '2');
}

export function demandByMessage(roll) {
  const expected = "The message 'reload' does what SIGHUP does.";
  demand(!roll.isDeaf, {
    expected,
    got: NOBODY_FORKED,
    why: 'Where there are no signals, as on Windows, a process manager sends a message to the process that it has started.',
    try: "process.on('message', (message) => message === 'reload' && reload()); in the primary",
    output: roll.output,
  });
  demandRenewed(roll, expected);
}

export function demandCapacity(rolls) {
  for (const { program, first, last, old, serving, size = WORKERS, output } of rolls) {
    const fewest = fewestOf(program.events.slice(0, last), first);
    demand(fewest >= size, {
      expected: `At every moment of the reload at least ${size} ${size > 1 ? 'workers listen' : 'worker listens'}.`,
      got: `At one moment there ${fewest === 1 ? 'was 1' : `were ${fewest}`}.`,
      why: whyOfGap(program.events, first, old),
      try: "fork the new one, wait for its 'listening', and only then tell an old one to drain",
      output,
    });
    demand(serving === undefined || serving === size, {
      expected: `SIGHUP in the middle of a reload: in the end ${size} workers listen.`,
      got: `${SECONDS} s later ${serving} listened.`,
      why: 'Two reloads that run beside each other renew the same old workers twice.',
      try: 'remember that one is under way: begin the next when it is done, or leave it out and say so',
      output,
    });
    demandOneMore({ program, first, last, old, size, output });
  }
}

function demandOneMore({ program, first, last, old, size, output }) {
  const events = program.events.slice(0, last);
  const most = mostOf(events, first);
  const isTwice = forksOf(events.slice(first)).length > old.length;
  demand(most <= size + 1, {
    expected: `One worker after the other: in a reload there are at most ${size + 1}, the new one and the old ones.`,
    got: `At one moment there were ${most}.`,
    why: isTwice
      ? 'For one that left two came: the reload has forked one, and somebody else another. A worker that drains is no crash.'
      : 'The next new one was forked while an old one still worked. All at once need twice the memory, and the time of all CPUs.',
    try: isTwice
      ? "in an 'exit' handler fork only for a worker whose exitedAfterDisconnect is false, and never while it starts"
      : "await retire(old): a promise that resolves at the old one's 'exit'; then fork the next",
    output,
  });
}

/** What the first old worker did not wait for. */
function whyOfGap(events, first, old) {
  const news = events.slice(first);
  const gone = exitsOf(news).find(({ workerPid }) => old.includes(workerPid));
  const before = (kind) => eventsOf(news, kind).some(({ t }) => t < (gone?.t ?? Infinity));
  if (!before('fork')) return 'The old one had left before the new one was even forked.';
  if (!before('worker-listening'))
    return "'online' means that Node.js has started: the file has not run yet, nobody listens. A version may take seconds to boot.";
  return 'More than one old worker left for one that came.';
}

/** [condition, why, try]: how requests were lost in a reload. */
const LOSSES = [
  [
    ({ areUnread }) => areUnread,
    'A connection had just come to a worker, and was closed before its request was read. http.Server.close() does that since Node.js 26, and cluster.worker.disconnect() calls it.',
    'net.Server.prototype.close.call(server, () => cluster.worker.disconnect()) takes no new connection and leaves those that are there; for the idle ones server.closeIdleConnections(), some hundred ms later',
  ],
  [
    ({ exits }) => exits.some(({ signal }) => signal),
    'Old workers were ended by a signal, and what they had at hand with them.',
    'tell them to drain, and let them end by themselves; SIGKILL is for one that is still there after the limit',
  ],
  [
    ({ errors }) => errors.includes('ECONNREFUSED'),
    'For a moment nobody listened.',
    "fork the new one, wait for its 'listening', and only then tell an old one to drain",
  ],
  [
    ({ errors }) => errors.some((error) => error?.startsWith('no answer')),
    'The primary had just given a connection to a worker that then called process.exit(): nobody has it any more, and the client waits.',
    'cluster.worker.disconnect() instead of process.exit(): what the worker does not take goes to another',
  ],
  [
    () => true,
    'A worker that leaves has closed a connection on which it had begun to work.',
    'close only idle connections; the others say "Connection: close" with their answer',
  ],
];

export function demandNoneLost({ program, first, old, lost, sent, fromMs, output }) {
  const errors = [...new Set(lost.map(({ first: one, answer }) => answer.error ?? one.error))];
  const areSilent = errors.every((error) => error?.startsWith('no answer'));
  if (lost.length > 0 && areSilent)
    demandCalm(program, fromMs, `${lost.length} requests have no answer yet.`);
  const exits = exitsOf(program.events.slice(first)).filter(({ workerPid }) =>
    old.includes(workerPid),
  );
  const [, why, repair] = firstOf(LOSSES, { exits, errors, areUnread: areUnread(program, lost) });
  const paths = [...new Set(lost.map(({ path }) => path))].sort().join(' and ');
  const expected = `Under ${LOAD_PER_SECOND} requests per second a reload fails none.`;
  const got = `Of ${sent.length} requests ${lost.length} were lost (${errors.join(', ')}), to ${paths}.`;
  demand(lost.length === 0, { expected, got, why, try: repair, output });
}

/** Were these reset on fresh connections, on which no process has read a request? */
function areUnread({ events }, lost) {
  const seen = (what, { client, sentMs }) =>
    eventsOf(events, what).some((event) => event.client === client && event.t >= sentMs);
  return lost.every(
    ({ first }) =>
      first.error === 'ECONNRESET' && seen('connection', first) && !seen('request', first),
  );
}

export function demandLimit(held, { program, killed, stopped }) {
  demandCut(held);
  demandDeadLeftOut(program, killed, stopped);
}

function demandCut({ program, roll, fate, signalMs, firstCutMs, blocked, left, output }) {
  const goesOn = roll.isRenewed;
  const forever = `DRAIN_LIMIT_MS is ${LIMIT_MS}, and a response never ends.`;
  const repair =
    'in drain(): setTimeout(() => process.exit(1), limitMs).unref(); and in the primary SIGKILL, a little later, for a worker that does not even hear that';
  const old = leftOf(program.events, roll.old);
  const stillThere = `process ${old.join(', ')} still`;
  if (!goesOn && !roll.fate)
    demandMoves(program, roll.fromMs, `Of the old ones ${stillThere} runs.`);
  demandUnbroken(program, { expected: `${forever} Nobody crashes of that.`, output });
  demand(goesOn, {
    expected: `${forever} Its worker is ended after the limit, and the reload goes on.`,
    got: `${SECONDS} s later ${stillThere} ran.`,
    why: 'A download, a stream of events, a client that reads nothing: some response is always open.',
    try: repair,
    output,
  });
  const isBlockedLeft = blocked && left?.every((pid) => pid === blocked.pid);
  const alive = isBlockedLeft ? [program.pid] : [];
  if (!fate) demandCalm(program, signalMs, 'It still runs after SIGTERM.', alive);
  demand(fate || !isBlockedLeft, {
    expected: `DRAIN_LIMIT_MS is ${LIMIT_MS}, and a worker is blocked. After SIGTERM it gets SIGKILL, a little later than the limit.`,
    got: `${SECONDS} s later process ${blocked?.pid}, the blocked one, still ran, and so did the primary.`,
    why: 'A worker that is blocked hears no message and no signal, and runs no timer.',
    try: "in retire(): setTimeout(() => worker.process.kill('SIGKILL'), limitMs + 500).unref();",
    output,
  });
  demand(fate, {
    expected: `${forever} After SIGTERM the server ends, when the limit is reached.`,
    got: `${SECONDS} s later it still ran.`,
    why: 'Whoever stops the server waits, and in the end uses SIGKILL: systemd after 90 s, Docker after 10 s.',
    try: repair,
    output,
  });
  demand(firstCutMs >= LEAST_OF_LIMIT * LIMIT_MS, {
    expected: `${forever} After SIGTERM it has the whole limit.`,
    got: `It was cut after ${Math.round(firstCutMs)} ms.`,
    why: 'The limit is for those who need long. Whoever cuts them at once needs no drain.',
    try: 'process.exit(), closeAllConnections() and SIGKILL only in the timer of the limit',
    output,
  });
}

/** An old worker was killed in the middle of a reload: that one is done all the same, and the next is heard. */
function demandDeadLeftOut(program, killed, stopped) {
  const { workerPid, isDone, fate } = killed;
  const { fromMs, output } = stopped || killed;
  const left = leftOf(program.events, killed.old);
  const got = isDone
    ? 'The next SIGHUP has forked nobody'
    : `Of the old workers ${left.length} are still there`;
  if (!(isDone && stopped.isBegun) && !fate)
    demandCalm(program, fromMs, `${got}.`, isDone ? [program.pid] : [], HEARD);
  demand(isDone && stopped.isBegun, {
    expected: `Process ${workerPid}, an old worker, is killed in the middle of a reload: the others are renewed, and a later SIGHUP begins another reload.`,
    got: fate ? 'The primary ended.' : `${got}, ${SECONDS} s later.`,
    why:
      whyOfPrimary(program) ??
      "For a worker that has ended already no 'exit' will come. Whoever waits for it waits for ever, and the reload with it.",
    try: 'in retire(): if (worker.isDead()) return resolve(); before you wait',
    output,
  });
}

/** [condition, got, why, try]: what is to be mended first when a version cannot start. */
const BAD_FAULTS = [
  [
    ({ fate }) => fate,
    ({ fate }) => `The primary ended (${fate.signal ?? `exit code ${fate.code}`}).`,
    'What ends a worker need not end the primary.',
    'load app.js in the workers only',
  ],
  [
    ({ left, old }) => left.length < old.length,
    ({ left, old }) => `Of the ${old.length} old workers ${old.length - left.length} left.`,
    'Nobody has come in its place. An old worker may leave when a new one listens, not when it has merely ended.',
    "wait for 'listening' or 'exit', whichever comes first; after 'exit' leave the old ones alone",
  ],
  [
    ({ tries }) => tries > WORKERS,
    ({ tries }) => `${tries} workers were forked for it, one after the other.`,
    'The next try loads the same file. Somebody has to mend it first.',
    'log it, and end the reload',
  ],
  [
    ({ versions }) => versions.some((version) => version !== '1'),
    ({ versions }) => `/version says ${versions.join(', ')}.`,
    'The old workers should serve as before.',
    'leave the old ones alone',
  ],
  [
    ({ again }) => !again?.isRenewed,
    ({ again }) =>
      `When the file was mended, SIGHUP forked ${again?.forks ? 'workers, but the reload was not done' : 'nobody'}, ${SECONDS} s later.`,
    'The reload that failed is perhaps still under way for you: it waits for an event that never comes, or it has left by return or throw before it set its flag back.',
    "resolve in both cases, at 'listening' and at 'exit'; set back what you remember in a finally",
  ],
  [
    ({ later }) => later.some((version) => version !== '3'),
    ({ later }) => `When the file was mended, /version says ${later.join(', ')} after a reload.`,
    'A new process loads what is there then.',
    'fork each new worker after the signal',
  ],
];

export function demandBadStops(seen, { program, stopped }) {
  demandBadVersionStops(seen);
  if (stopped && stopped.isBegun) demandStopInReload(program, stopped);
}

/** The stop in the middle of a reload. */
function demandStopInReload(program, { fate, signalMs, isLate, left, output }) {
  const missing = 'SIGTERM in the middle of a reload: it still runs.';
  if (!fate) demandCalm(program, signalMs, missing, isLate ? [] : [program.pid, ...left]);
  if (!fate && isLate) return; // whoever forks that early has more than one worker too many, which is told elsewhere
  demand(fate, {
    expected: 'SIGTERM in the middle of a reload: all workers drain, no new one comes, it ends.',
    got: `${SECONDS} s later the primary still ran, and ${left.length} ${left.length === 1 ? 'worker' : 'workers'} served on.`,
    why: 'The stop has told those who were there. The reload went on when the old one had ended, and forked another, who was never told.',
    try: 'a variable isStopping, which stop() sets, and the reload looks at before each fork',
    output,
  });
  demand(fate.code === 0, {
    expected: 'SIGTERM in the middle of a reload: the exit code is 0.',
    got: `It ended with ${fate.signal ?? `exit code ${fate.code}`}.`,
    why:
      whyOfPrimary(program) ??
      'A worker that drains for the reload may be told to drain a second time.',
    try: 'if (isDraining) return; at the top of drain(), and the same stop as without a reload',
    output,
  });
}

function demandBadVersionStops(seen) {
  const { program, again, output } = seen;
  if (again && !again.isRenewed && !again.fate)
    demandCalm(
      program,
      again.fromMs,
      'After a version that could not start a good one was deployed; the reload to it is not done.',
      again.forks === 0 ? [program.pid] : [],
      HEARD,
    );
  if (!seen.fate && seen.failed === 0) demandTried(seen);
  const [isSo, got, why, repair] = firstOf(BAD_FAULTS, seen);
  demand(!isSo, {
    expected:
      'A version that throws as it starts: the reload stops, the old workers serve on, and a later reload brings a good one.',
    got: got?.(seen),
    why: (seen.fate && whyOfPrimary(program)) ?? why,
    try: repair,
    output,
  });
}

function demandTried({ program, tries, output }) {
  demand(tries > 0 && forksOf(program.events).length > 0, {
    expected: 'SIGHUP begins a reload, also the second time.',
    got: 'Nothing was forked.',
    why: 'What remembers that a reload is under way has to be set back when it is done.',
    try: 'isReloading = false; in a finally',
    output,
  });
}
