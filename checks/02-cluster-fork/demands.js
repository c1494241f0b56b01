/** Lesson 2: judges what looks.js saw, in the sentences that a learner reads. */
import { availableParallelism } from 'node:os';
import {
  deepestOverlap,
  demand,
  demandInTime,
  demandSpeedup,
  disturbanceOf,
  eventsOf,
  faultOfRandomHex,
  forksOf,
  groupBy,
  howItEnded,
  listenersOf,
  momentOf,
  quickestOf,
  requestOf,
  speedupOfBlocking,
  speedupOfCpu,
  watchMachine,
  describeCrash,
} from '../../lib/check/checking.js';
import { CORES, TWELVE, WORKERS } from './looks.js';

const LEAST_SPEEDUP = 0.7 * WORKERS;
const LEAST_MS = 9.5; // a timer may be half a millisecond early
const MOST_MS = 20.5;
const TOO_LONG_MS = 24; // for the quickest of eight or more
const CPU_BODY = '4149391617'; // the result of spinFor(5)
const SHOWN = 60; // characters
const COUNTS_SHOWN = 6;
const MARKED = 3; // moments of a kind in the X-ray

const BRANCH = 'look at the end of the file: what does the primary do there, and what a worker?';

export function demandFour(program) {
  const { events } = program;
  const forks = forksOf(events).length;
  const story = {
    expected: 'four calls of cluster.fork() in the primary',
    try: 'look at the loop that calls cluster.fork(): which process runs it, and how often?',
    shows: { program, moments: forksShown(events) },
  };
  demand(forks <= WORKERS, {
    ...story,
    got: `It forked ${forks}.`,
    why: 'NODE_CLUSTER_WORKERS says how many. The primary forks that many, once.',
  });
  const serves = eventsOf(events, 'listening').some(({ pid }) => pid === program.pid);
  demand(forks > 0 || !serves, {
    ...story,
    got: 'It forks no workers: the process that you start serves by itself.',
    why: 'No process called cluster.fork(). In the process that you start, cluster.isPrimary is true.',
  });
  demandInTime(forks === WORKERS, {
    ...story,
    got: forks === 0 ? 'It forks no workers.' : `It forked only ${forks}.`,
    why:
      forks > 1 && forks === availableParallelism()
        ? 'That is one for each core. NODE_CLUSTER_WORKERS wins, even with fewer cores.'
        : 'Each call of cluster.fork() starts one worker, and the primary itself is none.',
  });
}

/** The surplus forks and their exits, or the last of too few forks. */
function forksShown(events) {
  const forks = forksOf(events);
  const shown = forks.length > WORKERS ? forks.slice(WORKERS, WORKERS + MARKED) : forks.slice(-1);
  return shown.flatMap((fork) => {
    const number = forks.indexOf(fork) + 1;
    const start = eventsOf(events, 'start').find(({ pid }) => pid === fork.workerPid);
    return [momentOf(fork, `fork number ${number}`), momentOf(start, `worker ${number} starts`)];
  });
}

export function demandOnePort(program) {
  const { events, port } = program;
  const ports = [...listenersOf(events).keys()];
  const elsewhere = eventsOf(events, 'listening').filter((event) => event.port !== port);
  demand(ports.length === 1, {
    expected: `All listen on PORT, which is ${port} here.`,
    got: `They listen on ${ports.length} ports: ${ports.join(', ')}.`,
    why: 'Clients know one port. The cluster module lets all workers listen on the same one.',
    try: 'the same app.listen(port) in every worker, and no other',
    shows: {
      program,
      moments: elsewhere
        .slice(0, MARKED)
        .map((event) => momentOf(event, `listens on port ${event.port}`)),
    },
  });
}

