/**
 * What the check of lesson 11 does with the learner's folder and sees of it: two builds, the programs that come of them,
 * requests, signals, starts in vain. At the end what is only shown: the speedup.
 */
import { cpus } from 'node:os';
import {
  Undecided,
  askAtOnce,
  buildNitro,
  eventsOf,
  exitsOf,
  forksOf,
  get,
  listenersOf,
  nowMs,
  requestsOf,
  speedupOfBlocking,
  watchMachine,
} from '../../lib/checking.js';

/** Not the number that Nitro takes by itself, and another that the machine does not have either. */
export const WORKERS = cpus().length === 4 ? 3 : 4;
export const PRETENDED_CORES = cpus().length === 3 || WORKERS === 3 ? 5 : 3;
export const DEADLINE_MS = 10_000;
const LONG_DEADLINE_MS = 20_000; // for what takes many starts
export const UNDER_WAY = 6;
const MOST_STARTS = 16;
const ROUNDS = 12;
export const AT_WORK = 16; // requests
const ROUNDS_AT_WORK = 2;
const ONE_MORE_MS = 60; // by then a loop that goes on has forked one more
const TURNS = 120; // of an event loop, 20 ms each: whoever ends looks 8 times in the time of so many
const PATHS = ['/', '/report', '/visits', '/nowhere'];

/** Builds, or finds what was built of the same files. */
export const build = ({ launch }) =>
  buildNitro((options) => launch({ isReference: true, ...options }));

/** What a build with this preset has left, if one has. */
export const outputOf = ({ outputs }, wanted) => outputs.find(({ preset }) => preset === wanted);

/** Starts a program and waits until so many of its processes listen, longer than one waits elsewhere: a bundle is large. */
async function startAndWait({ launch, ready }, options, listeners) {
  const program = await launch(options);
  const sinceMs = nowMs();
  const isReady = await program.ready(listeners, LONG_DEADLINE_MS);
  const isLate = nowMs() - sinceMs >= LONG_DEADLINE_MS;
  if (!isReady && isLate && !program.fate)
    throw busy(`It has not come to listen within ${LONG_DEADLINE_MS / 1_000} s.`);
  return ready(program, listeners);
}

/** The program that was built with this preset, started as it is; nothing when there is none. */
export async function startOutput(lesson, built, preset) {
  const output = outputOf(built, preset);
  return output && startAndWait(lesson, { isReference: true, entry: output.server }, 1);
}

/** The learner's program with so many workers; nothing when the cluster has not been built. */
export async function startCluster(lesson, built, workers) {
  const env = { NODE_CLUSTER_WORKERS: String(workers) };
  const isBuilt = outputOf(built, 'node-cluster');
  return isBuilt && startAndWait(lesson, { entry: built.entry, env }, workers);
}

/** A request alone, then rounds of some at once until every process that listens has executed one. */
export async function askUntilAllAnswer(program) {
  const all = await askAtOnce(program, '/', 1);
  for (let round = 0; round < ROUNDS; round += 1) {
    const { answers, requests } = await askAtOnce(program, '/', 2 * WORKERS);
    all.answers.push(...answers);
    all.requests.push(...requests);
    const pids = new Set(all.requests.map(({ pid }) => pid));
    if (serversOf(program).every((pid) => pids.has(pid))) break;
  }
  return all;
}

/**
 * Some requests at once to one process: how long each took, and all together. When a request ends tells little: Nitro
 * sends an answer in the next turn of the event loop, so the next request may have begun by then, and blocks.
 */
export async function workOf(program) {
  const alone = await askAtOnce(program, '/', 1);
  const rounds = [alone];
  for (let round = 0; round < ROUNDS_AT_WORK; round += 1)
    rounds.push(await askAtOnce(program, '/', AT_WORK));
  const answers = rounds.flatMap((round) => round.answers);
  const requests = rounds.flatMap((round) => round.requests);
  const whole = rounds.filter((round) => round.requests.length === AT_WORK);
  const spanMs = Math.min(...whole.map((round) => spanOf(round.requests)));
  return { answers, requests, quickestMs: quickestOf(requests), spanMs };
}

const durationOf = ({ startMs, endMs = Infinity }) => endMs - startMs;

/** The shortest time in which one of these was answered. */
export const quickestOf = (requests) => Math.min(...requests.map(durationOf));

const spanOf = (requests) =>
  Math.max(...requests.map(({ endMs = Infinity }) => endMs)) -
  Math.min(...requests.map(({ startMs }) => startMs));

/** Who is to serve: the workers, or the program itself where there are none. */
export function serversOf({ events, port }) {
  const workers = forksOf(events).map(({ workerPid }) => workerPid);
  return workers.length > 0 ? workers : [...(listenersOf(events).get(port) ?? [])];
}

