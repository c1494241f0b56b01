/** Lesson 5: judges what looks.js saw, in the sentences that a learner reads. */
import { stripVTControlCharacters } from 'node:util';
import {
  demand,
  demandInTime,
  describeCrash,
  eventsOf,
  exitMoment,
  exitsOf,
  firstOf,
  forkMoment,
  forksOf,
  hasExited,
  howItEnded,
  primaryExitMoment,
  sumOf,
} from '../../lib/check/checking.js';
import { ON_ITS_WAY, OTHER_CODE, RESTARTS, WAITS_MS, isConclusive } from './looks.js';

const SHORTEST = 0.75; // of a wait, for jitter
const LONGEST = 2; // times a wait, plus the first wait
const LONGEST_IN_ALL = 1.6; // times all waits together: LONGEST alone would let all of them be twice as long
const MARKED = 3; // moments of a kind in the X-ray

const isTooShort = (ms, index = 0) => ms < SHORTEST * WAITS_MS[index];
const isNoWait = (ms, index = 0) => ms < WAITS_MS[index] / 2; // no timer fires that early
const isTooLong = (ms, index = 0) => ms > LONGEST * WAITS_MS[index] + WAITS_MS[0];
const inMs = (waits) => waits.map(({ ms }) => ms.toFixed(0)).join(', ');
const programOf = ([{ program }]) => program;

export function demandReplaced(rounds) {
  const lost = rounds.find(({ isDone }) => !isDone);
  demandInTime(!lost, {
    isFinal: lost?.fate, // the exit of the primary proves that it gave up
    expected: `After ${lost?.how} a new worker listens, and all of them serve again.`,
    ...(lost && storyOfLoss(lost)),
    output: lost?.printed,
    shows: { program: programOf(rounds), moments: lost ? lossShown(lost) : [] },
  });
  const excess = rounds.find(({ exits, forks }) => forks.length > exits.length); // a later round may lack as many
  const forks = excess?.forks ?? [];
  demand(!excess, {
    expected: 'The primary forks one worker for each that crashes.',
    got: `After ${excess?.how} it forked ${forks.length}, for ${excess?.exits.length} exit${excess?.exits.length === 1 ? '' : 's'}.`,
    why: "Two lines fork for one exit, or one handler hears 'disconnect' and another 'exit'. Every surplus worker stays.",
    try: 'look for every place that forks: which events lead there for one exit?',
    shows: {
      program: programOf(rounds),
      moments: forks.slice(-MARKED).map((fork) => forkMoment(fork, 'forked')),
    },
  });
  demandOthersCarryOn(rounds);
}

function demandOthersCarryOn(rounds) {
  const bystanders = rounds.flatMap(({ exits, victims }) =>
    exits.filter(({ workerPid }) => !victims.includes(workerPid)),
  );
  demand(bystanders.length === 0, {
    expected:
      'Only the workers that crashed are replaced; the others are the same processes as before.',
    got: `Process ${bystanders.map(({ workerPid }) => workerPid).join(', ')} exited as well.`,
    why: 'Workers share no memory. One crash is no reason to interrupt the clients of the others.',
    try: "look at the 'exit' handler: which workers does it touch?",
    shows: { program: programOf(rounds), moments: bystanders.slice(0, MARKED).map(exitMoment) },
  });
}

/** Why a place stayed empty, unless the primary threw: the first condition that is met. @type {[isSo: (round: any) => any, why: string, repair: string][]} */
const LOSSES = [
  [
    ({ fate, victims, forks }) => !fate && forks.length > 0 && forks.length < victims.length,
    'Two exits, two places: each needs its own wait. A timer that the second exit clears, or a flag that says "a restart is pending", loses the first.',
    'look at what two exits share: a timer, or a flag?',
  ],
  [
    ({ fate, how }) => !fate && how === ON_ITS_WAY,
    "If a worker is killed before it has accepted a connection, 'disconnect' comes late or never. 'exit' always comes.",
    'look at which event leads to a restart',
  ],
  [
    ({ fate, program }) => fate && exitsOf(program.events).length > 2,
    'Only failed restarts in a row count. A worker that listens resets the count.',
    'look at what sets the count of restarts back, and when',
  ],
  [
    ({ fate, victims, printed }) => !fate && !victims.some((pid) => printed.includes(String(pid))),
    "The primary gets 'exit'; a worker doesn't. Nothing was printed about this exit, so perhaps your handler wasn't called.",
    'look at where the handler is: which process runs that line?',
  ],
  [
    ({ how }) => how.startsWith('exit code'),
    `An uncaught exception means code 1, but a program can exit with any code, and every code but 0 says that something went wrong. So does ${OTHER_CODE}.`,
    'look at how you decide what is a crash: which exit codes do you let through?',
  ],
  [
    () => true,
    'A worker that a signal killed has the code null; a worker that threw has code 1 and no signal.',
    'look at how you decide what is a crash: what do you say of the code null?',
  ],
];

