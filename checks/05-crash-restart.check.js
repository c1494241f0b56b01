import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Undecided,
  check,
  createOpenLoop,
  demand,
  forksOf,
  get,
  nowMs,
  requestsOf,
  whyOfCrash,
} from '../lib/checking.js';

const promises = {
  replaced: 'a worker that crashes is replaced by one new worker, also the sixth time',
  'others-go-on': 'meanwhile the other workers go on, the same processes',
  'log-tells': 'the log tells the pid of each dead worker, with its signal or its exit code',
  'planned-leaves': 'a worker that leaves as planned is not replaced',
  'slows-down': 'when no worker comes to listen, it waits longer before each new start',
  'gives-up': 'after some starts in vain it gives up, with a message and exit code 1',
  'stops-clean': 'SIGTERM and Ctrl-C: what is under way is answered, then it ends with exit code 0',
  'no-fork-in-shutdown': 'once told to stop, it forks no worker any more',
  'nothing-outlives': 'nothing outlives the primary, however it ended',
};
const WORKERS = 4;
const DEADLINE_MS = 10_000;
const LONG_DEADLINE_MS = 20_000; // for what takes many starts
const LEAST_LOOK_MS = 2_500; // by then it is plain whether a timer is set for a new start
const ONE_MORE_MS = 500; // one that is one too many comes after a wait, as the others
const CRASHES_OF_ONE = 6;
const MOST_STARTS = 10;
const MOST_WAITING_MS = 5_000; // all waits together
const LEAST_LAST_WAIT_MS = 100;
const LEAST_GROWTH = 1.5; // the last wait against the shortest
const STARTS_BEFORE_STOP = 3; // then comes a wait of 400 ms, if they double from 100
const SIGNAL_ARRIVES_MS = 50;
const STOP_LOOK_MS = 3_000;
const UNDER_WAY = 6;
const LOAD = { ratePerSecond: 60, durationMs: 2_000, timeoutMs: 1_000 };
const KILL_EVERY_MS = 400;

check('05-crash-restart', promises, async (lesson) => {
  const { launch, ready, observe, meanwhile, hold } = lesson;
  const start = async (workers, options) =>
    ready(await launch({ env: { NODE_CLUSTER_WORKERS: String(workers) }, ...options }), workers);
  const main = observe(() => start(WORKERS));
  const inVain = meanwhile(async () => (await main) && startInVain(launch));
  const stoppedInVain = meanwhile(async () => (await main) && stopWhileItWaits(launch));
  const again = meanwhile(async () => (await main) && crashAgain(await start(2), 2));
  const beheaded = meanwhile(async () => behead((await again).program));
  const interrupted = meanwhile(async () => (await main) && stopAtWork(await start(2), 'Ctrl-C'));
  const terminated = meanwhile(async () => (await main) && stopAtWork(await start(2), 'SIGTERM'));
  const rounds = observe(async () => crashOneByOne(await main));

  await hold('replaced', async () => {
    demandReplaced(await main, await rounds);
    demandReplaced((await again).program, (await again).rounds);
  });

  await hold('others-go-on', async () => {
    const bystanders = (await rounds).flatMap(({ isBack, exits, victims }) =>
      exits.flatMap(({ workerPid }) => (isBack && !victims.includes(workerPid) ? workerPid : [])),
    );
    demand(bystanders.length === 0, {
      expected: 'No worker ends but those which we ended; the others are the same processes.',
      got: `Process ${bystanders.join(', ')} ended as well.`,
      why: 'Workers share nothing. The crash of one is no reason to interrupt the others.',
      try: "worker.on('exit', ...) puts one in that worker's place, and touches no other",
    });
  });

  await hold('log-tells', async () => demandLog(await rounds));
  const needs = ['replaced'];
  await hold('planned-leaves', async () => demandLeave(await main, await rounds), { needs });
  await hold('slows-down', async () => demandBackOff(await inVain), { needs });
  await hold('gives-up', async () => demandEnd(await inVain), { needs });

  await hold('stops-clean', async () => demandCleanStop([await interrupted, await terminated]));

  const stops = async () => [await stoppedInVain, await interrupted, await terminated];
  await hold('no-fork-in-shutdown', async () => demandNoFork(await stops()), {
    needs: [...needs, 'stops-clean'],
  });

  await hold('nothing-outlives', async () => {
    const ends = [await interrupted, await terminated, await beheaded];
    const end = ends.find(({ fate, left }) => fate && left.length > 0);
    demand(!end, {
      expected: 'When the primary has ended, however that came, all that it started ends.',
      got: `${end?.how}: process ${end?.left.join(', ')} is still there.`,
      why: 'It holds memory, perhaps the port, and nobody watches it. A worker ends when its channel to the primary closes; what was detached does not.',
      try: 'start nothing with detached: true',
      output: end?.output,
    });
  });

  if (lesson.allHold() && !lesson.isQuick) await measure(lesson, start);
});