export function demandAnswers(program, { requests, answers }) {
  const { events } = program;
  const crash = describeCrash(events);
  const workers = forksOf(events).map(({ workerPid }) => workerPid);
  const expected = `Each of the ${workers.length} workers answers some requests, and the primary none.`;
  const ofPrimary = requests.filter(({ pid }) => !workers.includes(pid));
  demand(ofPrimary.length === 0, {
    expected,
    got: `The primary answered ${ofPrimary.length} of ${requests.length}.`,
    why: whyPrimary(crash),
    try: BRANCH,
    shows: {
      program,
      moments: ofPrimary.slice(0, MARKED).map((one) => momentOf(one, 'a request, in no worker')),
    },
  });
  const hasAnswered = (worker) =>
    requests.some(({ pid, endMs }) => pid === worker && endMs !== undefined);
  const idle = workers.filter((worker) => !hasAnswered(worker));
  const listening = eventsOf(events, 'listening').filter(({ pid }) => idle.includes(pid));
  const deaf = idle.filter((worker) => !listening.some(({ pid }) => pid === worker));
  const elsewhere = listening.find(({ port }) => port !== program.port);
  const error = answers.find((answer) => answer.error)?.error;
  const isEndless = error?.includes('larger than'); // larger than any page
  demandInTime(idle.length === 0, {
    isFinal: crash || elsewhere || isEndless,
    expected,
    got:
      `${idle.length} answered none; ${deaf.length} of these never listened (pid ${idle.join(', ')}).` +
      (error ? ` A request failed: ${error}.` : ''),
    ...whyIdle({ crash, deaf, elsewhere }),
    shows: { program, moments: idleShown(events, idle) },
  });
  demandInTime(!error, {
    expected,
    got: `A request failed: ${error}.`,
    why: crash ?? 'A worker that has answered once must also answer the next request.',
    try: 'curl -i localhost:8080/, several times',
  });
}

function whyPrimary(crash) {
  if (crash?.includes('EADDRINUSE'))
    return 'It took the port for itself, and the workers exited with EADDRINUSE.';
  if (crash) return `${crash}. Each worker runs the file from the top, as the primary does.`;
  return 'A primary that serves is blocked by its own requests, and deals no connections in the meantime.';
}

function whyIdle({ crash, deaf, elsewhere }) {
  if (crash) return { why: crash, try: BRANCH };
  if (deaf.length > 0)
    return {
      why: 'A worker runs the file from the top. It serves only if it gets as far as listen().',
      try: BRANCH,
    };
  if (elsewhere)
    return {
      why: `Clients know only PORT, and a worker listens on port ${elsewhere.port}.`,
      try: 'the same app.listen(port) in every worker',
    };
  return {
    why: 'They listen, but something keeps their only thread: an endless loop, or a call that never returns.',
    try: 'look for a loop or call in a handler that never returns',
  };
}

/** Crashes, or else the starts of workers that answered nothing. */
function idleShown(events, idle) {
  const crash = eventsOf(events, 'crash')[0];
  if (crash) return [momentOf(crash, 'throws')];
  const starts = eventsOf(events, 'start').filter(({ pid }) => idle.includes(pid));
  return starts.slice(0, MARKED).map((start) => momentOf(start, 'starts, and answers nothing'));
}

export function demandOwnMemory(program, seen) {
  const expected =
    'X-Worker-Pid: the pid of the process that answers. X-Worker-Served: 1, 2, 3, ... in each worker, one more for each request for /.';
  const error = seen.answers.find((answer) => answer.error)?.error;
  demandInTime(!error, {
    expected,
    got: `Headers are missing, because a request failed: ${error}.`,
    why: describeCrash(program.events),
    try: 'curl -i localhost:8080/, several times',
  });
  const { of, ...fault } = faultOfPids(seen) ?? faultOfCounts(seen) ?? { got: undefined };
  demand(!fault.got, {
    expected,
    ...fault,
    shows: { program, moments: [momentOf(of && requestOf(seen.requests, of), 'this request')] },
  });
}

