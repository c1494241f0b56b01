/** What lesson 11 demands of an end: that it is clean, and that it comes when no worker can start, and not before. */
import {
  demand,
  eventsOf,
  exitsOf,
  forksOf,
  momentOf,
  whyOfCrash,
} from '../../../lib/check/checking.js';
import {
  FAILED_STARTS,
  KILLED,
  MANY_IN_A_ROW,
  MOST_IN_A_ROW,
  UNDER_WAY,
  isClean,
} from '../looks/end.js';
import { busy } from '../looks/nitro.js';

const LEAST_FAILED_STARTS = 5;

export function demandCleanStop(stops) {
  const stop = stops.find((one) => !isClean(one));
  demand(!stop, {
    expected:
      'The workers answer what they have begun, however long it takes, and nothing new; all end, and the exit code is 0.',
    ...(stop && storyOfStop(stop)),
    shows: stop && { program: stop.program, moments: endsShown(stop.program) },
    output: stop?.output,
  });
}

/** The ends of its processes: of the primary the last. */
const endsShown = ({ events }) =>
  eventsOf(events, 'exit').map((end) => momentOf(end, `ends with exit code ${end.code}`));

/** [condition, got, why, try]: what to fix first in a stop. The first whose condition is met. */
const STOP_FAULTS = [
  [
    ({ isEarly }) => isEarly,
    () => 'it had ended before, when one of its workers was killed.',
    'A worker that has listened and dies is replaced, and the others go on serving.',
    'count only workers that never listened, and end after five of these in a row',
  ],
  [
    ({ left }) => left.length > 0,
    ({ left }) => `process ${left.join(', ')} is still there.`,
    'What child_process has started goes on without its parent: nobody watches it, and it holds the port.',
    'start the build with import(), in this process; or signal every process that it has started',
  ],
  [
    ({ fate, isTwice }) => isTwice && fate?.signal,
    ({ fate }) => `a second one came while it was stopping, and it was ended by ${fate.signal}.`,
    "People press Ctrl-C again when they lose patience. Nitro's handler in the primary runs just once; if yours does too, the second signal ends the primary, and its workers lose what they have under way.",
    'process.on(signal, stop), not process.once(signal, stop): a second order changes nothing',
  ],
  [
    ({ fate }) => fate?.signal,
    ({ fate }) => `it was ended by ${fate.signal}.`,
    'A server is stopped by SIGTERM or SIGINT, and then given time to end.',
    "process.on('SIGTERM', stop); and the same for SIGINT, in the primary",
  ],
  [
    ({ crash }) => crash && /undefined|not iterable/.test(crash.error),
    ({ crash }) => `a worker threw in its handler: ${crash.error.split('\n')[0]}.`,
    'In a worker cluster.workers is undefined: only a primary has workers.',
    'the signal handlers only if (cluster.isPrimary)',
  ],
  [
    ({ fate, ends }) => !fate && ends === 0,
    () => 'no worker has ended, and it goes on serving.',
    "Nitro's primary hears the signal and then waits, 30 s, for workers that nobody has told.",
    'for (const worker of Object.values(cluster.workers)) worker.process.kill(signal);',
  ],
  [
    ({ areLater }) => areLater,
    () => 'the worker that had not left was one that had been forked in the place of a dead one.',
    'A list of workers that is made once does not know those that are forked later. Nobody tells them, and they go on serving.',
    'Object.values(cluster.workers) in the signal handler itself: then it has those that are there now',
  ],
  [
    ({ fate }) => !fate,
    ({ ends }) => `${ends} of its workers ended, and the program is still running.`,
    'Nitro ends the primary when the last worker has left; if something replaces the workers, there is no last one.',
    'tell all workers; fork none yourself',
  ],
  [
    ({ fate, isAtStart, output }) => fate.code === 1 && isAtStart && isGivingUp(output),
    () => 'it gave up, and ended with exit code 1.',
    "A worker that was told to end before it listened is not a failed start. Stopping when told to isn't a failure.",
    'let stopping = false; the signal handler sets it, and after that nothing is counted',
  ],
  [
    ({ fate }) => fate.code !== 0,
    ({ fate, isTwice }) =>
      `${isTwice ? 'it was told twice, and ended' : 'it ended'} with exit code ${fate.code}.`,
    "Stopping when told to isn't a failure.",
    'let Nitro end the primary, when the last worker has left',
  ],
  [
    ({ behind }) => behind.length > 0,
    ({ behind }) => `it ended before ${behind.length} of its workers, which had not left.`,
    'Once the primary is gone, so is the container, with everything its workers have under way. Nobody knows how long an answer takes; Nitro waits for 30 s at most.',
    'worker.process.kill(signal) for each worker; no timer, no process.exit(), no other time-out of yours; and no disconnect(), which takes workers off the list that Nitro waits for',
  ],
  [
    ({ lost }) => lost.length > 0,
    ({ lost }) => `of ${UNDER_WAY} requests under way ${lost.length} were lost (${lost[0].error}).`,
    'A worker that gets SIGTERM answers first, however long it takes: Nitro sees to that. One that is killed by SIGKILL, loses its primary or calls process.exit() does not.',
    'worker.process.kill(signal), with the same signal; no timer and no process.exit()',
  ],
  [
    () => true,
    () => 'more than a second later a request was still accepted, and answered.',
    'Nobody had told the workers, so they went on serving until a time-out ended the primary.',
    'for (const worker of Object.values(cluster.workers)) worker.process.kill(signal);',
  ],
];