function storyOfLoss(round) {
  const { program, how, victims, fate, forks } = round;
  const running = victims.find((pid) => !hasExited(program.events, pid));
  if (!fate && running)
    return {
      got: `After ${how} worker ${running} is still running.`,
      why: 'A program that catches every exception keeps going with whatever the bug left half done.',
      try: 'look for what keeps a process alive that has thrown',
    };
  const crash = whyOfPrimary(program);
  const [, why, repair] = firstOf(LOSSES, round);
  const end = fate && `The primary exited (${howItEnded(fate)})`;
  const few = victims.length > 1 ? `It replaced ${forks.length} of ${victims.length}` : undefined;
  const count = exitsOf(program.events).length;
  return {
    got: `${end ?? few ?? 'No worker came in its place'} after ${how}, crash number ${count}.`,
    ...(crash ? { why: crash } : { why, try: repair }),
  };
}

const whyOfPrimary = ({ events, pid }) =>
  describeCrash(events.filter((event) => event.pid === pid));

const lossShown = ({ program, exits }) => [
  ...exits.slice(0, MARKED).map(exitMoment),
  primaryExitMoment(program),
];

/** The log has a line for every exit so far, and tells crashes from planned exits. */
export function demandLog(rounds, leave) {
  const told = ({ program, printed }, exits) =>
    exits.map((exit) => ({ ...exit, printed, program }));
  const ends = [
    ...rounds.flatMap((round) => told(round, round.exits)),
    ...(leave ? told(leave, leave.exits) : []),
  ];
  const untold = ends.find((end) => !linesOn(end).some((line) => tellsHow(line, end)));
  demand(!untold, {
    expected: `A line with ${untold?.workerPid}, the pid of a worker, and ${untold && howItEnded(untold)}, which is how it exited.`,
    ...(untold && storyOfSilence(untold)),
    output: untold?.printed,
    shows: untold && { program: untold.program, moments: [exitMoment(untold)] },
  });
  const crash = ends.find(({ planned, code }) => !planned && code > 0);
  const goodbye = ends.find(({ code }) => code === 0);
  demand(!crash || !goodbye || wordsOn(crash) !== wordsOn(goodbye), {
    expected: 'The lines of a crash and of a planned leave read differently.',
    got: `Apart from the numbers they are the same: "${goodbye && linesOn(goodbye)[0].trim()}".`,
    why: "A person who reads the log has to know which exits were wanted, and numbers alone don't say.",
    try: 'look at the log line: which of its words depends on whether it was a crash?',
    output: goodbye?.printed,
    shows: goodbye && { program: goodbye.program, moments: [exitMoment(goodbye)] },
  });
}

const wordOf = (word) => new RegExp(`\\b${word}\\b`);
const plainLines = ({ printed }) => stripVTControlCharacters(printed).split('\n');
const linesOn = (end) => plainLines(end).filter((line) => wordOf(end.workerPid).test(line));
const tellsHow = (line, { workerPid, signal, code }) =>
  wordOf(signal ?? code).test(line.replace(wordOf(workerPid), ''));

/** A log line without its numbers and signals. */
const wordsOn = (end) =>
  linesOn(end)
    .map((line) => line.replace(/SIG[A-Z]+|\d+/g, '#'))
    .join('\n');