/** Compares the pids in the headers with the processes that answered. */
function faultOfPids({ answers, requests }) {
  for (const answer of answers) {
    const told = answer.headers['x-worker-pid'];
    if (told === undefined)
      return {
        of: answer,
        got: 'An answer has no X-Worker-Pid.',
        why: 'Without it, no client can tell which worker answered.',
        try: 'look at the handler of /: headers are set before the answer is sent',
      };
    const pid = requestOf(requests, answer)?.pid;
    if (pid !== undefined && told !== String(pid))
      return {
        of: answer,
        got: `An answer by process ${pid} says X-Worker-Pid: ${told}.`,
        why: 'process.pid is the number of the process that runs the line.',
        try: 'look at where the pid is read: in which process does that line run?',
      };
  }
  return undefined;
}

function faultOfCounts({ answers, others }) {
  for (const [pid, some] of groupBy(answers, ({ headers }) => headers['x-worker-pid'])) {
    const told = some.map(({ headers }) => headers['x-worker-served']);
    if (told.includes(undefined))
      return {
        of: some[told.indexOf(undefined)],
        got: 'An answer has no X-Worker-Served.',
        why: 'It says how many requests for / this process has had, this one included.',
        try: 'look at the handler of /: headers are set before the answer is sent',
      };
    const counts = told.map(Number).sort((a, b) => a - b);
    const wrong = counts.find((count, index) => count !== index + 1);
    if (wrong === undefined) continue;
    const shown = counts.slice(0, Math.max(COUNTS_SHOWN, counts.indexOf(wrong) + 1));
    return {
      of: some.find(({ headers }) => Number(headers['x-worker-served']) === wrong),
      got: `The answers of process ${pid} to requests for / say X-Worker-Served: ${shown.join(', ')}.`,
      ...whyOfCounts(counts, others.filter((request) => String(request.pid) === pid).length),
    };
  }
  return undefined;
}

function whyOfCounts(counts, others) {
  if (counts.length > 1 && counts.every((count) => count === 1))
    return {
      why: 'The count begins again with each request: its variable is declared in the handler.',
      try: 'look at where the count is declared: how often does that line run?',
    };
  if (counts[0] === 0)
    return {
      why: 'It reads the count before it counts. The request that is being answered counts too.',
      try: 'look at the handler of /: in which order does it count and tell?',
    };
  if (others > 0 && counts[0] > 1)
    return {
      why: 'It has also counted a request for /cpu.',
      try: 'look at where it counts: which requests come past that line?',
    };
  return {
    why: 'Each worker is a process with its own variables: it counts from 1, without a gap.',
    try: 'look at the count: which lines change it, and how often do they run for one request?',
  };
}

export function demandSameWork(program, { answers, requests, blocks, cpu }) {
  const answered = answers.filter(({ error }) => !error);
  const expected =
    'Each / blocks for 10 to 20 ms and sends 5,000 to 10,000 random bytes as hex text.';
  demandInTime(requests.length > 0, {
    expected,
    got: 'No process has begun a request for /.',
    why: 'Fix the promise above first: every worker answers.',
  });
  const fault = faultOfRandomHex(answered, { isTyped: false });
  demand(!fault, {
    expected,
    got: fault,
    why: 'Less work is no speedup.',
    try: 'leave the random bytes of / as they were: new ones in each call',
  });
  const byProcess = [...groupBy(requests, ({ pid }) => pid).values()];
  const together = byProcess.find((some) => deepestOverlap(some) > 1) ?? [];
  demand(together.length === 0, {
    expected,
    got: `${deepestOverlap(together)} requests for / were in flight in one process at the same time.`,
    why: 'The handler waits and does not block: a single process could serve any number that way. Lesson 1 says why this work must block.',
    try: 'leave the blockFor() of / as it was, without async and await',
    shows: {
      program,
      moments: together.slice(0, 2).map((one) => momentOf(one, 'a / in this process')),
    },
  });
  demandDuration(program, { requests, blocks }, expected);
  demandCpu(cpu);
}