function storyOfStop({ how, program, output, ...stop }) {
  const { events } = program;
  const workers = forksOf(events).map(({ workerPid }) => workerPid);
  const crash = eventsOf(events, 'crash').find(({ pid }) => workers.includes(pid));
  const facts = { ...stop, output, crash, ends: exitsOf(events).length };
  const [, got, why, repair] = /** @type {any[]} */ (
    STOP_FAULTS.find(([isSo]) => /** @type {any} */ (isSo)(facts))
  );
  return {
    got: `${how}: ${got(facts)}`,
    why: crash ? why : (whyOfCrash(events) ?? why),
    try: repair,
  };
}

/** That a program says so, in the words of the text. */
const isGivingUp = (output) => /giv(e|es|ing) up|gave up/i.test(output);

/** @param {any} failedStarts @param {any} killed */
export function demandEnd(failedStarts, killed) {
  demandGivesUp(failedStarts);
  demandGoesOn(killed);
  demandKilledCount(killed.vain, failedStarts);
}

/** Workers that were killed before they listened are failed starts, like all others, and it has shown how many it takes of those. */
function demandKilledCount({ fate, ends, isBroken, isBetween, output }, failedStarts) {
  const most = failedStarts.ends > MANY_IN_A_ROW ? MOST_IN_A_ROW : MANY_IN_A_ROW;
  if (!fate && (isBroken || ends < most - 1))
    throw busy(`Only ${ends} workers in a row could be killed before they listened.`);
  const isTold = isGivingUp(output);
  demand(fate?.code === 1 && isTold && ends <= most, {
    expected: `A worker that had listened is killed, and so is each that comes in its place, before it listens${isBetween ? '; in the middle of that row another place is filled, by one that listens' : ''}: after five of these, or a few more, a message with "giving up", and exit code 1.`,
    got: fate
      ? `It ended with ${fate.signal ?? `exit code ${fate.code}`}${isTold ? '' : ', and without such a message'}, when ${ends} in a row had been killed.`
      : `${ends} in a row had been killed, ${FAILED_STARTS} of them by SIGTERM, and it went on.`,
    why: 'The kernel kills what takes too much memory, also while it starts. Such a worker has no exit code, but it has never listened, and the next one will not either.',
    try: `cluster.on('exit', ({ id }) => ...): whether it was ever 'listening' decides, not its exit code or signal${isBetween ? "; and only the end of one that had listened resets the count, in 'exit', not in 'listening'" : ''}`,
    output,
  });
}

