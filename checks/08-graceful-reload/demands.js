/** Lesson 8: judges what looks.js saw, in the sentences that a learner reads. */
import {
  demand,
  demandInTime,
  eventsOf,
  exitMoment,
  fewestServing,
  firstOf,
  forkMoment,
  hasListened,
  howItEnded,
  momentOf,
  primaryExitMoment,
  requestsOf,
  describeCrash,
} from '../../lib/check/checking.js';
import { ASK_EVERY_MS, LIMIT_MS, LOAD_PER_SECOND, WORKERS } from './looks.js';

const SECONDS = 3; // without any fork or exit
const MARKED = 6; // moments of a kind in the X-ray
const ENOUGH = 0.8; // of the limit, because two processes measure it

const shown = (program, seen, says) => ({
  program,
  moments: seen.slice(0, MARKED).map((one) => momentOf(one, says)),
});

const exitsShown = (program, exits) => ({
  program,
  moments: [...exits.slice(0, MARKED).map(exitMoment), primaryExitMoment(program)],
});

/** A worker's crash may explain everything else. */
function demandUnbroken({ program, events, output }, expected) {
  const theirs = events.filter(({ pid }) => pid !== program.pid);
  const crashes = eventsOf(theirs, 'crash');
  const why = describeCrash(theirs);
  demand(crashes.length === 0, {
    expected,
    got: 'A worker crashed.',
    why,
    try: why?.includes('ERR_HTTP_HEADERS_SENT')
      ? 'look at where the header is set: once a response has begun, its headers are on their way'
      : 'look at what it printed',
    shows: shown(program, crashes, 'throws'),
    output,
  });
}

const DRAINS = 'It answers the requests in flight, then exits with exit code 0.';

/** Without a worker: a primary that has loaded worker.js occupies the port itself. */
function demandServes({ program, pid, output }) {
  const crashes = eventsOf(program.events, 'crash');
  const why = describeCrash(crashes);
  (why ? demand : demandInTime)(pid !== undefined, {
    expected: 'The workers listen; the primary serves nothing.',
    got: 'No worker listens.',
    why: why?.includes('EADDRINUSE')
      ? 'The primary has the port: whatever server.js imports at its top runs in the primary, too.'
      : why,
    try: 'look at what the primary imports, and when',
    shows: shown(program, crashes, 'throws'),
    output,
  });
}

export function demandOneDrains(stop) {
  const { program, how, pid, exits, lost, of, output } = stop;
  demandServes(stop);
  demandUnbroken(stop, DRAINS);
  const exit = exits.find(({ workerPid }) => workerPid === pid);
  const story = { expected: `${how}: ${DRAINS.replace('It', 'it')}`, output };
  const shows = exitsShown(program, exits);
  demand(exit?.signal !== 'SIGTERM', {
    ...story,
    got: `SIGTERM killed it; ${lost.length} of ${of} requests were lost.`,
    why: 'A process without a handler dies of this signal at once, along with everything in flight.',
    try: 'look in worker.js at what SIGTERM does',
    shows,
  });
  demandInTime(exit, { ...story, ...storyOfHeld(program, pid), shows });
  demand(lost.length === 0, {
    ...story,
    got: `It exited (${howItEnded(exit)}), and ${lost.length} of ${of} requests were lost.`,
    why: 'A process that calls process.exit() answers nothing more, and closeAllConnections() cuts the busy ones too.',
    try: 'look at how a worker ends: what must be closed before it disconnects?',
    shows,
  });
  demand(exit.code === 0, {
    ...story,
    got: `It exited (${howItEnded(exit)}).`,
    why: 'An exit code other than 0 says that something was cut. If every worker exits with it, it says nothing.',
    try: 'look at what ends a worker: is it done by then, or at its limit?',
    shows,
  });
}

/** Why an idle worker doesn't exit: a timer, or its channel. */
function storyOfHeld({ events }, pid) {
  const timers = eventsOf(events, 'beat').findLast(
    (one) => one.pid === pid && 'timers' in one,
  )?.timers;
  const isConnected = !eventsOf(events, 'disconnect').some(({ workerPid }) => workerPid === pid);
  return timers > 0
    ? {
        got: `${SECONDS} s after its last answer it was still running: it has a timer.`,
        why: 'A timer keeps a process alive until it fires. This one then ends a worker that has answered everything.',
        try: 'look at the timer of the limit: does it keep the worker alive?',
      }
    : {
        got: `${SECONDS} s after its last answer it was still running.`,
        why: isConnected
          ? 'Its channel to the primary is open, and keeps it alive: disconnect() was not called, or waits for a server or connection that never closes.'
          : 'Its channel to the primary is closed, so something else keeps it alive, such as a connection.',
        try: 'look at what closes the channel, and what that waits for',
      };
}