function demandDuration(program, { requests, blocks }, expected) {
  const shown = (request, says) => ({
    ...{ program, moments: [momentOf(request, says)] },
    byLength: true,
  });
  const quickestMs = quickestOf(requests);
  const quickest = requests.find(({ startMs, endMs = Infinity }) => endMs - startMs === quickestMs);
  demand(quickestMs > LEAST_MS, {
    expected,
    got: `The quickest / took ${quickestMs.toFixed(1)} ms.`,
    why: "A server that does less work isn't a speedup.",
    try: 'leave the blockFor() of / as it was, before the answer',
    shows: shown(quickest, 'the quickest'),
  });
  const longest = blocks.find(({ ms }) => ms > MOST_MS);
  demand(!longest, {
    expected,
    got: `A / blocked for ${longest?.ms.toFixed(1)} ms.`,
    why: 'All requests of a worker wait while it blocks. This is more work than in lesson 1.',
    try: 'leave the numbers that blockFor() gets as they were',
    shows: shown(
      requests.find(({ pid, startMs, endMs = Infinity }) =>
        [longest?.pid === pid, startMs < longest?.t, longest?.t <= endMs].every(Boolean),
      ),
      'this / blocks too long',
    ),
  });
  demandInTime(quickestMs < TOO_LONG_MS, {
    expected,
    got: Number.isFinite(quickestMs)
      ? `Even the quickest / took ${quickestMs.toFixed(1)} ms.`
      : 'No request for / was answered.',
    why: 'Something in the handler takes longer than in lesson 1.',
    try: 'look for what else it does, and measure that with performance.now()',
    shows: shown(quickest, 'the quickest'),
  });
}

/** The result of the counting proves the work, without a clock. */
function demandCpu({ status, error, body }) {
  const said = error ?? (status === 200 ? `200: ${body.slice(0, SHOWN)}` : `status ${status}`);
  const story = {
    expected: `/cpu sends ${CPU_BODY}, as in the starter: the number that its counting comes to.`,
    got: `GET /cpu: ${said}`,
    why: 'The second measurement compares this page, and each side must do the same work.',
    try: 'leave /cpu as it was: spinFor(5), and its result as text',
  };
  demandInTime(!error, story);
  demand(status === 200 && body.trim() === CPU_BODY, story);
}

export function demandOnePerCore({ program, forks, fate }) {
  demand(forks === CORES, {
    expected: `${CORES} workers where os.availableParallelism() is ${CORES}`,
    got: forks === 0 && fate ? endOf(fate) : `It forked ${forks}.`,
    why: 'os.cpus().length counts cores that this process may not use, and a fixed number fits one machine.',
    try: 'look at what the count of task 3 is when the variable is not set',
    shows: { program, moments: [momentOf(forksOf(program.events).at(-1), 'the last fork')] },
  });
}

const endOf = (fate) => `It forked no workers and exited (${howItEnded(fate)}).`;

/** Why a program may have accepted the value. @type {Record<string, string>} */
const WHY_ACCEPTED = {
  abc: "Nothing refuses it. Number('abc') is NaN: it is neither below 1 nor above 99, and || turns it into the default.",
  0: 'A 0 is a number, and no worker answers then. With || it even turns into the default.',
  2.5: 'It is a number between 1 and 99, but no whole one: parseInt() reads only its 2, and a pattern without ^ and $ matches a part of it.',
  '4abc': 'parseInt() reads as far as it understands: here a 4.',
  '': "An empty variable is set: '' isn't undefined. A script may have taken it from a misspelt one.",
  100: 'With a few digits too many it would be thousands of processes.',
};

export function demandRefusals(all) {
  for (const one of all) {
    const setting = `NODE_CLUSTER_WORKERS=${one.value === '' ? "''" : one.value}`;
    demandNoStart(one, setting);
    demandRefused(one, setting);
  }
}

function demandNoStart(one, setting) {
  const { value, program, fate, isStarted, forks } = one;
  const story = storyOfRefusal(one, setting);
  demand(!isStarted || mistakeIn(program) || fate?.code !== 1, {
    ...story,
    got: `${setting}: it forked ${forks} before it refused.`,
    why: 'By then these workers run: they may have answered clients, and exit in the middle of it.',
    try: 'look at the order: what does the primary do before it tests the text?',
  });
  demand(!isStarted, {
    ...story,
    got: `${setting}: it started anyway.`,
    why: WHY_ACCEPTED[value] ?? story.why,
  });
  demandInTime(fate, { ...story, got: `${setting}: it neither started nor refused.` });
}