const exitsOf = (events) => events.filter(({ what }) => what === 'worker-exit');
const listeningOf = (events) => events.filter(({ what }) => what === 'worker-listening');

/** The workers of which the primary knows that they listen, and not that they have ended. */
function servingOf(events) {
  const ended = new Set(exitsOf(events).map(({ workerPid }) => workerPid));
  const pids = new Set(listeningOf(events).map(({ workerPid }) => workerPid));
  return [...pids].filter((pid) => !ended.has(pid));
}

/** Ends workers in one way after the other, each time after all that should serve do. */
async function crashOneByOne(program) {
  const kill = (signal, count) => (pids) =>
    pids.slice(0, count).filter((pid) => program.kill(pid, signal));
  const rounds = [];
  let size = WORKERS;
  for (const [how, strike, isPlanned = false] of [
    ['SIGKILL', kill('SIGKILL', 1)],
    ['/buggy', () => askForABug(program)],
    ['SIGTERM', kill('SIGTERM', 1), true],
    ['SIGKILL in the middle of its work', () => killAtWork(program)],
    ['SIGKILL of two at once', kill('SIGKILL', 2)],
    ['SIGKILL', kill('SIGKILL', 1)],
  ]) {
    await program.until((events) => servingOf(events).length >= size);
    if (isPlanned) size -= 1;
    const round = await strikeOnce(program, strike, size);
    rounds.push({ how, isPlanned, ...round });
    if (!round.isBack) return rounds;
  }
  const forks = forksOf(program.events).length;
  await program.until((events) => forksOf(events).length > forks, ONE_MORE_MS);
  rounds.at(-1).last = program.events.length;
  return rounds;
}

/** Whoever counts for each place of its own: the worker that came last dies again and again. */
async function crashAgain(program, size) {
  const rounds = [];
  const strike = (pids) => pids.slice(-1).filter((pid) => program.kill(pid, 'SIGKILL'));
  while (rounds.length < CRASHES_OF_ONE && rounds.every(({ isBack }) => isBack)) {
    await program.until((events) => servingOf(events).length >= size);
    const round = await strikeOnce(program, strike, size);
    rounds.push({ how: 'SIGKILL in the same place', isPlanned: false, ...round });
  }
  return { program, rounds };
}

/** Ends some workers and waits until `size` serve, or it is plain that they never will. */
async function strikeOnce(program, strike, size) {
  const first = program.events.length;
  const said = program.output();
  const before = servingOf(program.events);
  const victims = await strike(before);
  const isDone = (events) => {
    const ended = exitsOf(events).map(({ workerPid }) => workerPid);
    return victims.every((pid) => ended.includes(pid)) && servingOf(events).length >= size;
  };
  const isBack =
    (await program.until(isDone, LEAST_LOOK_MS)) || (await program.settled(isDone, DEADLINE_MS));
  const events = program.events.slice(first);
  const exits = exitsOf(events).filter(({ workerPid }) => before.includes(workerPid));
  const output = program.output();
  const news = output.startsWith(said) ? output.slice(said.length) : output;
  return { isBack, victims, exits, first, last: first + events.length, news };
}

/** Tells which worker executed /buggy. */
async function askForABug(program) {
  get(`${program.url}/buggy`, { timeoutMs: DEADLINE_MS }); // nobody waits for an answer
  await program.until((events) => requestsOf(events, '/buggy').length > 0);
  return requestsOf(program.events, '/buggy').map(({ pid }) => pid);
}

/** Kills the first worker that is seen at work, while other requests wait for their turn. */
async function killAtWork(program) {
  const first = program.events.length;
  const asked = () => requestsOf(program.events.slice(first), '/').slice(0, 1);
  for (let count = 0; count < 3 * WORKERS; count += 1)
    get(`${program.url}/`, { timeoutMs: DEADLINE_MS }); // some are lost with the worker
  await program.until(() => asked().length > 0);
  return asked().flatMap(({ pid }) => (program.kill(pid, 'SIGKILL') ? [pid] : []));
}

