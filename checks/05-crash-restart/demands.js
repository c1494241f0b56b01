/** What lesson 5 demands of what was seen, in the order of its promises. */
import { demand, exitsOf, forksOf, whyOfCrash } from '../../lib/check/checking.js';
import { DEADLINE_MS, LEAST_LAST_WAIT_MS, UNDER_WAY, busy } from './looks.js';

const LEAST_GROWTH = 1.5; // the last wait against the shortest

export function demandReplaced(program, rounds) {
  const lost = rounds.find(({ isBack }) => !isBack);
  const crashes = rounds.flatMap(({ victims }) => victims).length;
  demand(!lost, {
    expected: `After ${lost?.how} a new worker listens, and all serve again.`,
    ...(lost && storyOfLoss(program, lost, crashes)),
  });
  const { forks, ends } = countOf(program.events, rounds);
  demand(forks <= ends, {
    expected: 'One worker is forked for each that crashes.',
    got: `${ends} workers ended, and ${forks} were forked.`,
    why: "'disconnect' and 'exit' both come for one worker, and each worker that is too many stays.",
    try: "fork in one place only: in the handler of 'exit'",
  });
  demandOthers(rounds);
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
  return { forks: forksOf(during).length, ends: exitsOf(during).length };
}

function demandOthers(rounds) {
  const bystanders = rounds.flatMap(({ isBack, exits, victims }) =>
    exits.flatMap(({ workerPid }) => (isBack && !victims.includes(workerPid) ? workerPid : [])),
  );
  demand(bystanders.length === 0, {
    expected: 'No worker ends but those which we ended; the others are the same processes.',
    got: `Process ${bystanders.join(', ')} ended as well.`,
    why: 'Workers share nothing. The crash of one is no reason to interrupt the others.',
    try: "worker.on('exit', ...) puts one in that worker's place, and touches no other",
  });
}

export function demandLog(rounds) {
  const isTold = (news, { workerPid, code, signal }) => {
    const pid = new RegExp(`\\b${workerPid}\\b`);
    const how = new RegExp(`\\b${signal ?? code}\\b`);
    return news.split('\n').some((line) => pid.test(line) && how.test(line.replace(pid, '')));
  };
  const [exit] = rounds.flatMap(({ exits, news }) => exits.filter((one) => !isTold(news, one)));
  const how = exit?.signal ?? `exit code ${exit?.code}`;
  demand(!exit, {
    expected: `A line with ${exit?.workerPid}, the pid of a worker, and ${how}, as it ended.`,
    got: 'No line has both.',
    why: 'Whoever looks into the log in the morning wants to know whether it was a bug (a code), the kernel or a person (a signal).',
    try: 'console.log(`worker ${worker.process.pid} ended ${signal ? `by ${signal}` : `with exit code ${code}`}`);',
  });
}

export function demandLeave({ program, round }) {
  const { exits, victims } = round;
  const [exit] = exits;
  const { output } = round;
  demand(exit?.code === 0, {
    expected: 'After SIGTERM a worker disconnects and ends with exit code 0.',
    got: `Process ${victims[0]} ${exit ? `ended with ${exit.signal ?? exit.code}` : 'still runs'}.`,
    try: 'keep the handler of SIGTERM at the end of serve() as it was',
    output,
  });
  const { forks } = countOf(program.events, [round]);
  demand(forks === 0, {
    expected: 'A worker that left as planned is not replaced.',
    got: `${forks} were forked.`,
    why: 'Somebody wanted it to leave. A planned leave has exitedAfterDisconnect true.',
    try: 'if (worker.exitedAfterDisconnect || code === 0) return;',
    output,
  });
}

export function demandBackOff({ waitsMs, lateMs, output }) {
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

export function demandEnd({ fate, starts, output }) {
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

export function demandCleanStop(stops) {
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

export function demandNoFork(stops) {
  const stop = stops.find(({ forks }) => forks > 0);
  demand(!stop, {
    expected: 'No worker is forked after the signal.',
    got: `${stop?.how}: it forked ${stop?.forks} more.`,
    why: 'A timer that is already running still fires after the signal.',
    try: "remember that you are stopping; ask for it in the handler of 'exit' and when the timer fires",
    output: stop?.output,
  });
}

export function demandNoneLeft(ends) {
  const end = ends.find(({ fate, left }) => fate && left.length > 0);
  demand(!end, {
    expected: 'When the primary has ended, however that came, all that it started ends.',
    got: `${end?.how}: process ${end?.left.join(', ')} is still there.`,
    why: 'It holds memory, perhaps the port, and nobody watches it. A worker ends when its channel to the primary closes; what was detached does not.',
    try: 'start nothing with detached: true',
    output: end?.output,
  });
}
