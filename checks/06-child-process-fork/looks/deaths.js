/** How children end, as the check of lesson 6 sees it: those that are killed, at work or idle, and those of a server that ends. */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  deepestOverlap,
  demandKept,
  eventsOf,
  get,
  hasPid,
  haveTurned,
  isCrowded,
  requestsOf,
} from '../../../lib/check/checking.js';
import {
  CHILDREN,
  CHILDREN_ELSEWHERE,
  JOBS,
  LAST_MS,
  LEAST_ROWS,
  PATIENCE_MS,
  ROUND,
  SILENT,
  TIMER_TURNS,
  TURNS,
  aliveOf,
  ask,
  askAtOnce,
  askCrowd,
  askTogether,
  childrenOf,
  isCalm,
  isChild,
  isRight,
  tooBusy,
  waitUntil,
  watchRest,
  whileStopped,
} from './jobs.js';

const LONG_ROWS = 2_000_000; // a second or more
const SOME_ROWS = 50_000; // it is not built before the next report is there
const IN_TURN_ROWS = [LONG_ROWS, LONG_ROWS, 3_000, 1_000, 2_000];
const LATE_ROWS = 500;
const POISON = { name: 'adam&name=eve', rows: 100 }; // an array: no child survives that, unless somebody has seen to it
const MORE_POISON = 5; // of these at once: with the first, more deaths in a row than a round number at which somebody might stop
const STILL_MS = 60; // an event loop that has not turned for so long is at work
const SENT_TURNS = 2; // of the server's: by then it has sent the job
const UNSENT = /\b(EPIPE|ERR_IPC_CHANNEL_CLOSED)\b[^]*node:internal\/child_process/; // the stack of process.send()
const DYING_MS = 1_000; // between the end of a server's connections and its own
const MOST_DEATHS = 11; // of one program's children: more than a round number at which somebody might stop
const SHORT_ROWS = 100;
const SURPLUS = 2; // reports
const UNSEEN_MS = 8_000; // unless the machine is crowded, a process that tells nothing has had its turn by then
const SETTLED_TURNS = 10; // of a young child's event loop: by then its file has been loaded

/**
 * Both children build a report, four more are queued; then one child is killed, and then the other. They stand still
 * meanwhile: on a busy machine the other would have built its report before the server has answered the first.
 */
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
  const ends = []; // for each one killed: what was answered because of it
  await whileStopped(program, victims, async () => {
    await hearOut(program);
    for (const pid of victims) {
      const told = settled.length;
      if (told > ends.length) throw tooBusy('A report was built before its child could be killed.');
      program.kill(pid, 'SIGKILL');
      await program.until(
        hasTold(program, pid, () => settled.length > told),
        LAST_MS,
      );
      await hearOut(program); // by then the other would have been answered too
      ends.push(settled.slice(told));
      if (settled.length !== told + 1 || settled[told].status === 200) break;
    }
  });
  const isOver = ends.length === CHILDREN && settled.length === CHILDREN;
  if (!isOver) await waitUntil(() => settled.length === CHILDREN || program.fate, LAST_MS);
  const isRetried = settled.length === CHILDREN && settled.every(isRight);
  const seen = { victims, areBusy, ends, isRetried, fate: program.fate };
  return { ...seen, queued: isOver ? await Promise.all(waiting) : [] };
}

/** What has come to the server by now has been answered: it takes up all that is there before the next request. */
async function hearOut(program) {
  for (let count = 0; count < 2; count += 1) await get(`${program.url}/`);
}

/** The report of a child that was killed has been answered, or the server has long heard of the death, and says nothing. */
function hasTold(program, pid, isAnswered) {
  let heardFrom = -1; // the first event after the child had no pid any more: the server has asked how it ended
  return (events) => {
    if (heardFrom < 0 && !hasPid(pid)) heardFrom = events.length;
    const hasHeard =
      heardFrom >= 0 && haveTurned(events.slice(heardFrom), [program.pid], TIMER_TURNS);
    return isAnswered() || program.fate || hasHeard;
  };
}