/** How many workers it forks when it is not told, on a machine that says it has so many cores. */
export async function forkByDefault({ launch }, { entry }) {
  const program = await launch({ entry, pretendCores: PRETENDED_CORES });
  const hasBegun = (events) => program.fate || forksOf(events).length > 0 || isIdle(events);
  if (!(await program.until(hasBegun, LONG_DEADLINE_MS))) throw busy('It has not forked yet.');
  await program.settled((events) => forksOf(events).length >= PRETENDED_CORES);
  await program.settled((events) => forksOf(events).length > PRETENDED_CORES, ONE_MORE_MS);
  await program.stop();
  return { forks: forksOf(program.events).length, program };
}

/** Each program's answers, side by side. */
export async function answersOf(programs) {
  const rows = [];
  for (const path of PATHS) {
    const both = await Promise.all(
      programs.map(({ url }) => get(url + path, { timeoutMs: DEADLINE_MS }).then(sketch)),
    );
    rows.push({ path, both });
  }
  return rows;
}

/** What of an answer is the same each time: numbers and random bytes are not. */
function sketch({ status, error, headers, body }) {
  if (error) return error;
  return `${status}, ${headers['content-type'] ?? 'no content-type'}, ${kindOf(body)}`;
}

function kindOf(body) {
  if (/^[0-9a-f]+$/.test(body)) return 'hex digits';
  try {
    return `JSON with ${Object.keys(JSON.parse(body)).sort().join(', ')}`;
  } catch {
    return `text (${JSON.stringify(body.slice(0, 20))})`;
  }
}

/** The signal comes while requests are under way. */
export async function stopAtWork(program, how) {
  const first = program.events.length;
  const ask = () => get(`${program.url}/report`, { timeoutMs: DEADLINE_MS });
  const asked = Promise.all(Array.from({ length: UNDER_WAY }, ask));
  const begun = (events) => requestsOf(events.slice(first), '/report').length >= UNDER_WAY;
  const areUnderWay = await program.until(begun, DEADLINE_MS / 2);
  if (how === 'Ctrl-C') program.interrupt('SIGINT');
  else program.kill(program.pid, 'SIGTERM');
  const answers = await asked;
  await program.until((events) => program.fate || isIdle(events), LONG_DEADLINE_MS);
  const { fate, events } = program;
  if (!fate && !isIdle(events)) throw busy('It had not ended, and not had the time to.');
  const left = fate ? await program.gone(DEADLINE_MS) : [];
  const lost = answers.filter(({ status }) => status !== 200);
  if (!areUnderWay && lost.length > 0) throw busy('The requests had not come to it yet.');
  return { how, program, fate, lost, left, output: program.output() };
}

/** Nothing has happened for so many turns of every event loop that is left: so nothing will. */
function isIdle(events) {
  const last = events.findLastIndex(({ what }) => what !== 'beat');
  if (events.length - last <= TURNS) return false;
  const beats = events.slice(last + 1);
  const ended = new Set([
    ...eventsOf(events, 'exit').map(({ pid }) => pid),
    ...exitsOf(events).map(({ workerPid }) => workerPid),
  ]);
  return eventsOf(events, 'start').every(
    ({ pid: one }) => ended.has(one) || beats.filter(({ pid }) => pid === one).length > TURNS,
  );
}

/** On a port that cannot be, each worker ends before it listens. */
export async function startInVain({ launch }, { entry }) {
  const env = { PORT: '80800', NODE_CLUSTER_WORKERS: '2' };
  const program = await launch({ entry, env });
  const isEnough = (events) => forksOf(events).length >= MOST_STARTS;
  const isOver = (events) => program.fate || isEnough(events) || isIdle(events);
  await program.until(isOver, LONG_DEADLINE_MS);
  const { events, fate } = program;
  const isDecided = isOver(events);
  await program.stop();
  const starts = forksOf(events).length;
  if (!isDecided)
    throw busy(`Within ${LONG_DEADLINE_MS / 1_000} s a worker could start only ${starts} times.`);
  return { fate, starts, output: program.output() };
}

const busy = (got) =>
  new Undecided({
    got,
    why: 'The machine has other things to do.',
    try: 'npm run check lesson-11, when it has less to do',
  });

/** The same work on both sides, with and without the preset. It decides nothing: what was seen has decided. */
export async function measure({ measured, conditionsWere }, load, sides) {
  const machine = watchMachine();
  const limits = { target: 0.7 * WORKERS, windowMs: 180, budgetMs: 3_000 };
  const contest = { load, ...sides, workers: WORKERS, path: '/' };
  const speedup = await speedupOfBlocking({ ...contest, ...limits });
  load.close();
  conditionsWere(machine());
  const label = `blocking work, node-cluster with ${WORKERS} workers against node-server`;
  measured('blocking', { label, unit: 'times', isHeadline: true, ...speedup });
}
