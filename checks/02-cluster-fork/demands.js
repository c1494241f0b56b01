/** What lesson 2 demands of what was seen, in the order of its promises. */
import {
  Undecided,
  deepestOverlap,
  demand,
  demandSpeedup,
  disturbanceOf,
  eventsOf,
  faultOfRandomHex,
  forksOf,
  groupBy,
  isCrowded,
  listenersOf,
  momentOf,
  quickestOf,
  requestOf,
  requestsOf,
  speedupOfBlocking,
  speedupOfCpu,
  watchMachine,
  whyOfCrash,
} from '../../lib/check/checking.js';
import { WORKERS, demandTurn, isStuck } from './looks.js';

const LEAST_SPEEDUP = 0.7 * WORKERS;
const MOST_SPEEDUP = 1.25 * WORKERS;
const LEAST_MS = 9.5;
const TOO_LONG_MS = 22; // for the quickest of some twenty
const MOST_MS = 20.5; // that it may be told to block
const FAR_TOO_LONG_MS = 80; // on a machine that other programs keep busy
const LEAST_CPU_MS = 1; // no machine is five times as fast as the one on which spinFor() was made to take its time
const CPU_BODY = '4149391617'; // what spinFor(5) comes to
const SHOWN = 300; // characters
const MARKED = 3; // moments, of many of a kind

export function demandFour(program) {
  const { events } = program;
  const forks = forksOf(events).length;
  if (forks < WORKERS) demandTurn(events);
  demand(forks === WORKERS, {
    expected: 'four calls of cluster.fork() in the primary',
    got: forks === 0 ? 'It forks no workers.' : `It forked ${forks}.`,
    why:
      forks > 0
        ? 'NODE_CLUSTER_WORKERS says how many; the primary forks that many, once.'
        : undefined,
    try: 'if (cluster.isPrimary) for (let count = 0; count < workers; count += 1) cluster.fork();',
    shows: { program, moments: forksShown(events) },
  });
}

/** Those that are too many, with what came of them; of too few the last. */
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
  demand(ports.length === 1, {
    expected: `All listen on PORT, which is ${port} here.`,
    got: `They listen on ${ports.length} ports: ${ports.join(', ')}.`,
    why: 'Clients know one port. The cluster module lets all workers listen on the same one.',
    try: 'the same app.listen(port) in every worker',
    shows: { program, moments: listensElsewhere(events, port) },
  });
}

const listensElsewhere = (events, port) =>
  eventsOf(events, 'listening')
    .filter((event) => event.port !== undefined && event.port !== port)
    .slice(0, MARKED)
    .map((event) => momentOf(event, `listens on port ${event.port}`));

const ENDLESS =
  'An endless loop, microtasks that queue microtasks, or a synchronous call that never returns lets nothing else in its process run.';
const UNHEARD = 'A worker runs the file from the top. It serves only if it gets to listen().';

export function demandAnswers(program, { requests, answers }) {
  const { events } = program;
  const crash = whyOfCrash(events);
  const workers = forksOf(events).map(({ workerPid }) => workerPid);
  const idle = workers.filter(
    (worker) => !requests.some(({ pid, endMs }) => pid === worker && endMs !== undefined),
  );
  const error = answers.find((answer) => answer.error)?.error;
  const deaf = idle.filter(
    (pid) => !events.some((event) => event.pid === pid && event.what === 'listening'),
  );
  if (!crash) demandTurn(events, idle);
  const stuck = idle.filter((pid) => isStuck(events, pid));
  const isLoop = !crash && stuck.length > 0;
  const some = requests.length > 0 ? `some of ${requests.length} requests` : 'requests';
  demand(idle.length === 0, {
    expected: `Each of the ${workers.length} workers answers ${some}.`,
    got:
      `${idle.length} answered none; ${deaf.length} of these never listened (pid ${idle.join(', ')}).` +
      (isLoop ? ` The event loop does not turn in ${stuck.length} of them.` : '') +
      (error ? ` A request failed: ${error}.` : ''),
    why: crash ?? (isLoop ? ENDLESS : UNHEARD),
    try: isLoop
      ? 'look for what does not end: where a worker starts, or in a handler'
      : repairOf(crash, workers.length > deaf.length),
    shows: { program, moments: idleShown(events, idle) },
  });
}

