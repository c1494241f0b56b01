/** Lesson 6: requests to a server with a pool of children, and what is seen of it. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  aliveIn,
  eventsOf,
  get,
  hasPid,
  haveTurned,
  kill,
  mean,
  meanInterval,
  nowMs,
  outliving,
  parseJsonBody,
  requestsOf,
  untilAtRest,
  whileFrozen,
} from '../../lib/check/checking.js';

/**
 * @typedef {{ name: string, rows: number }} Job
 * @typedef {{ job: Job, answer?: import('../../lib/observe/client.js').Answer }} Report  answer: once it has arrived
 */

export const CHILDREN = 2;
export const CORES = 5; // simulated: a pool of this size ignores JOB_CHILDREN
export const ENOUGH_HOMES = 3; // a server that builds reports itself answers only one while it builds four
const isHandedOn = true; // reports in flight are built by children, so nothing more comes when all of these are idle
const BESIDE_ROWS = 20_000;
const LATE_MS = 20_000; // only a hanging client waits this long
const DEADLINE_MS = 4_000; // for what takes milliseconds
const SENT_TURNS = 2; // of the server's event loop, in which it sends a job
const HANDED_OUT_TURNS = 3; // in which an idle child gets a waiting job
const SETTLED_TURNS = 10; // of a child's event loop, in which it loads its file and reports
const DYING_MS = 1_000; // between the end of a server's connections and its exit

/** Long and short in turn, so that short jobs overtake long ones. @returns {Job[]} */
export const makeJobs = (/** @type {string} */ name, /** @type {number} */ count) =>
  Array.from({ length: count }, (_, index) => ({
    name: `${name}-${index + 1}`,
    rows: index % 2 === 0 ? 1_000 : 10 + index,
  }));

/** The expected digest. */
export function digestOf({ name, rows }) {
  let digest = name;
  for (let row = 0; row < rows; row += 1)
    digest = createHash('sha256').update(digest).digest('hex');
  return digest;
}

export const isRight = (/** @type {Report} */ { job, answer }) =>
  answer?.status === 200 && !answer.error && parseJsonBody(answer.body).digest === digestOf(job);

/** The first report of a server whose working directory is another folder. */
export async function askFirst(program) {
  const [report] = await ask(program, makeJobs('first', 1));
  const isBooting = () => startedBy(program) > 0 && childStartsOf(program).length === 0; // so another process built the report
  await program.until(() => !isBooting(), DEADLINE_MS);
  const files = childStartsOf(program).map(({ file }) => file);
  return { report, missingFile: files.find((file) => file && !existsSync(file)) };
}

/** Four reports, and one / after the other until they are built, or enough of these were answered in the meantime. */
export async function askDuringReports(program) {
  const wanted = makeJobs('beside', 4).map(({ name }) => ({ name, rows: BESIDE_ROWS }));
  const { reports } = await begin(program, wanted, 1);
  const statuses = [];
  let besides = 0;
  while (besides < ENOUGH_HOMES && !reports.every(({ answer }) => answer)) {
    const { status } = await get(`${program.url}/`, { timeoutMs: LATE_MS });
    statuses.push(status);
    if (!reports.every(({ answer }) => answer)) besides += 1;
  }
  await untilAnswered(program, reports);
  return { statuses, besides, reports };
}

/**
 * Requests reports while the children are frozen. All but one resume; the last one resumes, or is killed, when the others have
 * nothing more to do.
 * @returns {Promise<{ reports: Report[], built: import('../../lib/observe/timeline.js').Request[], waiting: number,
 *   children: number[], started: number }>}  built: in order, while one child was frozen; waiting: how
 *   many were not
 */
export async function askWhileFrozen(program, wanted, { isKilled = false } = {}) {
  const asked = await whileChildrenFrozen(program, async (frozen) => {
    const begun = await begin(program, wanted);
    const last = frozen.slice(-1);
    kill(program, frozen.slice(0, -1), 'SIGCONT');
    const waiting = () => begun.reports.filter(({ answer }) => !answer).length;
    await untilAtRest(program, () => waiting() <= last.length, { except: last, isHandedOn });
    const [since, pids] = [nowMs(), [program.pid, ...childrenOf(program)]];
    const awake = pids.filter((pid) => !last.includes(pid));
    await program.until(
      (events) => waiting() === 0 || haveTurned(events, awake, HANDED_OUT_TURNS, since),
      DEADLINE_MS,
    );
    if (isKilled) kill(program, last);
    const built = begun.requests().filter(({ endMs }) => endMs);
    return { reports: begun.reports, built, waiting: waiting() };
  });
  await untilAnswered(program, asked.reports);
  const { reports, built, waiting } = asked;
  const [children, started] = [childrenOf(program), startedBy(program)];
  return { reports, built, waiting, children, started };
}

