/** What lesson 2's check does with programs, and what it sees. */
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { cpus } from 'node:os';
import {
  Undecided,
  asCoresAllow,
  askAtOnce,
  askOnce,
  createLoad,
  createSpinners,
  eventsOf,
  exitsOf,
  forksOf,
  ignoreStarved,
  isCrowded,
  listenersOf,
  nowMs,
  requestsOf,
  turnsOf,
} from '../../lib/check/checking.js';

export const WORKERS = 4;
/** Not the number that the machine has; one; and more than eight or sixteen, which somebody may take for the most, or 99, which is the most for the variable. */
export const PRETENDED_CORES = [cpus().length === 3 ? 2 : 3, 1, 128];
const LEGAL = ['1', '10', '99']; // the ends of the range, and where a digit is added
const OF_OTHER_TOOLS = ['max', 'all', 'auto', '50%', '0.5', '1,000', '1,5']; // each means a number to somebody
const NONSENSE = [...OF_OTHER_TOOLS, '0', '00', '-1', '2.5', '4abc\n4', '100', '', '  ']; // of two lines: neither half is enough
const NO_PAGES = ['/favicon.ico', '/robots.txt']; // there is none; browsers and crawlers ask all the same
const ON_ONE_CONNECTION = ['/', '/', '/?page=2'];
const CPU_ROW = 6; // asked one after the other of one worker: what is kept for a moment only is still there
const SEEN_WITHIN_MS = 1_000;
const PAIR_MS = 4_000; // for 40 ms of work
const MOST_OF_PAIR = 1024 * 1024; // characters: more than twenty times as many as in two pages
const PRETENCE_MS = 500; // a program that has not forked them all by then waits for something that only real workers do
const REFUSAL_MS = 150; // from its first worker to its end
const STUCK_MS = 3_000;
const CALM_BEATS = 8; // of 20 ms or more, in which its loop had next to nothing to do: its file has been loaded
const CALM_ELU = 0.1;
const ONE_MORE_MS = 60; // by then a loop that goes on has forked one more

/** A program with four workers that all listen, or never will. */
export async function startFour({ launch, ready }) {
  const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
  return ready(await launch({ env, probe: 'waits' }), WORKERS);
}

/**
 * For when something is missing: while other programs want the cores, a worker that has neither listened nor ended, and
 * has not been idle for some turns of its event loop, may just be late, and with it a primary that forks the next one when it listens.
 * @throws {Undecided}
 */
export function demandTurn(events, pids = forksOf(events).map(({ workerPid }) => workerPid)) {
  const listening = new Set([...listenersOf(events).values()].flatMap((some) => [...some]));
  const ended = new Set(exitsOf(events).map(({ workerPid }) => workerPid));
  const calm = eventsOf(events, 'beat').filter(({ elu }) => elu < CALM_ELU);
  const isLate = (pid) => !listening.has(pid) && !ended.has(pid) && turnsOf(calm, pid) < CALM_BEATS;
  const late = pids.filter(isLate);
  if (late.length === 0 || !isCrowded()) return;
  throw new Undecided({
    got: `Of the workers that it forked, ${late.length} did not listen yet, and may just be late.`,
    why: 'The machine is too busy: other programs want its cores.',
    try: 'close other programs, then check again',
  });
}

/** Has this worker, which started long ago, neither ended nor turned its event loop for seconds, on a machine that has time? */
export function isStuck(events, pid) {
  const sinceMs = nowMs() - STUCK_MS;
  const hasStarted = eventsOf(events, 'start').some((one) => one.pid === pid && one.t < sinceMs);
  const hasEnded = exitsOf(events).some(({ workerPid }) => workerPid === pid);
  return hasStarted && !hasEnded && turnsOf(events, pid, sinceMs) === 0 && !isCrowded();
}

/**
 * Some requests on one connection, one for each other page, then rounds of some at once until every worker has executed one,
 * or it is clear that some never will.
 */