function storyOfSilence(end) {
  const { workerPid, signal, code, planned } = end;
  const [own] = linesOn(end);
  const isNear = (line) => /exit|die|left/i.test(line) && wordOf(signal ?? code).test(line);
  const near = own ?? plainLines(end).find(isNear);
  const missing = own ? howItEnded(end) : workerPid;
  return {
    got: near
      ? `The line "${near.trim().slice(0, 120)}" does not say ${missing}.`
      : 'No line has either.',
    why: planned
      ? 'In the morning you want to know about every worker that has exited, including planned exits.'
      : whyUntold({ own, near }),
    try: planned
      ? "look at the 'exit' handler: what comes before the log line?"
      : "look at the log line: 'exit' passes you a code and a signal, and the worker knows its pid",
  };
}

function whyUntold({ own, near }) {
  if (own)
    return "A bug leaves a code; the kernel or a person leaves a signal, and the code is null. worker.on('exit') passes the code first, cluster.on('exit') the worker.";
  if (near)
    return "It is the pid of the worker's process. process.pid is the primary's own, and worker.id the number that cluster gives it.";
  return "Nothing was printed about this exit: no handler heard it. A worker object emits 'exit' for that worker, cluster for every worker; process.on('exit') hears only the primary's own.";
}

export function demandLeave({ program, polite, killed, forks, printed: output }) {
  const moments = [polite, killed].filter(Boolean).map(exitMoment);
  demandInTime(polite, {
    expected: 'After SIGTERM a worker disconnects and exits.',
    got: 'It is still running.',
    try: 'keep the SIGTERM handler at the end of serve() as it was',
    output,
    shows: { program, moments },
  });
  demand(polite.code === 0, {
    expected: 'After SIGTERM a worker disconnects, and exits with code 0.',
    got: `Process ${polite.workerPid} exited (${howItEnded(polite)}).`,
    try: 'keep the SIGTERM handler at the end of serve() as it was',
    output,
    shows: { program, moments },
  });
  const isCrash = killed && !killed.planned; // killed before the primary had seen its 'disconnect', which makes it a crash
  const isForKilled = forks.length === 1 && killed;
  demand(forks.length <= (isCrash ? 1 : 0), {
    expected:
      'Two workers are asked to leave, and one of them is killed on its way out. Neither is replaced.',
    got: `The primary forked ${forks.length}.${isForKilled ? ` Process ${killed.workerPid} had exitedAfterDisconnect true, and SIGKILL.` : ''}`,
    why: 'You wanted one worker fewer, and it is gone, whatever its exit code or signal.',
    try: 'look at how you tell a planned leave from a crash, whatever the code: the worker knows',
    output,
    shows: {
      program,
      moments: [...moments, ...forks.slice(0, MARKED).map((fork) => forkMoment(fork, 'forked'))],
    },
  });
}

/** @param {any} stop  from stopWhileOneIsFrozen or stopInAWait */
export function demandCleanStop(stop) {
  const { how, program, fate, lost, behind, output } = stop;
  const shows = { program, moments: stopShown(stop) };
  const expected =
    'The workers answer the requests in flight and exit, then the primary exits, with code 0.';
  if (!fate && stop.forksAfter.length > 0) return; // demandNoFork reports that fault
  demandInTime(fate, {
    expected,
    got: `${how}: it was still running when nothing more happened.`,
    why: 'The primary exits by itself when its last worker has left, no other is forked and no timer is set.',
    try: 'look for what keeps the primary alive: a worker that got no signal, or a timer',
    output,
    shows,
  });
  const [isBroken, got, why, repair] = firstOf(STOP_FAULTS, stop);
  const error = lost.length > 0 ? ` (${lost[0].error ?? lost[0].status})` : '';
  const losses = `of ${stop.answers.length} requests in flight ${lost.length} were lost${error}`;
  demand(!isBroken, {
    expected,
    got: `${how}: ${got?.({ fate, behind, losses })}.`,
    why: whyOfPrimary(program) ?? why,
    try: repair,
    output,
    shows,
  });
}

/**
 * What to fix first in a stop: the first condition that is met.
 * @type {[isSo: (stop: any) => any, got: (facts: any) => string, why: string, repair: string][]}
 */