/** Waits until the program is at rest, so that remaining listeners are a leak. */
export async function waitForRest(program) {
  const first = program.events.length;
  await untilAtRest(program);
  const counted = program.events.slice(first).filter(({ listeners }) => listeners > 0);
  return counted.sort((a, b) => b.listeners - a.listeners)[0];
}

/** Kills one of two children while both have a report and two more wait. */
export async function killAtWork(program) {
  const all = await whileChildrenFrozen(program, async ([victim]) => {
    const atWork = await begin(program, makeJobs('at-work', CHILDREN));
    const queued = await begin(program, makeJobs('queued', 2));
    await passOn(program);
    kill(program, [victim]);
    await hearExit(program, victim); // before the other child takes the waiting reports
    return { atWork: atWork.reports, queued: queued.reports };
  });
  await untilAnswered(program, [...all.atWork, ...all.queued]);
  return { ...all, fate: program.fate };
}

/** Kills an idle child, and waits until the server has noticed. */
export async function killIdle(program) {
  const [victim] = childrenOf(program);
  kill(program, [victim]);
  await hearExit(program, victim);
  return { reports: await ask(program, makeJobs('after-idle', 4)) };
}

/** Waits until the server has handled this exit. */
async function hearExit(program, pid) {
  await program.until(() => !hasPid(pid), DEADLINE_MS); // the pid exists until the server has reaped the child
  await get(`${program.url}/`); // 'exit' was emitted before this answer
}

/** Kills the idle children of a frozen server that has a request pending: it will send the job to a child that is gone. */
export async function askKilledChildren(program) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    await get(`${program.url}/`, { agent });
    const children = childrenOf(program);
    const reports = await whileFrozen(program, [program.pid], async () => {
      const asked = [askFor(program, makeJobs('dead', 1)[0], agent)];
      for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate); // until the request is sent
      kill(program, children);
      await program.until(() => program.survivors().length === 1, DEADLINE_MS);
      return asked;
    });
    await untilAnswered(program, reports);
    const after = program.fate ? [] : await ask(program, makeJobs('after-dead', 3));
    return { reports, after, children: childrenOf(program), fate: program.fate };
  } finally {
    agent.destroy();
  }
}

/**
 * A name that is given twice is an array, on which SHA-256 throws in the only child, unless the server makes it a string. Another
 * report waits behind it.
 */
export async function askCrashingJob(program) {
  await ask(program, makeJobs('before-poison', 1));
  const first = program.events.length;
  const exits = () => childExitsOf(program, first).length;
  const [[report], behind] = await whileChildrenFrozen(program, async () => {
    const poison = await begin(program, [{ name: 'adam&name=eve', rows: 10 }]);
    const { reports } = await begin(program, makeJobs('behind-poison', 1));
    await passOn(program);
    return [poison.reports, reports];
  });
  await untilAtRest(program, () => report.answer ?? exits() > 1, { isHandedOn });
  const [answer, deaths, fate] = [report.answer, exits(), program.fate];
  const isOver = answer && deaths <= 1 && !fate; // otherwise the job goes from child to child
  if (isOver) await untilAnswered(program, behind);
  const after = isOver ? behind.map((one) => ({ ...one })) : []; // a snapshot, because a later job could still fetch it
  return { answer, deaths, fate, after };
}

/** Kills the server: which children outlive it although they have had time to notice that their channel is closed? */
export async function killServer(program) {
  await ask(program, makeJobs('settled', 1)); // so that a child has loaded its file
  kill(program, [program.pid]);
  await program.ended(DEADLINE_MS);
  return outliving(program);
}

/** Waits until the children have loaded their files, freezes them, and calls `work`. */
async function whileChildrenFrozen(
  program,
  /** @type {(frozen: number[]) => Promise<any>} */ work,
) {
  const children = childrenOf(program);
  const areSettled = (events) => haveTurned(events, children.filter(hasPid), SETTLED_TURNS);
  await program.until(areSettled, DEADLINE_MS);
  return whileFrozen(program, children, work);
}

/** Requests reports at once, and waits until all are answered or the program is at rest. @returns {Promise<Report[]>} */
async function ask(program, /** @type {Job[]} */ wanted) {
  const reports = wanted.map((job) => askFor(program, job));
  await untilAnswered(program, reports);
  return reports;
}

/** Requests reports at once, and waits until the server has begun `count` of them. */
async function begin(program, wanted, count = wanted.length) {
  const first = program.events.length;
  const requests = () => requestsOf(program.events.slice(first), '/report');
  const reports = wanted.map((job) => askFor(program, job));
  await program.until(() => requests().length >= count, DEADLINE_MS);
  return { reports, requests };
}

