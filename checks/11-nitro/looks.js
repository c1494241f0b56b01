/** Lesson 11: two builds of the learner's folder, their requests, and their exits. */
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import {
  askAtOnce,
  buildNitro,
  createLoad,
  disturbanceOf,
  exitsOf,
  forksOf,
  get,
  hasExited,
  hasListened,
  interleave,
  kill,
  listenersOf,
  mean,
  quickestOf,
  ratioOf,
  saturate,
  servingIn,
  stopUnderLoad,
  untilAtRest,
  watchMachine,
} from '../../lib/check/checking.js';

/** Neither this machine's number of cores, which is Nitro's default, nor equal to each other. */
export const WORKERS = cpus().length === 4 ? 3 : 4;
export const PRETENDED_CORES = cpus().length === 3 || WORKERS === 3 ? 5 : 3;
export const PAIR = 2; // workers, if two are enough
export const IN_FLIGHT = 6;
export const AT_WORK = 10; // requests
const ROUNDS = 12;
const DEADLINE_MS = 20_000; // bundles are large, and some looks start many workers
const ONE_MORE_MS = 60; // in which a loop that forks would fork one more
const FEWER = 3; // failed starts in a row: too few to give up, even if the killed worker before them counts
export const MANY = 12; // failed starts, after which the program isn't going to give up
const STILL = { turns: 75 }; // 1.5 s, because Nitro's workers poll whether they are done
const PATHS = ['/', '/report', '/visits', '/nowhere'];
const WINDOW_MS = 90;
const BUDGET = { usualMs: 500, longerMs: 6_000 };
const NARROW = 1.2; // the high end of an interval of 10 % up and down, by its low end

/** Builds, or reuses a build of the same files. */
export const build = ({ launch, place }) =>
  buildNitro((options) => launch({ isReference: true, ...options }), place);

/** The output of an earlier build with this preset, if any. */
export const outputOf = ({ outputs }, wanted) => outputs.find(({ preset }) => preset === wanted);

const told = (workers) => ({ NODE_CLUSTER_WORKERS: String(workers) });

/** Starts the build for one process. */
export async function startSingle({ launch, ready }, built) {
  const { server: entry } = outputOf(built, 'node-server');
  const program = await launch({ isReference: true, entry, cwd: dirname(entry) });
  await program.ready(1, DEADLINE_MS);
  return ready(program);
}

/** Starts the learner's program with this many workers. */
export async function startCluster({ launch, ready }, { entry }, workers = PAIR) {
  const program = await launch({ entry, env: told(workers) });
  await program.ready(workers, DEADLINE_MS);
  return ready(program, workers);
}

/** One request, then rounds of concurrent ones until every worker has executed one. */
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

/** The workers, or the program itself if it has none. */
export function serversOf({ events, port }) {
  const workers = forksOf(events).map(({ workerPid }) => workerPid);
  return workers.length > 0 ? workers : [...(listenersOf(events).get(port) ?? [])];
}

/** Concurrent requests to one process: the time of the quickest, and of all. */
export async function workOf(program) {
  const alone = await askAtOnce(program, '/', 1);
  const together = await askAtOnce(program, '/', AT_WORK);
  const answers = [...alone.answers, ...together.answers];
  const requests = [...alone.requests, ...together.requests];
  return { answers, requests, quickestMs: quickestOf(requests), spanMs: spanOf(together.requests) };
}

const spanOf = (requests) =>
  Math.max(...requests.map(({ endMs = Infinity }) => endMs)) -
  Math.min(...requests.map(({ startMs }) => startMs));

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

/** An answer without its numbers and random bytes. */
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

/** Without NODE_CLUSTER_WORKERS, on a machine with this many simulated cores. */
export async function forkByDefault({ launch }, { entry }) {
  const program = await launch({ entry, pretendCores: PRETENDED_CORES });
  await program.settled((events) => forksOf(events).length >= PRETENDED_CORES, DEADLINE_MS);
  await program.settled((events) => forksOf(events).length > PRETENDED_CORES, ONE_MORE_MS);
  return { forks: forksOf(program.events).length, program };
}

/** Stops it while requests are in flight. behind: workers that outlive the primary. */
export async function stop(program, how) {
  const seen = await stopUnderLoad(program, how, { path: '/report', times: IN_FLIGHT, ...STILL });
  const workers = forksOf(program.events).map(({ workerPid }) => workerPid);
  const behind = seen.fate ? workers.filter((pid) => !hasExited(program.events, pid)) : [];
  return { ...seen, workers, behind };
}

/** With an invalid port each worker exits before it listens. */
export async function failToStart({ launch }, { entry }) {
  const program = await launch({ entry, env: { PORT: '80800', ...told(PAIR) } });
  const isMany = (events) => exitsOf(events).length >= MANY;
  await untilAtRest(program, isMany, { deadlineMs: DEADLINE_MS });
  const { events, fate } = program;
  const forks = forksOf(events).length;
  return { program, fate, forks, ends: exitsOf(events).length, output: program.output() };
}

/** Kills all workers, then the next three before they listen, and repeats that: never five failures in a row. */
export async function killWorkers(program) {
  for (let round = 0; round < 2; round += 1) {
    const forked = forksOf(program.events).length;
    kill(program, servingIn(program.events));
    for (let index = forked; index < forked + FEWER; index += 1) {
      const pid = await nextWorker(program, index);
      if (pid) kill(program, [pid]);
    }
    await untilAtRest(program, (events) => areUp(events, PAIR), { deadlineMs: DEADLINE_MS });
  }
  await program.until((events) => servingIn(events).length > PAIR, ONE_MORE_MS);
  const { events, fate } = program;
  const served = exitsOf(events).filter(({ workerPid: pid }) => hasListened(events, pid)).length;
  const failed = exitsOf(events).length - served;
  const serving = servingIn(events).length;
  return { program, fate, served, failed, serving, wanted: PAIR, output: program.output() };
}

async function nextWorker(program, index) {
  const next = (events) => forksOf(events)[index]?.workerPid;
  await untilAtRest(program, next, { deadlineMs: DEADLINE_MS });
  return next(program.events);
}

const areUp = (events, wanted) => {
  const alive = forksOf(events).filter(({ workerPid: pid }) => !hasExited(events, pid));
  return alive.length >= wanted && alive.every(({ workerPid: pid }) => hasListened(events, pid));
};

/** With and without the preset, the same work; decides nothing. */
export async function measureSpeedup({ measured, addConditions, isLonger }, sides) {
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
  const note = disturbanceOf(addConditions(machine()));
  const ratio = ratioOf(control, candidate);
  const [controlPerSecond, candidatePerSecond] = [control, candidate].map(mean);
  const both = { controlPerSecond, candidatePerSecond, ceiling: WORKERS };
  const label = `blocking work, node-cluster with ${WORKERS} workers against node-server`;
  measured('blocking', { label, unit: 'times', isHeadline: true, note, ...both, ...ratio });
}

const isNarrow = ({ low, high }) => high < NARROW * low;
