/** What lesson 5 demands of what was seen, in the order of its promises. */
import { stripVTControlCharacters } from 'node:util';
import {
  demand,
  eventsOf,
  exitsOf,
  faultOfRandomHex,
  forksOf,
  isCrowded,
  momentOf,
  quickestOf,
  sumOf,
  whyOfCrash,
} from '../../lib/check/checking.js';
import {
  AGAIN,
  BY_A_BUG,
  DEADLINE_MS,
  LEAST_WAIT_MS,
  LEAVING,
  ON_ITS_WAY,
  OTHER_CODE,
  RESTARTS,
  SHORTEST,
  UNDER_WAY,
  WAITS_MS,
  WORKERS,
  busy,
  isTelling,
  isToTell,
  isTold,
} from './looks.js';

const LONGEST = 2;
const LONGEST_IN_ALL = 1.6; // of all waits together, without what the event loop was late
const MUCH_LONGER = 3; // times, or more
const LONGER = 1.6; // times, even the shortest: twice as long, but for some chance
const LEAST_MS = 9.5; // of a /
const TOO_LONG_MS = 30; // for the quickest
const REPORT_MS = 298;
const SLOW_REPORT_MS = 1_000;
const ROWS = '{"rows":100}';
const MARKED = 3; // moments, of many of a kind

const forkShown = (fork, says) => momentOf(fork, `${says} (process ${fork?.workerPid})`);

/** The end of a worker, in its own lane. */
const endShown = (/** @type {any} */ { workerPid: pid, t, ...exit }) => ({
  pid,
  t,
  says: `ends (${howOf(exit)})`,
});

export function demandReplaced(program, rounds) {
  const begun = forksOf(program.events.slice(0, rounds[0].first)).length;
  demand(begun === WORKERS, {
    expected: `NODE_CLUSTER_WORKERS=${WORKERS}: ${WORKERS} workers, and none in reserve.`,
    got: `It forked ${begun} before any had ended.`,
    why: 'A spare worker takes memory and a share of the cores all the time, and it hides that nobody is replaced.',
    try: 'for (let count = 0; count < workers; count += 1) fork; later, one more for each crash',
    shows: {
      program,
      moments: forksOf(program.events)
        .slice(WORKERS, begun)
        .slice(0, MARKED)
        .map((fork) => forkShown(fork, 'one worker too many')),
    },
  });
  const lost = rounds.find(({ isBack }) => !isBack);
  const crashes = rounds.flatMap(({ victims }) => victims).length;
  demand(!lost, {
    expected: `After ${lost?.how} a new worker listens, and all serve again.`,
    ...(lost && storyOfLoss(program, lost, crashes)),
    shows: { program, moments: lost ? lossShown(program, lost) : [] },
  });
  const { forks, ends } = countOf(program.events, rounds);
  demand(forks <= ends, {
    expected: 'One worker is forked for each that crashes.',
    got: `${ends} workers ended, and ${forks} were forked.`,
    why: "'disconnect' and 'exit' both come for one worker, and each surplus worker stays.",
    try: "fork in one place only: in the 'exit' handler",
    shows: { program, moments: tooManyIn(program.events, rounds) },
  });
  demandOthers(program, rounds);
}

/** Each crash is repaired as the first was, one beside another too. */
export function demandEachTime(program, rounds) {
  demandReplaced(program, rounds);
  demandOwnWait(program, rounds);
  demandShortAgain(program, rounds);
}

/** A worker that dies in the wait for another has been seen, where it tells anything. */
export function demandSeen(/** @type {any[]} */ rounds) {
  if (!rounds.some(isTelling) && rounds.some(isToTell))
    throw busy('Two workers were to die in one wait, and the second died too early or too late.');
}

/** It was killed before the first line of its file: by a signal that it has a handler for, but not yet. */
export function demandNext({ program, lost, output }) {
  demand(!lost, {
    expected: `A worker that gets ${lost?.signal} while it is starting is replaced.`,
    got: `Nobody came in place of process ${lost?.workerPid}.`,
    why: 'It had no handler yet, so the signal killed it: nobody had planned that. A signal says how a worker ended, and not whether it was asked to leave.',
    try: 'if (!worker.exitedAfterDisconnect && code !== 0) it was a crash, whatever the signal',
    output,
    shows: { program, moments: lost ? [endShown(lost)] : [] },
  });
}

/** A timer never fires too early, however busy the machine is. Of a program that does not wait nothing is demanded here. */
function demandOwnWait(program, rounds) {
  const [first, second] = rounds.find(isTelling)?.waits ?? [];
  const isShort = second && first.waitMs >= LEAST_WAIT_MS && second.waitMs < LEAST_WAIT_MS;
  demand(!isShort, {
    expected: `Two workers die, one shortly after the other. Each place waits ${WAITS_MS[0]} ms of its own before it is filled.`,
    got: `The second was replaced ${second?.waitMs.toFixed(0)} ms after its end, when the wait of the first was over.`,
    why: 'A restart that forks as many as are missing fills every empty place, also one that is to wait longer: in a place that keeps failing, the waits are then as short as those of the others.',
    try: 'in the timer fork one worker, for the place whose end started that timer',
    shows: { program, moments: isShort ? [waitShown(second)] : [] },
  });
}

