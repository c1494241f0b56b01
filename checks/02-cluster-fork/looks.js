/** What lesson 2's check does with the learner's program, and what it sees. */
import { cpus } from 'node:os';
import {
  asCoresAllow,
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
export const CORES = cpus().length === 3 ? 2 : 3; // pretended: not as many as this machine has
export const TWELVE = 12; // more than one digit, and more than most machines have cores
const NONSENSE = ['abc', '0', '2.5', '4abc', '', '100'];
const ROUNDS = 6; // of requests: by then each worker has had its turn several times
const PRETENCE_MS = 500; // a program that has not forked them all by then waits for something that only real workers do
const TURNS = 2; // of the primary's event loop, in which one fork too many would come

/** A program with four workers that all listen, or never will. */
export async function startFour({ launch, ready }) {
  const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
  return ready(await launch({ env, probe: 'waits' }), WORKERS);
}

/** One /cpu, then / again and again until every worker has answered, or one request failed, or was the primary's. */
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

/** How many workers it forks when NODE_CLUSTER_WORKERS is not set, on a machine that says it has so many cores. */
export const forkByDefault = (launch) => countForks(launch, CORES, { pretendCores: CORES });

/** How many workers it forks when told twelve, and how it ended, if it did. */
export const forkTwelve = (launch) =>
  countForks(launch, TWELVE, { env: { NODE_CLUSTER_WORKERS: String(TWELVE) } });

/** At first forks are only pretended. A program that seems to fork too few may be waiting for its workers: it gets real ones. */
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

/** Numbers of workers that make no sense, each with what became of the program: one that accepts them all forks for each. */
export const tryNonsense = (launch) =>
  asCoresAllow(NONSENSE, async (value) => {
    const program = await launch({ env: { NODE_CLUSTER_WORKERS: value }, pretendForks: true });
    const isStarted = await untilAtRest(program, hasBegun);
    return { value, isStarted, ...(await stopCounting(program)) };
  });

/** The same work on both sides: the learner's cluster, and the single process that it started from. */
export async function prepareContest({ launch, ready, isLonger }, candidate) {
  const load = createLoad();
  const spinners = createSpinners(WORKERS);
  const control = await ready(await launch({ isReference: true }));
  return { load, spinners, control, candidate, workers: WORKERS, isLonger };
}