/** What was thrown, or the starts of those that answered nothing. */
function idleShown(events, idle) {
  const crash = eventsOf(events, 'crash')[0];
  if (crash) return [momentOf(crash, 'throws')];
  const starts = eventsOf(events, 'start').filter(({ pid }) => idle.includes(pid));
  return starts.slice(0, MARKED).map((start) => momentOf(start, 'starts, and answers nothing'));
}

function repairOf(crash, doesOneListen) {
  if (crash?.includes('EADDRINUSE'))
    return 'app.listen(port) in each worker, without exclusive: true; the primary listens on no port itself';
  if (doesOneListen) return 'the same app.listen(port) in every worker';
  return 'if (cluster.isPrimary) { fork } else { serve(); }';
}

export function demandPrimaryRests(program, { requests }) {
  const workers = new Set(forksOf(program.events).map(({ workerPid }) => workerPid));
  const others = requests.filter(({ pid }) => !workers.has(pid));
  demand(others.length === 0, {
    expected: 'Workers execute every request.',
    got: `The primary executed ${others.length} of ${requests.length}.`,
    why: 'A primary that serves is blocked by its own requests, and deals no connections meanwhile.',
    try: 'if (cluster.isPrimary) { fork } else { serve(); }',
    shows: {
      program,
      moments: others.slice(0, MARKED).map((one) => momentOf(one, 'a request, in no worker')),
    },
  });
}

/** Where no worker answers, nothing is known of its answers: undecided where all may just be late. */
function demandSome({ events }, requests) {
  if (requests.length === 0) demandTurn(events);
  demand(requests.length > 0, {
    expected: 'Workers answer requests for /.',
    got: 'None of them got one.',
    why: 'First mend the promise above: every worker answers.',
  });
}

export function demandOwnMemory(seen, program, pair) {
  demandSome(program, seen.requests);
  /** @type {{ got?: string, of?: any }} */
  const { of, ...fault } = faultOfPids(seen) ?? faultOfCounts(seen) ?? faultOfPair(pair) ?? {};
  demand(!fault.got, {
    expected:
      'X-Worker-Pid: the pid that executed the request. X-Worker-Served: 1, 2, 3, ... in each worker, one for each request for /.',
    why: 'Each worker is a process: it ran the file from the top and has its own variables.',
    try: "served += 1; and response.set({ 'X-Worker-Pid': process.pid, 'X-Worker-Served': served });",
    ...fault,
    shows: { program, moments: [momentOf(of && requestOf(seen.requests, of), 'this request')] },
  });
}

/** What is wrong with the pids in the headers, matched by the client's port with the process that really answered. */
function faultOfPids({ answers, requests }) {
  for (const answer of answers) {
    const { headers, error } = answer;
    if (error) return { got: `A request failed: ${error}.` };
    const pid = requestOf(requests, answer)?.pid;
    const told = headers['x-worker-pid'];
    if (told === undefined) return { got: 'An answer has no X-Worker-Pid.', of: answer };
    if (told !== String(pid))
      return { of: answer, got: `An answer by process ${pid} says X-Worker-Pid: ${told}.` };
  }
  return undefined;
}

/** What is wrong with the counts, process by process. */
function faultOfCounts({ answers, others }) {
  const byPid = groupBy(answers, ({ headers }) => headers['x-worker-pid']);
  for (const [pid, some] of byPid) {
    if (some.some(({ headers }) => headers['x-worker-served'] === undefined))
      return { got: 'An answer has no X-Worker-Served.' };
    if (areInOrder(some)) continue;
    const counts = countsOf(some);
    const wrong = counts.find((count, index) => count !== index + 1);
    const forOthers = others.filter((request) => String(request.pid) === pid).length;
    return {
      got: `The answers of process ${pid} to requests for / say X-Worker-Served: ${counts.join(', ')}.`,
      of: some.find(({ headers }) => Number(headers['x-worker-served']) === wrong),
      ...whyOfCounts(counts, some, forOthers),
    };
  }
  return undefined;
}

/** Two that came together count as two. @param {{ served: number }[]} pair */
function faultOfPair([one, other]) {
  if (!other || one.served !== other.served) return undefined;
  return {
    got: `Two requests that came together on one connection both got X-Worker-Served: ${one.served}.`,
    why: 'The second is there before the answer to the first has been sent. What is counted when an answer has been sent is counted too late for it.',
    try: "served += 1; as the first line of the handler, not in response.on('finish')",
  };
}

