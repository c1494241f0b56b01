/**
 * What the check of lesson 11 does with the learner's folder and sees of it: two builds, the programs they produce,
 * requests, signals, failed starts. At the end, what is only shown: the speedup.
 */
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import {
  Undecided,
  askAtOnce,
  buildNitro,
  createLoad,
  disturbanceOf,
  eventsOf,
  exitsOf,
  forksOf,
  get,
  interleave,
  listenersOf,
  mean,
  nowMs,
  quickestOf,
  ratioOf,
  saturate,
  watchMachine,
} from '../../../lib/check/checking.js';

/** Not the number that Nitro takes by default, and a different one that the machine does not have either. */
export const WORKERS = cpus().length === 4 ? 3 : 4;
export const INHERITED = WORKERS + 3; // what NITRO_CLUSTER_WORKERS says already
export const PRETENDED_CORES = cpus().length === 3 || WORKERS === 3 ? 5 : 3;
const OTHER_CORES = [1, 128]; // where somebody takes two for the least, or so many for the most
const FEW_CORES = 2; // fewer than the workers that are wanted: the number that is told counts, not the cores
export const DEADLINE_MS = 10_000;
export const LONG_DEADLINE_MS = 20_000; // for what takes many starts
export const LIMIT_MS = 30_000; // Nitro's, for a stop
const LONG_TIMER_MS = 1_000; // no route has one
const SOONER = 30; // times
const SHORT_TICK_MS = 50; // and what ticks so fast mostly looks for something
const CLOCK_FASTER = 20; // times: half a minute is over by the clock when all has been seen
/** Where it is stopped at work: a timer that is shorter than Nitro's limit takes less than a second, however it is set. */
export const IN_HASTE = {
  pretendTimers: /** @type {const} */ ([LONG_TIMER_MS, LIMIT_MS, SOONER, SHORT_TICK_MS]),
  pretendClock: CLOCK_FASTER,
};
const ROUNDS = 12;
export const AT_WORK = 10; // requests
const ONE_MORE_MS = 60; // by then a loop that goes on has forked one more
const TURNS = 120; // of an event loop, 20 ms each: a program that ends looks 8 times while it turns so often
const WINDOW_MS = 90;
const BUDGET = { usualMs: 1_000, longerMs: 6_000 };
const NARROW = 1.2; // the high end of an interval of 10 % up and down, by its low end
const PATHS = ['/', '/report', '/visits', '/nowhere'];

/** Builds, or finds what was built from the same files. */
export const build = ({ launch, place }) =>
  buildNitro((options) => launch({ isReference: true, ...options }), place);

/** What a build with this preset has left, if one has. */
export const outputOf = ({ outputs }, wanted) => outputs.find(({ preset }) => preset === wanted);

/** Starts a program and waits until so many of its processes listen, longer than one waits elsewhere: a bundle is large. */
async function startAndWait({ launch, ready }, options, listeners, demandListeners) {
  const program = await launch(options);
  const sinceMs = nowMs();
  const isReady = await program.ready(listeners, LONG_DEADLINE_MS);
  const isLate = nowMs() - sinceMs >= LONG_DEADLINE_MS;
  if (!isReady && isLate && !program.fate)
    throw busy(`It was not listening within ${LONG_DEADLINE_MS / 1_000} s.`);
  demandListeners?.(program);
  return ready(program, listeners);
}

/**
 * The program that was built with this preset, started as it is, in its own folder; nothing when there is none. It may throw
 * what `demandWhole` has to say.
 */
export async function startOutput(lesson, built, preset, demandWhole) {
  const entry = outputOf(built, preset)?.server;
  const options = { isReference: true, entry, cwd: entry && dirname(entry) };
  return entry && startAndWait(lesson, options, 1, demandWhole);
}

/**
 * The learner's program with so many workers, whatever Nitro's own variable said; nothing when the cluster has not
 * been built. It may throw what `demandListeners` has to say, ahead of the general messages.
 */
