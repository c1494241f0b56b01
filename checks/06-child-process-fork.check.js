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
const LAST_MS = 8_000;
const STILL_MS = 60; // an event loop that has not turned for so long is at work
const TURNS = 50; // of an orphan's event loop, 20 ms each: by then it has heard that its parent is gone

check('06-child-process-fork', promises, async (lesson) => {
  const { launch, ready, observe, meanwhile, hold } = lesson;
  const start = async (children, options) =>
    ready(await launch({ env: { JOB_CHILDREN: String(children) }, ...options }));
  const main = observe(() => start(CHILDREN, { pretendCores: PRETENDED_CORES }));
  const first = observe(async () => ask(await main, { name: 'first', rows: 1_000 }, PATIENCE_MS));
  const elsewhere = meanwhile(async () => {
    await first;
    return start(CHILDREN_ELSEWHERE, { cwd: tmpdir() });
  });

  await hold(
    'answers',
    async () => {
      const fault = faultOfAnswers([await first]);
      const missing = await missingFileOf(await main, fault);
      demand(!fault, {
        expected: 'GET /report?name=first&rows=1000 is answered with the digest that job.js makes.',
        got: missing ? `The child is to run ${missing}, which is not there.` : fault,
        why:
          whyOfCrash((await main).events) ??
          'A child has to be found, wherever the server was started, to hear the message, and to send the id back.',
        try: "fork(new URL('./job.js', import.meta.url)); in the child: process.send({ id, digest });",
      });
    },
    { isGate: true },
  );

  await hold(
    'own-file',
    async () => {
      const fault = faultOfChildren(await main);
      demand(!fault, {
        expected: 'The server forks a child which runs another file than the server does.',
        got: fault,
        why: 'A job that runs in the process of the server keeps everybody else waiting.',
        try: "fork(new URL('./job.js', import.meta.url)), and process.on('message', ...) in job.js",
      });
    },
    { isGate: true },
  );

  const responsive = observe(async () => askMeanwhile(await main));
  const batch = observe(async () => Promise.all(JOBS.map(async (job) => ask(await main, job))));
  const elsewhereFirst = meanwhile(async () => ask(await elsewhere, JOBS[19], PATIENCE_MS));

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
    const fault = faultOfAnswers(await batch);
    demand(!fault, {
      expected: 'Each of 20 answers has the digest of its own name and rows.',
      got: fault,
      why:
        whyOfCrash((await main).events) ??
        'Answers come in the order in which children are done, not in the order of the questions.',
      try: 'a Map from request id to the promise that waits for it; the child sends the id back',
    });
  });

  await hold('any-cwd', async () => {
    const fault = faultOfAnswers([await elsewhereFirst]);
    demand(!fault, {
      expected: `Started in ${tmpdir()}, it answers reports as it does everywhere.`,
      got: fault,
      why: 'A relative path is looked for in the folder where the server was started.',
      try: "fork(new URL('./job.js', import.meta.url))",
    });
  });

  await hold(
    'small-pool',
    async () => {
      const jobs = ['p', 'q', 'r', 's'].map((name) => ({ name, rows: WHILE_ROWS }));
      const four = jobs.map(async (job) => ask(await elsewhere, job));
      const fault =
        (await faultOfSize(await main, CHILDREN, batch)) ??
        (await faultOfSize(await elsewhere, CHILDREN_ELSEWHERE, Promise.all(four)));
      demand(!fault, {
        expected: `JOB_CHILDREN=${CHILDREN}: ${CHILDREN} children build all reports, and wait for the next.`,
        got: fault,
        why: 'Each child takes time to start, and memory. More of them than cores only wait for each other.',
        try: 'start a child only while there are fewer than size; else put the job into a queue',
      });
    },
    { needs: ['answers-match', 'any-cwd'] },
  );

  /** @type {Promise<any>} */
  const crash = observe(async () => lesson.allHold() && killBoth(await main));

  await hold(
    'fails-one',
    async () => {
      const fault = faultOfKilled(await crash);
      demand(!fault, {
        expected:
          'Two children build a report each, others wait. When one child is killed, its report is answered with ' +
          'status 503 at once, and all others as if nothing had happened.',
        got: fault,
        why:
          whyOfCrash((await main).events) ??
          'Nobody else will ever answer that request: the exit of its child is all that the server hears.',
        try: "child.on('exit', ...): reject the promises of the tasks that this child was working on",
      });
    },
    { needs: ['stays-responsive', 'answers-match', 'small-pool'] },
  );

  await hold(
    'replaced',
    async () => {
      const { queued, after, alive } = await crash;
      const fault = faultOfAnswers(queued) ?? faultOfAnswers(after ?? []);
      demand(!fault && alive === CHILDREN, {
        expected: `After both children were killed, ${CHILDREN} others build what was queued and what comes later.`,
        got: fault ?? `There are ${alive} children now.`,
        why: 'The place of a dead child stays empty, or taken, until somebody frees it.',
        try: "child.on('exit', ...): forget the child, then give what is queued to another",
      });
    },
    { needs: ['fails-one'] },
  );

  await hold('ends-with-parent', async () => {
    await crash;
    const left =
      (await leftAfter(await main, 'SIGTERM')) ?? (await leftAfter(await elsewhere, 'SIGKILL'));
    demand(!left, {
      expected: 'Within moments of the end of the server its children have ended, too.',
      got: left,
      why: 'A timer, a server or a connection keeps a child alive without its parent, for ever.',
      try: "in job.js: process.on('disconnect', () => process.exit());",
    });
  });

  if (lesson.allHold() && !lesson.isQuick) await measure(lesson);
});

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

