/**
 * What the check of lesson 3 does to see whether /counts is right. It does not ask when the counts are right, but what a
 * count must be, given what has happened before. So it keeps a record, in order: what was asked, what was answered, which
 * process stood still meanwhile. The demands go through that record, and no clock is involved.
 *
 * @typedef {import('../../../lib/check/session.js').Program} Program
 * @typedef {{ path: string, answer?: any, pid?: number, isLate?: boolean, isBrowser?: boolean }} One  a request; pid: the process
 *   that executed it; isLate: it was reset, and perhaps its connection was closed before; isBrowser: it asks for HTML first
 * @typedef {object} Step  one of these
 * @property {One} [asked]
 * @property {One} [answered]
 * @property {boolean} [stands]  from here on the primary stands still, or goes on
 * @property {number[]} [hasHeard]  these workers have stood still since their last answer, and since then the primary has
 *   answered a question: by then it had read all that they had sent
 * @property {(number | undefined)[]} [hungUp]  at these workers a client has asked for /counts, and did not wait for the answer
 */
import { Agent } from 'node:http';
import {
  AS_BROWSER,
  closedMeanwhile,
  forksOf,
  get,
  groupBy,
  haveTurned,
  isReset,
  mayBeClosed,
  nowMs,
  requestOf,
  requestsOf,
  starvedOf,
} from '../../../lib/check/checking.js';
import { WORKERS } from './policies.js';

const EACH = 2; // connections to each worker: x and y
const ONE_MORE = 1; // to one worker: z
const ROUNDS = 3;
const BEGUN_MS = 1_500;
const WITH_QUERY = '/?page=2';
const HAS_A_COPY = { 'if-none-match': '*' }; // as a browser that has kept the page: it may be answered with 304
const NO_PAGES = ['/favicon.ico', `/no-such-page-${process.pid}`];

/**
 * Asks for / and /counts, on connections that stay open, so that we know which worker is asked.
 * @param {Program} program
 * @returns {Promise<{ steps: Step[], base: Map<number, number>, more: Map<number, number>, queried: number | undefined,
 *   unmodified: number | undefined, events: any[] }>}  how many requests for / each worker had had before (base), and was sent
 *   meanwhile by others than us, such as another worker; queried: who has answered one with a query as it answers any other;
 *   unmodified: who has answered one with 304
 */
export async function askForCounts(program) {
  const agents = Array.from({ length: EACH * WORKERS + ONE_MORE }, keepingOpen);
  const other = keepingOpen();
  const beginMs = nowMs();
  try {
    get(`${program.url}/wait`, { agent: other }); // a request, but not for /
    for (const path of NO_PAGES) await get(`${program.url}${path}`); // nor are these, and there are no such pages
    const asked = await get(`${program.url}${WITH_QUERY}`);
    const opened = [];
    for (const agent of agents) {
      const headers = opened.length === 0 ? HAS_A_COPY : {};
      opened.push(await get(`${program.url}/`, { agent, headers }));
    }
    await program.drained();
    const first = program.events.length;
    const homes = requestsOf(program.events, '/');
    const query = homes.find(({ url }) => url === WITH_QUERY);
    const isHome = isGood(asked) && asked.body === String(query?.pid); // a server may know / only without a query
    const [{ status }] = opened;
    const copied = requestOf(homes, opened[0]);
    const isCopied = status === 200 || status === 304; // a server may refuse what it does not know
    const had = groupBy(
      homes.filter((one) => (one !== query || isHome) && (one !== copied || isCopied)),
      ({ pid }) => pid,
    );
    const record = createRecord(program, beginMs);
    await askAll(program, record, pairsOf(opened, agents, had));
    await program.drained();
    const others = record.tellPids(program.events.slice(first));
    record.demandHeard();
    const theirs = others.filter(({ url }) => url.split('?')[0] === '/');
    if (query && isGood(asked) && !isHome) theirs.push(query); // it answers something else: that may count, or not
    if (copied && !isCopied) theirs.push(copied);
    const [base, more] = [had, groupBy(theirs, ({ pid }) => pid)].map(sizesOf);
    const queried = isHome ? query?.pid : undefined;
    const unmodified = status === 304 ? copied?.pid : undefined;
    return { steps: record.steps, base, more, queried, unmodified, events: program.events };
  } finally {
    for (const agent of [...agents, other]) agent.destroy();
  }
}

const sizesOf = (groups) => new Map([...groups].map(([key, { length }]) => [key, length]));

export const keepingOpen = () => new Agent({ keepAlive: true, maxSockets: 1 });

/** Two connections to each worker, or one; to one worker three. */
function pairsOf(opened, agents, had) {
  const executed = [...had.values()].flat().sort((a, b) => a.startMs - b.startMs);
  const pidOf = new Map(executed.map(({ client, pid }) => [client, pid]));
  const all = agents.map((agent, index) => ({ agent, pid: pidOf.get(opened[index].client) }));
  return [...groupBy(all, ({ pid }) => pid)].map(([pid, connections]) => ({
    pid,
    x: connections[0].agent,
    y: (connections[1] ?? connections[0]).agent,
    z: connections[2]?.agent,
  }));
}