/** @returns {Report} */
function askFor(program, job, /** @type {Agent | false} */ agent = false) {
  const report = { job, answer: /** @type {any} */ (undefined) };
  const url = `${program.url}/report?name=${job.name}&rows=${job.rows}`;
  get(url, { agent, timeoutMs: LATE_MS }).then((answer) => (report.answer = answer));
  return report;
}

async function untilAnswered(program, /** @type {Report[]} */ reports) {
  await untilAtRest(program, () => reports.every(({ answer }) => answer), { isHandedOn });
  if (reports.some(({ answer }) => answer?.error)) await program.ended(DYING_MS);
}

/** Waits until the server has sent each request on to a child, or queued it. */
function passOn(program) {
  const since = nowMs();
  const isSent = (events) => haveTurned(events, [program.pid], SENT_TURNS, since);
  return program.until(isSent, DEADLINE_MS);
}

const childrenOf = ({ events, pid: server }) => aliveIn(events).filter((pid) => pid !== server);

/** How many processes it has started; those of execFileSync() are known only from their own reports. */
function startedBy(program) {
  const pids = eventsOf(program.events, 'child').map(({ childPid }) => childPid);
  return new Set([...pids, ...childStartsOf(program).map(({ pid }) => pid)]).size;
}

export const childStartsOf = ({ events, pid: server }) =>
  eventsOf(events, 'start').filter(({ pid, role }) => role !== 'thread' && pid !== server);

/** The exits of children that the check didn't kill. */
export const childExitsOf = ({ events, pid: server }, first = 0) =>
  eventsOf(events.slice(first), 'exit').filter(({ pid, tid }) => pid !== server && !tid);

// The event-loop delay and the cost of each kind of worker; they decide nothing.

const REST_MS = 15; // the histogram behind /health needs a turn of its timer, of 5 ms, before and after a delay
const ROWS = 50_000;
const TIMES = 3;

/** The longest event-loop delay while two reports are built; repeated with children, where it varies. */
export async function measureDelays({ isLonger }, candidate, control) {
  /** @type {number[][]} */
  const [yours, before] = [[], []];
  const measureYours = async () => {
    for (let time = 0; time < TIMES; time += 1) yours.push(await delayOf(candidate));
  };
  for (let round = 0; round < (isLonger ? 8 : 1); round += 1) {
    await measureYours();
    before.push(await delayOf(control));
    await measureYours();
  }
  return { yours, before };
}

/** The delay that /health reports after two reports at once. */
async function delayOf(program) {
  await get(`${program.url}/health`);
  await sleep(REST_MS);
  await Promise.all(
    ['a', 'b'].map((name) => get(`${program.url}/report?name=${name}&rows=${ROWS}`)),
  );
  await sleep(REST_MS);
  return parseJsonBody((await get(`${program.url}/health`)).body).eventLoopDelayMs;
}

export function reportDelays({ measured, drawn }, { yours, before }) {
  const label = `longest event-loop delay while two reports of ${ROWS.toLocaleString('en')} rows are built`;
  const rows = [
    { name: 'job in the server', value: mean(before) },
    { name: 'job in children', value: mean(yours) },
  ];
  drawn('delays', { label, unit: 'ms', rows });
  const told = {
    label: `${label}: your server`,
    ...meanInterval(yours),
    unit: 'ms',
    isHeadline: true,
  };
  measured('delay', told);
}

const KINDS = { cluster: 'cluster worker', fork: 'forked child', thread: 'thread' };
const COSTS = '../../lessons/06-child-process-fork/cost/start.js';

/** Start time and memory of the three kinds of worker, without the probe. */
export async function measureCosts(launch) {
  const costs = [];
  for (const [kind, name] of Object.entries(KINDS)) {
    const entry = fileURLToPath(new URL(COSTS, import.meta.url));
    const program = await launch({ entry, args: [kind], env: { NODE_OPTIONS: '' } });
    await program.ended();
    const numbers = program.output().match(/[\d.]+|NaN/g) ?? [];
    const [ms, uss, rss] = numbers.map(Number);
    costs.push({ name, ms, uss, rss });
  }
  return costs;
}

export function reportCosts({ drawn }, costs) {
  const isUss = costs.every(({ uss }) => Number.isFinite(uss));
  const rowsOf = (tell, once) => [
    ...costs.map((cost) => ({ name: cost.name, value: tell(cost) })),
    { name: 'as Node 0.12 said', value: once },
  ];
  const startUps = rowsOf(({ ms }) => ms, 30);
  drawn('start-up', { label: 'from start to first message', unit: 'ms', rows: startUps });
  const label = `memory of one more (${isUss ? 'USS, its own' : 'RSS'})`;
  const note = isUss ? undefined : 'RSS counts shared memory in each process: too much.';
  const memory = rowsOf(({ uss, rss }) => (isUss ? uss : rss), 10);
  drawn('memory', { label, unit: 'MB', rows: memory, note });
}