const waitShown = ({ exit, fork }) => ({
  pid: exit.pid,
  t: exit.t,
  toMs: fork.t,
  says: `process ${exit.workerPid} ends; process ${fork.workerPid} comes`,
});

/** All of these workers had listened. */
function demandShortAgain(program, rounds) {
  const [first] = rounds[0].waits;
  demandOneAsShort(program, first, rounds.slice(1).filter(isOfOne));
  demandNoneMuchLonger(program, first, rounds.findLast(({ how }) => how.endsWith(AGAIN)).waits[0]);
}

const isOfOne = ({ victims }) => victims.length === 1;

function demandNoneMuchLonger(program, first, last) {
  const most = MUCH_LONGER * (first?.waitMs ?? Infinity) + WAITS_MS[0];
  if (!last || last.waitMs <= most) return;
  if (isCrowded() || last.waitMs - last.lateMs <= most)
    throw busy(`A wait of ${last.waitMs.toFixed(0)} ms may be longer than the program wanted.`);
  demand(false, {
    ...notReset(
      `It waited ${first.waitMs.toFixed(0)} ms after the first crash, and ${last.waitMs.toFixed(0)} ms after a later one, although all had listened in between.`,
    ),
    try: "when a worker is 'listening', what the next wait depends on goes back to where it began",
    shows: { program, moments: [waitShown(last)] },
  });
}

/** What chance adds to one wait it does not add to all of them, and what the loop has turned through was wanted. */
function demandOneAsShort(program, first, rounds) {
  const waits = rounds.flatMap(({ waits: [wait] }) => wait ?? []);
  const most = LONGER * Math.max(WAITS_MS[0], first?.waitMs ?? Infinity);
  if (waits.length < RESTARTS || waits.some(({ waitMs }) => waitMs < most)) return;
  const listed = waits.map(({ waitMs }) => waitMs.toFixed(0)).join(', ');
  if (waits.some(({ leastMs }) => leastMs < most))
    throw busy(`Waits of ${listed} ms may be longer than the program wanted.`);
  demand(false, {
    ...notReset(
      `It waited ${first.waitMs.toFixed(0)} ms after the first crash, and ${listed} ms after the next ones, although each worker had listened before it died.`,
    ),
    try: "set the count back to 0 when a worker is 'listening', and work out the wait from it after that, when that worker has ended",
    shows: { program, moments: [waitShown(first), ...waits.slice(0, MARKED - 1).map(waitShown)] },
  });
}

/** Two had failed to start before this one listened. What the loop has turned through was wanted. */
export function demandAfresh({ program, recovered: { wait } }) {
  const most = LONGEST * WAITS_MS[0] + WAITS_MS[0];
  if (!wait || wait.waitMs <= most) return;
  if (wait.leastMs <= most)
    throw busy(`A wait of ${wait.waitMs.toFixed(0)} ms may be longer than the program wanted.`);
  demand(false, {
    ...notReset(
      `Two in a row had died before they listened, the third listened, and died. It waited ${wait.waitMs.toFixed(0)} ms then.`,
    ),
    try: "set the count to 0 when a worker is 'listening', whatever it was",
    shows: { program, moments: [waitShown(wait)] },
  });
}

const notReset = (got) => ({
  expected: 'A worker that listens resets the count: the next wait is as short as the first.',
  got,
  why: 'A server that crashes once a week would wait longer each time, and never again be as quick as on its first day.',
});

/** After the crashes / is what it was before. What others took of its time does not count. */
export function demandServed(program, { answers, requests, starvedMs }) {
  const quickest = quickestOf(requests);
  const soonest = Math.min(...answers.map(({ sentMs, doneMs }) => doneMs - sentMs));
  const isShort = Math.min(quickest, soonest) < LEAST_MS;
  const isLong = quickest - starvedMs > TOO_LONG_MS;
  const fault =
    faultOfRandomHex(answers, { isTyped: false }) ??
    (soonest < quickest && isShort
      ? `A client had its answer after ${soonest.toFixed(1)} ms.`
      : undefined) ??
    ((isShort || isLong) && `The quickest took ${quickest.toFixed(1)} ms.`);
  demand(!fault, {
    expected: 'Then / is served as before: it blocks for 10 to 20 ms, and returns random bytes.',
    got: fault || '',
    why: 'A cluster that survives has to do the same work as before; the pages stay as they were.',
    try: 'keep the pages in serve() as the starter has them',
    shows: {
      program,
      moments: requests.slice(0, 1).map((one) => momentOf(one, 'a request for /')),
    },
  });
}

/** The deaths after which nobody came, and the end of the primary, if it has ended. */
function lossShown({ events, pid: primary }, { victims, first, last }) {
  const ends = exitsOf(events.slice(first, last)).filter(({ workerPid }) =>
    victims.includes(workerPid),
  );
  const exit = eventsOf(events, 'exit').find(({ pid }) => pid === primary);
  return [...ends.map(endShown), momentOf(exit, `the primary ends (exit code ${exit?.code})`)];
}

