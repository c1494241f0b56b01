import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  Undecided,
  check,
  deepestOverlap,
  demand,
  get,
  hasPid,
  requestsOf,
  whyOfCrash,
} from '../lib/checking.js';

const promises = {
  answers: 'a report is answered, with the right digest',
  'own-file': 'the server forks children that run a file of their own',
  'stays-responsive': 'while a report is built, the server answers /',
  'answers-match': 'of 20 reports asked for at once, each gets the answer to its own request',
  'any-cwd': 'started from another folder it works all the same',
  'small-pool': 'JOB_CHILDREN tells how many children there are, however many requests come',
  'fails-one': 'when a child is killed, the report that it was building fails, and no other',
  replaced: 'another child takes its place, and what was queued is answered',
  'ends-with-parent': 'when the server ends, its children end too',
};
const CHILDREN = 2;
const CHILDREN_ELSEWHERE = 3;
const PRETENDED_CORES = 5; // a pool of this size has not read JOB_CHILDREN
const LONG_ROWS = 2_000_000; // a second or more
const WHILE_ROWS = 150_000;
const MOST_OF_SPAN = 0.25; // a server that builds one of three reports itself holds a / up for longer
const PATIENCE_MS = 4_000; // for what takes a few milliseconds
const LAST_MS = 20_000; // nobody waits for so long, unless the machine is busy
const LOOK_MS = 200;
const SILENT = 'no answer, and nobody is at work on it';
const STILL_MS = 60; // an event loop that has not turned for so long is at work
const FORK = "fork(new URL('./job.js', import.meta.url))";
const CATCH =
  'in server.js: try { ... await pool.run(job) ... } catch (error) { response.status(503).json({ ...job, error: error.message }); }';
const SETTLED_TURNS = 10; // of a young child's event loop: by then its file has been loaded
const TURNS = 50; // of an event loop, 20 ms each: by then it has heard what there is to hear

