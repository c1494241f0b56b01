import { cpus } from 'node:os';
import {
  askAtOnce,
  check,
  createLoad,
  createSpinners,
  deepestOverlap,
  demand,
  demandSpeedup,
  disturbanceOf,
  faultOfRandomHex,
  forksOf,
  groupBy,
  listenersOf,
  quickestOf,
  requestsOf,
  speedupOfBlocking,
  speedupOfCpu,
  watchMachine,
  whyOfCrash,
} from '../../lib/check/checking.js';

const promises = {
  'forks-as-told': 'NODE_CLUSTER_WORKERS=4 forks exactly four workers',
  'one-port': 'they share one port, PORT, and open no other',
  'workers-answer': 'every worker answers',
  'primary-rests': 'the primary answers nothing',
  'own-memory': 'each worker tells its own pid and counts its own requests',
  'same-work': 'each / is the work of lesson 1: 10 to 20 ms, 5,000 to 10,000 random bytes',
  'one-per-core': 'without NODE_CLUSTER_WORKERS it forks a worker for each core it may use',
  'refuses-nonsense': 'NODE_CLUSTER_WORKERS=0, -1, abc and 1e9 are refused with a message',
  speedup: 'four workers serve blocking work about four times as fast as one process',
};
const WORKERS = 4;
const PRETENDED_CORES = cpus().length === 3 ? 2 : 3; // another number than the machine has
const NONSENSE = ['0', '-1', 'abc', '1e9'];
const LEAST_SPEEDUP = 0.7 * WORKERS;
const MOST_SPEEDUP = 1.25 * WORKERS;
const FAR_TOO_LONG_MS = 80; // while other programs of the check start, a right one may take a while, too
const AT_ONCE_MS = 20; // forks of one loop come together
const ONE_MORE_MS = 60; // by then a loop that goes on has forked one more

check('02-cluster-fork', promises, (lesson) => {
  const { launch, ready, observe, meanwhile, hold, measure } = lesson;
  const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
  const main = observe([], async () => ready(await launch({ env }), WORKERS));
  const homes = observe([main], askUntilAllAnswer);
  const refusals = meanwhile([homes], () => tryAllNonsense(launch));
  const byDefault = meanwhile([homes], () => forkByDefault(launch));
  const calm = observe([main, homes], (program) => askAtOnce(program, '/', WORKERS));
  const contest = meanwhile([main, homes], (program) => prepareContest(lesson, program));

  hold('forks-as-told', [main, homes], ({ events }) => {
    const forks = forksOf(events).length;
    demand(forks === WORKERS, {
      expected: 'four calls of cluster.fork() in the primary',
      got: forks === 0 ? 'It forks no worker.' : `It forked ${forks}.`,
      why:
        forks > 0
          ? 'NODE_CLUSTER_WORKERS tells how many; the primary forks that many, once.'
          : undefined,
      try: 'if (cluster.isPrimary) for (let count = 0; count < workers; count += 1) cluster.fork();',
    });
  });

  hold('one-port', [main], ({ events, port }) => {
    const ports = [...listenersOf(events).keys()];
    demand(ports.length === 1, {
      expected: `All listen on PORT, which is ${port} here.`,
      got: `They listen on ${ports.length} ports: ${ports.join(', ')}.`,
      why: 'Clients know one port. The cluster module lets all workers listen on the same one.',
      try: 'the same app.listen(port) in every worker',
    });
  });

  const needs = ['forks-as-told'];
  hold('workers-answer', [main, homes], demandAnswers, { needs });
  hold('primary-rests', [main, homes], demandPrimaryRests, { needs });

  hold('own-memory', [homes], (seen) => {
    const fault = faultOfHeaders(seen);
    demand(!fault, {
      expected:
        'X-Worker-Pid: the pid that executed the request. X-Worker-Served: 1, 2, 3, ... in each worker.',
      got: fault,
      why: 'Each worker is a process: it ran the file from the top and has its own variables.',
      try: "served += 1; and response.set({ 'X-Worker-Pid': process.pid, 'X-Worker-Served': served });",
    });
  });

  hold('same-work', [homes, calm], (seen, seenCalmly) => {
    const quickest = quickestOf([...seen.requests, ...seenCalmly.requests]);
    const isWhole = quickest > 9.5 && quickest < FAR_TOO_LONG_MS;
    demand(isWhole && !faultOfRandomHex(seen.answers), {
      expected:
        'Each / blocks for 10 to 20 ms and answers 5,000 to 10,000 random bytes as hex text.',
      got: faultOfRandomHex(seen.answers) ?? `The quickest took ${quickest.toFixed(1)} ms.`,
      why: 'A server that does less work is no speedup.',
      try: 'blockFor(between(10, 20)); and randomHex(between(5_000, 10_000))',
    });
  });

  hold(
    'one-per-core',
    [byDefault],
    (forks) =>
      demand(forks === PRETENDED_CORES, {
        expected: `${PRETENDED_CORES} workers where os.availableParallelism() is ${PRETENDED_CORES}`,
        got: `It forked ${forks}.`,
        why: 'os.cpus().length counts cores that this process may not be allowed to use.',
        try: "import { availableParallelism } from 'node:os';",
      }),
    { needs },
  );

  hold(
    'refuses-nonsense',
    [refusals],
    (tried) => {
      const accepted = tried.find(({ fault }) => fault);
      demand(!accepted, {
        expected: 'a message that names NODE_CLUSTER_WORKERS, exit code 1, and no worker',
        got: `NODE_CLUSTER_WORKERS=${accepted?.value}: ${accepted?.fault}`,
        why: 'A typing error in a deployment should be found when it starts, not when it is busy.',
        try: 'if (!/^[1-9]\\d?$/.test(wanted)) { console.error(...); process.exit(1); }',
      });
    },
    { needs },
  );

  hold('speedup', [contest], (sides) => measureBlocking(lesson, sides), {
    needs: Object.keys(promises).slice(0, -1),
    isAlone: true,
  });
  measure([contest], (sides) => measureCpu(lesson, sides));
});

