/**
 * What the check of lesson 3 does with two workers that are in haste: their timers fire at once, and Date stands still for
 * them. So a worker that answers by itself when the primary is silent does so soon, and two questions come in the same
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
} from '../../../lib/check/checking.js';
import { isGood, keepingOpen, primaryOf, waitForTurns } from './counts.js';

const WORKERS = 2;
const CONNECTIONS = 3; // in turn: two to one worker, one to the other
const TIMERS = /** @type {const} */ ([100, Infinity, 100, 100, 20]); // from 100 ms on they fire within 20 ms
const STANDS_STILL = 1e-9; // so many times as fast as time passes goes the clock
const PATIENT_TURNS = 4; // of 20 ms: such a timer has fired, and what came of it is sent
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
    const clients = [];
    for (const agent of agents) clients.push((await get(`${program.url}/`, { agent })).client);
    await program.drained();
    const homes = requestsOf(program.events, '/');
    const ends = agents.map((agent, index) => ({
      agent,
      pid: homes.find(({ client }) => client === clients[index])?.pid,
    }));
    const groups = [...groupBy(ends, ({ pid }) => pid).values()];
    const pair = groups.find(({ length }) => length > 1);
    const other = groups.find((group) => group !== pair)?.[0];
    if (!pair || !other) return {};
    const together = await askTogether(program, pair);
    return { program, together, late: await blockAtOnce(program, pair, other) };
  } finally {
    for (const agent of agents) agent.destroy();
    await program.stop();
  }
}

/** Two clients ask the same worker while the primary stands still. */
async function askTogether(program, pair) {
  const primary = primaryOf(program);
  const [{ pid }] = pair;
  const first = program.events.length;
  /** @type {any} */
  let early;
  /** @type {Error | undefined} */
  let starved;
  const ask = async ({ agent }) => {
    const answer = await get(`${program.url}/counts`, { agent });
    starved ??= starvedOf(program, answer);
    if (isStanding) early ??= answer;
    return answer;
  };
  let isStanding = program.kill(primary, 'SIGSTOP');
  if (!isStanding) return undefined;
  try {
    const asked = pair.map(ask);
    await program.until(
      (events) => early || requestsOf(events.slice(first), '/counts').length > 1,
      BEGUN_MS,
    );
    const sinceMs = nowMs();
    const isPatient = (events) => haveTurned(events, [pid], PATIENT_TURNS, sinceMs);
    await program.until((events) => early || isPatient(events), BEGUN_MS);
    isStanding = false;
    program.kill(primary, 'SIGCONT');
    const answers = await Promise.all(asked);
    if (starved) throw starved;
    return { pid, early, answers };
  } finally {
    program.kill(primary, 'SIGCONT');
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
  if (!program.kill(pid, 'SIGSTOP')) return undefined;
  try {
    await program.until(() => hasStopped(pid), BEGUN_MS); // before that it may take the first for a round of its own
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