const STOP_FAULTS = [
  [
    ({ fate }) => fate.signal,
    ({ fate }) => `${fate.signal} killed the primary`,
    'A person, systemd or a container platform stops a server by SIGTERM or SIGINT, and waits for it to exit. The default is to die at once.',
    'look at which signals the primary handles',
  ],
  [
    ({ how, exits }) => how === 'Ctrl-C' && exits.some(({ signal }) => signal === 'SIGINT'),
    ({ losses }) => `SIGINT killed the workers; ${losses}`,
    'Ctrl-C sends SIGINT to the whole process group. Without a handler it kills a worker, which looks like a crash.',
    'look at what a worker does with its own SIGINT',
  ],
  [
    ({ fate }) => fate.code !== 0,
    ({ fate }) => `the primary exited with code ${fate.code}`,
    "Stopping on request isn't a failure. Only giving up exits with a code other than 0.",
    'look at what sets the exit code, and when',
  ],
  [
    ({ behind }) => behind.length > 0,
    ({ behind, losses }) => `the primary exited before ${behind.length} of its workers; ${losses}`,
    'The primary is all that a service manager or a container waits for. Once it has exited, the container goes, with every answer that its workers still owe.',
    'look at what ends the primary, and whether it waits for the last worker',
  ],
  [
    ({ lost }) => lost.length > 0,
    ({ losses }) => losses,
    'A worker that is killed, or calls process.exit(), answers nothing more.',
    'look at how you ask the workers to leave: which way lets them answer first?',
  ],
];

function stopShown({ program, signalMs: t, how }) {
  const exits = exitsOf(program.events).filter((exit) => exit.t > t);
  const signal = { pid: program.pid, t, says: how };
  return [signal, ...exits.slice(0, MARKED).map(exitMoment), primaryExitMoment(program)];
}

export function demandBackOff({ program, restarts, waits, output }, rounds) {
  const waited = waits.slice(0, RESTARTS);
  const short = waited.find(({ ms }, index) => isTooShort(ms, index));
  const long = waited.find(({ ms }, index) => isTooLong(ms, index));
  const allMs = sumOf(waited.map(({ ms }) => ms));
  const isLong = long || allMs > LONGEST_IN_ALL * sumOf(WAITS_MS);
  const blocks = blocksOf(program);
  const hasWaited = waited.length > 1 && !isNoWait(waited[0].ms);
  const isMiscounted = hasWaited && restarts > RESTARTS && !isLong;
  demandInTime(waited.length > 0 && !short && !isLong, {
    isFinal: waited.some(({ ms }, index) => isNoWait(ms, index)),
    expected: `While the port is taken, it waits twice as long before each restart: ${WAITS_MS.join(', ')} ms.`,
    got: storyOfWaits(program, waited, blocks),
    why: whyOfWaits(blocks, isMiscounted),
    try: isMiscounted
      ? 'look at the count of failed restarts: what raises it, and what sets it back, and when?'
      : 'look at what is between an exit and the fork: how long is it the first time, and the fourth time in a row?',
    output,
    shows: { program, moments: waited.filter((one) => one === (short ?? long)).map(waitMoment) },
  });
  demandFirstWait(rounds);
}

function demandFirstWait(rounds) {
  const hasty = rounds.flatMap(({ waits }) => waits).find(({ ms }) => isTooShort(ms));
  demandInTime(!hasty, {
    isFinal: hasty && isNoWait(hasty.ms),
    expected: `A worker that had listened crashes: the primary waits ${WAITS_MS[0]} ms before it forks another.`,
    got: `It waited ${hasty?.ms.toFixed(0)} ms.`,
    why: 'A client may send the request that crashes a worker again and again. Then the server does little but start workers.',
    try: 'look at the first restart after a crash: does it wait as well?',
    shows: { program: programOf(rounds), moments: hasty ? [waitMoment(hasty)] : [] },
  });
}

/**
 * How long the primary blocked each time, as blockFor() does. If it blocks in an 'exit' handler, the probe may report the exit only
 * after that, as if the primary had not waited. Node.js itself blocks before the first fork, while it loads modules.
 */