/** It exits with code 1, and on purpose. */
function demandRefused(one, setting) {
  const { value, program, fate, output } = one;
  const story = storyOfRefusal(one, setting);
  const whyAccepted = output.trim() === '' ? WHY_ACCEPTED[value] : undefined; // a refusal says something
  const atTheExit = 'look at how the program ends when it refuses: with which exit code, and when?';
  demand(fate.code !== 0, {
    ...story,
    got: `${setting}: it forked no workers and exited as if all were well (exit code 0).`,
    why: whyAccepted ?? 'Scripts and service managers read the exit code: 0 means success.',
    try: whyAccepted ? story.try : atTheExit,
  });
  demand(fate.code === 1, {
    ...story,
    got: `${setting}: it exited with ${howItEnded(fate)}.`,
    why: 'Scripts and service managers read the exit code, so the task names one: 1.',
    try: atTheExit,
  });
  const mistake = mistakeIn(program);
  demand(!mistake, {
    ...story,
    got: `${setting}: it exited because of another error, "${mistake}", which is no refusal.`,
    why: 'Node.js exits with code 1 after any error. That says nothing about the variable.',
    try: 'look at the line that the error names',
  });
}

function storyOfRefusal({ program, output }, setting) {
  const begun = program.events.find(({ what }) => ['fork', 'child', 'listening'].includes(what));
  const end = program.events.find(({ what, pid }) => what === 'exit' && pid === program.pid);
  return {
    expected: `${setting}: exit code 1, and no worker`,
    why: 'A typo in a deployment should come to light when the server starts, not on a busy evening.',
    try: 'look at the text before you turn it into a number: which texts does your test let through?',
    output,
    shows: { program, moments: [momentOf(begun ?? end, begun ? 'it starts' : 'it exits')] },
  };
}

/** An error that the program threw by mistake; it doesn't mention the variable. */
function mistakeIn({ events }) {
  const [line = ''] = eventsOf(events, 'crash')[0]?.error.split('\n') ?? [];
  const isMistake = /^(Syntax|Reference|Type)Error\b/.test(line);
  return isMistake && !line.includes('NODE_CLUSTER_WORKERS') ? line : undefined;
}

export function demandAccepted({ program, forks, fate, output }) {
  demand(forks === TWELVE, {
    expected: `NODE_CLUSTER_WORKERS=${TWELVE} forks ${TWELVE} workers: every whole number from 1 to 99 is allowed.`,
    got: `NODE_CLUSTER_WORKERS=${TWELVE}: ${forks === 0 && fate ? endOf(fate) : `it forked ${forks}.`}`,
    why: 'The person who runs the server may know better how many workers it needs, so the variable wins.',
    try: 'look at the test of the text: what does it say of 12 and of 99?',
    output,
    shows: { program, moments: [momentOf(forksOf(program.events).at(-1), 'the last fork')] },
  });
}

export async function measureBlocking({ measured, addConditions }, contest) {
  const machine = watchMachine();
  const limits = { target: LEAST_SPEEDUP, windowMs: 60, budgetMs: 3_000 };
  const speedup = await speedupOfBlocking({ ...contest, ...limits, path: '/' });
  const conditions = addConditions(machine());
  const label = `blocking work, ${WORKERS} workers against one process`;
  measured('blocking', { label, unit: 'times', isHeadline: true, ...speedup });
  demandSpeedup(speedup, disturbanceOf(conditions));
}

export async function measureCpu({ measured }, contest) {
  const speedup = await speedupOfCpu({ ...contest, path: '/cpu', windowMs: 40, budgetMs: 500 });
  const label = `CPU work, ${WORKERS} workers against one process`;
  measured('cpu', { label, unit: 'times', ...speedup });
}
