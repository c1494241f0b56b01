/** Lesson 11: judges what looks.js saw, in the sentences that a learner reads. */
import {
  demand,
  demandInTime,
  eventsOf,
  exitMoment,
  exitsOf,
  faultOfRandomHex,
  forkMoment,
  forksOf,
  howItEnded,
  listenersOf,
  momentOf,
  primaryExitMoment,
  quickestOf,
  requestsOf,
  describeCrash,
} from '../../lib/check/checking.js';
import {
  AT_WORK,
  IN_FLIGHT,
  MANY,
  PAIR,
  PRETENDED_CORES,
  WORKERS,
  outputOf,
  serversOf,
} from './looks.js';

const LEAST_WORK_MS = 9.5;
const ENOUGH_FAILED = 5;
const MARKED = 6; // moments of a kind in the X-ray
const TELL =
  'look at how Nitro learns the number of workers, and whether that comes before the build is loaded.';

const shown = (program, seen, says) => ({
  program,
  moments: seen.slice(0, MARKED).map((one) => momentOf(one, says)),
});
const forksShown = (program) => ({
  program,
  moments: forksOf(program.events)
    .slice(0, MARKED)
    .map((fork) => forkMoment(fork, 'forked')),
});
const exitsShown = (program) => ({
  program,
  moments: [
    ...exitsOf(program.events).slice(0, MARKED).map(exitMoment),
    primaryExitMoment(program),
  ],
});

export function demandBuilds(built) {
  const { builds, outputs } = built;
  const broken = builds.find(({ code }) => code !== 0);
  demand(!broken, {
    expected: 'Both builds end with exit code 0.',
    got: `${broken?.command} exited with code ${broken?.code}. ${errorIn(broken?.output ?? '')}`,
    why: "You can't start what Nitro can't build.",
    try: 'npm run build --prefix lessons/11-nitro',
    output: broken?.output,
  });
  demand(outputOf(builds[0], 'node-cluster'), {
    expected: 'As configured, Nitro builds with the preset node-cluster.',
    got: `It built ${list(builds[0].outputs)}.`,
    why: 'Nitro builds what `preset` names. Without one it takes node-server, or whatever suits the machine that it builds on.',
    try: 'look at the preset in nitro.config.js',
    output: '',
  });
  demand(outputOf({ outputs }, 'node-server'), {
    expected: 'The second build, with NITRO_PRESET=node-server, leaves a server of that preset.',
    got: `It left ${list(outputs)}.`,
    why: 'The variable overrides the configured preset, unless the configuration sets another one later.',
    try: 'set preset and output in nitro.config.js, and nothing that depends on the preset',
    output: '',
  });
  demand(outputOf(built, 'node-cluster'), {
    expected: 'Each build has its own output folder.',
    got: `Both builds wrote to ${builds[0].outputs[0]?.folder}, and what is left is ${list(outputs)}.`,
    why: 'A build empties its output folder first, so if two builds share a folder, only the second one survives.',
    try: 'look at the output folder in nitro.config.js: does it depend on the preset?',
    output: '',
  });
}

/** nitropack's error line, or the line below if that only announces it. */
function errorIn(output) {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const first = lines.findIndex((line) => /error/i.test(line));
  const found = lines.slice(first, first + (/:\s*$/.test(lines[first]) ? 2 : 1));
  return found.map((line) => line.replace(/^.*\bERROR\b\s*/, '').trim()).join(' ');
}

const list = (outputs) =>
  outputs.map(({ preset, folder }) => `${preset} in ${folder}`).join(', ') || 'nothing';

export function demandOneProcess(program) {
  const forks = forksOf(program.events).length;
  demand(forks === 0, {
    expected: 'Built with the preset node-server it is one process.',
    got: `It forked ${forks} workers.`,
    why: 'It is the control: only the difference between the two builds shows what the preset does.',
    try: 'no cluster in a route, a plugin or a module',
    shows: forksShown(program),
    output: program.output(),
  });
}

