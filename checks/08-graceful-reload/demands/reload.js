/** What the check of lesson 8 demands of what it has seen, in the words that a learner reads. */
import { basename } from 'node:path';
import {
  demand,
  eventsOf,
  exitsOf,
  forksOf,
  haveTurned,
  momentOf,
  requestsOf,
  whyOfCrash,
} from '../../../lib/check/checking.js';
import {
  HEARD,
  LONG_LIMIT_MS,
  LOAD_PER_SECOND,
  PATIENCE_MS,
  STRAY,
  TURNED,
  WORKERS,
  busy,
  fewestOf,
  isHung,
  isStarved,
  leftOf,
  mostOf,
  servingOf,
} from '../looks/reload.js';
import { isWordless, loadersOf } from '../looks/words.js';

export const SECONDS = PATIENCE_MS / 1_000;

const MARKED = 6; // moments of a kind

export const shown = (program, seen, says) => ({
  program,
  moments: seen.slice(0, MARKED).map((one) => momentOf(one, says)),
});

/** The ends of processes, each in its own lane. */
export const endsShown = (program, exits) => ({
  program,
  moments: exits
    .slice(0, MARKED)
    .map(({ pid: own, workerPid: pid = own, t, signal, code }) =>
      momentOf({ pid, t }, signal ? `ended by ${signal}` : `ends with exit code ${code}`),
    ),
});

export const firstOf = (faults, facts) => faults.find(([isSo]) => isSo(facts)) ?? [];

/** What the primary threw, if it ended by that. */
export const whyOfPrimary = ({ events, pid }) =>
  whyOfCrash(events.filter((event) => event.pid === pid));

/** Something has not come in time: whose fault was it? */
export function demandCalm(program, fromMs, missing, pids = [], turns = TURNED) {
  const more = ' If it says so again, the program is waiting for something that never comes.';
  const isDeaf = pids.length > 0 && haveTurned(program.events, pids, turns, fromMs);
  if (!isDeaf && isStarved(program, fromMs)) throw busy(missing, more);
}

/** Something was seen that a busy machine can also cause. */
export function demandUndisturbed(program, fromMs, got) {
  if (isStarved(program, fromMs)) throw busy(got);
}

/** Something has not ended, or not come: the same. */
export function demandMoves(program, fromMs, missing) {
  if (!isHung(program, fromMs)) demandCalm(program, fromMs, missing);
}

/** What a worker threw, where, and what may help. @returns {{ why?: string, try?: string }} */
export function crashOfWorker({ events, pid: primary, options }) {
  const theirs = events.filter(({ pid }) => pid !== primary);
  const why = whyOfCrash(theirs);
  if (!why) return {};
  const { error } = eventsOf(theirs, 'crash')[0];
  const [, file, line] = /[/\\]copy-[\w-]+[/\\](\S+?):(\d+)/.exec(error) ?? [];
  const isSetTooLate = error.includes('ERR_HTTP_HEADERS_SENT');
  const inWorkersToo = `${file} runs in the workers too: what only the primary should do, its handlers for signals and messages, belongs inside if (cluster.isPrimary) { ... }`;
  return {
    why: file ? `${why} (${file}, line ${line})` : why,
    try: isSetTooLate
      ? "if (!response.headersSent) response.setHeader('Connection', 'close'): once an answer has begun its headers are sent"
      : file === basename(options.entry)
        ? inWorkersToo
        : 'look below for what it printed',
  };
}

/** A worker that threw is reported first: it may explain all the rest. */
export function demandUnbroken(program, { expected, output }) {
  const crash = crashOfWorker(program);
  const crashes = eventsOf(program.events, 'crash').filter(({ pid }) => pid !== program.pid);
  const shows = shown(program, crashes, 'throws');
  demand(!crash.why, { expected, got: 'A worker crashed.', ...crash, output, shows });
}