function demandGivesUp({ fate, starts, ends, leftWith, isLeaving, output }) {
  const { code, signal } = fate ?? {};
  const isTold = isGivingUp(output);
  const isRefused = starts === 0 && /port/i.test(output);
  const faults = [
    [
      !fate && ends < LEAST_FAILED_STARTS,
      `${starts - ends} of its workers neither listen nor end, so nothing is counted.`,
      'no uncaughtException handler: a worker that cannot listen has to end',
    ],
    [
      !fate && isTold,
      `It said so, but did not end: ${starts} workers had ended before they listened, and it was still forking.`,
      'process.exit(1); after the message: process.exitCode alone ends nothing',
    ],
    [
      !fate,
      `${starts} workers had ended before they listened, and it was still forking. (Each left with exit code ${leftWith}${isLeaving ? ', three of four by disconnect()' : ''}, and after minutes: its clock ran faster.)`,
      "count the workers in a row that end and were never 'listening', whatever their age, exit code and exitedAfterDisconnect; after five process.exit(1)",
    ],
    [signal, `It was ended by ${signal}.`],
    [code === 0, 'It ended with exit code 0, as if all were well.'],
    [code !== 1, `It ended with exit code ${code}.`],
    [!isTold && !isRefused, 'It ended without a line with the words "giving up".'],
    [
      !isRefused && ends < LEAST_FAILED_STARTS,
      `It gave up after ${ends} had ended.`,
      'count them: if (failed < 5) return;',
    ],
  ];
  const [, got, repair] = faults.find(([isSo]) => isSo) ?? [];
  demand(!got, {
    expected:
      'PORT=80800, which isn\'t a port: after five failed workers in a row, or a few more, a message with "giving up", and exit code 1.',
    got: /** @type {string} */ (got),
    why: fate
      ? 'One death may be an accident, five in a row are not. And the people who run the server have to hear about it.'
      : "Nitro's primary forks a new worker for each that ends, at once and for ever: that keeps the cores busy, and nobody hears about it.",
    try: repair ?? "console.error('giving up: ...'); process.exit(1);",
    output,
  });
}

function demandGoesOn({ fate, served, failedStarts, wanted, were, are, output }) {
  demand(fate || were <= wanted, {
    expected: `Workers that are killed before they listen are replaced, each by one: there are ${wanted} again.`,
    got: `There were ${were}.`,
    why: 'Two handlers of the same exit have forked. Each worker costs memory, and a connection to the database, and nobody has asked for more.',
    try: "no cluster.fork() of yours: Nitro's exit handler forks, also where yours comes first and finds the place still empty",
    output,
  });
  const isEarly = served === 0;
  const ended = `it ended with ${fate?.signal ?? `exit code ${fate?.code}`}.`;
  const deaths = `${served} worker${served === 1 ? '' : 's'} that had listened and ${failedStarts} that had not were killed, at most ${FAILED_STARTS} of these in a row`;
  const faults = [
    [
      fate && isEarly,
      `After ${failedStarts} workers that were killed before they listened ${ended}`,
      'count them: if (failed < 5) return;',
    ],
    [
      fate,
      `${deaths}: ${ended}`,
      "remember the id of each that was 'listening', since cluster.workers no longer has one that ended; its end resets the count to 0",
    ],
    [
      are < were,
      `${were} workers were killed, and now there are ${are}.`,
      'let Nitro replace them; with your own cluster: cluster.fork() in the exit handler',
    ],
    [
      are > were,
      `${were} workers were killed, and now there are ${are}.`,
      "no cluster.fork() of yours: Nitro's exit handler already forks",
    ],
  ];
  const [, got, repair] = faults.find(([isSo]) => isSo) ?? [];
  demand(!got, {
    expected: `${KILLED} workers that have listened and are killed are replaced, each by one: those aren't failed starts.`,
    got: /** @type {string} */ (got),
    why: 'One that has listened for a year and is killed is not a failed start. Only five in a row that never listen show that no other will.',
    try: repair,
    output,
  });
}