/** The children alive, once both build. */
async function findVictims(program, before) {
  let victims = aliveOf(program);
  await waitUntil(() => (victims = aliveOf(program)).length >= CHILDREN);
  const areBusy = await program.until(
    (events) => victims.every((pid) => isAtWork(events.slice(before), program.pid, pid)),
    500,
  );
  return { victims, areBusy };
}

/** Its event loop stands still, as far as the server's has turned since, or has no time to spare. */
function isAtWork(events, server, child) {
  const beatsOf = (pid) => events.filter((one) => one.what === 'beat' && one.pid === pid);
  const turns = beatsOf(server);
  const [first, last] = [turns[0], turns.at(-1)];
  const { t = first?.t, elu = 0 } = beatsOf(child).at(-1) ?? {};
  return turns.length > 0 && (t < last.t - STILL_MS || elu > 0.5);
}

/**
 * Asks for reports when what was queued has been answered, and again when an idle child was killed.
 * @returns {Promise<any>}  undefined: there was an earlier fault, which is reported elsewhere
 */
export async function askLater(program, { queued }) {
  if (queued.length === 0 || !queued.every(isRight)) return { queued };
  const after = await askBoth(program, 'after');
  const [idle, last] = aliveOf(program);
  if (!after.isWhole || !idle) return { queued, after };
  await askBeside(program, last); // so this one is the last that has become idle: the other comes before it in a list
  await killIdle(program, idle);
  const both = await askBoth(program, 'idle');
  return { queued, after, idle: both, unused: both.isWhole ? await findUnused(program) : [] };
}

/**
 * Both children have a report, and one of them is killed: first the one that has the later report, then, of two others, the one
 * that has the earlier one. What becomes of the two reports?
 * @returns {Promise<any[]>}  none: there was an earlier fault, or nothing can be stopped here
 */
export async function killOneOfTwo(program, { idle, unused = [] }) {
  const seen = [];
  let isWhole = idle?.isWhole && unused.length === 0;
  for (const isLater of [true, false]) {
    const one = isWhole && (await killBeside(program, isLater));
    if (!one) break;
    seen.push(one);
    if (!isRight(one.spared)) break;
    ({ isWhole } = await askBoth(program, isLater ? 'later' : 'earlier'));
  }
  return seen;
}

/**
 * Whoever goes on for a moment shows which report it has; that one stands still again, and gets a later one.
 * @returns {Promise<{ isLater: boolean, lost: any, spared: any } | undefined>}  the answers: lost, of the child that was killed
 */
async function killBeside(program, isLater) {
  const seen = await whileStopped(program, aliveOf(program), async (stopped) => {
    if (stopped.length !== CHILDREN) return undefined;
    const [one, other] = stopped;
    const both = await handIn(program, ['of-two-1', 'of-two-2']);
    program.kill(one, 'SIGCONT');
    await Promise.race(both.map(({ asked }) => asked));
    const before = program.events.length;
    const isIdle = (events) => haveTurned(events.slice(before), [program.pid, one], SENT_TURNS);
    if (!(await program.until(isIdle, PATIENCE_MS))) return undefined;
    program.kill(one, 'SIGSTOP');
    const [earlier, ...more] = both.filter(({ answer }) => !answer);
    if (!earlier || more.length > 0) return undefined; // neither is answered, or both: another fault
    const [later] = await handIn(program, ['of-two-3']);
    const [victim, lost, spared] = isLater ? [one, later, earlier] : [other, earlier, later];
    program.kill(victim, 'SIGKILL');
    const isAnswered = () => lost.answer ?? spared.answer;
    await program.until(hasTold(program, victim, isAnswered), LAST_MS);
    return { lost, spared };
  });
  if (!seen) return undefined;
  const [lost, spared] = await Promise.all([seen.lost.asked, seen.spared.asked]);
  return { isLater, lost, spared };
}