export function demandAllDrain(stop) {
  const { program, how, fate, isAtRest, exits, lost, of, output } = stop;
  const expected =
    'Ctrl-C: the workers answer the requests in flight, all exit, and the exit code is 0.';
  demandUnbroken(stop, expected);
  const story = { expected, output, shows: exitsShown(program, exits) };
  const killed = exits.filter(({ signal }) => signal === 'SIGINT');
  demand(!killed.some(({ workerPid }) => hasListened(program.events, workerPid)), {
    ...story,
    got: `SIGINT killed the workers; ${lost.length} of ${of} requests were lost.`,
    why: 'Ctrl-C sends SIGINT to every process in the foreground, including the workers.',
    try: 'look in worker.js at what SIGINT does: the primary decides what Ctrl-C means',
  });
  demandInTime(fate, {
    isFinal: isAtRest,
    ...story,
    got: `${SECONDS} s after the last fork or exit of a worker, the primary was still running.`,
    why: 'The primary exits when its last worker has exited, unless something keeps it alive.',
    try: 'let each worker exit by itself, and fork nothing when the server is stopping',
  });
  demand(lost.length === 0, {
    ...story,
    got: `${lost.length} of ${of} requests in flight were lost (${lost[0]?.error ?? lost[0]?.status}).`,
    why: 'A process that is killed, or calls process.exit(), answers nothing more.',
    try: 'look at which process acts on SIGINT: a worker, or the primary?',
  });
  demandExitCode({ ...stop, expected, how });
}

export function demandNothingCut(stop) {
  const { program, how, lost, of, exits, fate, output } = stop;
  const expected = `${how} to the primary: the workers answer the requests in flight, and the exit code is 0.`;
  demandUnbroken(stop, expected);
  demand(lost.length === 0, {
    expected,
    got: `${lost.length} of ${of} clients with a request in flight got no answer (${lost[0]?.error ?? lost[0]?.status}).`,
    why: 'Their connections are kept ones: a worker has closed them although they were busy.',
    try: 'look at which of your calls also cuts busy connections',
    shows: exitsShown(program, exits),
    output,
  });
  if (fate) demandExitCode({ ...stop, expected });
}

function demandExitCode({ program, how, expected, fate, exits, output }) {
  demand(fate.code === 0, {
    expected,
    got: `${how}: the primary exited (${howItEnded(fate)}).`,
    why: "A stop on request isn't a failure, and whatever started the server reads its exit code.",
    try: 'let the primary exit by itself when its last worker has exited',
    shows: exitsShown(program, exits),
    output,
  });
}

const GOODBYE =
  'After SIGTERM each response says "Connection: close", idle connections are closed soon, and the server exits.';

export function demandClientsLetGo(stop) {
  const { program, unsaid, cut, isIdleHeld, fate, exits, output } = stop;
  const [old, later] = [unsaid.filter(({ isOld }) => isOld), unsaid.filter(({ isOld }) => !isOld)];
  const story = { expected: GOODBYE, output };
  demand(later.length === 0, {
    ...story,
    got: `A client asked ${later[0]?.url} on its old connection, and process ${later[0]?.pid} answered as if nothing had happened, although it was draining.`,
    why: 'The header was not set, or only after the application had answered. Such a client asks again and again, and its worker never has a moment without it. close() and disconnect() only turn away new connections.',
    try: 'look at requests that arrive while it drains: is the header set before the application answers?',
    shows: shown(program, later, 'says nothing'),
  });
  demand(old.length === 0, {
    ...story,
    got: `A response was in flight at the signal, and process ${old[0]?.pid} sent it later without "Connection: close".`,
    why: 'Its client will ask once more on a connection that is about to close.',
    try: 'look at the responses that are in flight when it begins to drain: the Set holds them',
    shows: shown(program, old, 'says nothing'),
  });
  demandInTime(cut.length === 0, {
    ...story,
    got: `A client that asks every ${ASK_EVERY_MS} ms lost its connection between two requests. No response on it had said "Connection: close".`,
    why: 'Its next request may be on its way at that very moment, and is reset.',
    try: 'look at what closes idle connections in the first 300 ms: a client may be about to use one',
  });
  demandInTime(fate || !isIdleHeld, {
    ...story,
    got: `${SECONDS} s later an unused connection was still open, and so the server was still running.`,
    why: 'A client may keep its connection for minutes, and the worker stays until it is closed.',
    try: 'look at connections that become idle later: what closes them?',
  });
  demandInTime(fate, {
    ...story,
    got: `All clients had left, and ${SECONDS} s later the server was still running.`,
    why: 'A worker exits by itself when its last connection and its channel to the primary are closed.',
    try: 'look at what happens when the last connection is closed',
    shows: exitsShown(program, exits),
  });
}