export async function startCluster(lesson, built, workers, demandListeners, special = {}) {
  const env = { NODE_CLUSTER_WORKERS: String(workers), NITRO_CLUSTER_WORKERS: String(INHERITED) };
  const isBuilt = outputOf(built, 'node-cluster');
  const explain = (program) => demandListeners(program, built);
  const options = { entry: built.entry, env, pretendCores: FEW_CORES, ...special };
  return isBuilt && startAndWait(lesson, options, workers, explain);
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
 * Some requests at once to one process: how long each took, and all together. When a request ends says little: Nitro
 * sends an answer in the next turn of the event loop, so the next request may have begun by then, and blocks.
 */
export async function workOf(program) {
  const alone = await askAtOnce(program, '/', 1);
  const together = await askAtOnce(program, '/', AT_WORK);
  const answers = [...alone.answers, ...together.answers];
  const requests = [...alone.requests, ...together.requests];
  const spanMs = spanOf(together.requests);
  return { answers, requests, quickestMs: quickestOf(requests), spanMs };
}

const spanOf = (requests) =>
  Math.max(...requests.map(({ endMs = Infinity }) => endMs)) -
  Math.min(...requests.map(({ startMs }) => startMs));

/** Who should serve: the workers, or the program itself where there are none. */
export function serversOf({ events, port }) {
  const workers = forksOf(events).map(({ workerPid }) => workerPid);
  return workers.length > 0 ? workers : [...(listenersOf(events).get(port) ?? [])];
}

/**
 * How many workers it forks when it is not told, on a machine that says it has so many cores. It will be stopped while
 * requests are under way.
 */
export async function forkByDefault({ launch }, { entry }) {
  const program = await launch({ entry, ...IN_HASTE, pretendCores: PRETENDED_CORES });
  const hasBegun = (events) => program.fate || forksOf(events).length > 0 || isIdle(events);
  if (!(await program.until(hasBegun, LONG_DEADLINE_MS))) throw busy('It has not forked yet.');
  await program.settled((events) => forksOf(events).length >= PRETENDED_CORES);
  await program.settled((events) => forksOf(events).length > PRETENDED_CORES, ONE_MORE_MS);
  return { forks: forksOf(program.events).length, program };
}

/**
 * How many workers it forks when it is not told, on machines that say they have fewer or many more cores; of the first with
 * a wrong number, or of all.
 */
export async function forkElsewhere({ launch }, { entry }) {
  const tried = [];
  for (const cores of OTHER_CORES) {
    const one = await forkOn(launch, { entry, pretendCores: cores });
    tried.push({ cores, ...one });
    if (one.forks !== cores) break;
  }
  return tried;
}

/**
 * A fork starts no process here. Where that leads to fewer it may be waiting for something that only real workers do, so it
 * is started for real, and it is enough that it goes on.
 */
async function forkOn(launch, options) {
  const { pretendCores: cores } = options;
  const pretended = await forksUpTo(await launch({ ...options, pretendForks: true }), cores);
  if (pretended.forks >= cores) return pretended;
  const real = await forksUpTo(await launch(options), pretended.forks + 1);
  return real.forks > pretended.forks && cores > 1 ? { ...real, forks: cores } : real;
}

/** How many it forks, one more than so many at least, if it forks more. */
async function forksUpTo(program, wanted) {
  const count = () => forksOf(program.events).length;
  const isOver = (events) => program.fate || count() >= wanted || isIdle(events);
  if (!(await program.until(isOver, LONG_DEADLINE_MS))) throw busy('It has not forked yet.');
  await program.until(() => count() > wanted, ONE_MORE_MS);
  await program.stop();
  return { forks: count(), program };
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
  if (/^[0-9a-f]+\s*$/i.test(body)) return 'hex digits';
  try {
    return `JSON with ${Object.keys(JSON.parse(body)).sort().join(', ')}`;
  } catch {
    return `text (${JSON.stringify(body.slice(0, 20))})`;
  }
}

/** Nothing has happened for so many turns of every event loop that is left: so nothing will. */
export function isIdle(events) {
  const last = events.findLastIndex(({ what }) => what !== 'beat');
  if (events.length - last <= TURNS) return false;
  const beats = events.slice(last + 1);
  const ended = endedOf(events);
  return eventsOf(events, 'start').every(
    ({ pid: one }) => ended.has(one) || beats.filter(({ pid }) => pid === one).length > TURNS,
  );
}

/** The processes known to have ended. */
export const endedOf = (events) =>
  new Set([
    ...eventsOf(events, 'exit').map(({ pid }) => pid),
    ...exitsOf(events).map(({ workerPid }) => workerPid),
  ]);

export const busy = (got) =>
  new Undecided({
    got,
    why: 'The machine is busy.',
    try: 'npm run check lesson-11, when it is less busy',
  });

/** The same work on both sides, with and without the preset. It decides nothing: what was seen has decided. */
export async function measureSpeedup({ measured, conditionsWere, isLonger }, sides) {
  const load = createLoad();
  const side = (program, processes) => async () =>
    (await saturate(load, program, { path: '/', processes, durationMs: WINDOW_MS })).perSecond;
  const machine = watchMachine();
  const { control, candidate } = await interleave(
    { control: side(sides.control, 1), candidate: side(sides.candidate, WORKERS) },
    {
      isEnough: (soFar) => isNarrow(ratioOf(soFar.control, soFar.candidate)),
      budgetMs: isLonger ? BUDGET.longerMs : BUDGET.usualMs,
    },
  );
  load.close();
  const note = disturbanceOf(conditionsWere(machine()));
  const ratio = ratioOf(control, candidate);
  const [controlPerSecond, candidatePerSecond] = [control, candidate].map(mean);
  const both = { controlPerSecond, candidatePerSecond, ceiling: WORKERS };
  const label = `blocking work, node-cluster with ${WORKERS} workers against node-server`;
  measured('blocking', { label, unit: 'times', isHeadline: true, note, ...both, ...ratio });
}

const isNarrow = ({ low, high }) => high < NARROW * low;