check('06-child-process-fork', promises, async (lesson) => {
  const { launch, ready, observe, meanwhile, hold } = lesson;
  const start = async (children, options) =>
    ready(await launch({ env: { JOB_CHILDREN: String(children) }, ...options }));
  const main = observe(() =>
    start(CHILDREN, { pretendCores: PRETENDED_CORES }).catch(tellOfImport),
  );
  const first = observe(async () => ask(await main, { name: 'first', rows: 1_000 }));
  const elsewhere = meanwhile(async () => {
    await first;
    return start(CHILDREN_ELSEWHERE, { cwd: tmpdir() });
  });

  await hold(
    'answers',
    async () => {
      const expected =
        'GET /report?name=first&rows=1000 is answered with the digest that job.js makes.';
      tell(await main, expected, await faultOfFirst(await main, await first));
    },
    { isGate: true },
  );

  await hold(
    'own-file',
    async () => {
      const got = faultOfChildren(await main);
      demand(!got, {
        expected: 'The server forks a child which runs another file than the server does.',
        got,
        why: 'A job that runs in the process of the server keeps everybody else waiting.',
        try: `${FORK}, and process.on('message', ...) in job.js`,
      });
    },
    { isGate: true },
  );

  const responsive = observe(async () => askMeanwhile(await main));
  const batch = observe(async () => {
    const { unanswered } = await responsive; // twenty more would only wait, too
    return unanswered ?? Promise.all(JOBS.map(async (job) => ask(await main, job)));
  });
  const elsewhereFirst = meanwhile(async () => ask(await elsewhere, JOBS[19]));

  await hold('stays-responsive', async () => {
    const { share, waitedMs, spanMs } = await responsive;
    demand(share <= MOST_OF_SPAN, {
      expected: 'While three reports are built and queued, the server goes on answering /.',
      got: `A / waited ${Math.round(waitedMs)} ms of the ${Math.round(spanMs)} ms that the reports took.`,
      why: 'The server does a part of the job itself, or waits for it without giving its event loop back.',
      try: "fork() and child.on('message', ...); what comes while all children are busy waits in a queue",
    });
  });

  await hold('answers-match', async () => {
    const expected =
      'Each of many reports asked for at once is answered with the digest of its own name and rows.';
    tell(await main, expected, faultOfBatch(await batch));
  });

  await hold('any-cwd', async () => {
    const got = faultOfAnswers([await elsewhereFirst]);
    demand(!got, {
      expected: `Started in ${tmpdir()}, it answers reports as it does everywhere.`,
      got,
      why: 'A relative path is looked for in the folder where the server was started.',
      try: FORK,
      output: (await elsewhere).output(),
    });
  });

  await hold(
    'small-pool',
    async () => {
      const four = async () => askAtOnce(await elsewhere, ['p', 'q', 'r', 's'], WHILE_ROWS);
      const fault =
        (await faultOfSize(await main, CHILDREN, batch)) ??
        (await faultOfSize(await elsewhere, CHILDREN_ELSEWHERE, four()));
      if (fault) demand(false, fault);
    },
    { needs: ['answers-match', 'any-cwd'] },
  );

  /** @type {Promise<any>} */
  const crash = observe(async () => lesson.allHold() && killBoth(await main));

  await hold(
    'fails-one',
    async () => {
      const expected =
        'Two children build a report each, others wait. When one child is killed, its report is answered with ' +
        'status 503 and a word on why, at once, and all others as if nothing had happened.';
      tell(await main, expected, faultOfKilled(await crash));
    },
    { needs: ['stays-responsive', 'answers-match', 'small-pool'] },
  );

  /** @type {Promise<any>} */
  const later = observe(async () => lesson.allHold() && askLater(await main, await crash));

  await hold(
    'replaced',
    async () => {
      const expected = `After children were killed, at work or idle, ${CHILDREN} build what was queued and what comes later.`;
      tell(await main, expected, await later);
    },
    { needs: ['fails-one'] },
  );

  await hold('ends-with-parent', async () => {
    await Promise.allSettled([crash, later]);
    const left =
      (await leftAfter(await main, 'SIGTERM')) ?? (await leftAfter(await elsewhere, 'SIGKILL'));
    if (left) demand(false, left);
  });

  if (lesson.allHold() && !lesson.isQuick) await measure(lesson);
});

/** Throws what there is to say of a fault, with what the program has printed by now: what the check does to it later is no fault of its. */
function tell(program, expected, fault) {
  if (!fault) return;
  const { events, pid } = program;
  const why = whyOfCrash(events) ?? fault.why;
  const isOfChild = events.find(({ what }) => what === 'crash')?.pid !== pid;
  const command =
    why !== fault.why && isOfChild ? 'mend the line that its stack, below, names' : fault.try;
  demand(false, { expected, ...fault, why, try: command, output: program.output() });
}

/**
 * A server that ends before it listens may have become the child.
 * @returns {never}
 */
function tellOfImport(error) {
  if (/exit code 0 before/.test(error.story?.got))
    Object.assign(error.story, {
      why: 'Something called process.exit(), or nothing keeps it alive. A server that imports job.js runs it, and has no parent.',
      try: "leave import ... from './job.js' out of pool.js: only the children run that file",
    });
  throw error;
}

/** Twenty jobs, long and short in turn: a short one overtakes the long one before it. Some have the same name. */
const JOBS = Array.from({ length: 20 }, (_, index) => ({
  name: `customer-${index % 15}`,
  rows: index % 2 === 0 ? 20_000 + 500 * index : 100 + index,
}));

const digests = new Map();

/** What a report is to say, computed here. */
function digestOf({ name, rows }) {
  const key = `${name} ${rows}`;
  let digest = digests.get(key) ?? name;
  if (digests.has(key)) return digest;
  for (let row = 0; row < rows; row += 1)
    digest = createHash('sha256').update(digest).digest('hex');
  digests.set(key, digest);
  return digest;
}