function demandReplaced(program, rounds) {
  const lost = rounds.find(({ isBack }) => !isBack);
  const crashes = rounds.flatMap(({ isPlanned, victims }) => (isPlanned ? [] : victims)).length;
  demand(!lost || lost.isPlanned, {
    expected: `After ${lost?.how} a new worker listens, and all serve again.`,
    ...(lost && storyOfLoss(program, lost, crashes)),
  });
  const { forks, ends, leaves } = countOf(program.events, rounds);
  demand(forks <= ends, {
    expected: 'One worker is forked for each that crashes.',
    got: `${ends} workers ended${leaves > 0 ? ', one of them as planned' : ''}, and ${forks} were forked.`,
    why: "'disconnect' and 'exit' both come for one worker, and each worker that is too many stays.",
    try: "fork in one place only: in the handler of 'exit'",
  });
}

/** [condition, why, try]: why nobody came in a dead worker's place. The first whose condition is met. */
const LOSSES = [
  [({ crash }) => crash],
  [
    ({ crashes, fate, how }) => crashes > 2 && (fate || !how.includes('middle')),
    'Only restarts in a row that came to nothing count: a worker that listens begins the count afresh.',
    "set the count back to 0 when a worker is 'listening'",
  ],
  [
    ({ crashes }) => crashes > 2,
    "For a worker that dies at work 'disconnect' may never come; 'exit' always does.",
    "restart on 'exit'",
  ],
  [
    ({ fate, victims, news }) => !fate && !victims.some((pid) => news.includes(String(pid))),
    "The primary hears 'exit', a worker does not. Nothing was printed about this end: was your handler called?",
    "cluster.on('exit', (worker, code, signal) => { ... }) in the primary; serve() runs in the workers",
  ],
  [
    () => true,
    'A worker ended by a signal has the code null; one that threw has code 1 and no signal.',
    'if (!worker.exitedAfterDisconnect && code !== 0) it was a crash: fork',
  ],
];

function storyOfLoss(program, round, crashes) {
  const { how, victims, exits } = round;
  const { fate } = program;
  if (!fate && !victims.every((pid) => exits.some(({ workerPid }) => workerPid === pid))) {
    return {
      got: `After ${how} the worker still runs.`,
      why: 'Whoever catches every exception goes on with what the bug has left half done.',
      try: "let it crash: no process.on('uncaughtException')",
    };
  }
  const crash = whyOfPrimary(program);
  const [, why = crash, repair] = firstOf(LOSSES, { ...round, crashes, fate, crash });
  const end = fate && `The primary ended (${fate.signal ?? `exit code ${fate.code}`})`;
  const got = `${end ?? 'Nobody came in its place'} after ${how}, which was crash number ${crashes}.`;
  return { got, why, try: repair };
}

const firstOf = (faults, facts) => faults.find(([isSo]) => isSo(facts)) ?? [];

/** What the primary threw, if it ended by that; what its workers threw is another matter. */
const whyOfPrimary = ({ events, pid }) => whyOfCrash(events.filter((event) => event.pid === pid));

/** What happened from the first round to the last. */
function countOf(events, rounds) {
  const during = events.slice(rounds.at(0).first, rounds.at(-1).last);
  const leaves = rounds.filter(({ isPlanned }) => isPlanned).length;
  return { forks: forksOf(during).length, ends: exitsOf(during).length, leaves };
}

function demandLog(rounds) {
  const crashes = rounds.filter(({ isPlanned }) => !isPlanned);
  const isTold = (news, { workerPid, code, signal }) => {
    const pid = new RegExp(`\\b${workerPid}\\b`);
    const how = new RegExp(`\\b${signal ?? code}\\b`);
    return news.split('\n').some((line) => pid.test(line) && how.test(line.replace(pid, '')));
  };
  const [exit] = crashes.flatMap(({ exits, news }) => exits.filter((one) => !isTold(news, one)));
  const how = exit?.signal ?? `exit code ${exit?.code}`;
  demand(!exit, {
    expected: `A line with ${exit?.workerPid}, the pid of a worker, and ${how}, as it ended.`,
    got: 'No line has both.',
    why: 'Whoever looks into the log in the morning wants to know whether it was a bug (a code), the kernel or a person (a signal).',
    try: 'console.log(`worker ${worker.process.pid} ended ${signal ? `by ${signal}` : `with exit code ${code}`}`);',
  });
}