/** The forks that no death had gone before. */
function tooManyIn(events, rounds) {
  let free = 0;
  const extra = events.slice(rounds.at(0).first, rounds.at(-1).last).filter(({ what }) => {
    if (what === 'worker-exit') free += 1;
    if (what === 'fork') free -= 1;
    const isExtra = what === 'fork' && free < 0;
    free = Math.max(0, free);
    return isExtra;
  });
  return extra.slice(0, MARKED).map((fork) => forkShown(fork, 'forked for nobody'));
}

/** [condition, why, try]: why nobody came in a dead worker's place. The first whose condition is met. */
const LOSSES = [
  [({ crash }) => crash],
  [
    ({ fate, victims, back }) => !fate && back > 0 && back < victims.length,
    'Two ends, two places: each needs its own wait. A timer that the second end clears, or a flag that says a restart is under way, loses the first.',
    "in the 'exit' handler, a setTimeout() for each, and no clearTimeout() except when stopping",
  ],
  [
    ({ fate, how }) => !fate && how === ON_ITS_WAY,
    "For a worker that dies before it has accepted a connection, 'disconnect' comes late or never; 'exit' always comes.",
    "restart on 'exit', not on 'disconnect'",
  ],
  [
    ({ fate, how }) => !fate && how.startsWith('SIG') && how.endsWith(AGAIN),
    'Nobody had planned this end, so it was a crash, whichever signal it was. After other ends the same place was filled again.',
    'if (!worker.exitedAfterDisconnect && code !== 0) it was a crash, whatever the signal; and a worker that listens resets every count',
  ],
  [
    ({ crashes }) => crashes > 2,
    'Only failed restarts in a row count: a worker that listens resets the count.',
    "set the count back to 0 when a worker is 'listening'",
  ],
  [
    ({ fate, victims, news }) => !fate && !victims.some((pid) => news.includes(String(pid))),
    "The primary hears 'exit', a worker does not. Nothing was printed about this end: was your handler called?",
    "cluster.on('exit', (worker, code, signal) => { ... }) in the primary; serve() runs in the workers",
  ],
  [
    ({ fate, how }) => !fate && how === BY_A_BUG,
    `An uncaught exception means code 1, but a program may end with any code, and every code but 0 says that something went wrong. So does ${OTHER_CODE}, with which a shell reports SIGTERM: only exitedAfterDisconnect says whether it was planned.`,
    'if (!worker.exitedAfterDisconnect && code !== 0) it was a crash: fork',
  ],
  [
    () => true,
    'A worker ended by a signal has the code null; one that threw has code 1 and no signal.',
    'if (!worker.exitedAfterDisconnect && code !== 0) it was a crash: fork',
  ],
];

function storyOfLoss(program, round, crashes) {
  const { how, victims, exits, fate, back } = round;
  if (!fate && !victims.every((pid) => exits.some(({ workerPid }) => workerPid === pid))) {
    return {
      got: `After ${how} the worker is still running.`,
      why: 'A program that catches every exception goes on with whatever the bug left half done.',
      try: "let it crash: no process.on('uncaughtException')",
    };
  }
  const crash = whyOfPrimary(program);
  const [, why = crash, repair] = firstOf(LOSSES, { ...round, crashes, crash });
  const end = fate && `The primary ended (${fate.signal ?? `exit code ${fate.code}`})`;
  const few = victims.length > 1 ? `${back} of ${victims.length} came back` : undefined;
  const got = `${end ?? few ?? 'Nobody came in its place'} after ${how}, which was crash number ${crashes}.`;
  return { got, why, try: repair };
}

const firstOf = (faults, facts) => faults.find(([isSo]) => isSo(facts)) ?? [];

/** What the primary threw, if it ended by that; what its workers threw is another matter. */
const whyOfPrimary = ({ events, pid }) => whyOfCrash(events.filter((event) => event.pid === pid));

/** What happened from the first round to the last. */
function countOf(events, rounds) {
  const during = events.slice(rounds.at(0).first, rounds.at(-1).last);
  return { forks: forksOf(during).length, ends: exitsOf(during).length };
}

function demandOthers(program, rounds) {
  const ends = rounds.flatMap(({ isBack, exits, victims }) =>
    exits.filter(({ workerPid }) => isBack && !victims.includes(workerPid)),
  );
  const bystanders = ends.map(({ workerPid }) => workerPid);
  demand(bystanders.length === 0, {
    expected: 'No worker ends except those that we ended; the others are the same processes.',
    got: `Process ${bystanders.join(', ')} ended as well.`,
    why: 'Workers share nothing. One crash is no reason to interrupt the others.',
    try: "worker.on('exit', ...) puts one in that worker's place, and touches no other",
    shows: { program, moments: ends.slice(0, MARKED).map(endShown) },
  });
}

/**
 * Every end that was heard of, whatever it was; of those ends that have been seen so far.
 * @param {any} program
 * @param {any[]} rounds  of crashes
 * @param {any} [leave]
 * @param {any} [stop]
 * @param {any} [failed]  starts: of workers that never listened
 */