function blocksOf({ events, pid }) {
  const first = forksOf(events)[0]?.t ?? Infinity;
  return eventsOf(events, 'wait').filter((wait) => wait.pid === pid && wait.t > first);
}

function storyOfWaits(program, waited, blocks) {
  if (waited.length === 0) return storyOfNoRestart(program);
  if (blocks.length > 0) return `It blocked the primary for ${inMs(blocks)} ms.`;
  return `It waited ${inMs(waited)} ms.`;
}

function whyOfWaits(blocks, isMiscounted) {
  if (blocks.length > 0)
    return 'Until that was over the primary heard of no exit and no signal, and dealt no connection. Only a timer waits without that.';
  if (isMiscounted)
    return "Nothing counts the failed restarts, or the count restarts too early: 'online' comes before the first line of your file runs.";
  return "Starting a worker takes CPU time from the healthy ones. Trying again soon helps if the trouble is short, and long waits do no harm if it isn't.";
}

function storyOfNoRestart({ events }) {
  const [exit] = exitsOf(events);
  return `It restarted nothing: its worker ${exit ? `had exited (${howItEnded(exit)})` : 'was still running'}.`;
}

const waitMoment = ({ exit, fork }) => ({
  pid: exit.pid,
  t: exit.t,
  toMs: fork.t,
  says: `process ${exit.workerPid} exits; process ${fork.workerPid} is forked`,
});

const saysGivingUp = (output) => /giving up/i.test(output);

/**
 * For a program whose workers can't listen: the first condition that is met.
 * @type {[isSo: (failing: any) => any, got: (failing: any) => string, repair?: string, why?: string][]}
 */
const GIVE_UP_FAULTS = [
  [({ fate }) => fate?.signal, ({ fate }) => `It was killed by ${fate.signal}.`],
  [
    ({ fate }) => fate?.code === 0,
    () => 'It exited with code 0, as if all were well.',
    'look for every place that sets the exit code or calls process.exit()',
    'A service manager takes 0 for "all is well". process.exit(0) overrides an exitCode that was set before, wherever it is called.',
  ],
  [({ fate }) => fate && fate.code !== 1, ({ fate }) => `It exited with code ${fate.code}.`],
  [
    ({ fate, restarts }) => fate && restarts === RESTARTS - 1,
    () => `It exited after ${RESTARTS - 1} restarts.`,
    'look at what counts as a failed restart, and when it is compared with four',
    'The first exit is no failed restart: nothing had been restarted yet. Count the restarts, not the exits.',
  ],
  [
    ({ restarts }) => restarts !== RESTARTS,
    ({ fate, restarts }) =>
      `${fate ? 'It exited' : 'It was still running'} after ${restarts} restart${restarts === 1 ? '' : 's'}.`,
    'look at what counts as a failed restart, and where the count starts again',
  ],
  [({ output }) => !saysGivingUp(output), () => 'It exited without a line that says "giving up".'],
];

export function demandGivesUp(failing) {
  const { program, fate, restarts, output } = failing;
  const expected =
    'After four failed restarts in a row: a message with "giving up", and exit code 1.';
  const why =
    'Someone must learn of it: a service manager reads the exit code, people read the message.';
  const shows = { program, moments: [primaryExitMoment(program) ?? lastForkOf(program)] };
  const isStuck = exitsOf(program.events).length < forksOf(program.events).length;
  demandInTime(fate || restarts > RESTARTS, {
    expected,
    got: isStuck
      ? 'The last worker could not listen (EADDRINUSE), and is still running, so nothing restarts it.'
      : `After ${restarts} restarts it was still running.`,
    why,
    try: isStuck
      ? 'keep app.listen() as it was: it throws the error'
      : 'look for what keeps the primary alive when it gives up: a worker, or a timer?',
    output,
    shows,
  });
  const [, got, repair, cause] = firstOf(GIVE_UP_FAULTS, failing);
  demand(!got, {
    expected,
    got: got ? got(failing) : '',
    why: cause ?? why,
    try: repair ?? 'look at what is printed when it gives up, and at the exit code that it leaves',
    output,
    shows,
  });
}