/** Asks for a report, until it is there or nobody can be at work on it any more. */
async function ask(program, job) {
  const before = program.events.length;
  let isOver = false;
  const url = `${program.url}/report?name=${job.name}&rows=${job.rows}`;
  const asked = get(url, { timeoutMs: LAST_MS }).finally(() => (isOver = true));
  const silence = async () => {
    while (!isOver && !isSilent(program, before)) await sleep(LOOK_MS);
    return isOver ? asked : { status: undefined, error: SILENT, body: '' };
  };
  return { ...(await Promise.race([asked, silence()])), job };
}

/** Have the loops of the server and of each child turned often, with little to do, since a report came or went? */
function isSilent(program, before) {
  const reports = requestsOf(program.events, '/report');
  const births = program.events.filter(({ what }) => what === 'start' || what === 'child');
  const times = [...reports.flatMap(({ startMs, endMs }) => [startMs, endMs]), births.at(-1)?.t];
  const lastMs = Math.max(...times.filter(Number.isFinite));
  const later = program.events.slice(before).filter(({ t }) => t > lastMs);
  if (!haveTurned(later, [program.pid], TURNS)) return false;
  const children = aliveOf(program);
  const calm = later.filter(({ elu }) => elu < 0.5);
  return children.length > 0 && haveTurned(calm, children, TURNS);
}

/** Reports of these names, asked for at once. */
const askAtOnce = (program, names, rows) =>
  Promise.all(names.map((name) => ask(program, { name, rows })));

/** Answered, and with the right digest? Undefined when they all are; a word on the first that is not. */
function faultOfAnswers(answers) {
  const bad = answers.filter((answer) => !isRight(answer));
  if (bad.length === 0) return undefined;
  const [{ error, status, job, body }] = bad;
  const of = `${bad.length} of ${answers.length} are wrong: the report of ${job.name} with ${job.rows} rows`;
  if (error || status !== 200) return `${of} got ${error ?? `status ${status}`}.`;
  const { digest } = parse(body);
  const owner = answers.find((other) => digestOf(other.job) === digest)?.job;
  if (owner) return `${of} got the digest of ${owner.name} with ${owner.rows} rows.`;
  return digest && typeof digest === 'object'
    ? `${of} got as its digest an object (its keys: ${Object.keys(digest).join(', ') || 'none'}).`
    : `${of} got ${body.slice(0, 99)}`;
}

/** What is wrong with the answer to the first report, and where to look. */
async function faultOfFirst(program, answer) {
  const got = faultOfAnswers([answer]);
  if (!got) return undefined;
  const file = await missingFileOf(program);
  if (file) return { got: `The child is to run ${file}, which is not there.`, try: FORK };
  if (got.includes('an object'))
    return {
      got,
      why: 'run(job) is to promise the digest itself, not the message, nor another promise.',
      try: "child.on('message', ({ id, digest }) => ...): resolve(digest)",
    };
  const hears =
    "in job.js: process.on('message', ({ id, job }) => process.send({ id, digest: ... }, () => {}))";
  if (answer.error && !program.fate && aliveOf(program).length > 0)
    return {
      got: `${got} Its child runs, and nothing that it sent has settled the request.`,
      why: 'The child got no message, or listens for another event, or sends nothing, or sends another id.',
      try: `${hears}; in pool.js: child.send({ id, job })`,
    };
  const why =
    'A child has to be found, to hear the message, and to send the id back with the digest.';
  return { got, why, try: `${FORK}; ${hears}` };
}

/** What is wrong with the answers to reports that were asked for at once: they are missing, or mixed up. */
function faultOfBatch(answers) {
  const got = faultOfAnswers(answers);
  const isMissing = answers.some(({ error }) => error?.includes('no answer'));
  if (got && isMissing)
    return {
      got,
      why: 'A child that is done takes nothing new from the queue, or nobody hears its second answer.',
      try: 'after each answer put the child back into the idle list, and give it the next of the queue',
    };
  const why =
    'Answers come in the order in which children are done, not in the order of the questions.';
  const map = 'a Map from request id to the promise that waits for it; the child sends the id back';
  return got && { got, why, try: map };
}