export function demandForks(program, { requests, answers }, byDefault) {
  demandWorkers(program, byDefault);
  demandWorkersAnswer(program, requests, answers);
  const ports = [...listenersOf(program.events).keys()];
  demand(ports.length === 1, {
    expected: `All workers listen on PORT, which is ${program.port} here.`,
    got: `They listen on ${ports.join(', ')}.`,
    output: program.output(),
  });
}

/** It forks as many as it should. byDefault: started without NODE_CLUSTER_WORKERS, on simulated cores. */
function demandWorkers(program, byDefault) {
  const { events } = program;
  const forks = forksOf(events).length;
  const killed = exitsOf(events).filter(({ signal }) => signal);
  const story = {
    expected: `NODE_CLUSTER_WORKERS=${WORKERS}: ${WORKERS} workers.`,
    output: program.output(),
  };
  demand(forks <= WORKERS || killed.length === 0, {
    ...story,
    got: `It forked ${forks}, and ${killed[0]?.signal} killed ${killed.length} of them, though nothing had told it to stop.`,
    why: 'A function that is called where a handler is set runs at once, not when the signal arrives.',
    try: 'look at the lines that set the signal handlers: do they pass a function, or call it?',
    shows: exitsShown(program),
  });
  const isHeard = byDefault.forks === PRETENDED_CORES;
  demand(forks === WORKERS, {
    ...story,
    got: `It forked ${forks}.`,
    why: isHeard
      ? 'Without NODE_CLUSTER_WORKERS the number was right, so Nitro hears it in time. Nothing reads that variable, or something overrides it.'
      : `Nitro reads NITRO_CLUSTER_WORKERS once, when its file is loaded, and then it wasn't ${WORKERS}. An import at the top of your file is loaded before the first line runs.`,
    try: isHeard
      ? 'look at where the number comes from'
      : `${TELL} An import at the top comes first`,
    shows: forksShown(program),
  });
}

/** Each worker answers, and no other process does. */
function demandWorkersAnswer(program, requests, answers) {
  const output = program.output();
  const workers = serversOf(program);
  const idle = workers.filter((worker) => !requests.some(({ pid }) => pid === worker));
  const strangers = requests.filter(({ pid }) => !workers.includes(pid));
  demand(strangers.length === 0, {
    expected: 'The workers answer, the primary does not.',
    got: `Process ${strangers[0]?.pid}, which isn't a worker, answered ${strangers.length} requests.`,
    why: 'While the primary works it deals out no connections.',
    try: 'look at which processes load the build: it knows by itself which one is the primary',
    shows: shown(program, strangers, 'a request, in no worker'),
    output,
  });
  const error = answers.find((answer) => answer.error)?.error;
  demandInTime(idle.length === 0, {
    expected: `Each of the ${WORKERS} workers answers some of ${requests.length} requests.`,
    got: `${idle.length} of them answered none.${error ? ` A request failed: ${error}.` : ''}`,
    why:
      describeCrash(program.events) ??
      'A worker runs server.js from the top, and serves when it reaches the import().',
    try: 'look at which process reaches the import: each one has to',
    output,
  });
}

export function demandCores({ forks, program }) {
  const story = {
    expected: `${PRETENDED_CORES} workers, where os.availableParallelism() is ${PRETENDED_CORES}.`,
    got: `It forked ${forks}.`,
    why:
      describeCrash(program.events) ??
      "os.cpus().length, Nitro's default, counts cores that this process may not be allowed to use.",
    try: 'look at what the number is when NODE_CLUSTER_WORKERS is not set',
    shows: forksShown(program),
    output: program.output(),
  };
  demand(forks <= PRETENDED_CORES, story);
  demandInTime(forks === PRETENDED_CORES, story);
}