const countsOf = (answers) =>
  answers.map(({ headers }) => Number(headers['x-worker-served'])).sort((a, b) => a - b);

const areInOrder = (answers) => countsOf(answers).every((count, index) => count === index + 1);

function whyOfCounts(counts, answers, others) {
  const plain = answers.filter(({ path }) => !path?.includes('?'));
  if (plain.length < answers.length && areInOrder(plain))
    return {
      why: 'One of them asked for /?page=2. That is a request for /, too: a query does not change the path.',
      try: "served += 1; in the handler of app.get('/'), or where request.path is '/', not request.url",
    };
  if (counts[0] === 0)
    return {
      why: 'It reads the count before it counts. The request that is being answered counts too.',
    };
  if (others > 0 && counts.at(-1) > counts.length)
    return {
      why: `It has also answered ${others} for other addresses: /cpu, or pages that don't exist, such as /favicon.ico. Only requests for / should be counted.`,
      try: "served += 1; in the handler of app.get('/'), not in app.use()",
    };
  if (answers.some(({ isReused }) => isReused) && counts.at(-1) < counts.length)
    return {
      why: 'Two of its requests came on one connection, as from a browser. Count requests, not connections.',
    };
  return {};
}

export function demandSameWork(seen, seenCalmly, program, cpus, [one, other]) {
  const all = [...seen.requests, ...seenCalmly.requests];
  demandSome(program, all);
  demandBlocks(program, all);
  const quickest = quickestOf(all);
  const isLong = quickest > TOO_LONG_MS;
  const story = {
    expected: 'Each / blocks for 10 to 20 ms and returns 5,000 to 10,000 random bytes as hex text.',
    got: faultOfRandomHex(seen.answers) ?? `The quickest took ${quickest.toFixed(1)} ms.`,
  };
  const ownMs = quickest - program.turn.starvedSince(all[0].startMs);
  const isKept = isCrowded() && (quickest < FAR_TOO_LONG_MS || ownMs < TOO_LONG_MS);
  if (isLong && isKept && !faultOfRandomHex(seen.answers))
    throw new Undecided({
      ...story,
      why: 'The machine is too busy to tell whether it was the work that took so long.',
      try: 'close other programs, then check again',
    });
  demand(quickest > LEAST_MS && !isLong && !faultOfRandomHex(seen.answers), {
    ...story,
    why: isLong
      ? 'All requests of a worker wait while it blocks. This is more work than in lesson 1.'
      : "A server that does less work isn't a speedup.",
    try: 'blockFor(between(10, 20)); and randomHex(between(5_000, 10_000))',
    shows: {
      program,
      moments: faultOfRandomHex(seen.answers)
        ? []
        : [momentOf(withDuration(all, quickest), 'the quickest')],
    },
  });
  demand(!other || one.body !== other.body, {
    expected: story.expected,
    got: 'Two requests that came together on one connection got the same bytes.',
    why: 'What was made for one answer is used for the next as well.',
    try: 'randomHex(between(5_000, 10_000)) in the handler, anew for each answer',
  });
  demandCpu(seen.cpu);
  demandComputed(cpus, program);
}

/** How long it was told to block is a fact, where it blocks with blockFor(), whoever else wants the cores. */
function demandBlocks(program, requests) {
  const isIn = ({ pid, startMs, endMs = Infinity }, { pid: by, t }) =>
    pid === by && t > startMs && t <= endMs;
  const blocks = eventsOf(program.events, 'wait').filter(({ tid }) => tid === undefined);
  const ofHomes = blocks.filter((block) => requests.some((one) => isIn(one, block)));
  const longestMs = Math.max(0, ...ofHomes.map(({ ms }) => ms));
  const longest = ofHomes.find(({ ms }) => ms === longestMs);
  const request = requests.find((one) => longest && isIn(one, longest));
  demand(longestMs < MOST_MS, {
    expected: 'Each / blocks for 10 to 20 ms.',
    got: `One blocked for ${longestMs.toFixed(1)} ms.`,
    why: 'All requests of a worker wait while it blocks. This is more work than in lesson 1.',
    try: 'blockFor(between(10, 20));',
    shows: { program, moments: [momentOf(request, `blocked for ${longestMs.toFixed(1)} ms`)] },
  });
}