const isRight = ({ error, status, body, job }) =>
  !error && status === 200 && parse(body).digest === digestOf(job);

function parse(body) {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}

const tooBusy = (got) =>
  new Undecided({
    got,
    why: 'The machine is too busy for this.',
    try: 'close other programs, then check again',
  });

/** The processes that the program has started, dead or alive. */
function childrenOf({ events, pid: server }) {
  const started = events.flatMap(({ what, role, pid, childPid }) => {
    if (what === 'child') return [childPid];
    return what === 'start' && role !== 'thread' ? [pid] : [];
  });
  return [...new Set(started)].filter((pid) => pid !== server);
}

const aliveOf = (program) => {
  const survivors = program.survivors();
  return childrenOf(program).filter((pid) => survivors.includes(pid));
};

const isChild = ({ what, role, pid }, server) =>
  what === 'start' && role !== 'thread' && pid !== server;

/** The file that a child was to run and that is not there. */
async function missingFileOf(program) {
  const isMissing = (event) => isChild(event, program.pid) && event.file && !existsSync(event.file);
  return (await program.until((events) => events.find(isMissing), PATIENCE_MS / 4))?.file;
}

/** What is wrong with where the first report was built. */
function faultOfChildren({ events, pid }) {
  const starts = events.filter(({ what }) => what === 'start');
  const files = starts.filter((event) => isChild(event, pid)).map(({ file }) => file);
  const own = starts.find((event) => event.pid === pid)?.file;
  if (files.some((file) => file !== own)) return undefined;
  if (files.length > 0) return 'The children run the file of the server again.';
  if (events.some(({ what }) => what === 'child'))
    return 'Its child cannot be observed: the option env has replaced the environment, NODE_OPTIONS too.';
  return starts.some(({ role }) => role === 'thread')
    ? 'The report was built in a thread, which lives and dies with the process of the server.'
    : 'The report was built, and the server had started no other process.';
}

/** Three reports at once, one more than children, and one / after the other until they are there; the best of four looks. */
async function askMeanwhile(program) {
  let best = { share: Infinity };
  for (let attempt = 0; attempt < 4 && best.share > MOST_OF_SPAN; attempt += 1) {
    const sinceMs = performance.now();
    let isDone = false;
    const asked = askAtOnce(program, ['x', 'y', 'z'], WHILE_ROWS);
    const reports = asked.finally(() => (isDone = true));
    const waits = [];
    while (!isDone) {
      await sleep(5);
      const { sentMs, doneMs } = await get(`${program.url}/`);
      waits.push(doneMs - sentMs);
    }
    const answers = await reports;
    if (answers.some(({ status }) => status !== 200)) return { share: 0, unanswered: answers }; // 'answers-match' tells
    const [waitedMs, spanMs] = [Math.max(...waits), performance.now() - sinceMs];
    const share = waitedMs / spanMs;
    if (share < best.share) best = { share, waitedMs, spanMs };
  }
  return best;
}

/** Has it started exactly so many children? Who starts them one by one needs so many reports at once for that. */
async function faultOfSize(program, size, answers) {
  await answers;
  const started = childrenOf(program).length;
  if (started === size) return undefined;
  const story = {
    expected: `JOB_CHILDREN=${size}: ${size} children build all reports, and wait for the next.`,
    got: `With JOB_CHILDREN=${size} it started ${started}.`,
  };
  if (started > size)
    return {
      ...story,
      why: 'Each child takes time to start, and memory. More of them than cores only wait for each other.',
      try: 'start a child only while there are fewer than size; else put the job into a queue',
    };
  if (deepestOverlap(requestsOf(program.events, '/report')) < size)
    throw tooBusy('Reports that were asked for at once came one after the other.');
  return {
    ...story,
    why: 'Reports wait in the queue while there is a core that could build them.',
    try: 'while something is queued and there are fewer children than size, start one; size is JOB_CHILDREN',
  };
}