/** Asks for short reports, and waits until each has been sent to a child, or waits for one. */
async function handIn(program, names) {
  const before = program.events.length;
  const reports = names.map((name) => {
    const asked = ask(program, { name, rows: SHORT_ROWS });
    const report = { asked, answer: /** @type {any} */ (undefined) };
    report.asked.then((one) => (report.answer = one));
    return report;
  });
  if (!(await program.until(haveCome(program, before, names.length), PATIENCE_MS)))
    throw tooBusy('A report that was asked for had not come to the server.');
  return reports;
}

/** So many reports have been asked for since, and the server has had the time to send each to a child. */
const haveCome = (program, before, count) => (events) => {
  const { startMs = Infinity } = requestsOf(events.slice(before), '/report')[count - 1] ?? {};
  return program.fate || haveTurned(events, [program.pid], SENT_TURNS, startMs);
};

/**
 * One child builds a report, the other has nothing to do, and the first is killed.
 * @returns {Promise<any>}  unused: the children that get no job afterwards; undefined: it did not come to that
 */
export async function killBesideIdle(program, { idle, unused = [] }) {
  if (!idle?.isWhole || unused.length > 0) return undefined;
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const before = program.events.length;
    const asked = ask(program, { name: `beside-idle-${attempt}`, rows: LONG_ROWS });
    const children = aliveOf(program);
    const busy = (events) =>
      children.filter((pid) => isAtWork(events.slice(before), program.pid, pid));
    const isBegun = (events) => requestsOf(events.slice(before), '/report').length > 0;
    await program.until((events) => isBegun(events) && busy(events).length === 1, PATIENCE_MS);
    const [victim = children[0]] = busy(program.events);
    program.kill(victim, 'SIGKILL');
    const { status } = await asked;
    const both = await askBoth(program, 'beside');
    if (status !== 503) continue; // it was the idle one
    return { both, unused: both.isWhole ? await findUnused(program) : [] };
  }
  return undefined;
}

/**
 * The only child builds a report, others wait. It is killed, and then the one in its place. Each time one more is asked for as
 * soon as the server has answered for the dead: it came last.
 * @returns {Promise<{ wanted: string[], ended: { name: string, status?: number }[], kills: number, areAnswered: boolean }>}  the
 *   names as they were asked for; the reports as they ended
 */
export async function killInTurn(program) {
  const before = program.events.length;
  const reports = () => requestsOf(program.events.slice(before), '/report');
  const ended = () => reports().filter(({ endMs }) => endMs);
  const jobs = IN_TURN_ROWS.map((rows, index) => ({ name: `kill-${index + 1}`, rows }));
  const asked = [];
  const askNext = async (job) => {
    asked.push(ask(program, job));
    await program.until(() => reports().length >= asked.length, LAST_MS);
  };
  for (const job of jobs) await askNext(job);
  let kills = 0;
  let victim;
  while (kills < 2 && ended().length === kills && !program.fate) {
    const next = () => aliveOf(program).find((pid) => pid !== victim);
    await waitUntil(() => next() !== undefined);
    victim = next();
    const since = program.events.length;
    const isBuilding = (events) => isAtWork(events.slice(since), program.pid, victim);
    await program.until(isBuilding, PATIENCE_MS);
    if (victim === undefined || ended().length > kills) break;
    program.kill(victim, 'SIGKILL');
    kills += 1;
    const isOver = () => ended().length >= kills || program.fate;
    await Promise.race([asked[kills - 1], waitUntil(isOver, LAST_MS)]); // whoever has the answer asks again at once
    const newcomer = { name: `kill-${jobs.length + 1}`, rows: LATE_ROWS };
    jobs.push(newcomer);
    await askNext(newcomer);
    await waitUntil(isOver, LAST_MS);
  }
  const answers = await Promise.all(asked);
  const nameOf = ({ url }) => jobs.find(({ name }) => url.includes(`name=${name}&`))?.name ?? url;
  const inOrder = ended().toSorted((a, b) => (a.endMs ?? 0) - (b.endMs ?? 0));
  return {
    wanted: jobs.map(({ name }) => name),
    ended: inOrder.map((one) => ({ name: nameOf(one), status: one.status })),
    kills,
    areAnswered: answers.every(({ status }) => status !== undefined),
  };
}