export function demandLog(program, rounds, leave, stop, failed) {
  const withLog = (exits, printed, of) => exits.map((exit) => ({ ...exit, printed, program: of }));
  const failedStarts = failed ? exitsOf(failed.program.events).slice(0, failed.restarts) : [];
  const ends = [
    ...rounds.flatMap(({ exits, news }) => withLog(exits, news, program)),
    ...(leave ? withLog(leave.round.exits, leave.round.news, leave.program) : []),
    ...(stop ? withLog(exitsOf(stop.program.events), stop.news, stop.program) : []),
    ...withLog(failedStarts, failed?.output, failed?.program),
  ];
  const untold = ends.find((end) => !linesOn(end).some((line) => tellsHow(line, end)));
  demand(!untold, {
    expected: `A line with ${untold?.workerPid}, the pid of a worker, and ${howOf(untold)}, which is how it ended.`,
    ...(untold && storyOfSilence(untold)),
    output: untold?.printed,
    shows: untold && { program: untold.program, moments: [endShown(untold)] },
  });
  const crash = ends.find(({ planned, code }) => !planned && code > 0);
  const goodbye = ends.find(({ code }) => code === 0);
  const isTold = !crash || !goodbye || wordsOn(crash) !== wordsOn(goodbye);
  demand(isTold, {
    expected:
      'The log also says whether it was a crash: the lines of a crash and of a planned leave differ.',
    got: `Apart from the numbers they are the same: "${isTold ? '' : linesOn(goodbye)[0].trim()}".`,
    why: "Somebody who reads the log has to know which of the ends were wanted. The numbers alone don't say: a worker that was asked to leave may end with exit code 1.",
    try: "console.log(`... ended ${how}${isCrash ? ', a crash' : ''}`);",
    output: goodbye?.printed,
    shows: goodbye && { program: goodbye.program, moments: [endShown(goodbye)] },
  });
}

const howOf = ({ signal = null, code = null } = {}) => signal ?? `exit code ${code}`;
const wordOf = (word) => new RegExp(`\\b${word}\\b`);

/** What was printed, without colours: their codes end in a letter. */
const plainLines = ({ printed }) => stripVTControlCharacters(printed).split('\n');

/** What was printed with this worker's pid. */
const linesOn = (end) => plainLines(end).filter((line) => wordOf(end.workerPid).test(line));

const tellsHow = (line, { workerPid, signal, code }) =>
  wordOf(signal ?? code).test(line.replace(wordOf(workerPid), ''));

/** The same without numbers and signals. */
const wordsOn = (end) =>
  linesOn(end)
    .map((line) => line.replace(/SIG[A-Z]+|\d+/g, '#'))
    .join('\n');

/** What is missing, and in which line. */
function storyOfSilence(end) {
  const { workerPid, signal, planned } = end;
  const [own] = linesOn(end);
  const near = own ?? plainLines(end).find((line) => signal && wordOf(signal).test(line));
  const quoted = near && `"${near.trim().slice(0, 120)}"`;
  const missing = own ? `does not say ${howOf(end)}` : `does not say ${workerPid}`;
  return {
    got: quoted ? `The line ${quoted} ${missing}.` : 'No line has either.',
    why: planned
      ? 'Somebody who reads the log in the morning wants to know about every worker that is gone, even one that left as planned.'
      : 'Somebody who reads the log in the morning wants to know whether it was a bug (a code), or the kernel or a person (a signal).',
    try: planned
      ? "the log line comes first in the 'exit' handler, before any if"
      : 'console.log(`worker ${worker.process.pid} ended ${signal ? `by ${signal}` : `with exit code ${code}`}`);',
  };
}

export function demandLeave({ program, round }) {
  const { victims, crashes, news: output } = round;
  const ends = exitsOf(program.events);
  const [exit, ...others] = victims.map((pid) => ends.find(({ workerPid }) => workerPid === pid));
  demand(exit?.code === 0, {
    expected: 'After SIGTERM a worker disconnects and ends with exit code 0.',
    got: `Process ${victims[0]} ${exit ? `ended with ${howOf(exit)}` : 'still runs'}.`,
    try: 'keep the SIGTERM handler at the end of serve() as it was',
    output,
    shows: { program, moments: exit ? [endShown(exit)] : [] },
  });
  const { forks: all } = countOf(program.events, [round]);
  const forks = all - crashes;
  const odd = others.filter((end) => end?.planned && end.code !== 0); // else it was not to be brought to that
  const isForOdd = odd.length > 0 && forks < LEAVING;
  const howOdd = odd.map((end) => `process ${end.workerPid} with ${howOf(end)}`).join(', ');
  demand(forks <= 0, {
    expected:
      odd.length > 0
        ? `${LEAVING} workers are asked to leave; after that one of them throws, and one is killed. None is replaced.`
        : 'A worker that left as planned is not replaced.',
    got: `${forks} ${forks === 1 ? 'was' : 'were'} forked.${isForOdd ? ` With exitedAfterDisconnect true ended ${howOdd}.` : ''}`,
    why: isForOdd
      ? 'Somebody wanted it to leave, and it is gone, whatever its exit code, or the signal that ended it.'
      : 'Somebody wanted it to leave. A planned leave has exitedAfterDisconnect true.',
    try: 'const isCrash = !worker.exitedAfterDisconnect && code !== 0;',
    output,
    shows: { program, moments: leaveShown(program, round, [exit, ...others]) },
  });
}

/** Those who left, and the forks since then. */
function leaveShown({ events }, { first, last }, exits) {
  const forks = forksOf(events.slice(first, last)).slice(0, MARKED);
  const ends = exits.filter(Boolean).map(endShown);
  return [...ends, ...forks.map((fork) => forkShown(fork, 'forked in its place'))];
}