/** Writes down what is asked and answered, in order. No connection has been used before `beginMs`. */
function createRecord(program, beginMs) {
  /** @type {Step[]} */
  const steps = [];
  /** @type {One[]} */
  const all = [];
  const usedMs = new Map(); // by agent: when a request was last sent on its connection
  /** @type {Error | undefined} */
  let starved;
  return {
    steps,
    /** Throws Undecided, or Starved, where a request may not have come through. */
    demandHeard() {
      if (starved) throw starved;
      if (all.some(({ isLate, pid }) => isLate && pid === undefined)) throw closedMeanwhile();
    },
    add: (/** @type {Step} */ step) => void steps.push(step),
    /** @returns {Promise<any>} the answer */
    async ask(path, agent) {
      const isBrowser = usedMs.has(agent); // the first on a connection asks as curl does
      /** @type {One} */
      const one = { path, isBrowser };
      all.push(one);
      steps.push({ asked: one });
      const sinceMs = usedMs.get(agent) ?? beginMs;
      usedMs.set(agent, nowMs());
      one.answer = await get(program.url + path, { agent, headers: isBrowser ? AS_BROWSER : {} });
      starved ??= starvedOf(program, one.answer);
      one.isLate = isReset(one.answer) && mayBeClosed(sinceMs);
      steps.push({ answered: one });
      return one.answer;
    },
    /**
     * Finds out which process executed what: the requests of a connection come in the order in which they were sent.
     * @returns {import('../../../lib/observe/timeline.js').Request[]}  those that aren't ours
     */
    tellPids(events) {
      const seen = requestsOf(events).sort((a, b) => a.startMs - b.startMs);
      const ofClient = groupBy(seen, ({ client }) => client);
      for (const one of all) one.pid = ofClient.get(one.answer.client)?.shift()?.pid;
      return [...ofClient.values()].flat();
    },
  };
}

export const isGood = ({ status, error }) => status === 200 && !error;

/** Ends with the first answer that failed. */
async function askAll(program, record, pairs) {
  const last = new Map();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { pid, x, y } of pairs) {
      await record.ask('/', y);
      const answer = await record.ask('/counts', round === 0 ? x : y);
      if (!isGood(answer)) return;
      last.set(pid, answer);
    }
  }
  const kept = pairs.filter(({ pid }) => {
    const { isReused, headers } = last.get(pid);
    return pid && isReused && headers.connection !== 'close';
  });
  if (kept.length === 0) return; // a separate promise; here we do not know which worker would be asked
  if (await askBesideSleepers(program, record, kept)) await askWhileItStands(program, record, kept);
}

/**
 * All workers but one answer and stand still at once, so that none can report later what it has not reported yet; then
 * the one that is awake is asked for /counts, twice.
 */
async function askBesideSleepers(program, record, pairs) {
  const awake = pairs[pairs.length - 1];
  const sleepers = pairs.slice(0, -1);
  const wakeUp = () => sleepers.forEach(({ pid }) => program.kill(pid, 'SIGCONT'));
  try {
    for (const { pid, y } of sleepers) {
      await record.ask('/', y);
      await record.ask('/', y); // it is done with the one before
      program.kill(pid, 'SIGSTOP');
    }
    let isDone = false;
    const asked = record.ask('/counts', awake.y).finally(() => (isDone = true));
    await waitForTurns(program, [primaryOf(program), awake.pid], () => isDone);
    if (!isDone)
      wakeUp(); // the primary may have asked all workers
    else record.add({ hasHeard: sleepers.map(({ pid }) => pid) });
    return isGood(await asked) && isGood(await record.ask('/counts', awake.y));
  } finally {
    wakeUp();
  }
}

/**
 * While the primary stands still, each worker is asked for /counts, then for /, which it answers, then for /counts again.
 * So two clients wait at each, and the last to ask must see one more request. At one worker a third client asks between the
 * two, and hangs up: what the primary says to that is nobody else's answer.
 */
async function askWhileItStands(program, record, pairs) {
  const primary = primaryOf(program);
  const first = program.events.length;
  const begun = () => requestsOf(program.events.slice(first), '/counts').length;
  try {
    record.add({ stands: program.kill(primary, 'SIGSTOP') });
    const early = pairs.map(({ x }) => record.ask('/counts', x));
    await program.until(() => begun() >= early.length, BEGUN_MS);
    const leavers = pairs.filter(({ z }) => z);
    for (const { z } of leavers) get(`${program.url}/counts`, { agent: z });
    const waiting = early.length + leavers.length;
    await program.until(() => begun() >= waiting, BEGUN_MS);
    for (const { z } of leavers) z.destroy();
    record.add({ hungUp: leavers.map(({ pid }) => pid) });
    let left = pairs.length;
    const between = pairs.map(({ y }) => record.ask('/', y).finally(() => (left -= 1)));
    await program.until(() => left === 0, BEGUN_MS);
    const late = pairs.map(({ y }) => record.ask('/counts', y));
    await program.until(() => begun() >= waiting + late.length, BEGUN_MS);
    record.add({ stands: false });
    program.kill(primary, 'SIGCONT');
    await Promise.all([...early, ...between, ...late]);
  } finally {
    program.kill(primary, 'SIGCONT');
  }
}

export const primaryOf = ({ events, pid }) => forksOf(events)[0]?.pid ?? pid;

/** Waits until these processes have turned their event loops twice, or nobody asks for it any more. */
export async function waitForTurns(program, pids, isDone) {
  const sinceMs = nowMs();
  const isDue = (events) => isDone() || haveTurned(events, pids, 2, sinceMs);
  await program.until(isDue, BEGUN_MS);
}