/**
 * The only child stands still with a report whose client has hung up, three hundred others wait, and it is killed: how many of
 * those fail?
 * @returns {Promise<{ failed: number, most: number }>}  failed: 0 if there was an earlier fault, or nothing can be stopped here;
 *   most: so many may, as the child had one
 */
export async function killInCrowd(program, turn) {
  if (program.fate || !isInOrder(turn)) return { failed: 0, most: 1 };
  let killed = [];
  const kill = (stopped) => {
    killed = stopped.filter((pid) => program.kill(pid, 'SIGKILL'));
  };
  return whileStopped(program, aliveOf(program), async ([child, ...others]) => {
    const hasReport = child && others.length === 0 && (await hangUp(program));
    const { answers } = await askCrowd(program, kill);
    const failed = answers.filter(({ status = 0 }) => status >= 500).length;
    const isSame = killed.every((pid) => pid === child); // a pool may end a child that builds for nobody, and start another
    return { failed, most: hasReport && isSame ? 0 : 1 };
  });
}

/**
 * A client asks for a report, and hangs up when that has been sent to the child, which stands still.
 * @returns {Promise<boolean>}  whether it has come to that, and the server has had the time to hear of it
 */
async function hangUp(program) {
  const before = program.events.length;
  const agent = new Agent();
  get(`${program.url}/report?name=left&rows=${LEAST_ROWS}`, { agent, timeoutMs: LAST_MS });
  const hasCome = await program.until(haveCome(program, before, 1), PATIENCE_MS);
  agent.destroy();
  const since = program.events.length;
  const hasHeard = (events) => haveTurned(events.slice(since), [program.pid], SENT_TURNS);
  return Boolean(hasCome && (await program.until(hasHeard, PATIENCE_MS)));
}

/** Of the reports that waited while the only child was killed, and its successor, the first have failed, and no others. */
const isInOrder = ({ ended, kills, areAnswered }) =>
  areAnswered &&
  kills > 0 &&
  ended.every(({ status }, index) => status === (index < kills ? 503 : 200));

/**
 * The only child builds a report and is killed when it has nothing to do, and so is each that comes in its place.
 * @returns {Promise<any>}  undefined: there was an earlier fault; deaths: of all children so far
 */
export async function killOften(program, turn, { failed, most }) {
  if (program.fate || !isInOrder(turn) || failed > most) return undefined;
  const countDeaths = () => childrenOf(program).filter((pid) => !hasPid(pid)).length;
  for (;;) {
    const deaths = countDeaths();
    if (deaths >= MOST_DEATHS) return { deaths, ...(await askBoth(program, 'often', 1)) };
    const answer = await ask(program, { name: `often-${deaths}`, rows: LEAST_ROWS });
    const [child] = aliveOf(program);
    if (!isRight(answer)) return { deaths, answers: [answer], alive: child ? 1 : 0, size: 1 };
    if (!child) return undefined; // it has ended by itself
    await killIdle(program, child);
  }
}

/** Kills a child that has nothing to do, and waits until the server has heard of that. */
async function killIdle(program, pid) {
  program.kill(pid, 'SIGKILL');
  await waitUntil(() => !hasPid(pid), LAST_MS); // the system keeps its pid until the server has heard
  await get(`${program.url}/`); // by then 'exit' has been emitted
}

/**
 * A report that ends its child, in a program whose children then end with exit code 0 (see check.js), then more of them at
 * once, with no other report in between; and whether there are as many children as before.
 * @returns {Promise<any>}  undefined: there was an earlier fault; deaths: of children, 0 if the program has refused that name
 */