/** The number is what so much counting comes to, so no clock is needed. */
function demandCpu({ status, error, body }) {
  const said = error ?? (status === 200 ? `200: ${body.slice(0, SHOWN)}` : `status ${status}`);
  demand(status === 200 && body.trim() === CPU_BODY, {
    expected: `/cpu returns ${CPU_BODY}, as in the starter: the number that its counting comes to.`,
    got: `GET /cpu: ${said}`,
    why: 'The second measurement compares this page, and each side has to do the same work.',
    try: "app.get('/cpu', (request, response) => { response.type('text').send(String(spinFor(5))); });",
  });
}

/** What is computed anew takes its time on any machine; what is kept is there at once when it is asked for again. */
function demandComputed({ requests }, program) {
  const quickest = quickestOf(requests);
  demand(!(quickest < LEAST_CPU_MS), {
    expected: '/cpu computes for every request, as in the starter: about 5 ms.',
    got: `The quickest of ${requests.length} took ${quickest.toFixed(2)} ms.`,
    why: 'A number that is kept takes no time. The second measurement would compare work with none.',
    try: "app.get('/cpu', (request, response) => { response.type('text').send(String(spinFor(5))); });",
    shows: { program, moments: [momentOf(withDuration(requests, quickest), 'the quickest')] },
  });
}

const withDuration = (requests, ms) =>
  requests.find(({ startMs, endMs = Infinity }) => endMs - startMs === ms);

/** @param {{ cores: number, forks: number }[]} tried */
export function demandOnePerCore(tried) {
  tried.forEach(({ cores, forks }, index) =>
    demand(forks === cores, {
      expected: `${inWorkers(cores)} where os.availableParallelism() is ${cores}`,
      got: `It forked ${forks}.`,
      why:
        index === 0
          ? 'os.cpus().length counts cores that this process may not be allowed to use.'
          : `With ${tried[0].cores} cores it was right. It has to be right on other machines, too: on every one, one for each core.`,
      try: "import { availableParallelism } from 'node:os';",
    }),
  );
}

const inWorkers = (count) => `${count} ${count === 1 ? 'worker' : 'workers'}`;

export function demandGuard(nonsense, legal) {
  for (const tried of nonsense) demandRefusal(tried);
  for (const tried of legal) demandAccepted(tried);
}

/** Was a setting that makes no sense refused as the task says? */
export const isRefused = (tried) => !faultOfRefusal(tried);

/** A setting as typed in a shell. */
/** As one types it in a shell. */
const typed = (value) => `NODE_CLUSTER_WORKERS=${/^\S+$/.test(value) ? value : quoted(value)}`;
const quoted = (value) =>
  value.includes('\n') ? `$'${value.replace('\n', '\\n')}'` : `'${value}'`;

function demandRefusal(tried) {
  const fault = faultOfRefusal(tried);
  demand(!fault, {
    expected: `${typed(tried.value)}: a message on stderr that names NODE_CLUSTER_WORKERS, exit code 1, and no worker`,
    why: 'A typo in a deployment should come to light when it starts, not when it is busy.',
    try: 'if (!/^[1-9]\\d?$/.test(wanted)) { console.error(...); process.exit(1); }',
    ...fault,
    got: `${typed(tried.value)}: ${fault?.got}`,
    output: tried.output,
    shows: { program: tried.program, moments: refusalShown(tried) },
  });
}

/** What it started; else its end. */
function refusalShown({ program: { events, pid } }) {
  const begun = events.find(({ what }) => ['fork', 'child', 'listening'].includes(what));
  const end = events.find((event) => event.what === 'exit' && event.pid === pid);
  if (begun) return [momentOf(begun, begun.what === 'listening' ? 'listens' : 'starts a process')];
  return [momentOf(end, `ends with exit code ${end?.code}`)];
}