export function demandWork({ answers, quickestMs, spanMs }, program) {
  const fault = faultOfRandomHex(answers);
  const story = {
    expected:
      'Each / blocks its process for 10 to 20 ms and returns 5,000 to 10,000 random bytes as hex text.',
    try: 'look at routes/index.js: its work was given',
    output: program.output(),
  };
  demand(!fault, {
    ...story,
    got: fault,
    why: 'With other work in it a comparison of the two builds says nothing about clusters.',
  });
  demand(quickestMs > LEAST_WORK_MS, {
    ...story,
    got: `The quickest took ${quickestMs.toFixed(1)} ms.`,
    why: "A bundler removes calls whose result isn't used, if it sees that they have no other effect.",
  });
  demand(spanMs > AT_WORK * LEAST_WORK_MS, {
    ...story,
    got: `${AT_WORK} at once were answered within ${spanMs.toFixed(0)} ms: they did not block each other.`,
    why: "A handler that waits gives the thread back, and then a cluster doesn't help.",
  });
}

export function demandSameAnswers(rows, program) {
  const output = program.output();
  const row = rows.find(({ both: [one, cluster] }) => one !== cluster);
  demand(!row, {
    expected: 'The same status, content-type and shape of body from both builds.',
    got: `${row?.path} from one process: ${row?.both[0]}. From the cluster: ${row?.both[1]}.`,
    why: 'A preset decides how an application is started, not what it answers.',
    try: 'nothing in routes/ that depends on cluster.isWorker, process.env or the preset',
    output,
  });
  const quickestMs = quickestOf(requestsOf(program.events, '/'));
  demand(quickestMs > LEAST_WORK_MS, {
    expected: 'A worker blocks for 10 to 20 ms for each /, as the one process does.',
    got: `The quickest took ${quickestMs.toFixed(1)} ms.`,
    why: "A server that does less work isn't a speedup.",
    try: 'look at routes/index.js: does its work depend on the process?',
    output,
  });
}

export function demandCleanStop(seen) {
  const { program, how, fate, workers, exits, left, lost, output } = seen;
  const theirs = program.events.filter(({ pid }) => workers.includes(pid));
  const story = {
    expected: `${how}: the workers answer the requests in flight, all exit, then the primary, with exit code 0.`,
    shows: exitsShown(program),
    output,
  };
  demand(!describeCrash(theirs), {
    ...story,
    got: `${describeCrash(theirs)}.`,
    why: 'It was a worker. There cluster.workers is undefined: only a primary has workers.',
    try: 'look at the signal handlers: which processes set them?',
    shows: shown(program, eventsOf(theirs, 'crash'), 'throws'),
  });
  demand(left.length === 0, {
    ...story,
    got: `Process ${left.join(', ')} outlived the program.`,
    why: 'A process that child_process has started carries on without its parent: nothing watches it, and it holds the port.',
    try: 'look at which process runs the build, and whether the signal reaches it',
  });
  demandInTime(fate, {
    ...story,
    got:
      exits.length === 0
        ? 'No worker has exited, and it keeps serving.'
        : `${exits.length} of its ${workers.length} workers exited, and the program is still running.`,
    why: "Nitro's primary hears the signal and then waits, 30 s, for workers that got no signal.",
    try: 'look at what the primary does with the signal: which workers get it?',
  });
  demand(fate.code === 0, {
    ...story,
    got: `It exited (${howItEnded(fate)}); ${lost.length} of ${IN_FLIGHT} requests were lost.`,
    why: "A stop on request isn't a failure, and whatever started the server reads its exit code.",
    try: 'look at what sets the exit code: Nitro ends the primary by itself',
  });
  demandNoneCut(seen, story);
}

