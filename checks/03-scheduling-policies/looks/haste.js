/**
 * What the check of lesson 3 does with two workers that are in haste: their timers fire at once, and Date stands still for
 * them. So a worker that answers by itself when the primary is silent does so soon, and many questions come in the same
 * millisecond. Facts tell, no clock does: what had been answered when a process stood still.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  get,
  groupBy,
  hasStopped,
  haveTurned,
  nowMs,
  requestsOf,
  starvedOf,
  whyOfCrash,
} from '../../../lib/check/checking.js';
import { isGood, keepingOpen, primaryOf, waitForTurns } from './counts.js';

const WORKERS = 2;
const CONNECTIONS = 36; // so one of the two has eighteen or more: more than sixteen, which somebody may take for the most
const TIMERS = /** @type {const} */ ([100, Infinity, 100, 20, 20]); // from 100 ms on they fire within 20 ms, and intervals each time a hundred times as soon
const STANDS_STILL = 1e-9; // so many times as fast as time passes goes the clock
const PATIENT_TURNS = 15; // of 20 ms: such a timer has fired, or 250 times each millisecond, and what came of it is sent
const BEGUN_MS = 1_500;
const TRIES = 4;
const SENT_MS = 25; // then it is on its way; if not, there is nothing to tell

/** Of each nothing, where it could not be seen: connections don't stay open, or no process can be stopped. */
export async function askInHaste({ launch, ready }) {
  const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
  const options = { env, pretendTimers: TIMERS, pretendClock: STANDS_STILL };
  const program = await ready(await launch(options), WORKERS);
  const agents = Array.from({ length: CONNECTIONS }, keepingOpen);
  try {
    const opened = await Promise.all(agents.map((agent) => get(`${program.url}/`, { agent })));
    await program.drained();
    const homes = requestsOf(program.events, '/');
    const ends = agents.map((agent, index) => ({
      agent,
      pid: homes.find(({ client }) => client === opened[index].client)?.pid,
    }));
    const groups = [...groupBy(ends, ({ pid }) => pid).values()];
    const [crowd, [other] = []] = groups.sort((a, b) => b.length - a.length);
    if (!crowd[0].pid || !other?.pid) return {};
    const together = await askTogether(program, crowd);
    if (together?.lost) return { program, together };
    const leaving = await askAsOneLeaves(program, crowd);
    return { program, together, leaving, late: await blockAtOnce(program, crowd, other) };
  } finally {
    for (const agent of agents) agent.destroy();
    await program.stop();
  }
}

/** Stops a process, and waits until it does stand still. @returns {Promise<boolean>}  whether it could be told to */
async function standStill(program, pid) {
  const isTold = program.kill(pid, 'SIGSTOP');
  if (isTold) await program.until(() => hasStopped(pid), BEGUN_MS);
  return isTold;
}

/** Asks for /counts while the primary stands still, and keeps in mind which question got no answer when it went on. */
function createAsker(program, primary) {
  const first = program.events.length;
  const asked = [];
  /** @type {number | undefined} */
  let goesOnMs;
  /** @type {Error | undefined} */
  let starved;
  return {
    async ask({ agent }) {
      const asking = get(`${program.url}/counts`, { agent });
      asked.push(asking);
      const answer = await asking;
      const sentMs = Math.max(answer.sentMs, goesOnMs ?? nowMs());
      starved ??= starvedOf(program, { ...answer, sentMs });
      return answer;
    },
    /** How many of the questions have come to a worker. */
    begun: () => requestsOf(program.events.slice(first), '/counts').length,
    /** Lets the primary go on, and waits for all answers. @returns {Promise<any>}  one that did not come */
    async lost() {
      goesOnMs = nowMs();
      program.kill(primary, 'SIGCONT');
      const answers = await Promise.all(asked);
      if (starved) throw starved;
      const crash = whyOfCrash(program.events);
      return answers.find(({ error }) => error && (crash || error.startsWith('no answer')));
    },
  };
}