export async function askPoison(program, { answers: before }) {
  if (!before.every(isRight)) return undefined;
  const since = program.events.length;
  const countDeaths = () => {
    const ends = eventsOf(program.events.slice(since), 'exit');
    return ends.filter(({ pid, tid }) => pid !== program.pid && tid === undefined).length;
  };
  let answer;
  ask(program, POISON).then((one) => (answer = one));
  await program.until(() => answer !== undefined || countDeaths() > 1, LAST_MS);
  const deaths = countDeaths();
  const seen = { answer, deaths, fate: program.fate };
  if (deaths !== 1 || answer?.status !== 503) return seen;
  const jobs = Array.from({ length: MORE_POISON }, (_, index) => ({ ...POISON, rows: 1 + index }));
  const more = await Promise.all(jobs.map((job) => ask(program, job)));
  if (more.some(({ error }) => error === SILENT)) return { ...seen, more };
  return { ...seen, more, after: await askBoth(program, 'poison', CHILDREN_ELSEWHERE) };
}

/** The children that are alive and get no job. */
async function findUnused(program) {
  const children = aliveOf(program);
  for (const stopped of children)
    if (await askBeside(program, stopped)) return children.filter((pid) => pid !== stopped);
  return [];
}

/**
 * As many reports as there are children, while one of these stands still: another builds one of them.
 * @returns {Promise<boolean>}  the others had nothing to do, although both reports waited
 */
async function askBeside(program, stopped) {
  const awake = [program.pid, ...aliveOf(program).filter((pid) => pid !== stopped)];
  const before = program.events.length;
  let isAnswered = false;
  let asked = [];
  const areAtRest = watchRest();
  const names = Array.from({ length: CHILDREN }, (_, index) => `beside-${stopped}-${index}`);
  const haveWaited = (events) => {
    const reports = requestsOf(events.slice(before), '/report');
    const isOnItsWay = reports.some(({ endMs }) => endMs); // on a busy machine we may be the last to hear of an answer
    if (isAnswered || isOnItsWay || reports.length < CHILDREN) return false;
    return areAtRest(events, reports.length, (since) =>
      haveTurned(since.filter(isCalm), awake, ROUND),
    );
  };
  const isUnused = await whileStopped(program, [stopped], async ({ length }) => {
    if (length === 0) return false; // it has just ended, or nothing can be stopped
    asked = names.map((name) =>
      ask(program, { name, rows: SOME_ROWS }).then(() => (isAnswered = true)),
    );
    const isClear = await program.until((events) => isAnswered || haveWaited(events), LAST_MS);
    return Boolean(isClear) && !isAnswered;
  });
  await Promise.all(asked);
  return isUnused;
}

/**
 * The server is stopped, a request is on its way to it, and then its children, which have nothing to do, are killed. When it
 * goes on it sees the request first, and sends the job to a dead child.
 * @returns {Promise<any>}  undefined: there was an earlier fault, or nothing can be stopped here
 */
export async function askTheDead(program, { idle }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    await get(`${program.url}/`, { agent });
    const children = aliveOf(program);
    if (!idle?.isWhole || !program.kill(program.pid, 'SIGSTOP')) return undefined;
    const asked = ask(program, { name: 'dead', rows: 100 }, agent);
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate); // it is sent
    for (const pid of children) program.kill(pid, 'SIGKILL');
    await waitUntil(() => aliveOf(program).length === 0);
    program.kill(program.pid, 'SIGCONT');
    const answer = await asked;
    demandKept(program, [answer]);
    if (answer.error) await program.ended(DYING_MS);
    const again = answer.error ? undefined : await askBoth(program, 'again'); // others have taken their place
    return { answer, again, fate: program.fate };
  } finally {
    agent.destroy();
  }
}

/** More reports at once than there may be children: the answers, and how many children there are then. */
async function askBoth(program, name, size = CHILDREN) {
  const before = program.events.length;
  const names = Array.from({ length: size + SURPLUS }, (_, index) => `${name}-${index + 1}`);
  const answers = await askTogether(program, names, size + 1); // who has miscounted starts one more
  await waitUntil(() => aliveOf(program).length >= size); // who has died may be replaced a moment later
  const alive = aliveOf(program).length;
  const depth = deepestOverlap(requestsOf(program.events.slice(before), '/report'));
  return { answers, alive, depth, size, isWhole: answers.every(isRight) && alive === size };
}