function demandNoneCut({ workers, behind, lost }, story) {
  demand(behind.length === 0, {
    ...story,
    got: `The primary exited before ${behind.length} of its ${workers.length} workers.`,
    why: "Nitro ends the primary when no worker is on its list. process.exit() doesn't wait for that, and disconnect() takes a worker off the list at once.",
    try: 'look at what the signal handler does beside passing the signal on',
  });
  demand(lost.length === 0, {
    ...story,
    got: `${lost.length} of ${IN_FLIGHT} requests in flight were lost (${lost[0]?.error ?? lost[0]?.status}).`,
    why: 'A worker that gets SIGTERM answers first: Nitro sees to that. A worker that gets SIGKILL does not.',
    try: 'look at which signal the workers get',
  });
}

const isGivingUp = (output) => /giv(e|es|ing) up|gave up/i.test(output);

/** Each worker fails to start; a program that refuses the port before it forks is fine. */
export function demandGivesUp({ program, fate, forks, ends, output }) {
  if (forks === 0 && fate?.code === 1) return;
  const isTold = isGivingUp(output);
  const story = {
    expected:
      'PORT=80800, which isn\'t a port: after five failed starts in a row a line with "giving up", and exit code 1.',
    why: "Nitro's primary replaces each at once, and the replacements' exits count too. Only 'listening' says that a start succeeded: 'online' comes before the first line runs.",
    shows: exitsShown(program),
    output,
  };
  const stillRuns = { ...story, ...whyStillRunning(ends, isTold) };
  demand(fate || ends < MANY, stillRuns);
  demandInTime(fate, stillRuns);
  demand(ends >= ENOUGH_FAILED, {
    ...story,
    got: `It exited (${howItEnded(fate)}) after ${ends} failed starts.`,
    ...whyTooEarly(forks > PAIR),
  });
  demand(fate.code === 1, {
    ...story,
    got: `It exited (${howItEnded(fate)}).`,
    why: 'A service manager reads the exit code: 0 says that the server has done its work.',
    try: 'look at the exit code when it gives up',
  });
  demand(isTold, {
    ...story,
    got: 'It exited without a line with the words "giving up".',
    why: 'The person who reads the log sees some errors and then nothing.',
    try: 'look at what is printed before it gives up',
  });
}

function whyStillRunning(ends, isTold) {
  if (!isTold)
    return {
      got: `${ends} workers had exited before they listened, and it was still running.`,
      try: 'look at what counts the exits: which of them are failed starts, and what sets the count back?',
    };
  return {
    got: `It said so and carried on: ${ends} workers had exited before they listened.`,
    why: "process.exitCode only says what the exit code will be. It ends nothing while Nitro's primary forks.",
    try: 'look at what follows the message: does it end the primary?',
  };
}

function whyTooEarly(isReplaced) {
  if (isReplaced)
    return {
      why: 'One failure may be an accident; five in a row are not.',
      try: 'look at what is counted, and at how many it gives up',
    };
  return {
    why: "Nothing was forked in their place. Nitro's primary does that, where the primary loads the build as well.",
    try: 'look at which processes load the build, and what forks',
  };
}

/** Fewer than five workers in a row failed before they listened. */
export function demandCarriesOn({ program, fate, served, failed, serving, wanted, output }) {
  const story = {
    expected: `Twice all ${wanted} workers are killed, and then the next three before they listen: each is replaced, and there are ${wanted} again.`,
    shows: exitsShown(program),
    output,
  };
  demand(!fate, {
    ...story,
    got: `It exited (${howItEnded(fate ?? {})}) after ${served} workers that had served and ${failed} that had not listened yet.`,
    why: 'A worker that served for a year and is killed is no failed start, and its exit sets the count back to 0.',
    try: 'look at what sets the count back: does it know of a worker that has exited whether it had listened?',
  });
  demand(serving <= wanted, {
    ...story,
    got: `There are ${serving}.`,
    why: 'Two handlers of the same exit have forked.',
    try: "no cluster.fork() of yours: Nitro's exit handler already forks",
  });
  demandInTime(serving === wanted, {
    ...story,
    got: `There are ${serving}.`,
    why: 'Something must replace a worker that was killed.',
    try: 'look at what replaces a worker that has served',
  });
}