/** What to fix first in a reload: the first condition that is met. */
const RELOAD_FAULTS = [
  [
    ({ forks, isSecond }) => forks.length === 0 && isSecond,
    () => 'Nothing was forked.',
    'The reload that failed has left something behind: it still waits for its worker, which has exited and will never listen, or a flag is still set.',
    'look at how a reload ends when its new worker exits',
  ],
  [
    ({ forks }) => forks.length === 0,
    () => 'Nothing was forked.',
    'The handler for SIGHUP belongs in the primary, and is to fork.',
    'look at what SIGHUP does in the primary',
  ],
  [
    ({ left }) => left.length > 0,
    ({ forks, left }) =>
      `${forks.length === 1 ? '1 worker was' : `${forks.length} workers were`} forked; of the old ones ${left.length} ${left.length === 1 ? 'was' : 'were'} still running ${SECONDS} s later: process ${left.join(', ')}.`,
    'An old worker keeps running the old code until it gets SIGTERM. Every worker that is running when SIGHUP arrives is an old one.',
    'look at which workers the reload goes through, and what it does with each',
  ],
  [
    () => true,
    ({ old, serving }) =>
      `All ${old.length} old workers have exited, but ${SECONDS} s later ${serving.length === 0 ? 'none' : `only ${serving.length}`} listened.`,
    'For each old worker that leaves, a new one must come.',
    'look at what the reload does for each old worker: does a new one come?',
  ],
];

function demandRenewed(roll, { version, versions, expected, output = roll.output }) {
  const { program, fate, isDone, forks } = roll;
  demand(!fate, {
    expected,
    got: `The primary exited (${howItEnded(fate ?? {})}).`,
    why:
      describeCrash(program.events.filter(({ pid }) => pid === program.pid)) ??
      'SIGHUP ends a process that has no handler for it.',
    try: 'look at what SIGHUP does in the primary, also the second time',
    shows: exitsShown(program, []),
    output,
  });
  const [, got, why, repair] = firstOf(RELOAD_FAULTS, roll);
  demandInTime(isDone, {
    expected,
    got: got(roll),
    why,
    try: repair,
    shows: { program, moments: forks.slice(0, MARKED).map((fork) => forkMoment(fork, 'forked')) },
    output,
  });
  const other = versions.find((each) => each !== version);
  demand(other === undefined, {
    expected: `After the reload /version says "${version}".`,
    got: `It says "${other}".`,
    why: 'A process loads its code once. A new process loads whatever is there at that moment.',
    try: 'look at when the new workers are forked, and which process loads app.js',
    output,
  });
}

export const demandReload = (roll) =>
  demandRenewed(roll, {
    ...{ version: '2', versions: roll.versions },
    expected: "After SIGHUP there is a new process in each worker's place.",
  });

export function demandPrimaryApart(...looks) {
  for (const { program, output } of looks) {
    const loaders = [...output.matchAll(/is loaded by process (\d+)/g)].map(([, pid]) =>
      Number(pid),
    );
    demand(!loaders.includes(program.pid), {
      expected: 'Only the workers load app.js.',
      got: `Process ${program.pid}, the primary, has loaded it too.`,
      why: 'The primary outlives every version. Whatever it loads stays: old code, with its timers and its database connections.',
      try: 'look at what the primary imports, also in a reload',
      output,
    });
  }
}

/** The highest number of workers, including starting and draining ones. */
function mostAlive(events, first) {
  const alive = new Set();
  let most = 0;
  for (const [index, { what, workerPid }] of events.entries()) {
    if (what === 'fork') alive.add(workerPid);
    else if (what === 'worker-exit') alive.delete(workerPid);
    if (index >= first) most = Math.max(most, alive.size);
  }
  return most;
}