export function demandBackOff(failedStarts, program, crashes) {
  demandAwake(failedStarts);
  demandLongerWaits(failedStarts);
  demandFirstWait(program, crashes);
}

/**
 * One that had listened is not replaced at once, either. A timer counts from the beginning of the turn in which it is set, and
 * that may have been held up before we see the end.
 */
function demandFirstWait(program, crashes) {
  const waits = crashes.flatMap(({ waits }) => waits).sort((a, b) => a.waitMs - b.waitMs);
  const short = waits.find(({ waitMs, lateMs }) => waitMs + lateMs < LEAST_WAIT_MS);
  const got = `It waited ${(short ?? waits[0])?.waitMs.toFixed(0)} ms.`;
  if (!short && waits[0]?.waitMs < LEAST_WAIT_MS) throw busy(got);
  demand(!short, {
    expected: `A worker that had listened crashes: it waits ${WAITS_MS[0]} ms before it forks another.`,
    got,
    why: 'A request that crashes its worker may be sent again and again. Then the server does little else than start workers.',
    try: 'the same setTimeout() for every crash; what had listened only sets the count back to 0',
    shows: { program, moments: short ? [waitShown(short)] : [] },
  });
}

/** A primary that sleeps hears nothing. What others took of its time does not count. */
function demandAwake({ asleep: { heldMs, starvedMs }, output, program }) {
  const held = heldMs.slice(0, RESTARTS);
  const isEach = held.length === RESTARTS && held.every((ms, index) => ms >= leastOf(index));
  const ownMs = sumOf(held) - starvedMs;
  const isAsleep = isEach && !isCrowded() && ownMs >= SHORTEST * sumOf(WAITS_MS);
  demand(!isAsleep, {
    expected: "While it waits for the next restart, the primary's event loop turns.",
    got: `Between the restarts it stood still, for ${held.map((ms) => ms.toFixed(0)).join(', ')} ms.`,
    why: 'A primary that sleeps hears nothing: no signal to stop, no other death. And while it sleeps, the healthy workers get no connections, since the primary deals them.',
    try: 'setTimeout(..., 100 * 2 ** restarts): a timer waits, and blocks nothing',
    output,
    shows: { program, moments: [lastFork(program)] },
  });
}

const leastOf = (index) => SHORTEST * WAITS_MS[index];

function demandLongerWaits({ waitsMs, latesMs, restarts, output, program }) {
  const waited = waitsMs.slice(0, RESTARTS);
  const isShort = (waitMs, index) => waitMs < leastOf(index);
  const isSurelyShort = (waitMs, index) => isShort(waitMs + latesMs[index], index);
  const isLong = (waitMs, index) => waitMs > LONGEST * WAITS_MS[index] + WAITS_MS[0];
  const long = waited.findIndex(isLong);
  const isBusy = long >= 0 && (isCrowded() || !isLong(waited[long] - latesMs[long], long));
  const isConstant = waited.length > 1 && Math.max(...waited) < 2 * Math.min(...waited);
  const isReset = isConstant && restarts > RESTARTS;
  const inAllMs = sumOf(waited) - sumOf(latesMs.slice(0, RESTARTS)); // what chance adds to one, it hardly adds to all
  const isLongInAll = inAllMs > LONGEST_IN_ALL * sumOf(WAITS_MS);
  const isTooLong = isLongInAll || (long >= 0 && !isBusy);
  demand(waited.length > 0 && !waited.some(isSurelyShort) && !isTooLong, {
    expected: `The port is taken: it waits twice as long before each further restart: ${WAITS_MS.join(', ')} ms.`,
    got:
      waited.length > 0
        ? `It waited ${waited.join(', ')} ms.`
        : storyOfNone(exitsOf(program.events)[0]),
    why: "Starting a worker takes CPU time from the programs that work. Trying again soon helps if the trouble is short, and long waits do no harm if it isn't.",
    try: isReset
      ? "does the count go back to 0 before the worker listens? 'online' is too early"
      : "in the 'exit' handler, fork in a timer, whatever the code: setTimeout(..., 100 * 2 ** restarts), restarts being 0 for the first in a row",
    output,
    shows: { program, moments: waitsShown(program.events, waited.findIndex(isShort), long) },
  });
  if (waited.some(isShort)) throw busy(`It waited ${waited.join(', ')} ms.`);
  if (long >= 0)
    throw busy(`Wait ${long + 1}, of ${waited[long]} ms, may be longer than the program wanted.`);
}

const storyOfNone = (/** @type {any} */ end) =>
  `It waited not at all, since it restarted nobody: its worker ${end ? `had ended with ${howOf(end)}` : 'was still running'}.`;

/** The first wait that was too short, else that which was too long: from a death to the next start. */
function waitsShown(events, short, long) {
  const index = short >= 0 ? short : long;
  const [exit, fork] = [exitsOf(events)[index], forksOf(events)[index + 1]];
  if (!exit) return [];
  return [{ pid: exit.pid, t: exit.t, toMs: fork?.t, says: `wait number ${index + 1}` }];
}

