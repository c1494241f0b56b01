/** How children end, as the check of lesson 6 sees it: two that are killed at work, and those of a server that ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { deepestOverlap, get, hasPid, requestsOf } from '../../../lib/check/checking.js';
import {
  CHILDREN,
  JOBS,
  LAST_MS,
  TURNS,
  aliveOf,
  ask,
  askTogether,
  haveTurned,
  isRight,
  tooBusy,
  waitUntil,
} from './jobs.js';

const LONG_ROWS = 2_000_000; // a second or more
const STILL_MS = 60; // an event loop that has not turned for so long is at work
const SETTLED_TURNS = 10; // of a young child's event loop: by then its file has been loaded

/** Both children build a report, four more are queued; then one child is killed, and then the other. */
export async function killBoth(program) {
  const before = program.events.length;
  const arrived = (count) =>
    program.until((events) => requestsOf(events.slice(before), '/report').length >= count);
  const settled = [];
  const builds = (name) => ask(program, { name, rows: LONG_ROWS }).then((one) => settled.push(one));
  ['long-1', 'long-2'].forEach(builds);
  await arrived(CHILDREN);
  const waiting = JOBS.slice(-4).map((job) => ask(program, job));
  await arrived(CHILDREN + waiting.length);
  const { victims, areBusy } = await findVictims(program, before);
  const ends = []; // for each of the killed: what was answered because of it
  for (const pid of victims) {
    const told = settled.length;
    if (told > ends.length) throw tooBusy('A report was built before its child could be killed.');
    program.kill(pid, 'SIGKILL');
    await waitUntil(() => settled.length > told || program.fate, LAST_MS);
    await get(`${program.url}/`); // by then the other would have been answered, too
    ends.push(settled.slice(told));
    if (settled.length !== told + 1 || settled[told].status === 200) break;
  }
  const isOver = ends.length === CHILDREN && settled.length === CHILDREN;
  if (!isOver) await waitUntil(() => settled.length === CHILDREN || program.fate, LAST_MS);
  const isRetried = settled.length === CHILDREN && settled.every(isRight);
  const seen = { victims, areBusy, ends, isRetried, fate: program.fate };
  return { ...seen, queued: isOver ? await Promise.all(waiting) : [] };
}

/** The children alive, once both build: the event loop of each stands still, or has no time to spare. */
async function findVictims(program, before) {
  let victims = aliveOf(program);
  await waitUntil(() => (victims = aliveOf(program)).length >= CHILDREN);
  const areBusy = await program.until((events) => {
    const beats = events.slice(before).filter(({ what }) => what === 'beat');
    const lastOf = (pid) => beats.findLast((beat) => beat.pid === pid);
    const now = lastOf(program.pid)?.t ?? 0;
    return victims.every((pid) => {
      const { t = 0, elu = 0 } = lastOf(pid) ?? {};
      return now > 0 && (t < now - STILL_MS || elu > 0.5);
    });
  }, 500);
  return { victims, areBusy };
}

/**
 * Asks for reports when what was queued has been answered, and again when an idle child was killed.
 * @returns {Promise<any>}  undefined: there was a fault before, which is told elsewhere
 */
export async function askLater(program, { queued }) {
  if (queued.length === 0 || !queued.every(isRight)) return { queued };
  const after = await askBoth(program, 'after');
  const [idle] = aliveOf(program);
  if (!after.isWhole || !idle) return { queued, after };
  program.kill(idle, 'SIGKILL');
  await waitUntil(() => !hasPid(idle), LAST_MS); // the system keeps its pid until the server has heard
  await get(`${program.url}/`); // by then 'exit' has been emitted
  return { queued, after, idle: await askBoth(program, 'idle') };
}

/** As many reports at once as there are children: the answers, and how many children there are then. */
async function askBoth(program, name) {
  const before = program.events.length;
  const answers = await askTogether(program, [`${name}-1`, `${name}-2`], CHILDREN);
  const alive = aliveOf(program).length;
  const depth = deepestOverlap(requestsOf(program.events.slice(before), '/report'));
  return { answers, alive, depth, isWhole: answers.every(isRight) && alive === CHILDREN };
}

/** Ends the server in this way, unless it has ended by a fault that is told above: what is left of its children? */
export async function endServer(program, signal) {
  await letChildrenSettle(program);
  const seen = { signal, output: program.output(), hasEnded: true, left: [] };
  if (program.fate || !program.kill(program.pid, signal)) return seen;
  if (!(await program.ended(LAST_MS))) return { ...seen, hasEnded: false };
  const before = program.events.length;
  const deadline = performance.now() + LAST_MS;
  while (performance.now() < deadline) {
    const left = program.survivors();
    if (left.length === 0) return seen;
    if (haveTurned(program.events.slice(before), left, TURNS)) return { ...seen, left };
    await sleep(20);
  }
  throw tooBusy('Processes are left, and have not had a turn yet.');
}

/** A child that is killed or left alone while it loads its file is another lesson: on Node 20 it may miss 'disconnect'. */
async function letChildrenSettle(program) {
  await Promise.all([1, 2, 3].map(() => get(`${program.url}/report?rows=1000`)));
  const children = aliveOf(program);
  await program.until((events) => haveTurned(events, children, SETTLED_TURNS), LAST_MS);
}