export async function askUntilAllAnswer(program) {
  const workers = forksOf(program.events).map(({ workerPid }) => workerPid);
  const areStuck = workers.every((pid) => isStuck(program.events, pid));
  if (workers.length > 0 && areStuck)
    return { answers: [], requests: [], others: [], isMute: true };
  const beginnings = [
    askOnOneConnection(program, ON_ONE_CONNECTION),
    askAtOnce(program, '/cpu', 1),
  ];
  const [all, cpu] = await Promise.all(beginnings);
  const lost = await Promise.all(NO_PAGES.map((path) => askAtOnce(program, path, 1)));
  const others = [cpu, ...lost];
  for (let round = 0; round < 12; round += 1) {
    const { answers, requests } = await askAtOnce(program, '/', 2 * WORKERS);
    all.answers.push(...answers);
    all.requests.push(...requests);
    const pids = new Set(all.requests.map(({ pid }) => pid));
    if (forksOf(program.events).every(({ workerPid }) => pids.has(workerPid))) break;
    if ((listenersOf(program.events).get(program.port)?.size ?? 0) < WORKERS) break;
  }
  return { ...all, others: others.flatMap(({ requests }) => requests), cpu: cpu.answers[0] };
}

/**
 * Two requests in one packet: both are there before the first is answered, as when two clients ask at the very same moment.
 * @returns {Promise<{ served: number, body: string }[]>}  of those that were answered with 200: a server may close a connection
 *   after one
 */
export async function askPair({ port }) {
  const socket = connect(port, '127.0.0.1');
  let told = '';
  socket.on('error', () => {}); // then it is closed
  socket.setEncoding('latin1').on('data', (part) => {
    told += part;
    if (told.length > MOST_OF_PAIR) socket.destroy();
  });
  const limit = setTimeout(() => socket.destroy(), PAIR_MS);
  const head = 'GET / HTTP/1.1\r\nHost: localhost\r\n';
  socket.write(`${head}\r\n${head}Connection: close\r\n\r\n`);
  await new Promise((resolve) => socket.once('close', resolve));
  clearTimeout(limit);
  const answers = told
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter((one) => one.startsWith('HTTP/1.1 200 '));
  return answers.map((answer) => ({
    served: Number(/^x-worker-served: *(\d+)/im.exec(answer)?.[1]),
    body: answer.slice(answer.indexOf('\r\n\r\n')),
  }));
}

/** A server may know / only without a query, and answer "not found", "bad request", or where to go instead. */
const isThere = (/** @type {{ status?: number }} */ { status = 0 }) =>
  !(status >= 300 && status < 500);

/**
 * A page that isn't there is left out. Once on a busy machine the server had closed the connection, because nothing had come
 * for five seconds.
 */
async function askOnOneConnection(program, paths) {
  const first = program.events.length;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const all = [];
  for (const path of paths) all.push({ path, ...(await askOnce(program, path, { agent })) });
  agent.destroy();
  const answers = all.filter(isThere);
  const answered = all.filter(({ error }) => !error).length;
  const seen = () => requestsOf(program.events.slice(first), pathOf(paths[0]));
  await program.until(() => seen().filter(({ endMs }) => endMs).length >= answered, SEEN_WITHIN_MS);
  return { answers, requests: seen().filter(isThere) };
}

const pathOf = (/** @type {string} */ url) => url.split('?')[0];

/** Many at once, then some one after the other. */
export async function askForCpu(program) {
  const atOnce = await askAtOnce(program, '/cpu', 2 * WORKERS);
  const inRow = await askOnOneConnection(program, Array(CPU_ROW).fill('/cpu'));
  return { requests: [...atOnce.requests, ...inRow.requests] };
}

const hasWorker = (events) => events.some(({ what, role }) => what === 'fork' || role === 'worker');
const hasBegun = (events) =>
  hasWorker(events) || events.some(({ what }) => ['child', 'listening'].includes(what));

/** How many workers it forks where a fork starts no process, but is reported as started and listening. */
async function forksPretended(launch, wanted, options, limitMs = PRETENCE_MS) {
  const program = await launch({ ...options, pretendForks: true });
  const count = () => forksOf(program.events).length;
  await program.until(() => count() >= wanted, limitMs);
  await program.until(() => count() > wanted, ONE_MORE_MS);
  await program.stop();
  return count();
}