/** Ends the server in this way, unless a fault reported above has ended it: what is left of its children? */
export async function endServer(program, signal) {
  await letChildrenSettle(program);
  return endNow(program, signal);
}

/**
 * Kills a server whose children stand still, one with a report to build. They go on when it is dead: nobody hears the answer.
 * @returns {Promise<any>}  also what a child has thrown then, because a message could not be sent
 */
export async function endUnheard(program) {
  await letChildrenSettle(program);
  if (program.fate) return endNow(program, 'SIGKILL');
  const before = program.events.length;
  for (const pid of aliveOf(program)) program.kill(pid, 'SIGSTOP');
  get(`${program.url}/report?name=unheard&rows=1`, { timeoutMs: LAST_MS });
  await program.until(haveCome(program, before, 1), PATIENCE_MS);
  const end = await endNow(program, 'SIGKILL');
  const crash = eventsOf(program.events.slice(before), 'crash').find(
    ({ pid, error }) => pid !== program.pid && UNSENT.test(error),
  );
  return { ...end, crash };
}

/**
 * The same to a server whose child has been started, and has not reached the first line of its file: it was halted there.
 * It goes on when the server is dead.
 */
export async function endEarly(program) {
  const isBorn = (event) => isChild(event, program.pid);
  const isUp = ({ what, port }) => what === 'listening' && port === program.port;
  await program.until((events) => events.some(isBorn) || events.some(isUp), LAST_MS);
  if (!program.events.some(isBorn)) get(`${program.url}/report?rows=100`, { timeoutMs: LAST_MS });
  await program.until((events) => events.some(isBorn), PATIENCE_MS);
  return { ...(await endNow(program, 'SIGKILL')), isEarly: true };
}

/** The same to a server that has started its child before anybody asked for a report, and nobody ever has. */
export async function endUnasked(program) {
  const children = aliveOf(program);
  const areUp = (events) => haveTurned(events, children.filter(hasPid), SETTLED_TURNS);
  await program.until(areUp, LAST_MS);
  return { ...(await endNow(program, 'SIGKILL')), isUnasked: true };
}

/** Has it started children before the first report was asked for? */
export function startsEarly({ events }) {
  const [{ startMs = Infinity } = {}] = requestsOf(events, '/report');
  return eventsOf(events, 'child').some(({ t }) => t < startMs);
}

async function endNow(program, signal) {
  const seen = { signal, output: program.output(), hasEnded: true, left: [] };
  if (program.fate || !program.kill(program.pid, signal)) return seen;
  if (!(await program.ended(LAST_MS))) return { ...seen, hasEnded: false };
  const before = program.events.length;
  const deadline = performance.now() + LAST_MS;
  const isReached = program.turn.limit(UNSEEN_MS);
  while (performance.now() < deadline) {
    const left = program.survivors();
    if (left.length === 0) return seen;
    const told = eventsOf(program.events, 'start').map(({ pid }) => pid);
    const telling = left.filter((pid) => told.includes(pid));
    const hadTurn = telling.length === left.length || (isReached() && !isCrowded());
    if (hadTurn && haveTurned(program.events.slice(before), telling, TURNS))
      return { ...seen, left };
    for (const pid of childrenOf(program)) program.kill(pid, 'SIGCONT'); // one that was halted
    await sleep(20);
  }
  throw tooBusy('Processes are left, and have not had a turn yet.');
}

/** A child that is left alone while it loads its file is another case: see endEarly. */
async function letChildrenSettle(program) {
  await askAtOnce(program, ['settle-1', 'settle-2', 'settle-3'], 1_000);
  const children = aliveOf(program);
  const areSettled = (events) => haveTurned(events, children.filter(hasPid), SETTLED_TURNS);
  await program.until(areSettled, LAST_MS);
}