/** At its start, in a reload, before one: what three of its programs showed. */
export function demandPrimaryApart(...looks) {
  for (const { program, output } of looks) {
    const { pid } = program;
    const isLater = program !== looks[0].program;
    demand(!loadersOf(output).includes(pid), {
      expected: 'Only the workers load app.js.',
      got: `Process ${pid}, the primary, has loaded it too${isLater ? ', after SIGHUP' : ''}.`,
      why: 'The primary lives on through all reloads. Whatever it loads, it keeps: the old code, with its timers and its database connections. And what it loads may end it.',
      try: isLater
        ? "the new worker shows whether a version starts: wait for its 'listening' or its 'exit'"
        : "the primary imports neither './app.js' nor './worker.js'; the workers do, with await import('./worker.js')",
      output,
    });
  }
}

const NOBODY_FORKED = `Nothing was forked, and its event loop has turned ${HEARD} times since.`;

/** [condition, got, why, try]: what to fix first in a reload. */
const RELOAD_FAULTS = [
  [
    ({ fate }) => fate,
    ({ fate }) => `The primary ended (${fate.signal ?? `exit code ${fate.code}`}).`,
    'SIGHUP ends a process that has no handler for it.',
    "process.on('SIGHUP', reload); in the primary",
  ],
  [
    ({ forks, isNext }) => isNext && forks === 0,
    () => NOBODY_FORKED,
    'The previous reload left something behind: a variable that says it is under way, or a list of workers that have ended.',
    'process.on, not once; reset the variable in a finally; and list the workers when a reload begins: Object.values(cluster.workers)',
  ],
  [
    ({ left, isNext }) => isNext && left.length > 0,
    ({ forks, left }) =>
      `${SECONDS} s later ${forks} had been forked, and ${left.length} workers from the previous reload were still running: process ${left.join(', ')}.`,
    'Every worker running when a reload begins is old, whenever it came.',
    'for (const old of Object.values(cluster.workers)): the current list, not the one at startup',
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
      `${SECONDS} s later ${forks} had been forked, and ${left.length} old workers were still running: process ${left.join(', ')}.`,
    'An old worker goes on with the old code until it is told to leave.',
    "for each old worker, one after the other: fork, wait for 'listening', tell the old one to drain, wait for its 'exit'",
  ],
  [
    () => true,
    ({ forks, serving, old }) =>
      `All ${old.length} old workers have ended and ${forks} new ones were forked, but ${SECONDS} s later ${serving === 0 ? 'none' : `only ${serving}`} listened.`,
    'For each old worker that leaves, a new one has to come.',
    "for each old worker: fork, wait for 'listening', tell the old one to drain, wait for its 'exit'",
  ],
];