/**
 * How many workers it forks when it is not told, on machines that say they have so many cores; of the first with a wrong
 * number, or of all.
 * @returns {Promise<{ cores: number, forks: number }[]>}
 */
export async function forkByDefault(launch) {
  const tried = [];
  for (const cores of PRETENDED_CORES) {
    const forks = await forkOnMachine(launch, cores);
    tried.push({ cores, forks });
    if (forks !== cores) break;
  }
  return tried;
}

/**
 * How many workers it forks on a machine that says it has so many cores. Where the pretence leads to fewer, it may be waiting
 * for something that only real workers do, so it is started for real; of many it is enough that it goes on.
 */
async function forkOnMachine(launch, cores) {
  const options = { pretendCores: cores };
  const isMany = cores > WORKERS;
  const limitMs = isMany ? 3 * PRETENCE_MS : PRETENCE_MS; // perhaps it forks them one by one
  const pretended = await forksPretended(launch, cores, options, limitMs);
  if (pretended >= cores) return pretended;
  const program = await launch(options);
  const count = () => forksOf(program.events).length;
  await program.settled(() => count() >= (isMany ? pretended + 1 : cores));
  if (isMany && (count() > pretended || isTooMany(program))) {
    await program.stop();
    return cores;
  }
  await program.ready(count());
  await program.settled(() => count() > cores, ONE_MORE_MS);
  await program.stop();
  if (count() < cores) demandTurn(program.events);
  return count();
}

/** It has forked more than may run here, be it in one turn of its loop, in which it tells of none. */
const isTooMany = ({ fate }) => fate?.kind === 'excess' && fate.of === 'processes';

/** Numbers that are allowed, each with how many workers it forked. */
export const tryLegal = (launch) => Promise.all(LEGAL.map((value) => tryOne(launch, value)));

async function tryOne(launch, value) {
  const wanted = Number(value);
  const options = { env: { NODE_CLUSTER_WORKERS: value } };
  const pretended = await forksPretended(launch, wanted, options);
  if (pretended >= wanted) return { value, forks: pretended };
  const program = await launch(options);
  const goesOn = (events) =>
    pretended === 0 ? hasWorker(events) : forksOf(events).length > pretended;
  const isAccepted = (await program.settled(goesOn)) || isTooMany(program); // it does not wait for 99 real ones
  const { fate, events } = program;
  const output = program.output();
  await program.stop();
  if (isAccepted) return { value, forks: wanted };
  if (!fate && !hasBegun(events) && isCrowded()) throw new Undecided(NEITHER);
  demandTurn(events);
  return { value, forks: Math.max(pretended, forksOf(events).length), fate, output };
}

/** Numbers of workers that make no sense, each with what became of the program: one that takes them all forks for each. */
export const tryNonsense = (launch) => asCoresAllow(NONSENSE, (value) => refuseOne(launch, value));

async function refuseOne(launch, value) {
  const options = { env: { NODE_CLUSTER_WORKERS: value }, isErrorApart: true };
  const program = await launch(options);
  const isBegun = await program.settled(hasBegun);
  const hasEnded = ({ what, pid }) => what === 'exit' && pid === program.pid;
  const over = program.until((events) => events.some(hasEnded), REFUSAL_MS);
  const isOver = await (isBegun ? over.catch(ignoreStarved) : over); // to have begun is enough
  if (isOver) await program.ended(); // it has begun, and may refuse after all
  const { fate, events } = program;
  const [output, errors] = [program.output(), program.errors()];
  await program.stop();
  const isStarted = hasBegun(events);
  if (!fate && !isStarted && isCrowded()) throw new Undecided(NEITHER);
  return { value, program, fate, output, errors, isStarted, hasWorker: hasWorker(events) };
}

const NEITHER = {
  got: 'There was not enough time to see whether the program starts or refuses.',
  why: 'The machine is too busy: other programs want its cores.',
  try: 'close other programs, then check again',
};

/** The same work on both sides: the learner's cluster, and the single process that it started from. */
export async function prepareContest({ launch, ready, isLonger }, candidate) {
  const load = createLoad();
  const spinners = createSpinners(WORKERS);
  const control = await ready(await launch({ isReference: true }));
  return { load, spinners, control, candidate, workers: WORKERS, isLonger };
}