/** Both children build a report, four more are queued; then one child is killed, and then the other. */
async function killBoth(program) {
  const before = program.events.length;
  const arrived = (count) =>
    program.until((events) => requestsOf(events.slice(before), '/report').length >= count);
  const settled = [];
  const builds = (name) => ask(program, { name, rows: LONG_ROWS }).then((one) => settled.push(one));
  ['long-1', 'long-2'].forEach(builds);
  await arrived(CHILDREN);
  const waiting = JOBS.slice(-4).map((job) => ask(program, job));
  await arrived(CHILDREN + waiting.length);
  const { victims, areBusy } = await findVictims(program, before);
  const ends = []; // for each of the killed: what was answered because of it
  for (const pid of victims) {
    const told = settled.length;
    if (told > ends.length) throw tooBusy('A report was built before its child could be killed.');
    program.kill(pid, 'SIGKILL');
    await waitUntil(() => settled.length > told || program.fate, LAST_MS);
    await get(`${program.url}/`); // by then the other would have been answered, too
    ends.push(settled.slice(told));
    if (settled.length !== told + 1 || settled[told].status === 200) break;
  }
  const isOver = ends.length === CHILDREN && settled.length === CHILDREN;
  if (!isOver) await waitUntil(() => settled.length === CHILDREN || program.fate, LAST_MS);
  const isRetried = settled.length === CHILDREN && settled.every(isRight);
  const seen = { victims, areBusy, ends, isRetried, fate: program.fate };
  return { ...seen, queued: isOver ? await Promise.all(waiting) : [] };
}

/** What is wrong with the queue, then with later reports, and then with those that come when an idle child was killed. */
async function askLater(program, { queued }) {
  const freed = {
    why: 'The place of a dead child stays empty, or taken, until somebody frees it.',
    try: "child.on('exit', ...): forget the child, then give what is queued to another",
  };
  const got = faultOfAnswers(queued) ?? (await faultOfBoth(program, 'after'));
  if (got) return { got, ...freed };
  const [idle] = aliveOf(program);
  program.kill(idle, 'SIGKILL');
  await waitUntil(() => !hasPid(idle), LAST_MS); // the system keeps its pid until the server has heard
  await get(`${program.url}/`); // by then 'exit' has been emitted
  const idleGot = await faultOfBoth(program, 'idle');
  return (
    idleGot && {
      got: `A child that had nothing to do was killed. After that: ${idleGot}`,
      why: 'The dead child is still in the list of idle children, and was given a job.',
      try: "child.on('exit', ...): take the child out of the list of idle children, too",
    }
  );
}

/** As many reports at once as there are children: are they right, and are the children as many then? */
async function faultOfBoth(program, name) {
  const before = program.events.length;
  const fault = faultOfAnswers(await askAtOnce(program, [`${name}-1`, `${name}-2`], WHILE_ROWS));
  const alive = aliveOf(program).length;
  if (fault || alive === CHILDREN) return fault;
  const asked = requestsOf(program.events.slice(before), '/report');
  if (alive < CHILDREN && deepestOverlap(asked) < CHILDREN)
    throw tooBusy('Reports that were asked for at once came one after the other.');
  return `There are ${alive} children now.`;
}

/** The children alive, once both build: the event loop of each stands still, or has no time to spare. */
async function findVictims(program, before) {
  let victims = aliveOf(program);
  await waitUntil(() => (victims = aliveOf(program)).length >= CHILDREN);
  const areBusy = await program.until((events) => {
    const beats = events.slice(before).filter(({ what }) => what === 'beat');
    const lastOf = (pid) => beats.findLast((beat) => beat.pid === pid);
    const now = lastOf(program.pid)?.t ?? 0;
    return victims.every((pid) => {
      const { t = 0, elu = 0 } = lastOf(pid) ?? {};
      return now > 0 && (t < now - STILL_MS || elu > 0.5);
    });
  }, 500);
  return { victims, areBusy };
}

async function waitUntil(isDone, deadlineMs = PATIENCE_MS) {
  const deadline = performance.now() + deadlineMs;
  while (!isDone() && performance.now() < deadline) await sleep(5);
}