/** Never fewer workers than before, and at most one more. */
export function demandCapacity({ program, first, last, old, forks, exits, sent, output }) {
  const events = program.events.slice(0, last);
  const fewest = fewestServing(events, first);
  const [gone] = exits;
  const isForked = forks.some(({ t }) => t < gone?.t);
  demand(fewest >= WORKERS, {
    expected: `At every moment of the reload at least ${WORKERS} workers listen.`,
    got: `At one moment there ${fewest === 1 ? 'was 1' : `were ${fewest}`}.`,
    why: isForked
      ? 'An old worker left before the new one listened, or several left for one new worker.'
      : 'An old worker had left before the new one was even forked.',
    try: 'look at the order: which comes first, the new worker or the end of the old one?',
    shows: exitsShown(
      program,
      exits.filter(({ workerPid }) => old.includes(workerPid)),
    ),
    output,
  });
  demandTurn({ program, first, old, sent, output });
  const most = mostAlive(events, first);
  const isTwice = forks.length > old.length;
  demand(most <= WORKERS + 1, {
    expected: `One after the other: in a reload of ${WORKERS} workers there are at most ${WORKERS + 1} at a time.`,
    got: `At one moment there were ${most}.`,
    why: isTwice
      ? 'Two workers were forked for one exit: one by the reload, one by something else.'
      : 'The next worker was forked while an old one was still finishing. All at once need twice the memory.',
    try: isTwice
      ? 'look for every place that forks: which of them runs when an old worker exits?'
      : 'look at when the next worker is forked: has the old one exited?',
    shows: { program, moments: forks.slice(0, MARKED).map((fork) => forkMoment(fork, 'forked')) },
    output,
  });
}

/** An old worker that drains before a new one listens counts as missing, though it still listens. */
function demandTurn({ program, first, old, sent, output }) {
  const requests = requestsOf(program.events);
  const upMs = eventsOf(program.events.slice(first), 'worker-listening')[0]?.t;
  const early = sent.flatMap(({ isKept, first: { client, sentMs, headers } }) => {
    if (!isKept || !/close/i.test(headers.connection ?? '')) return [];
    const request = requests.find((one) => one.client === client && one.startMs >= sentMs);
    const { pid, endMs = Infinity } = request ?? {};
    return old.includes(pid) && endMs < upMs ? [request] : [];
  });
  demand(early.length === 0, {
    expected:
      'An old worker says "Connection: close" when a new one listens in its place, not before.',
    got: `Process ${early[0]?.pid}, an old worker, said it before any new one listened.`,
    why: "'online' only means that Node.js has started; the file has not run yet. A version may take seconds to boot, or never listen at all.",
    try: 'look at which event lets an old worker go, and of which worker it is',
    shows: shown(program, early, 'says "Connection: close"'),
    output,
  });
}

/** How a reload lost requests: the first condition that is met. */
const LOSSES = [
  [
    ({ statuses }) => statuses.length > 0,
    'They were answered, but not served. A draining worker still serves requests on its open connections; "Connection: close" says that it was the last time.',
    'look at what a draining worker does with a request',
  ],
  [
    ({ killed }) => killed,
    'Old workers were killed by a signal, and with them whatever they were doing.',
    'look at how an old worker leaves: retire() is given',
  ],
  [
    ({ errors }) => errors.includes('ECONNREFUSED'),
    'For a moment no worker listened.',
    'look at the order: which comes first, the new worker or the end of the old one?',
  ],
  [
    ({ isBegun }) => !isBegun,
    'No worker had begun them: they came when none took new connections, or reached a worker as it exited.',
    'look at the order: which comes first, the new worker or the end of the old one?',
  ],
  [
    ({ isSilent }) => isSilent,
    'A worker had begun them, and no answer came.',
    'look at what a draining worker does with a request',
  ],
  [
    () => true,
    'A worker closed a connection although it had begun a request on it, or exited too early.',
    'look at which connections are closed, and what ends the worker',
  ],
];

