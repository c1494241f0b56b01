/**
 * What the check of lesson 6 does with the learner's program and sees of it: reports that are asked for, and the
 * children that build them; how they end is in 06-child-process-fork.deaths.js. At the end what is only shown: the
 * event-loop delay, and what a worker of each kind costs.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Undecided, eventsOf, get, requestsOf } from '../../lib/checking.js';

export const CHILDREN = 2;
export const WHILE_ROWS = 150_000;
export const MOST_OF_SPAN = 0.25; // a server that builds one of three reports itself holds a / up for longer
const PATIENCE_MS = 4_000; // for what takes a few milliseconds
export const LAST_MS = 20_000; // nobody waits for so long, unless the machine is busy
const LOOK_MS = 200;
export const SILENT = 'no answer, and nobody is at work on it';
export const TURNS = 50; // of an event loop, 20 ms each: by then it has heard what there is to hear

/** Twenty jobs, long and short in turn: a short one overtakes the long one before it. Some have the same name. */
export const JOBS = Array.from({ length: 20 }, (_, index) => ({
  name: `customer-${index % 15}`,
  rows: index % 2 === 0 ? 20_000 + 500 * index : 100 + index,
}));

const digests = new Map();

/** What a report is to say, computed here. */
export function digestOf({ name, rows }) {
  const key = `${name} ${rows}`;
  let digest = digests.get(key) ?? name;
  if (digests.has(key)) return digest;
  for (let row = 0; row < rows; row += 1)
    digest = createHash('sha256').update(digest).digest('hex');
  digests.set(key, digest);
  return digest;
}

/** Asks for a report, until it is there or nobody can be at work on it any more. */
export async function ask(program, job) {
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
export const askAtOnce = (program, names, rows) =>
  Promise.all(names.map((name) => ask(program, { name, rows })));

export const isRight = ({ error, status, body, job }) =>
  !error && status === 200 && parse(body).digest === digestOf(job);

export function parse(body) {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}

export const tooBusy = (got) =>
  new Undecided({
    got,
    why: 'The machine is too busy for this.',
    try: 'close other programs, then check again',
  });

/** The processes that the program has started, dead or alive. */
export function childrenOf({ events, pid: server }) {
  const started = events.flatMap(({ what, role, pid, childPid }) => {
    if (what === 'child') return [childPid];
    return what === 'start' && role !== 'thread' ? [pid] : [];
  });
  return [...new Set(started)].filter((pid) => pid !== server);
}

export const aliveOf = (program) => {
  const survivors = program.survivors();
  return childrenOf(program).filter((pid) => survivors.includes(pid));
};

export const isChild = (/** @type {any} */ { what, role, pid }, server) =>
  what === 'start' && role !== 'thread' && pid !== server;

/** The file that a child was to run and that is not there. */
export async function missingFileOf(program) {
  const isMissing = (event) => isChild(event, program.pid) && event.file && !existsSync(event.file);
  return (await program.until((events) => events.find(isMissing), PATIENCE_MS / 4))?.file;
}

/** Three reports at once, one more than children, and one / after the other until they are there; the best of four looks. */
export async function askMeanwhile(program) {
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

export async function waitUntil(isDone, deadlineMs = PATIENCE_MS) {
  const deadline = performance.now() + deadlineMs;
  while (!isDone() && performance.now() < deadline) await sleep(5);
}

/** Has the event loop of each of these processes turned more often than that? */
export function haveTurned(events, pids, turns) {
  const beats = eventsOf(events, 'beat');
  return pids.every((one) => beats.filter(({ pid }) => pid === one).length > turns);
}

/** The event-loop delay, with the job in the server and in children; and what a worker of each kind costs. */
export async function measure({ launch, ready, measured, drawn }) {
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
const COSTS = '../../lessons/06-child-process-fork/cost/start.js';

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