function faultOfRefusal({ value, fate, output, errors, isStarted, hasWorker }) {
  if (isStarted && fate?.kind === 'ended' && fate.code !== 0) {
    return {
      got: `it refused, but had already started a ${hasWorker ? 'worker' : 'process'}.`,
      try: 'look at the variable before the first cluster.fork()',
    };
  }
  if (isStarted) return { got: 'it started all the same.', ...(value.trim() === '' && EMPTY) };
  if (fate?.kind !== 'ended') return { got: 'it neither started nor refused.' };
  if (fate.code === 0)
    return { got: 'it forked no workers and ended as if all were well (exit code 0).' };
  if (fate.code !== 1) {
    return {
      got: `it ${fate.signal ? `was ended by ${fate.signal}` : `ended with exit code ${fate.code}`}.`,
      why: 'Scripts and service managers read the exit code, so the task says which one: 1.',
      try: 'process.exit(1)',
    };
  }
  return faultOfMessage(output, errors);
}

const EMPTY = {
  why: "An empty variable is set, but neither '' nor spaces are a number: perhaps a script took it from a misspelt variable.",
  try: 'if (wanted === undefined) return availableParallelism(); and after that refuse',
};

function faultOfMessage(output, errors) {
  if (errors.includes('NODE_CLUSTER_WORKERS')) return undefined;
  if (output.includes('NODE_CLUSTER_WORKERS')) {
    return {
      got: 'it said why, but on stdout.',
      why: 'stdout is for results, which are often piped or thrown away. What went wrong belongs on stderr.',
      try: 'console.error instead of console.log',
    };
  }
  const said = output.trim();
  if (said === '') return { got: 'it ended, but did not say why.' };
  return {
    got: `its message does not name the variable: ${said.slice(0, SHOWN)}`,
    why: 'The person who reads the message did not write the program, and has to know what to correct.',
  };
}

function demandAccepted({ value, forks, fate, output }) {
  const isRefused = forks === 0 && fate;
  demand(forks === Number(value), {
    expected: `${typed(value)} forks ${inWorkers(Number(value))}: every whole number from 1 to 99 is allowed.`,
    got: isRefused
      ? `${typed(value)}: it forked no workers and ended with exit code ${fate.code}.`
      : `${typed(value)}: it forked ${forks === 0 ? 'no worker' : forks}.`,
    why:
      forks === 0 && !fate
        ? 'One worker is a cluster too: the primary forks it, and serves nothing itself.'
        : 'The person who runs the server may know better how many workers it needs, so the variable wins.',
    try: 'if (/^[1-9]\\d?$/.test(wanted)) return Number(wanted);',
    output,
  });
}

export async function measureBlocking({ measured, conditionsWere }, contest) {
  const machine = watchMachine();
  const limits = { target: LEAST_SPEEDUP, windowMs: 80, budgetMs: 3_000 };
  const first = contest.candidate.events.length; // before, two came in one packet
  const speedup = await speedupOfBlocking({ ...contest, ...limits, path: '/' });
  const conditions = conditionsWere(machine());
  const label = `blocking work, ${WORKERS} workers against one process`;
  measured('blocking', { label, unit: 'times', isHeadline: true, ...speedup });
  demandSameWorkers(contest.candidate);
  demandBlocking(contest.candidate.events.slice(first), speedup);
  demandSpeedup(speedup, disturbanceOf(conditions));
}

function demandSameWorkers({ events }) {
  const more = forksOf(events).length - WORKERS;
  demand(more === 0, {
    expected: 'The same four workers serve from the beginning to the end.',
    got: `Under load it forked ${more} more.`,
    why: 'Workers end and are replaced, or the primary keeps forking.',
  });
}

function demandBlocking(events, { value, low }) {
  const byWorker = groupBy(requestsOf(events, '/'), ({ pid }) => pid);
  const depth = Math.max(...[...byWorker.values()].map(deepestOverlap));
  demand(depth === 1 && low <= MOST_SPEEDUP, {
    expected: 'Each worker executes one / at a time, because the work blocks.',
    got:
      depth > 1
        ? `Up to ${depth} were under way in one worker at the same time.`
        : `It is ${value.toFixed(1)} times as fast, with ${WORKERS} workers.`,
    why: 'The handler yields to the event loop before it has answered, or it does not do the work.',
    try: 'blockFor(between(10, 20)); without await, before the answer',
  });
}

export async function measureCpu({ measured }, contest) {
  const speedup = await speedupOfCpu({ ...contest, path: '/cpu', windowMs: 60, budgetMs: 600 });
  const label = `CPU work, ${WORKERS} workers against one process`;
  measured('cpu', { label, unit: 'times', ...speedup });
}