/** On a crowded machine a client may ask so late that its connection is just being closed: only other losses are certain. */
export function demandNoneLost({ program, old, exits, lost, sent, output }) {
  const statuses = lost.filter(({ answer }) => !answer.error && answer.status !== 200);
  const errors = [
    ...new Set(
      lost.map(({ first, answer }) => answer.error ?? first.error ?? `status ${answer.status}`),
    ),
  ];
  const killed = exits.some(({ workerPid, signal }) => signal && old.includes(workerPid));
  const theirs = requestsOf(program.events).filter(({ client, startMs }) =>
    lost.some(({ first }) => first.client === client && startMs >= first.sentMs),
  );
  const isBegun = theirs.length > 0;
  const isSilent = lost.every(({ answer }) => answer.limitMs !== undefined);
  const [, why, repair] = firstOf(LOSSES, { statuses, killed, errors, isBegun, isSilent });
  const isCertain = statuses.length > 0 || errors.includes('ECONNREFUSED');
  (isCertain ? demand : demandInTime)(lost.length === 0, {
    expected: `Under ${LOAD_PER_SECOND} requests per second a reload loses none.`,
    got: `${lost.length} of ${sent.length} requests were lost (${errors.join(', ')}).`,
    why,
    try: repair,
    shows: shown(program, theirs, 'a request that is lost'),
    output,
  });
}

const ENDLESS = `DRAIN_LIMIT_MS is ${LIMIT_MS}, and a response never ends. Its worker gets SIGTERM, and exits at the limit`;
const OWN_LIMIT = 'look at the limit: what ends the worker, and how long after the signal?';

export function demandLimit(held) {
  const { program, exits, isDone, cutAfterMs, output } = held;
  const shows = exitsShown(program, exits);
  demandUnbroken(held, `${ENDLESS}.`);
  demandInTime(isDone, {
    expected: `${ENDLESS}.`,
    got: `${SECONDS} s later it was still running.`,
    why: 'A download, a stream of events: some response is always open. The primary has a timer for the workers that it retires; it knows nothing of a signal sent to one worker.',
    try: OWN_LIMIT,
    output,
  });
  demand(cutAfterMs >= ENOUGH * LIMIT_MS, {
    expected: `${ENDLESS}, and not before.`,
    got: `Its client was cut after ${Math.round(cutAfterMs)} ms.`,
    why: "The limit is for slow clients. If you cut them sooner, you don't need a drain.",
    try: OWN_LIMIT,
    shows,
    output,
  });
}

/** What to fix first if a version can't start: the first condition that is met. */
const BAD_FAULTS = [
  [
    ({ left }) => left.length > 0,
    ({ old, left }) => `${left.length} of the ${old.length} old workers exited.`,
    'Nothing had come in its place. An old worker may leave when a new one listens, not when the new one has merely exited.',
    'look at which event of the new worker lets an old one go',
  ],
  [
    ({ isDone }) => isDone,
    ({ forks }) => `When the first new one had exited, another was forked: ${forks.length} in all.`,
    'The next worker loads the same file. Someone must fix that first.',
    'look at what the reload does when a new worker has exited',
  ],
  [
    ({ versions }) => versions.some((version) => version !== '2'),
    ({ versions }) => `/version says ${versions.join(', ')}.`,
    'The old workers should serve as before.',
    'look at what becomes of the old ones then',
  ],
];

export function demandBadVersionStops(bad) {
  const { program, fate, again, later, crashes, forks, output } = bad;
  const expected = 'A version that throws as it starts stops the reload, and the old workers stay.';
  const shows = shown(program, crashes, 'throws');
  demand(!fate, {
    expected,
    got: `The primary exited (${howItEnded(fate ?? {})}).`,
    why:
      describeCrash(program.events.filter(({ pid }) => pid === program.pid)) ??
      'The exit of a worker need not be the end of the primary.',
    try: 'look at what the reload does when a new worker exits before it listens',
    shows,
    output,
  });
  demandInTime(forks.length > 0, {
    expected: 'The second SIGHUP begins a reload too.',
    got: 'Nothing was forked.',
    why: 'Something was left behind by the first reload: a handler that is gone, a flag that is still set, or a list of workers that have exited.',
    try: 'look at the second SIGHUP: is it heard, and which workers does it renew?',
    output,
  });
  const [isSo, got, why, repair] = firstOf(BAD_FAULTS, bad);
  demand(!isSo, { expected, got: got?.(bad), why, try: repair, shows, output });
  demandRenewed(
    { ...again, isSecond: true },
    {
      ...{ version: '4', versions: later, output },
      expected: 'After that a good version is deployed, and SIGHUP brings it.',
    },
  );
}