function demandLeave({ events }, rounds) {
  const { exits, victims } = rounds.find(({ isPlanned }) => isPlanned);
  const [exit] = exits;
  demand(exit?.code === 0, {
    expected: 'After SIGTERM a worker disconnects and ends with exit code 0.',
    got: `Process ${victims[0]} ${exit ? `ended with ${exit.signal ?? exit.code}` : 'still runs'}.`,
    try: 'keep the handler of SIGTERM at the end of serve() as it was',
  });
  const { forks, ends, leaves } = countOf(events, rounds);
  demand(forks <= ends - leaves, {
    expected: `Of ${ends} workers that ended one left as planned: the others are replaced.`,
    got: `${forks} were forked.`,
    why: 'Somebody wanted it to leave. A planned leave has exitedAfterDisconnect true.',
    try: 'if (worker.exitedAfterDisconnect || code === 0) return;',
  });
}

/** On a port that another program holds already, each worker dies of EADDRINUSE before it listens. */
async function launchOnTakenPort(launch) {
  const other = createServer().listen(0).unref();
  await once(other, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (other.address());
  const env = { PORT: String(port), NODE_CLUSTER_WORKERS: '1' };
  return { program: await launch({ env }), other };
}

async function startInVain(launch) {
  const { program, other } = await launchOnTakenPort(launch);
  const isEnough = (events) =>
    forksOf(events).length >= MOST_STARTS || sumOf(waitsOf(events, nowMs())) > MOST_WAITING_MS;
  await program.until(isEnough, LONG_DEADLINE_MS);
  const { events, fate } = program;
  const isDecided = fate || isEnough(events);
  await program.stop();
  other.close();
  const starts = forksOf(events).length;
  if (!isDecided)
    throw busy(`Within ${LONG_DEADLINE_MS / 1000} s a worker could start only ${starts} times.`);
  const waitsMs = waitsOf(events);
  const lastEndMs = exitsOf(events)[waitsMs.length - 1]?.t;
  const beats = events.filter(
    ({ what, pid, t }) => what === 'beat' && pid === program.pid && t > lastEndMs,
  );
  const lateMs = Math.max(0, ...beats.map(({ late }) => late));
  return { fate, starts, waitsMs, lateMs, output: program.output() };
}

const busy = (got) =>
  new Undecided({
    got,
    why: 'The machine has other things to do.',
    try: 'npm run check lesson-5, when it has less to do',
  });

/** From the end of each worker to the start of the next; with the present time also the wait under way. */
function waitsOf(events, untilMs) {
  const starts = [...forksOf(events).map(({ t }) => t), untilMs].slice(1);
  return exitsOf(events).flatMap(({ t }, index) =>
    starts[index] === undefined ? [] : Math.round(starts[index] - t),
  );
}

const sumOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

function demandBackOff({ waitsMs, lateMs, output }) {
  const [shortest, last] = [Math.min(...waitsMs), waitsMs.at(-1)];
  const isLong = last >= LEAST_LAST_WAIT_MS;
  const isConstant = waitsMs.length > 1 && isLong;
  const hasGrown = (waitMs) => waitMs >= LEAST_LAST_WAIT_MS && waitMs >= LEAST_GROWTH * shortest;
  demand(isConstant && hasGrown(last), {
    expected:
      'The port is taken: before each restart in a row it waits longer, as 100, 200, 400, 800 ms.',
    got: `It waited ${waitsMs.join(', ') || 'not at all'} ms, and forked ${waitsMs.length} times again.`,
    why: 'Starting a worker takes CPU time from the programs that work. Soon tried again helps with a short trouble, and long waits do no harm in a long one.',
    try: isConstant
      ? "does the count go back to 0 before the worker listens? 'online' is too early"
      : "in the handler of 'exit' fork in a timer: after 100 ms, and twice as long after each restart in vain",
    output,
  });
  if (!hasGrown(last - lateMs))
    throw busy(`The last wait, ${last} ms, may be ${lateMs} ms too long.`);
}

function demandEnd({ fate, starts, output }) {
  const { code, signal } = fate ?? {};
  const isTold = /g[ia]v\w* up|too (many|often)|in a row|limit|no (more|further)|abort/i.test(
    output,
  );
  const faults = [
    [!fate, `${starts} starts had come to nothing, and it still ran.`],
    [signal, `It was ended by ${signal}.`],
    [code === 0, 'It ended with exit code 0, as if all were well.'],
    [!isTold, 'It ended without a word about giving up.'],
  ];
  const [, got] = faults.find(([isSo]) => isSo) ?? [];
  demand(!got, {
    expected:
      'After four restarts in a row, and none came to listen: a message with "giving up", and exit code 1.',
    got: /** @type {string} */ (got),
    why: 'Somebody must learn of it: whoever started the server reads its exit code, and people its message.',
    try: fate
      ? "console.error('giving up: ...'); process.exitCode = 1;"
      : "count the restarts since a worker was last 'listening'; after four of them end",
    output,
  });
}

/** The signal comes between a crash and the new start that is to follow. */
async function stopWhileItWaits(launch) {
  const { program, other } = await launchOnTakenPort(launch);
  const isWaiting = (events) => exitsOf(events).length >= STARTS_BEFORE_STOP;
  await program.until(isWaiting, DEADLINE_MS);
  const lastWaitMs = waitsOf(program.events).at(STARTS_BEFORE_STOP - 2) ?? 0;
  const signalMs = nowMs();
  program.kill(program.pid, 'SIGTERM');
  const later = (events) => forksOf(events).filter(({ t }) => t > signalMs + SIGNAL_ARRIVES_MS);
  await program.until((events) => later(events).length > 0, STOP_LOOK_MS);
  const forks = lastWaitMs < LEAST_LAST_WAIT_MS ? 0 : later(program.events).length; // else it has no timer to stop
  await program.stop();
  other.close();
  return { how: 'SIGTERM while it waited to restart a worker', forks, output: program.output() };
}

/** The signal comes while requests are under way. */
async function stopAtWork(program, how) {
  const first = program.events.length;
  const ask = () => get(`${program.url}/report`, { timeoutMs: DEADLINE_MS });
  const asked = Promise.all(Array.from({ length: UNDER_WAY }, ask));
  const begun = (events) => requestsOf(events.slice(first), '/report').length >= UNDER_WAY;
  await program.until(begun, DEADLINE_MS / 2);
  const signalMs = nowMs();
  if (how === 'Ctrl-C') program.interrupt('SIGINT');
  else program.kill(program.pid, 'SIGTERM');
  const fate = await program.ended(DEADLINE_MS);
  const answers = await asked;
  const left = fate ? await program.gone(DEADLINE_MS) : [];
  const forks = forksOf(program.events).filter(({ t }) => t > signalMs).length;
  const lost = answers.filter(({ status }) => status !== 200);
  return { how, program, fate, lost, left, forks, output: program.output() };
}

function demandNoFork(stops) {
  const stop = stops.find(({ forks }) => forks > 0);
  demand(!stop, {
    expected: 'No worker is forked after the signal.',
    got: `${stop?.how}: it forked ${stop?.forks} more.`,
    why: 'A timer that is already running still fires after the signal.',
    try: "remember that you are stopping; ask for it in the handler of 'exit' and when the timer fires",
    output: stop?.output,
  });
}

function demandCleanStop(stops) {
  const stop = stops.find(({ fate, lost }) => fate?.code !== 0 || lost.length > 0);
  demand(!stop, {
    expected: 'The workers answer what they have begun, all end, and the exit code is 0.',
    ...(stop && storyOfStop(stop)),
    output: stop?.output,
  });
}

/** [condition, got, why, try]: what is to be mended first in a stop. */
const STOP_FAULTS = [
  [
    ({ fate }) => fate?.signal,
    ({ fate }) => `it was ended by ${fate.signal}.`,
    'Whoever stops a server (a person, systemd, a container) sends SIGTERM or SIGINT and waits for the end. The default is to die at once.',
    "process.on('SIGTERM', stop); and process.on('SIGINT', stop); in the primary, where stop sends SIGTERM to each worker",
  ],
  [
    ({ how, exits }) => how === 'Ctrl-C' && exits.some(({ signal }) => signal === 'SIGINT'),
    ({ losses }) => `the workers died of SIGINT; ${losses}.`,
    'Ctrl-C reaches them, too: a terminal sends SIGINT to every process. Without a handler they die of it, which looks like a crash.',
    "process.on('SIGINT', () => {}); in the workers; the primary tells them to leave",
  ],
  [
    ({ fate }) => !fate,
    ({ more }) => `it still ran ${DEADLINE_MS / 1000} s later${more}.`,
    'The primary ends by itself when its last worker has left, no other is forked and no timer is set.',
    "send SIGTERM to each worker, and remember that you are stopping: ask for it in the handler of 'exit'",
  ],
  [
    ({ fate }) => fate.code !== 0,
    ({ fate }) => `it ended with exit code ${fate.code}.`,
    'To stop when told is no failure. Only who gave up ends with another code than 0.',
    'let the primary end by itself, when its last worker has left',
  ],
  [
    ({ exits, forked }) => exits.length < forked,
    ({ losses }) => `it ended before its workers had answered; ${losses}.`,
    'process.exit() ends the primary at once; the workers see the channel close, and end with their work half done.',
    'no process.exit() in the handler of the signal: the primary ends by itself when its last worker has left',
  ],
  [
    () => true,
    ({ losses }) => `${losses}.`,
    'A worker that is killed, or calls process.exit(), answers nothing any more.',
    'send SIGTERM to each worker: its handler lets it answer first',
  ],
];

function storyOfStop({ how, program, fate, lost, forks }) {
  const exits = exitsOf(program.events);
  const forked = forksOf(program.events).length;
  const error = lost.length > 0 ? ` (${lost[0].error})` : '';
  const losses = `of ${UNDER_WAY} requests under way ${lost.length} were lost${error}`;
  const more = forks > 0 ? `, and had forked ${forks} more` : '';
  const facts = { how, fate, exits, forked, losses, more };
  const [, got, why, repair] = firstOf(STOP_FAULTS, facts);
  return { got: `${how}: ${got(facts)}`, why: whyOfPrimary(program) ?? why, try: repair };
}

async function behead(program) {
  program.kill(program.pid, 'SIGKILL');
  const fate = await program.ended(DEADLINE_MS);
  const left = await program.gone(DEADLINE_MS);
  return { how: 'SIGKILL of the primary', fate, left, output: program.output() };
}

/** The learner's cluster and the starter, each under the same load, each of their first workers killed once. */
async function measure({ drawn, measured }, start) {
  const programs = await Promise.all([start(WORKERS, { isReference: true }), start(WORKERS)]);
  const [control, candidate] = await Promise.all(programs.map(killUnderLoad));
  const [low, high] = [Math.min(...candidate.gapsMs), Math.max(...candidate.gapsMs)];
  const note =
    high > KILL_EVERY_MS
      ? `a restart took longer than the ${KILL_EVERY_MS} ms between two deaths: these say little of restarts`
      : undefined;
  drawn('answered', {
    label: `answered, of ${control.sent} requests, while each of the ${WORKERS} workers is killed`,
    unit: 'requests',
    rows: [
      { name: 'nobody replaces them', value: control.answered },
      { name: 'yours', value: candidate.answered },
    ],
    note,
  });
  measured('full-capacity', {
    label: `from the death of a worker until its replacement listens, the mean of four (${low.toFixed(0)} to ${high.toFixed(0)} ms)`,
    unit: 'ms',
    value: sumOf(candidate.gapsMs) / candidate.gapsMs.length,
    isHeadline: true,
  });
}

async function killUnderLoad(program) {
  const { fire, close } = createOpenLoop();
  await program.until((events) => servingOf(events).length === WORKERS, DEADLINE_MS);
  await fire({ url: `${program.url}/`, ...LOAD, durationMs: 100 }); // warms up
  const first = program.events.length;
  const loaded = fire({ url: `${program.url}/`, ...LOAD });
  for (const pid of servingOf(program.events)) {
    await sleep(KILL_EVERY_MS);
    program.kill(pid, 'SIGKILL');
  }
  const { answers } = await loaded;
  close();
  const replacements = () => listeningOf(program.events.slice(first));
  await program.until(() => replacements().length === WORKERS, DEADLINE_MS);
  const events = program.events.slice(first);
  const exits = exitsOf(events);
  const gapsMs = replacements().map(({ t }, index) => t - exits[index].t);
  const answered = answers.filter(({ status }) => status === 200).length;
  return { answered, sent: answers.length, gapsMs };
}
