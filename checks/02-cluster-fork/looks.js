/** Lesson 2: starts and requests, and what is seen of them. */
import { cpus } from 'node:os';
import {
  mapConcurrently,
  askAtOnce,
  createLoad,
  createSpinners,
  eventsOf,
  forksOf,
  haveTurned,
  nowMs,
  untilAtRest,
} from '../../lib/check/checking.js';

export const WORKERS = 4;
export const CORES = cpus().length === 3 ? 2 : 3; // simulated: a different number than this machine's
export const TWELVE = 12; // two digits, and more than most machines have cores
const NONSENSE = ['abc', '0', '2.5', '4abc', '', '100'];
const ROUNDS = 6; // of requests, so that each worker gets several
const PRETENCE_MS = 500; // a program that is still waiting then needs real workers
const TURNS = 2; // of the primary's event loop, in which it would fork one too many

/** Starts four workers, and waits until all listen or the program is at rest. */
export async function startFour({ launch, ready }) {
  const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
  return ready(await launch({ env, probe: 'waits' }), WORKERS);
}

/** One /cpu, then / until every worker has answered, a request has failed, or the primary has answered one. */
export async function askUntilAllAnswer(program) {
  const first = program.events.length;
  const cpu = await askAtOnce(program, '/cpu', 1);
  /** @type {Awaited<ReturnType<typeof askAtOnce>>} */
  const seen = { answers: [], requests: [] };
  const hasAnswered = (/** @type {any} */ { workerPid }) =>
    seen.requests.some(({ pid, endMs }) => pid === workerPid && endMs !== undefined);
  for (let round = 0; round < ROUNDS; round += 1) {
    const { answers, requests } = await askAtOnce(program, '/', 2 * WORKERS);
    seen.answers.push(...answers);
    seen.requests.push(...requests);
    const isOver =
      answers.some(({ error }) => error) || requests.some(({ pid }) => pid === program.pid);
    if (isOver || forksOf(program.events).every(hasAnswered)) break;
  }
  const blocks = eventsOf(program.events.slice(first), 'wait'); // Atomics.wait(), as in blockFor()
  return { ...seen, blocks, cpu: cpu.answers[0], others: cpu.requests };
}

/** Without NODE_CLUSTER_WORKERS, on a machine with CORES simulated cores. */
export const forkByDefault = (launch) => countForks(launch, CORES, { pretendCores: CORES });

export const forkTwelve = (launch) =>
  countForks(launch, TWELVE, { env: { NODE_CLUSTER_WORKERS: String(TWELVE) } });

/** Forks are only simulated, unless too few are seen: then the program may be waiting for its workers, so it gets real ones. */
async function countForks(launch, wanted, options) {
  const pretended = await launch({ ...options, pretendForks: true });
  await pretended.until((events) => forksOf(events).length >= wanted, PRETENCE_MS);
  const seen = await stopCounting(pretended);
  if (seen.forks >= wanted) return seen;
  const real = await launch(options);
  await untilAtRest(real, (events) => forksOf(events).length >= wanted);
  return stopCounting(real);
}

async function stopCounting(program) {
  const fromMs = nowMs();
  await program.until((events) => haveTurned(events, [program.pid], TURNS, fromMs), PRETENCE_MS);
  const { fate } = program;
  await program.stop();
  return { program, fate, forks: forksOf(program.events).length, output: program.output() };
}

const hasBegun = (events) =>
  events.some(({ what }) => ['fork', 'child', 'listening'].includes(what));

/** Values of NODE_CLUSTER_WORKERS that must be refused, each with what became of the program. */
export const tryNonsense = (launch) =>
  mapConcurrently(NONSENSE, async (value) => {
    const program = await launch({ env: { NODE_CLUSTER_WORKERS: value }, pretendForks: true });
    const isStarted = await untilAtRest(program, hasBegun);
    return { value, isStarted, ...(await stopCounting(program)) };
  });

/** The learner's cluster, and the single process of the starter, with the same work. */
export async function prepareContest({ launch, ready, isLonger }, candidate) {
  const load = createLoad();
  const spinners = createSpinners(WORKERS);
  const control = await ready(await launch({ isReference: true }));
  return { load, spinners, control, candidate, workers: WORKERS, isLonger };
}