/** Many clients ask the same worker while the primary stands still. */
async function askTogether(program, crowd) {
  const primary = primaryOf(program);
  const [{ pid }] = crowd;
  const asker = createAsker(program, primary);
  /** @type {any} */
  let early;
  let isStanding = program.kill(primary, 'SIGSTOP');
  if (!isStanding) return undefined;
  try {
    for (const one of crowd)
      asker.ask(one).then((answer) => {
        if (isStanding) early ??= answer;
      });
    await program.until(() => early || asker.begun() >= crowd.length, BEGUN_MS);
    const sinceMs = nowMs();
    const isPatient = (events) => haveTurned(events, [pid], PATIENT_TURNS, sinceMs);
    await program.until((events) => early || isPatient(events), BEGUN_MS);
    isStanding = false;
    return { pid, early, clients: crowd.length, lost: await asker.lost() };
  } finally {
    program.kill(primary, 'SIGCONT');
  }
}

/**
 * Three clients at one worker: the first gets its answer when the second has asked, and the third asks while the second waits.
 * For that the worker stands still until it has both to read, the question of the second first; then the primary does, so that
 * it can have answered only the first.
 */
async function askAsOneLeaves(program, crowd) {
  const primary = primaryOf(program);
  const [x, y, z] = crowd;
  const { pid } = x;
  const asker = createAsker(program, primary);
  let isLeft = false;
  /** @type {any} */
  let early; // the answer to a question that the primary can't have read
  try {
    await standStill(program, primary);
    asker.ask(x).then(() => (isLeft = true));
    if (!(await program.until(() => asker.begun() > 0, BEGUN_MS))) return undefined;
    await standStill(program, pid);
    let isSilent = false;
    asker.ask(y).then((answer) => isSilent && (early = answer));
    await sleep(SENT_MS);
    program.kill(primary, 'SIGCONT');
    await waitForTurns(program, [primary], () => isLeft);
    isSilent = await standStill(program, primary);
    program.kill(pid, 'SIGCONT');
    await waitForTurns(program, [pid], () => isLeft);
    asker.ask(z);
    await program.until(() => asker.begun() > 2, BEGUN_MS);
    isSilent = false;
    return { pid, early, lost: await asker.lost() };
  } finally {
    for (const one of [primary, pid]) program.kill(one, 'SIGCONT');
  }
}

/**
 * A request for / and one for /block come to a worker in the same round of its event loop. While it is in /block it stands
 * still, and the other worker is asked for the counts.
 */
async function blockAtOnce(program, pair, other) {
  const first = program.events.length;
  const [x, y] = pair;
  const { pid } = x;
  const seen = (path) =>
    requestsOf(program.events.slice(first), path).find((one) => one.pid === pid);
  const askCounts = () => get(`${program.url}/counts`, { agent: other.agent });
  try {
    if (!(await standStill(program, pid))) return undefined; // before that it may take the first for a round of its own
    get(`${program.url}/`, { agent: x.agent });
    await sleep(SENT_MS);
    get(`${program.url}/block`, { agent: y.agent });
    await sleep(SENT_MS);
    program.kill(pid, 'SIGCONT');
    await program.until(() => seen('/block'), BEGUN_MS);
    program.kill(pid, 'SIGSTOP');
    let isDone = false;
    const asked = askCounts().finally(() => (isDone = true));
    const pids = [primaryOf(program), other.pid];
    for (let tries = 0; tries < TRIES && !isDone; tries += 1)
      await waitForTurns(program, pids, () => isDone); // it may be there, and we are late
    if (!isDone) return undefined; // the primary may have asked all workers
    await asked; // the primary had heard by then what it was told before
    const answer = await askCounts();
    const [home, block] = [seen('/'), seen('/block')];
    if (!home?.endMs || !block || block.endMs || !isGood(answer)) return undefined;
    if (block.startMs < home.endMs) return undefined; // it came first after all
    const homes = requestsOf(program.events, '/').filter((one) => one.pid === pid);
    return { pid, answer, had: homes.length, moments: { home, block } };
  } finally {
    program.kill(pid, 'SIGCONT');
  }
}