export function demandGivesUp({ fate, isStuck, restarts, waitsMs, output, program }) {
  const { code, signal } = fate ?? {};
  const waitedMs = sumOf(waitsMs);
  const count = `${restarts} restart${restarts === 1 ? '' : 's'}`;
  const keepCount = `count the restarts since a worker was last 'listening'; after ${RESTARTS} of them end`;
  /** @type {[any, string, string?][]} */
  const faults = [
    [
      isStuck,
      'The last worker could not listen (EADDRINUSE), and is still running. So nobody restarts it, and nobody hears about it.',
      'app.listen(port, (error) => { if (error) throw error; ... }), as it was',
    ],
    [
      !fate && isTold(output),
      `It said so, after ${count}, and kept running.`,
      'process.exitCode alone ends nothing: no more restarts, no timer left running, every worker told to leave',
    ],
    [!fate && restarts > RESTARTS, `${count} had failed, and it was still running.`, keepCount],
    [!fate, `After ${count} and waits of ${waitedMs} ms it was still running.`, keepCount],
    [signal, `It was ended by ${signal}.`],
    [code === 0, 'It ended with exit code 0, as if all were well.'],
    [code !== 1, `It ended with exit code ${code}.`],
    [restarts !== RESTARTS, `It ended after ${count}.`, keepCount],
    [!isTold(output), 'It ended without a line with the words "giving up".'],
  ];
  const [, got, repair] = faults.find(([isSo]) => isSo) ?? [];
  demand(!got, {
    expected: `After four restarts in a row, and none listened: a message with "giving up", and exit code 1.`,
    got: /** @type {string} */ (got),
    why: 'Somebody must hear about it: the service manager reads its exit code, people read its message.',
    try: repair ?? "console.error('giving up: ...'); process.exitCode = 1; stop();",
    output,
    shows: { program, moments: [fate ? endOfPrimary(program) : lastFork(program)] },
  });
}

const endOfPrimary = ({ events, pid: primary }) => {
  const exit = eventsOf(events, 'exit').find(({ pid }) => pid === primary);
  return momentOf(exit, `the primary ends (exit code ${exit?.code})`);
};
const lastFork = ({ events }) => forkShown(forksOf(events).at(-1), 'the last fork');

export function demandAllEnd({ fate, failedStarts, goesOn, late, well, output, program }) {
  const shows = { program, moments: [fate ? endOfPrimary(program) : lastFork(program)] };
  const isEarly = failedStarts < RESTARTS; // it no longer restarts anybody
  const early = fate ? `It ended with ${howOf(fate)}` : 'Nobody came in its place';
  demand(!isEarly, {
    expected: 'In one of four places four restarts in a row fail, and then it gives up.',
    got: `${early} after ${failedStarts} of these restarts.`,
    why: 'Trouble that goes away on its own takes a moment: the task asks for four attempts, with longer and longer waits.',
    try: "count in the 'exit' handler, for each place; give up at the fifth end in a row",
    output,
    shows,
  });
  demand(fate?.code === 1, {
    expected:
      'In one of four places four restarts in a row failed: it gives up, and ends with exit code 1. The worker in another place ends too. The third place, whose worker has just crashed, stays empty, and so does the fourth, whose worker is killed now.',
    ...storyOfStaying({ fate, goesOn, well, output }),
    output,
    shows,
  });
  demand(late.length === 0, {
    expected: 'Once it has said "giving up", it forks no more workers.',
    ...forkedLate(late.length),
    output,
    shows: {
      program,
      moments: late.slice(0, MARKED).map((fork) => forkShown(fork, 'forked after it had given up')),
    },
  });
}

const forkedLate = (count) => ({
  got: `It said "giving up", and then it forked ${count} more.`,
  why: 'When it gave up, one place was waiting for its restart: a timer that is already running still fires. And in another place a worker was killed a moment later, before it had left: it looks like any other crash.',
  try: "process.exitCode = 1; stop(); and both the 'exit' handler and the timer ask whether everything is stopping",
});

function storyOfStaying({ fate, goesOn, well, output }) {
  const still =
    goesOn > 0 ? `it forked ${goesOn} more` : `it still runs, and so does worker ${well}`;
  const got = fate
    ? `It ended with ${howOf(fate)}.`
    : `It ${isTold(output) ? 'said "giving up"' : 'did not give up'}: ${still}.`;
  if (goesOn > 0 && isTold(output)) return forkedLate(goesOn);
  return {
    got,
    why:
      goesOn > 0
        ? 'There is one count for each place, or one for all. Workers that have already listened do not reset it.'
        : 'With one worker fewer it looks alive from outside, and nobody hears about it. Once it has ended, the service manager can start it afresh.',
    try: 'process.exitCode = 1; stop(); which tells the remaining workers to leave',
  };
}

/** Was it under way? One that is quicker was over before the signal. */
function demandReports({ program, answers, reports, starvedMs, lost }) {
  if (lost.length > 0) return; // a fault of its own
  const odd = answers.find(({ body }) => body.replace(/\s/g, '') !== ROWS);
  const quickest = quickestOf(reports);
  const isOther = quickest < REPORT_MS || quickest - starvedMs > SLOW_REPORT_MS;
  demand(!odd && !isOther, {
    expected: `/report returns ${ROWS}, after 300 ms.`,
    got: odd
      ? `It answered ${odd.body.slice(0, 60)}.`
      : `The quickest took ${quickest.toFixed(1)} ms.`,
    why: 'The requests that are under way when the server is told to stop are for /report, so it has to stay as it was.',
    try: 'setTimeout(() => response.json({ rows: 100 }), 300);',
    shows: {
      program,
      moments: reports.slice(0, MARKED).map((one) => momentOf(one, 'a request for /report')),
    },
  });
}