function demandAnswers({ events }, { requests, answers }) {
  const workers = forksOf(events).map(({ workerPid }) => workerPid);
  const idle = workers.filter(
    (worker) => !requests.some(({ pid, endMs }) => pid === worker && endMs !== undefined),
  );
  const error = answers.find((answer) => answer.error)?.error;
  const deaf = idle.filter(
    (pid) => !events.some((event) => event.pid === pid && event.what === 'listening'),
  );
  demand(idle.length === 0, {
    expected: `Each of the ${workers.length} workers answers some of ${requests.length} requests.`,
    got:
      `${idle.length} answered none; ${deaf.length} of these never listened (pid ${idle.join(', ')}).` +
      (error ? ` A request failed: ${error}.` : ''),
    why:
      whyOfCrash(events) ??
      'A worker runs the file from the top. It serves only if it gets to listen().',
    try: 'if (cluster.isPrimary) { fork } else { serve(); }',
  });
}

function demandPrimaryRests({ events }, { requests }) {
  const workers = new Set(forksOf(events).map(({ workerPid }) => workerPid));
  const others = requests.filter(({ pid }) => !workers.has(pid));
  demand(others.length === 0, {
    expected: 'Workers execute every request.',
    got: `The primary executed ${others.length} of ${requests.length}.`,
    why: 'A primary that serves is blocked by its own requests, and deals no connection meanwhile.',
    try: 'if (cluster.isPrimary) { fork } else { serve(); }',
  });
}

/** A request alone, then rounds of some at once until every worker has executed one, or it is plain that some never will. */
async function askUntilAllAnswer(program) {
  const all = await askAtOnce(program, '/', 1);
  for (let round = 0; round < 12; round += 1) {
    const { answers, requests } = await askAtOnce(program, '/', 2 * WORKERS);
    all.answers.push(...answers);
    all.requests.push(...requests);
    const pids = new Set(all.requests.map(({ pid }) => pid));
    if (forksOf(program.events).every(({ workerPid }) => pids.has(workerPid))) break;
    if ((listenersOf(program.events).get(program.port)?.size ?? 0) < WORKERS) break;
  }
  return all;
}

/** What is wrong with the headers, joined by the client's port to what each process really did. */
function faultOfHeaders({ answers, requests }) {
  const pidOf = new Map(requests.map(({ client, pid }) => [client, pid]));
  const seen = new Map();
  for (const { client, headers, error } of answers) {
    if (error) return `A request failed: ${error}.`;
    const pid = pidOf.get(client);
    const told = headers['x-worker-pid'];
    if (told === undefined) return 'An answer has no X-Worker-Pid.';
    if (told !== String(pid)) return `An answer by process ${pid} says X-Worker-Pid: ${told}.`;
    seen.set(pid, [...(seen.get(pid) ?? []), Number(headers['x-worker-served'])]);
  }
  for (const [pid, counts] of seen) {
    counts.sort((a, b) => a - b);
    const isOneByOne = counts.every((count, index) => count === index + 1);
    if (!isOneByOne)
      return `The answers of process ${pid} say X-Worker-Served: ${counts.join(', ')}.`;
  }
  return undefined;
}