const lastForkOf = ({ events }) => forkMoment(forksOf(events).at(-1), 'the last fork');

/** When it gave up, another place had a healthy worker. */
export function demandAllExit({ program, fate, failed, healthy, output }) {
  const shows = { program, moments: [primaryExitMoment(program) ?? lastForkOf(program)] };
  const expected =
    'In one of two places four restarts in a row fail: it gives up, the worker in the other place exits as well, and the exit code is 1.';
  demandInTime(fate || failed < RESTARTS || !saysGivingUp(output), {
    expected,
    got: `It said "giving up" and is still running, and so is worker ${healthy}.`,
    why: 'From outside it looks alive, with one worker fewer. Once it has exited, the service manager can start it again.',
    try: 'look at the place where it gives up: what becomes of the workers elsewhere?',
    output,
    shows,
  });
  demandInTime(failed >= RESTARTS && fate, {
    expected,
    got: `It ${fate ? `exited (${howItEnded(fate)})` : 'did not give up'} after ${failed} of these restarts.`,
    why: 'The task asks for four restarts in each place, with longer and longer waits.',
    try: 'look at what is counted: restarts of one place, or of all?',
    output,
    shows,
  });
  demand(fate?.code === 1, {
    expected,
    got: `It exited (${howItEnded(fate)}).`,
    why: 'A service manager that sees code 0 starts nothing.',
    try: 'look for every place that sets the exit code',
    output,
    shows,
  });
}

export function demandEachTime(rounds) {
  demandReplaced(rounds);
  const [first, ...later] = rounds.filter(({ victims }) => victims.length === 1);
  const mostMs = LONGEST * first.waits[0]?.ms + WAITS_MS[0];
  const slow = later.flatMap(({ waits }) => waits).find(({ ms }) => ms > mostMs);
  demandInTime(!slow, {
    expected: 'A worker that listens resets the count: the next wait is as short as the first.',
    got: `It waited ${inMs(first.waits)} ms after the first crash, and ${slow?.ms.toFixed(0)} ms after a later one in the same place, though the worker had listened in between.`,
    why: 'A server that crashes once a week would wait longer every time, and one day give up.',
    try: 'look at what sets the count of restarts back, and when',
    shows: { program: programOf(rounds), moments: slow ? [waitMoment(slow)] : [] },
  });
  const last = rounds.at(-1);
  const [, own] = isConclusive(last) ? last.waits : [];
  demandInTime(!own || !isTooShort(own.ms), {
    expected: `Two workers crash, one shortly after the other. Each place has its own wait of ${WAITS_MS[0]} ms.`,
    got: `The second was replaced ${own?.ms.toFixed(0)} ms after its exit, when the wait of the first was over.`,
    why: 'A restart that forks as many workers as are missing fills every empty place, including a place that has to wait longer.',
    try: 'look at how many workers a timer forks, and for which places',
    shows: { program: programOf(rounds), moments: own ? [waitMoment(own)] : [] },
  });
}

export function demandNoFork(...stops) {
  const stop = stops.find(({ forksAfter }) => forksAfter.length > 0);
  demand(!stop, {
    expected: 'After the signal the primary forks no worker.',
    got: `${stop?.how}: it forked ${stop?.forksAfter.length} more.`,
    why: 'A timer that is already running still fires after the signal.',
    try: 'look at what a timer does that fires after the signal',
    output: stop?.output,
    shows: stop && {
      program: stop.program,
      moments: stop.forksAfter.slice(0, MARKED).map((fork) => forkMoment(fork, 'forked')),
    },
  });
}

/** @param {any} end  of a stop, or of a primary that was killed */
export function demandNothingLeft({ how, program, fate, left, haveStayed, output }) {
  demandInTime(!fate || left.length === 0, {
    isFinal: haveStayed,
    expected: 'When the primary has exited, everything that it started exits as well.',
    got: `${how}: process ${left.join(', ')} is still running.`,
    why: 'It holds memory, perhaps the port, and nothing watches it. A worker exits when its channel to the primary closes; a detached process does not.',
    try: 'look at how processes are started: does one outlive its parent?',
    output,
    shows: { program, moments: [primaryExitMoment(program)] },
  });
}