export function demandCleanStop(stops) {
  for (const stop of stops) demandReports(stop);
  const stop = stops.find(
    ({ fate, lost, behind }) => fate?.code !== 0 || lost.length > 0 || behind.length > 0,
  );
  demand(!stop, {
    expected:
      'The workers answer what they have begun, all of them end, the primary last, and the exit code is 0.',
    ...(stop && storyOfStop(stop)),
    output: stop?.output,
    shows: stop && { program: stop.program, moments: stopShown(stop) },
  });
}

/** All places are empty when the signal comes. What has crashed before, or has just been given up, is another matter. */
export function demandEndOfWait({ how, program, fate, isStuck, output, signalMs }) {
  const isWrong = fate?.code > 0 && !isTold(output); // a signal may also meet one that is just ending, as it waits for nobody
  demand(!isStuck && !isWrong, {
    expected: `${how}: nothing is under way, so it ends, with exit code 0.`,
    got: isStuck ? 'It is still running, and has nothing to do.' : `It ended with ${howOf(fate)}.`,
    why: isStuck
      ? 'Whatever stops a server waits for it to exit, and finally kills it. There was no worker left to wait for.'
      : "Stopping when told to isn't a failure, whatever has crashed before. Only giving up ends with a code other than 0.",
    try: isStuck
      ? 'leave the end to Node: clear every timer, and keep nothing open'
      : 'set process.exitCode where you give up, and nowhere else',
    output,
    shows: { program, moments: stopShown({ program, signalMs, how }) },
  });
}

/** One worker has been forked, and does not listen yet. Four have died in its place before they listened. */
export function demandEndOfStart(stop) {
  const { how, program, fate, isJudged, isUp, isEarly, isStuck, output, signalMs } = stop;
  const isKilled = isJudged && !isEarly && fate?.signal === 'SIGTERM';
  if (isKilled && !isUp)
    throw busy('It was told to stop before it had come to the end of its file.');
  const isWrong = isKilled || (isJudged && !isEarly && fate?.code > 0);
  demand(!isStuck && !isWrong, {
    expected: `${how}: that one is told to leave as well, all end, and the exit code is 0.`,
    ...storyOfNewborn(stop),
    output,
    shows: {
      program,
      moments: [
        { pid: program.pid, t: signalMs, says: how },
        isStuck ? lastFork(program) : fate && endOfPrimary(program),
      ],
    },
  });
}

function storyOfNewborn({ fate, isStuck, newborn, listens, hasEnded, output }) {
  if (fate?.signal)
    return {
      got: `It was ended by ${fate.signal}. No worker had listened by then.`,
      why: 'It had no handler for the signal yet, so that killed it at once, and its workers with it. A deployment may be called off at any moment, also while all are starting.',
      try: "process.on('SIGTERM', stop); and process.on('SIGINT', stop); before the first fork, not when a worker listens",
    };
  if (!isStuck && isTold(output))
    return {
      got: `It said "giving up", and ended with ${howOf(fate)}. The ${RESTARTS} workers before that one had been killed before they listened.`,
      why: 'On a stop all workers are to end, so no end counts as a failed start any more. A service manager would start the server again, or alert somebody.',
      try: "in the 'exit' handler ask whether everything is stopping before you count",
    };
  if (!isStuck)
    return {
      got: `It ended with ${howOf(fate)}. The ${RESTARTS} workers before that one had been killed before they listened.`,
      why: "Stopping when told to isn't a failure, whatever has crashed before. Only giving up ends with a code other than 0.",
      try: 'set process.exitCode where you give up, and nowhere else',
    };
  if (hasEnded)
    return {
      got: `Worker ${newborn}, which was starting, has ended, and the primary is still running.`,
      why: 'The primary ends on its own when its last worker has left, no other is forked and no timer is set.',
      try: 'leave the end to Node: clear every timer, and wait for no worker that has never listened',
    };
  return {
    got: `Worker ${newborn} was starting, and ${listens ? 'listens now' : 'still runs'}. So the primary is still running, too.`,
    why: 'A worker that has been forked will soon serve. If only those that listen are told to leave, or it is told by a message before it can hear one, it stays, and the server never ends.',
    try: "for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGTERM'): all that have not ended",
  };
}

/** @param {any} stop  of a server whose only worker stands still */
export function demandLast({ program, fate, left, output, signalMs }) {
  const how = 'SIGTERM while its only worker stood still (by SIGSTOP)';
  demand(left === undefined, {
    expected: `${how}: it waits for that worker, or loses patience and ends it. The primary ends last.`,
    got: `It ended with ${howOf(fate)}, and worker ${left} was still there. (Its timers were much quicker here.)`,
    why: 'Whatever stopped the server waits for the primary only. Once that has ended the container is gone, with everything its workers had under way.',
    try: "when your patience runs out: worker.process.kill('SIGKILL'), and no process.exit(); the primary then ends on its own",
    output,
    shows: { program, moments: stopShown({ program, signalMs, how }) },
  });
}