/** What is wrong with the answers to the reports whose children were killed, or to those that had to wait. */
function faultOfKilled({ victims, areBusy, ends, isRetried, fate, queued }) {
  const waits = {
    why: 'Nobody else will ever answer that request: the exit of its child is all that the server hears.',
    try: "child.on('exit', ...): reject the promises of the tasks that this child was working on",
  };
  if (victims.length !== CHILDREN)
    return { ...waits, got: `There were ${victims.length} children at that time.` };
  if (fate)
    return {
      got: `The server itself has ended: ${fate.signal ?? `exit code ${fate.code}`}.`,
      why: 'Nothing was thrown: something in it has called process.exit(), or has sent it a signal.',
      try: "child.on('exit', ...): reject the tasks of this child, and let the server live",
    };
  const bad = ends.find((told) => told.length !== 1 || faultOfTold(told[0]));
  if (bad?.length > 1)
    return {
      got: 'When one child was killed, both reports failed.',
      why: 'The task of the other child was rejected, too.',
      try: 'for (const [id, task] of tasks) if (task.child === child) ...',
    };
  if (bad?.length === 1 && bad[0].error !== SILENT && !parse(bad[0].body).digest)
    return faultOfTold(bad[0]);
  if (bad) return { ...waits, ...faultOfSilence(areBusy, isRetried) };
  const failed = queued.filter(({ status }) => status >= 500).length;
  if (failed === 0) return undefined;
  return {
    got: `${failed} of ${queued.length} reports that only waited failed, too.`,
    why: 'They had been given to the children that were killed, or were taken for theirs.',
    try: 'give each child one job at a time; the rest waits in your queue, for whoever is there',
  };
}

/** No report failed: why not? */
function faultOfSilence(areBusy, isRetried) {
  const got = 'When a child was killed, no report failed: ';
  if (isRetried)
    return {
      got: `${got}another child built it.`,
      why: 'A job that kills its child would kill the next one, too, and the next.',
      try: "child.on('exit', ...): reject the task that it was working on; do not queue it again",
    };
  if (areBusy) return { got: `${got}somebody still waits for it.` };
  return {
    got: `${got}the child had nothing to do, while others waited.`,
    why: 'The jobs are not given to all children.',
    try: 'give the first of the queue to whichever child is idle',
  };
}

/** What is wrong with the answer to a report whose child was killed. */
function faultOfTold({ error, status, body }) {
  if (!error && status === 503 && body !== '') return undefined;
  const got = `The report of the killed child got ${error ?? `status ${status}`}`;
  if (error) return { got: `${got} in place of an answer.`, try: CATCH };
  const why =
    status === 500
      ? 'What a handler rejects with and nobody catches, Express answers with 500 and a stack.'
      : 'The promise was resolved in place of rejected, or what server.js caught is not told by status 503.';
  return {
    got: `${got}: ${body.replaceAll(/\s+/g, ' ').slice(0, 99) || 'an empty body'}`,
    why,
    try: CATCH,
  };
}

/** Ends the server in this way, unless it has ended by a fault that is told above: what is left of its children? */
async function leftAfter(program, signal) {
  await letChildrenSettle(program);
  const story = {
    output: program.output(),
    expected: 'When the server ends, its children end, too.',
  };
  if (program.fate || !program.kill(program.pid, signal)) return undefined;
  if (!(await program.ended(LAST_MS)))
    return {
      ...story,
      got: `The server did not end within ${LAST_MS / 1000} s of ${signal}.`,
      why: 'It listens for this signal, and does not end.',
      try: 'process.exit() when the children have been told',
    };
  const before = program.events.length;
  const deadline = performance.now() + LAST_MS;
  while (performance.now() < deadline) {
    const left = program.survivors();
    if (left.length === 0) return undefined;
    if (haveTurned(program.events.slice(before), left, TURNS))
      return {
        ...story,
        got: `After ${signal} to the server ${left.length} of its children are still there (pid ${left.join(', ')}).`,
        why: 'A timer, a server or a connection keeps a child alive without its parent, for ever.',
        try: "in job.js: process.on('disconnect', () => process.exit()); if (!process.connected) process.exit();",
      };
    await sleep(20);
  }
  throw tooBusy('Processes are left, and have not had a turn yet.');
}