const isUp = (events) =>
  events.some(({ what, role }) => ['fork', 'listening'].includes(what) || role === 'worker');

/** How many workers it forks when it is not told, on a machine that says it has so many cores. */
async function forkByDefault(launch) {
  const program = await launch({ pretendCores: PRETENDED_CORES });
  await program.settled((events) => forksOf(events).length >= PRETENDED_CORES);
  const [first, last] = [forksOf(program.events).at(0), forksOf(program.events).at(-1)];
  const isOneByOne = first && last && last.t - first.t > AT_ONCE_MS; // each waits for the one before
  if (isOneByOne) await program.ready(PRETENDED_CORES);
  await program.settled((events) => forksOf(events).length > PRETENDED_CORES, ONE_MORE_MS);
  await program.stop();
  return forksOf(program.events).length;
}

const tryAllNonsense = (launch) => Promise.all(NONSENSE.map((value) => tryNonsense(launch, value)));

/** Starts the program with a number of workers that makes no sense; `fault` tells how it went along with it. */
async function tryNonsense(launch, value) {
  const program = await launch({ env: { NODE_CLUSTER_WORKERS: value } });
  await program.settled(isUp);
  const { fate, events } = program;
  const output = program.output();
  await program.stop();
  return { value, fault: faultOfRefusal({ fate, output, isStarted: isUp(events) }) };
}

function faultOfRefusal({ fate, output, isStarted }) {
  if (isStarted) return 'it started all the same.';
  if (fate?.kind !== 'ended') return 'it neither started nor refused.';
  if (fate.code === 0) return 'it forked no worker and ended as if all were well (exit code 0).';
  if (!/NODE_CLUSTER_WORKERS|worker/i.test(output)) return 'it ended, but did not say why.';
  return undefined;
}

/** The same work on both sides: the learner's cluster, and the single process that it was made from. */
async function prepareContest({ launch, ready, isLonger }, candidate) {
  const load = createLoad();
  const spinners = createSpinners(WORKERS);
  const control = await ready(await launch({ isReference: true }));
  return { load, spinners, control, candidate, workers: WORKERS, isLonger };
}

async function measureBlocking({ measured, conditionsWere }, contest) {
  const machine = watchMachine();
  const limits = { target: LEAST_SPEEDUP, windowMs: 80, budgetMs: 3_000 };
  const speedup = await speedupOfBlocking({ ...contest, ...limits, path: '/' });
  const conditions = conditionsWere(machine());
  const label = `blocking work, ${WORKERS} workers against one process`;
  measured('blocking', { label, unit: 'times', isHeadline: true, ...speedup });
  demandSameWorkers(contest.candidate);
  demandBlocking(contest.candidate, speedup);
  demandSpeedup(speedup, disturbanceOf(conditions));
}

function demandSameWorkers({ events }) {
  const more = forksOf(events).length - WORKERS;
  demand(more === 0, {
    expected: 'The same four workers serve from the beginning to the end.',
    got: `Under load it forked ${more} more.`,
    why: 'Workers end and are replaced, or the primary forks on and on.',
  });
}

function demandBlocking({ events }, { value, low }) {
  const byWorker = groupBy(requestsOf(events, '/'), ({ pid }) => pid);
  const depth = Math.max(...[...byWorker.values()].map(deepestOverlap));
  demand(depth === 1 && low <= MOST_SPEEDUP, {
    expected: 'Each worker executes one / after the other, because the work blocks.',
    got:
      depth > 1
        ? `Up to ${depth} were under way in one worker at the same time.`
        : `It is ${value.toFixed(1)} times as fast, with ${WORKERS} workers.`,
    why: 'The handler gives the event loop back before it has answered, or it does not do the work.',
    try: 'blockFor(between(10, 20)); without await, before the answer',
  });
}

async function measureCpu({ measured }, contest) {
  const speedup = await speedupOfCpu({ ...contest, path: '/cpu', windowMs: 60, budgetMs: 600 });
  const label = `CPU work, ${WORKERS} workers against one process`;
  measured('cpu', { label, unit: 'times', ...speedup });
}