/** Asks for a report. */
async function ask({ url }, { name, rows }, timeoutMs = LAST_MS) {
  const answer = await get(`${url}/report?name=${name}&rows=${rows}`, { timeoutMs });
  return { ...answer, job: { name, rows } };
}

/** Answered, and with the right digest? Undefined when they all are; a word on the first that is not. */
function faultOfAnswers(answers) {
  const bad = answers.filter((answer) => !isRight(answer));
  if (bad.length === 0) return undefined;
  const [{ error, status, job, body }] = bad;
  const of = `${bad.length} of ${answers.length} are wrong: the report of ${job.name} with ${job.rows} rows`;
  if (error || status !== 200) return `${of} got ${error ?? `status ${status}`}.`;
  const owner = answers.find((other) => digestOf(other.job) === parse(body).digest)?.job;
  return owner
    ? `${of} got the digest of ${owner.name} with ${owner.rows} rows.`
    : `${of} got ${body.slice(0, 99)}`;
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

/** The file that a child was to run and that is not there; only when there was a fault. */
async function missingFileOf(program, fault) {
  const isMissing = (event) => isChild(event, program.pid) && event.file && !existsSync(event.file);
  return fault && (await program.until((events) => events.find(isMissing), PATIENCE_MS / 4))?.file;
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
    const asked = ['x', 'y', 'z'].map((name) => ask(program, { name, rows: WHILE_ROWS }));
    const reports = Promise.all(asked).finally(() => (isDone = true));
    const waits = [];
    while (!isDone) {
      await sleep(5);
      const { sentMs, doneMs } = await get(`${program.url}/`);
      waits.push(doneMs - sentMs);
    }
    if ((await reports).some(({ status }) => status !== 200)) return { share: 0 }; // a later promise tells
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
  if (started < size && deepestOverlap(requestsOf(program.events, '/report')) < size)
    throw tooBusy('Reports that were asked for at once came one after the other.');
  return `With JOB_CHILDREN=${size} it started ${started}.`;
}

/** Both children build a report, four more are queued; then one child is killed, and then the other. */
async function killBoth(program) {
  const before = program.events.length;
  const arrived = (count) =>
    program.until((events) => requestsOf(events.slice(before), '/report').length >= count);
  const settled = [];
  const builds = (name) => ask(program, { name, rows: LONG_ROWS }).then((one) => settled.push(one));
  const building = ['long-1', 'long-2'].map(builds);
  await arrived(CHILDREN);
  const waiting = JOBS.slice(-4).map((job) => ask(program, job));
  await arrived(CHILDREN + waiting.length);
  const { victims, areBusy } = await findVictims(program, before);
  const ends = []; // for each of the killed: what was answered because of it
  for (const pid of victims) {
    const told = settled.length;
    if (told > ends.length) throw tooBusy('A report was built before its child could be killed.');
    program.kill(pid, 'SIGKILL');
    await waitUntil(() => settled.length > told);
    await get(`${program.url}/`); // by then the other would have been answered, too
    ends.push(settled.slice(told));
    if (settled.length !== told + 1 || settled[told].status === 200) break;
  }
  const seen = { victims, areBusy, ends, hasDied: program.fate !== undefined, queued: [] };
  if (ends.length < CHILDREN || settled.length < CHILDREN) return seen;
  const queued = await Promise.all(waiting);
  if (faultOfAnswers(queued)) return { ...seen, queued };
  const last = ['after-1', 'after-2'].map((name) => ask(program, { name, rows: WHILE_ROWS }));
  const after = await Promise.all(last);
  await Promise.all(building);
  return { ...seen, queued, after, alive: aliveOf(program).length };
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
function faultOfKilled({ victims, areBusy, ends, hasDied, queued }) {
  if (victims.length !== CHILDREN) return `There were ${victims.length} children at that time.`;
  if (hasDied) return 'The server itself has ended.';
  for (const [answer, another] of ends) {
    if (another) return 'When one child was killed, both reports failed.';
    if (!answer || parse(answer.body).digest)
      return `When a child was killed, no report failed: ${areBusy ? 'somebody still waits, or was answered by others' : 'it had nothing to do, while others waited'}.`;
    const { error, status, body } = answer;
    if (error) return `The report of the killed child got ${error} in place of an answer.`;
    if (status < 500)
      return `The report of the killed child got status ${status}: ${body.slice(0, 99)}`;
  }
  const failed = queued.filter(({ status }) => status >= 500).length;
  return failed > 0
    ? `${failed} of ${queued.length} reports that only waited failed, too.`
    : undefined;
}

/** Ends the server in this way; what is left of its children when they had time to hear of it, in words. */
async function leftAfter(program, signal) {
  if (!program.fate) program.kill(program.pid, signal);
  if (!(await program.ended(PATIENCE_MS)))
    return `The server did not end within ${PATIENCE_MS / 1000} s of ${signal}.`;
  const before = program.events.length;
  const deadline = performance.now() + LAST_MS;
  while (performance.now() < deadline) {
    const left = program.survivors();
    if (left.length === 0) return undefined;
    const beats = program.events.slice(before).filter(({ what }) => what === 'beat');
    const turnsOf = (pid) => beats.filter((beat) => beat.pid === pid).length;
    if (left.every((pid) => turnsOf(pid) > TURNS))
      return `After ${signal} to the server ${left.length} of its children are still there (pid ${left.join(', ')}).`;
    await sleep(20);
  }
  throw tooBusy('Processes are left, and have not had a turn yet.');
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
  await askTwo(program); // children that are still to be started
  for (let round = 0; round < 3; round += 1) {
    await get(`${program.url}/health`);
    await sleep(REST_MS);
    await askTwo(program);
    await sleep(REST_MS);
    told.push(parse((await get(`${program.url}/health`)).body).eventLoopDelayMs);
  }
  return told.sort((a, b) => a - b)[1];
}

const askTwo = (program) =>
  Promise.all(['a', 'b'].map((name) => ask(program, { name, rows: 100_000 })));

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