/** A child that is killed or left alone while it loads its file is another lesson: on Node 20 it may miss 'disconnect'. */
async function letChildrenSettle(program) {
  await Promise.all([1, 2, 3].map(() => get(`${program.url}/report?rows=1000`)));
  await program.until((events) => haveTurned(events, aliveOf(program), SETTLED_TURNS), LAST_MS);
}

/** Has the event loop of each of these processes turned more often than that? */
function haveTurned(events, pids, turns) {
  const beats = events.filter(({ what }) => what === 'beat');
  return pids.every((one) => beats.filter(({ pid }) => pid === one).length > turns);
}

/** The event-loop delay, with the job in the server and in children; and what a worker of each kind costs. */
async function measure({ launch, ready, measured, drawn }) {
  const env = { JOB_CHILDREN: String(CHILDREN) };
  const [control, candidate] = await Promise.all([
    launch({ env, isReference: true }).then((program) => ready(program)),
    launch({ env }).then((program) => ready(program)),
  ]);
  const rows = [
    { name: 'job in the server', value: await delayDuringReports(control) },
    { name: 'job in children', value: await delayDuringReports(candidate) },
  ];
  await Promise.all([control.stop(), candidate.stop()]);
  const label = 'longest event-loop delay while two reports are built';
  drawn('delays', { label, unit: 'ms', rows });
  const yours = { label: `${label}: your server`, value: rows[1].value, unit: 'ms' };
  measured('delay', { ...yours, isHeadline: true });
  await measureCosts(launch, drawn);
}

const REST_MS = 25; // the histogram behind /health needs a few of its turns, of 5 ms, after it was reset

/** What /health says after two reports at once: the middle one of three rounds. */
async function delayDuringReports(program) {
  const told = [];
  await askAtOnce(program, ['a', 'b'], 100_000); // children that are still to be started
  for (let round = 0; round < 3; round += 1) {
    await get(`${program.url}/health`);
    await sleep(REST_MS);
    await askAtOnce(program, ['a', 'b'], 100_000);
    await sleep(REST_MS);
    told.push(parse((await get(`${program.url}/health`)).body).eventLoopDelayMs);
  }
  return told.sort((a, b) => a - b)[1];
}

const KINDS = { cluster: 'cluster worker', fork: 'forked child', thread: 'thread' };
const COSTS = '../lessons/06-child-process-fork/cost/start.js';

/** The three kinds of worker, each started and weighed by the little program of the lesson, without the probe. */
async function measureCosts(launch, drawn) {
  /** @type {{ name: string, value: number }[][]} */
  const [startUps, memory] = [[], []];
  let isUss = true;
  for (const [kind, name] of Object.entries(KINDS)) {
    const entry = fileURLToPath(new URL(COSTS, import.meta.url));
    const program = await launch({ entry, args: [kind], env: { NODE_OPTIONS: '' } });
    await program.ended();
    const [ms, uss, rss] =
      program
        .output()
        .match(/[\d.]+|NaN/g)
        ?.map(Number) ?? [];
    isUss &&= Number.isFinite(uss);
    startUps.push({ name, value: ms });
    memory.push({ name, value: isUss ? uss : rss });
  }
  const name = 'as Node 0.12 said';
  startUps.push({ name, value: 30 });
  memory.push({ name, value: 10 });
  drawn('start-up', { label: 'from start to first message', unit: 'ms', rows: startUps });
  const label = `memory of one more (${isUss ? 'USS, its own' : 'RSS'})`;
  const note = isUss ? undefined : 'RSS counts what processes share in each of them: too much.';
  drawn('memory', { label, unit: 'MB', rows: memory, note });
}