/** The signal, and the ends that came of it. */
function stopShown({ program, signalMs: t, how }) {
  const signal = { pid: program.pid, t, says: how };
  const ends = exitsOf(program.events).filter((exit) => exit.t > t);
  return [signal, ...ends.slice(0, MARKED).map(endShown), endOfPrimary(program)];
}

/** [condition, got, why, try]: what to fix first in a stop. */
const STOP_FAULTS = [
  [
    ({ fate }) => fate?.signal,
    ({ fate }) => `it was ended by ${fate.signal}.`,
    'A server is stopped (by a person, systemd, a container) with SIGTERM or SIGINT and a wait for it to end. The default is to die at once.',
    "process.on('SIGTERM', stop); and process.on('SIGINT', stop); in the primary, where stop sends SIGTERM to each worker",
  ],
  [
    ({ how, exits }) => how === 'Ctrl-C' && exits.some(({ signal }) => signal === 'SIGINT'),
    ({ losses }) => `SIGINT killed the workers; ${losses}.`,
    'Ctrl-C reaches them too: SIGINT goes to the whole process group. Without a handler it kills them, which looks like a crash.',
    "process.on('SIGINT', () => {}); in the workers; the primary tells them to leave",
  ],
  [
    ({ fate }) => !fate,
    ({ more }) => `it was still running ${DEADLINE_MS / 1000} s later${more}.`,
    'The primary ends on its own when its last worker has left, no other is forked and no timer is set.',
    "send SIGTERM to each worker, and remember that you are stopping: check that in the 'exit' handler",
  ],
  [
    ({ fate, thrown }) => fate.code !== 0 && thrown,
    ({ fate, thrown }) =>
      `it ended with exit code ${fate.code}. After the signal worker ${thrown.workerPid} had answered all, and then it threw (by /buggy), and ended with ${howOf(thrown)}.`,
    "Stopping when told to isn't a failure, however a worker ends. A service manager that reads another code than 0 starts the server again, or alerts somebody.",
    'set process.exitCode where you give up, and nowhere else',
  ],
  [
    ({ fate }) => fate.code !== 0,
    ({ fate }) => `it ended with exit code ${fate.code}.`,
    "Stopping when told to isn't a failure. Only giving up ends with a code other than 0.",
    'let the primary end on its own, when its last worker has left',
  ],
  [
    ({ behind }) => behind.length > 0,
    ({ behind, losses }) =>
      `the primary ended before ${behind.length} of its workers, which had not left; ${losses}.`,
    'To whatever stopped the server, it has ended when its primary has. A container is gone then, with everything its workers have under way; and a worker that sees its channel close may end with its work half done.',
    'no process.exit() in the signal handler: the primary ends on its own when its last worker has left',
  ],
  [
    () => true,
    ({ losses }) => `${losses}.`,
    'A worker that is killed, or calls process.exit(), no longer answers anything.',
    'send SIGTERM to each worker: its handler lets it answer first',
  ],
];

function storyOfStop({ how, program, fate, lost, behind, forks, thrower }) {
  const exits = exitsOf(program.events);
  const thrown = exits.find(({ workerPid, code }) => workerPid === thrower && code !== 0);
  const error = lost.length > 0 ? ` (${lost[0].error})` : '';
  const losses = `of ${UNDER_WAY} requests under way ${lost.length} were lost${error}`;
  const more = forks > 0 ? `, and had forked ${forks} more` : '';
  const facts = { how, fate, exits, behind, losses, more, thrown };
  const [, got, why, repair] = firstOf(STOP_FAULTS, facts);
  return { got: `${how}: ${got(facts)}`, why: whyOfPrimary(program) ?? why, try: repair };
}

export function demandNoFork(stop) {
  const { forks, how, output, program } = stop;
  demand(!(forks > 0), {
    expected: 'No worker is forked after the signal.',
    got: `${how}: it forked ${forks} more.`,
    why: 'A timer that is already running still fires after the signal.',
    try: "remember that you are stopping; check that in the 'exit' handler and when the timer fires",
    output,
    shows: { program, moments: forkedAfter(stop) },
  });
}

function forkedAfter({ program, signalMs, how }) {
  const signal = { pid: program.pid, t: signalMs, says: how };
  const late = forksOf(program.events).filter(({ t }) => t > signalMs);
  return [signal, ...late.slice(0, MARKED).map((fork) => forkShown(fork, 'forked after it'))];
}

export function demandNoneLeft(end) {
  const { fate, left, how, output, program } = end;
  demand(!(fate && left.length > 0), {
    expected: 'When the primary has ended, for whatever reason, everything it started ends.',
    got: `${how}: process ${left.join(', ')} is still there.`,
    why: 'It holds memory, perhaps the port, and nobody watches it. A worker ends when its channel to the primary closes; a detached process does not.',
    try: 'start nothing with detached: true',
    output,
    shows: { program, moments: left.flatMap((pid) => startOf(end, pid)) },
  });
}

/** Who is still there, at its start. */
const startOf = ({ program: { events } }, wanted) =>
  eventsOf(events, 'start')
    .filter(({ pid }) => pid === wanted)
    .map((start) => momentOf(start, `process ${wanted}, which outlives it, starts`));