export function demandRenewed(roll, expected, version) {
  const { program, fromMs, forks } = roll;
  const { got } = roll.isRenewed ? {} : storyOfRoll(roll);
  if (got && !roll.fate && isDoneAtLast(roll))
    throw busy("The reload was done, but only after the check's time limit.");
  if (got && !roll.fate && forks === 0) demandCalm(program, fromMs, got, [program.pid], HEARD);
  if (got && !roll.fate && forks > 0) demandMoves(program, fromMs, got);
  const news = forksOf(program.events).filter(({ t }) => t >= fromMs);
  const shows = roll.fate
    ? shown(program, exitOf(program), 'the primary ends')
    : shown(program, news, 'a new one is forked');
  demand(roll.isRenewed, { expected, ...storyOfRoll(roll), output: roll.output, shows });
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

const exitOf = ({ events, pid }) => eventsOf(events, 'exit').filter((one) => one.pid === pid);

const isDoneAtLast = ({ program: { events }, old }) =>
  leftOf(events, old).length === 0 && servingOf(events).length >= old.length;

function storyOfRoll({ program, old, fate, forks, isNext }) {
  const left = leftOf(program.events, old);
  const facts = { fate, forks, left, old, isNext, serving: servingOf(program.events).length };
  const [, got, why, repair] = firstOf(RELOAD_FAULTS, facts);
  return { got: got(facts), why: whyOfPrimary(program) ?? why, try: repair };
}

export function demandReload(roll) {
  demandRenewed(roll, "After SIGHUP there is a new process in each worker's place.", '2');
  const expected = 'The same after another SIGHUP, when the first reload is done.';
  demandRenewed({ ...roll.next, isNext: true }, expected, '3');
}

export function demandByMessage(roll) {
  const expected = "The message 'reload' does what SIGHUP does.";
  if (roll.isDeaf) demandUndisturbed(roll.program, roll.fromMs, NOBODY_FORKED); // a message takes its time there
  demand(!roll.isDeaf, {
    expected: `${expected} '${STRAY[0]}', which is no order, has come just before it.`,
    got: NOBODY_FORKED,
    why: 'Where there are no signals, as on Windows, a process manager sends messages to the process that it started: this one, and others too.',
    try: "process.on('message', (message) => message === 'reload' && reload()); in the primary, with on, not once",
    output: roll.output,
  });
  demandRenewed(roll, expected);
  const { program, stopped, strayFate } = roll;
  const expectedOfStray = `The messages ${STRAY.map((one) => JSON.stringify(one)).join(', ')}, long after the reload, are no orders, and do no harm.`;
  demand(!strayFate, {
    expected: expectedOfStray,
    got: `The primary ended (${strayFate?.signal ?? `exit code ${strayFate?.code}`}).`,
    why:
      whyOfPrimary(program) ??
      'What starts your program may send it other messages, too, and a message may be any value.',
    try: "process.on('message', (message) => message === 'reload' && reload());",
    output: program.output(),
  });
  demand(!roll.isStrayHeard, {
    expected: expectedOfStray,
    got: 'Something was forked.',
    why: 'What starts your program may send it other messages, too. Each of them renewed all workers.',
    try: "process.on('message', (message) => message === 'reload' && reload());",
    output: roll.output,
  });
  if (!stopped || stopped.isBegun) return;
  demandUndisturbed(program, stopped.fromMs, NOBODY_FORKED);
  demand(false, {
    expected: "The message 'reload' comes again, long after the first reload: the same once more.",
    got: NOBODY_FORKED,
    why: 'It was heard only once. Whoever deploys the next version by message believes it is live.',
    try: "process.on('message', ...): on, not once, and no off()",
    output: roll.output,
  });
}

export function demandCapacity(underLoad, byMessage, broken, slowVersion) {
  for (const roll of [underLoad, byMessage]) demandCapacityOf(roll);
  demandTurns(underLoad);
  demandOneMore({ ...slowVersion, size: WORKERS });
  demandWord(byMessage, underLoad.output);
  demandPlaceFilled(broken);
}

function demandCapacityOf({ program, first, last, old, serving, size = WORKERS, output }) {
  const fewest = fewestOf(program.events.slice(0, last), first);
  demand(fewest >= size, {
    expected: `At every moment of the reload at least ${size} ${size > 1 ? 'workers listen' : 'worker listens'}.`,
    got: `At one moment there ${fewest === 1 ? 'was 1' : `were ${fewest}`}.`,
    why: whyOfGap(program.events, first, old),
    shows: endsShown(
      program,
      exitsOf(program.events.slice(first)).filter(({ workerPid }) => old.includes(workerPid)),
    ),
    try: "fork the new one, wait for its 'listening', and only then tell an old one to drain",
    output,
  });
  demand(serving === undefined || serving === size, {
    expected: `SIGHUP in the middle of a reload: in the end ${size} workers listen.`,
    got: `${SECONDS} s later ${serving} listened.`,
    why: 'Two reloads at the same time renew the same old workers twice.',
    try: 'remember that one is under way: begin the next when it is done, or skip it and say so',
    output,
  });
  demandOneMore({ program, first, last, old, size, output });
}

/**
 * A worker that says "Connection: close" is leaving. Before the first new one listens none may, before the second one only one,
 * and so on: clients that keep their connections see it.
 */
function demandTurns({ program, first, old, sent, output }) {
  const ups = eventsOf(program.events.slice(first), 'listening').filter(
    ({ pid, port }) => port === program.port && !old.includes(pid),
  );
  const requests = requestsOf(program.events);
  const goodbyes = sent.flatMap(({ isKept, first: answer }) => {
    if (!isKept || !/close/i.test(answer.headers.connection ?? '')) return [];
    const isIt = ({ client, startMs }) => client === answer.client && startMs >= answer.sentMs;
    const { pid, startMs, endMs } = requests.find(isIt) ?? {};
    return endMs && old.includes(pid) ? [{ pid, t: startMs, endMs }] : [];
  });
  const leavingAt = (t) => new Set(goodbyes.filter(({ endMs }) => endMs < t).map(({ pid }) => pid));
  const count = ups.findIndex(({ t }, index) => leavingAt(t).size > index);
  const early = count < 0 ? [] : goodbyes.filter(({ endMs }) => endMs < ups[count].t);
  demand(early.length === 0, {
    expected:
      'One worker after the other: an old one says "Connection: close" when a new one listens in its place, not before.',
    got: `When ${count === 0 ? 'no new one' : `only ${count} of the new ones`} listened yet, ${leavingAt(ups[count]?.t).size} of the old ones had said it.`,
    why: "Their turn had not come: clients keep their connections, and a worker that sends them away serves less than it could. Perhaps all were told when the order came, or the reload took somebody else's 'listening' for the new one's: an old worker had just begun to listen on another port, too.",
    try: "worker.on('listening', ...) on the one that you have just forked, not cluster.on; only then tell one old worker to drain",
    shows: shown(program, early, 'says "Connection: close"'),
    output,
  });
}

/** A program that skips a second order says so. */
function demandWord({ said, output }, undisturbed) {
  demand(said === undefined || !isWordless(said, undisturbed), {
    expected:
      'SIGHUP in the middle of a reload: another reload afterwards, or a message that there is none.',
    got: 'There was no second reload, and nothing was printed.',
    why: 'The person who gave the order has deployed another version, and believes it is live.',
    try: "console.error('a reload is under way: skipped'), or begin the next when this one is done",
    output,
  });
}

/** In words, who was killed in the middle of a reload. */
export const deathsIn = ({ victims, old }) =>
  `Processes ${victims.join(' and ')}, two of ${old.length} old workers, are killed in a reload while the first new one boots`;

/** Old workers were killed, one before its turn and one in it: new ones take their places. */
function demandPlaceFilled({ program, killed }) {
  const { isDone, isStuck, fate, serving, old, fromMs, output } = killed;
  if (!isDone || fate) return; // that is reported with the limit
  const got = `When the reload was done, ${serving === 1 ? '1 worker' : `${serving} workers`} listened.`;
  if (serving < old.length && !isStuck) demandCalm(program, fromMs, got);
  demand(serving >= old.length, {
    expected: `${deathsIn(killed)}: when that is done, ${old.length} new ones listen.`,
    got,
    why: 'Its place stays empty: a dead worker needs no goodbye, but something has to take its place all the same.',
    try: 'fork a new one for each old one, even for one that isDead(), and only then check whether there is anything to retire',
    output,
  });
  demand(serving === old.length, {
    expected: `${deathsIn(killed)}: when that is done, ${old.length} new ones listen.`,
    got,
    why: 'Its place was filled twice: something replaced it when it died, and the reload forked for it, too.',
    try: 'let one of the two do it: what replaces the dead, or the reload, for a worker that isDead() when its turn comes',
    output,
  });
}

function demandOneMore({ program, first, last, old, size, output }) {
  const events = program.events.slice(0, last);
  const most = mostOf(events, first);
  const isTwice = forksOf(events.slice(first)).length > old.length;
  demand(most <= size + 1, {
    expected: `One worker after the other: in a reload there are at most ${size + 1}, the new one and the old ones.`,
    got: `At one moment there were ${most}.`,
    why: isTwice
      ? "Two came for one that left: the reload forked one, and something else another. A worker that drains isn't a crash."
      : 'The next new one was forked while an old one was still working. All at once need twice the memory, and every CPU.',
    try: isTwice
      ? "in an 'exit' handler fork only for a worker whose exitedAfterDisconnect is false, and never while it starts"
      : "await retire(old): a promise that resolves at the old one's 'exit'; then fork the next",
    shows: shown(program, forksOf(events.slice(first)), 'a new one is forked'),
    output,
  });
}

/** What the first old worker did not wait for. */
function whyOfGap(events, first, old) {
  const news = events.slice(first);
  const gone = exitsOf(news).find(({ workerPid }) => old.includes(workerPid));
  const before = (kind) => eventsOf(news, kind).filter(({ t }) => t < (gone?.t ?? Infinity));
  if (before('fork').length === 0)
    return 'The old one had left before the new one was even forked.';
  const ups = before('worker-listening').map(({ workerPid }) => old.includes(workerPid));
  if (ups.length > 0 && ups.every(Boolean))
    return "An old worker had just begun to listen on another port, too, and that was taken for the new one's 'listening'. worker.on('listening', ...) hears only that of its own worker, cluster.on those of all.";
  if (ups.length === 0)
    return "'online' means that Node.js has started: the file has not run yet, so nothing listens. A version may take seconds to boot.";
  return 'More than one old worker left for one that came.';
}

/** [condition, why, try]: how requests were lost in a reload. */
const LOSSES = [
  [
    ({ refusals }) => refusals.length > 0,
    'They were answered, but not served. A worker that leaves still serves requests on existing connections; "Connection: close" says that it was the last time.',
    'while draining hand every request to the application as before, and only set the header',
  ],
  [
    ({ areUnread }) => areUnread,
    'A connection had just come to a worker, and was closed before its request was read. http.Server.close() does that since Node.js 26, and cluster.worker.disconnect() calls it.',
    'net.Server.prototype.close.call(server, () => cluster.worker.disconnect()) takes no new connections and leaves the existing ones; for the idle ones server.closeIdleConnections(), a few hundred ms later',
  ],
  [
    ({ exits }) => exits.some(({ signal }) => signal),
    'Old workers were killed by a signal, and so was whatever they were doing.',
    'tell them to drain, and let them end on their own; SIGKILL is for one that is still there after the limit',
  ],
  [
    ({ errors }) => errors.includes('ECONNREFUSED'),
    'For a moment nobody listened.',
    "fork the new one, wait for its 'listening', and only then tell an old one to drain",
  ],
  [
    ({ errors }) => errors.some((error) => error?.startsWith('no answer')),
    'The primary had just given a connection to a worker that then called process.exit(): now nobody has it, and the client waits.',
    'cluster.worker.disconnect() instead of process.exit(): what the worker does not take goes to another',
  ],
  [
    () => true,
    'A worker that leaves has closed a connection on which it had begun to work.',
    'close only idle connections; the others say "Connection: close" with their answer',
  ],
];

export function demandNoneLost({ program, first, old, lost, sent, fromMs, output }) {
  const refusals = lost.filter(({ answer }) => !answer.error && answer.status !== 200);
  const errors = [...new Set(lost.map(errorOf))];
  const areSilent = errors.every((error) => error?.startsWith('no answer'));
  if (lost.length > 0 && areSilent)
    demandCalm(program, fromMs, `${lost.length} requests have no answer yet.`);
  const exits = exitsOf(program.events.slice(first)).filter(({ workerPid }) =>
    old.includes(workerPid),
  );
  const [, why, repair] = firstOf(LOSSES, {
    ...{ exits, errors, refusals, areUnread: areUnread(program, lost) },
  });
  const paths = [...new Set(lost.map(({ path }) => path))].sort().join(' and ');
  const expected = `Under ${LOAD_PER_SECOND} requests per second a reload loses none.`;
  const got = `Of ${sent.length} requests ${lost.length} were lost (${errors.join(', ')}), to ${paths}.`;
  const isAtLimit = exits.some(({ t, code }) => code !== 0 && t - fromMs > LONG_LIMIT_MS);
  if (lost.length > 0 && isAtLimit) throw busy(got); // it had so little of the machine that its limit ran out
  const theirs = requestsOf(program.events).filter(({ client, startMs }) =>
    lost.some((one) => one.first.client === client && startMs >= one.first.sentMs),
  );
  const shows = shown(program, theirs, 'a request that is lost');
  demand(lost.length === 0, { expected, got, why, try: repair, output, shows });
}

/** In words, what became of a request that was lost. */
const errorOf = ({ first, answer }) =>
  answer.error ?? (answer.status === 200 ? first.error : `answered with ${answer.status}`);

/** Were these reset on fresh connections, on which no process has read a request? */
function areUnread({ events }, lost) {
  const seen = (what, { client, sentMs }) =>
    eventsOf(events, what).some((event) => event.client === client && event.t >= sentMs);
  return lost.every(
    ({ first }) =>
      first.error === 'ECONNRESET' && seen('connection', first) && !seen('request', first),
  );
}
