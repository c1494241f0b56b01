/**
 * What the check of lesson 6 does with the learner's program and sees of it: reports that are asked for, and the
 * children that build them; how they end is in deaths.js, and what is only shown in
 * measure.js.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Undecided,
  deepestOverlap,
  eventsOf,
  get,
  haveTurned,
  parseBody,
  queuedMsOf,
  requestsOf,
} from '../../../lib/check/checking.js';

export const CHILDREN = 2;
export const CHILDREN_ELSEWHERE = 3; // as many as the cores it sees: JOB_CHILDREN is not set there
export const MORE_THAN_CORES = 5; // children
export const CORES = 2; // as it sees them there
export const MANY = 12; // Node warns at the eleventh listener
export const OVERTAKERS = 3; // the first of them may have got the right answer by accident: it is the twin of the one that waits
export const CROWD = 300; // requests: more than a round number at which a queue might be called full
/** The first and the last of a crowd: whichever end of a long queue is served first, by age, name or rows, is seen. */
const FIRST_OF_CROWD = [
  { name: 'xena', rows: 30 },
  { name: 'yves', rows: 10 },
  { name: 'carl', rows: 20 },
];
const LAST_OF_CROWD = [
  { name: 'bert', rows: 40 },
  { name: 'zora', rows: 1 },
  { name: 'anna', rows: 5 },
];
const COUNTED_TURNS = 2; // of the server's: what comes after a crowd is reported one by one again
const REST_MS = 60;
export const SOON = /** @type {const} */ ([100, Infinity, 1_000, Infinity, REST_MS]); // timers of children fire at once; the log's does not
const REST_TURNS = 6; // of a child's event loop, 20 ms each: by then all of its timers have fired
const LONG_ENOUGH = [200_000, 2_000_000]; // rows, for others to come meanwhile
/**
 * Reports for one child: wherever a pool draws a line between short and long ones, a short one comes after a long one and
 * the other way round; nor are they in the order of their names, and one client asks twice before another asks at all.
 */
const IN_TURN = [
  { name: 'walt', rows: 110_000 },
  { name: 'walt', rows: 1 },
  { name: 'ada', rows: 20_000 },
  { name: 'walt', rows: 300 },
  { name: 'grace', rows: 5_000 },
];
const LATECOMER = { name: 'joan', rows: 2 };
export const LEAST_ROWS = 1;
const SHORT_ROWS = [LEAST_ROWS, 0]; // a server that keeps short reports for itself builds one of these
const WHILE_ROWS = 40_000;
export const MOST_OF_SPAN = 0.25; // a server that builds two of six reports itself holds a / up for longer
export const MOST_OF_CPU = 0.25; // of what the children take: that server takes so much, and always some for the requests
export const PATIENCE_MS = 4_000; // for what takes a few milliseconds
export const LAST_MS = 20_000; // nobody waits this long, unless the machine is busy
const LOOK_MS = 100;
export const SILENT = 'no answer, and nobody is working on it';
export const TURNS = 30; // of an event loop, 20 ms each: by then it has heard what there is to hear
export const TIMER_TURNS = 150; // a timer may still do something; one that has not by now is a different kind
export const ROUND = TURNS / 2; // see watchRest
const TIMER_ROUND = TIMER_TURNS / 2;
const STOPPED_TURNS = 5; // a server that builds reports itself has built a short one by then

/**
 * Ten jobs, long and short in turn: a short one overtakes the long one before it. Some have the same name, and one has no name
 * and no rows. Then all of them once more: whichever a child has that stands still, its twin is built meanwhile.
 */
export const JOBS = Array.from({ length: 20 }, (_, index) => jobOf(index % 10, index >= 10));

function jobOf(index, isTwin) {
  if (index === 5) return { name: '', rows: 0, isTwin };
  const rows = index % 2 === 0 ? 4_000 + 100 * index : 100 + index;
  return { name: `customer-${index % 8}`, rows, isTwin };
}

const LIFE = ['start', 'child', 'exit']; // a process came or went
const NEWS = [...LIFE, 'request', 'response'];

const digests = new Map();

/** What a report should say, computed here. */
export function digestOf({ name, rows }) {
  const key = `${name} ${rows}`;
  let digest = digests.get(key) ?? name;
  if (digests.has(key)) return digest;
  for (let row = 0; row < rows; row += 1)
    digest = createHash('sha256').update(digest).digest('hex');
  digests.set(key, digest);
  return digest;
}

/** The first report; if it is wrong, also the missing file that its child should have run. */
export async function askFirst(program) {
  const answer = await ask(program, { name: 'first', rows: 1_000 });
  return { ...answer, missingFile: isRight(answer) ? undefined : await missingFileOf(program) };
}

/**
 * Who builds the reports? All children are stopped, then short ones are asked for: if one comes all the same, they did not
 * build it.
 * @returns {Promise<{ unseen: number[], builtHere?: any }>}  unseen: processes that it has started, and in which no Node.js
 *   program has shown itself; builtHere: the job that was done all the same
 */
export async function askWhileStopped(program) {
  const hidden = () => {
    const seen = eventsOf(program.events, 'start').map(({ pid }) => pid);
    return aliveOf(program).filter((pid) => !seen.includes(pid));
  };
  const isSeen = (event) => isChild(event, program.pid);
  await program.until((events) => events.some(isSeen) || hidden().length === 0, PATIENCE_MS);
  for (let attempt = 0; attempt <= CHILDREN; attempt += 1) {
    const [children, known] = [aliveOf(program), childrenOf(program).length];
    if (children.length === 0) break;
    const jobs = SHORT_ROWS.map((rows) => ({ name: `stopped-${attempt}`, rows }));
    const answered = await answeredNow(program, jobs, children);
    const isAlone = childrenOf(program).length === known; // else a new child may have built it, and be dead by now
    if (isAlone || !answered)
      return { unseen: hidden(), builtHere: isAlone ? answered : undefined };
  }
  return { unseen: hidden() };
}

/** Which report is built while these stand still? They go on afterwards. */
async function answeredNow(program, jobs, children) {
  const before = program.events.length;
  const answers = [];
  let asked = [];
  const sinceRequests = (events) => {
    const later = events.slice(before);
    const { startMs = Infinity } = requestsOf(later, '/report')[jobs.length - 1] ?? {};
    return later.filter(({ t, elu = 0 }) => t > startMs && elu < 0.5);
  };
  const answered = await whileStopped(program, children, async (stopped) => {
    if (stopped.length < children.length) return undefined; // one has just ended, or nothing can be stopped
    asked = jobs.map((job) => ask(program, job).then((answer) => answers.push(answer)));
    await program.until(
      (events) =>
        answers.length > 0 || haveTurned(sinceRequests(events), [program.pid], STOPPED_TURNS),
      PATIENCE_MS,
    );
    return answers.find(isRight)?.job;
  });
  await Promise.all(asked);
  return answered;
}

/**
 * Does something while these processes stand still; they go on afterwards.
 * @param {number[]} pids
 * @param {(stopped: number[]) => Promise<any>} work  is told which of them could be stopped
 */
export async function whileStopped(program, pids, work) {
  const stopped = pids.filter((pid) => program.kill(pid, 'SIGSTOP'));
  try {
    return await work(stopped);
  } finally {
    for (const pid of stopped) program.kill(pid, 'SIGCONT');
  }
}

/**
 * All twenty at once; longer ones, if on a busy machine they came one after the other.
 * @returns {Promise<any>}  the look of askJobs, and how many children had been started
 */
export async function askAll(program) {
  let look;
  for (const times of [1, 5, 25]) {
    look = await askJobs(
      program,
      JOBS.map((job) => ({ ...job, rows: times * job.rows })),
    );
    if (look.atOnce > OVERTAKERS || !look.isOver || !look.answers.every(isRight)) break;
  }
  return { ...look, ...countChildren(program, look.answers) };
}

/**
 * These at once. One child stands still until the others have built all but the one that it has: whoever was asked first does
 * not answer first.
 * @returns {Promise<any>}  built: so many by the others; overtakers: so many of these came after one that was not built;
 *   atOnce: so many were under way together; waiting: so many were left; isOver: nothing more was to come; idle: the others, if
 *   so
 */
async function askJobs(program, jobs) {
  const before = program.events.length;
  const reports = () => requestsOf(program.events.slice(before), '/report');
  const ended = () => reports().filter(({ endMs }) => endMs);
  let early = 0;
  let asked = [];
  const look = await whileStopped(program, aliveOf(program).slice(-1), async (stopped) => {
    asked = jobs.map((job) => ask(program, job).finally(() => (early += 1)));
    const all = { built: jobs.length, overtakers: Infinity, waiting: 0, isOver: true, idle: [] };
    if (stopped.length === 0) return all; // nothing can be stopped here
    const others = () => aliveOf(program).filter((pid) => !stopped.includes(pid));
    const areAtRest = watchRest();
    const isAtRest = (events) => {
      if (countRequests(events.slice(before)) < jobs.length) return false;
      const { t: lastMs } = events.findLast(({ what }) => NEWS.includes(what));
      return areAtRest(events, lastMs, (since) => {
        const calm = since.filter(isCalm);
        return haveTurned(calm, [program.pid], ROUND) && haveTurned(calm, others(), ROUND);
      });
    };
    const isDone = () => early >= jobs.length - stopped.length && ended().length >= early; // on record, too
    const isOver = await program.until((events) => isDone() || isAtRest(events), PATIENCE_MS);
    const { startMs: heldMs = Infinity } = reports().find(({ endMs }) => !endMs) ?? {};
    return {
      built: early,
      overtakers: ended().filter(({ startMs }) => startMs > heldMs).length,
      waiting: jobs.length - early,
      isOver,
      idle: isOver ? others() : [],
    };
  });
  const answers = await Promise.all(asked);
  return { ...look, atOnce: deepestOverlap(reports()), answers };
}

/**
 * More reports at once, for one child, than the listeners that Node finds too many, then many more, which all have to wait;
 * then everybody comes to rest, for as long as the longest timer of a child takes here.
 * @returns {Promise<any>}  also the processes with a crowd of listeners when nothing is under way any more
 */
export async function askForOne(program) {
  const isBuiltCold = await askCold(program);
  const names = Array.from({ length: MANY }, (_, index) => `customer-${index}`);
  const answers = await askAtOnce(program, names, 100);
  const crowd = answers.every(isRight)
    ? await askCrowd(program)
    : { answers: [], builtHere: [], order: undefined };
  const seen = countChildren(program, [...answers, ...crowd.answers]);
  const before = program.events.length;
  const all = [program.pid, ...aliveOf(program)];
  const weighed = () =>
    program.events
      .slice(before)
      .filter(({ what, timers }) => what === 'beat' && timers !== undefined);
  const haveRested = () => haveTurned(program.events.slice(before), all, REST_TURNS);
  await program.until(() => {
    const pids = weighed().map(({ pid }) => pid);
    const hasEnded = eventsOf(program.events.slice(before), 'exit').length > 0;
    return hasEnded || (haveRested() && all.every((pid) => pids.includes(pid)));
  }, PATIENCE_MS);
  const crowds = weighed().filter(({ listeners }) => listeners >= MANY);
  const { builtHere, order } = crowd;
  return { ...seen, crowds, isBuiltCold, builtHere, order, program, last: program.events.length };
}

/** The first report of all, of one row; the children, if it has started any, stand still. Does the server build it? */
async function askCold(program) {
  if ((await askWhileStopped(program)).builtHere) return true;
  const answer = await ask(program, { name: 'cold', rows: LEAST_ROWS });
  return isRight(answer) && childrenOf(program).length === 0;
}

/**
 * So many reports while the children stand still that the queue is as long as that before they go on. The first and the last
 * of them come one by one.
 * @param {(stopped: number[]) => void} [then]  what is done to the children when all have come
 * @returns {Promise<{ answers: any[], builtHere: any[], order?: { wanted: string[], got: any[] } }>}  builtHere: the reports
 *   that came while they stood still; order: of the first and the last, as they were asked for and as they were answered, where
 *   all of them waited together
 */
export async function askCrowd(program, then = () => {}) {
  const before = program.events.length;
  const early = [];
  const asked = [];
  const hand = (job) => asked.push(askPlainly(program, job, early));
  const haveCome = (events) => countRequests(events.slice(before)) >= asked.length;
  const untilCome = () =>
    program.until((events) => early.length > 0 || haveCome(events), PATIENCE_MS);
  const handOneByOne = async (jobs) => {
    for (const job of jobs) {
      hand(job);
      await untilCome();
    }
  };
  let areWaiting = false;
  const builtHere = await whileStopped(program, aliveOf(program), async (stopped) => {
    await handOneByOne(FIRST_OF_CROWD);
    for (let index = 0; index < CROWD; index += 1)
      hand({ name: `crowd-${index}`, rows: LEAST_ROWS });
    await untilCome();
    const since = program.events.length;
    const isCounted = (events) => haveTurned(events.slice(since), [program.pid], COUNTED_TURNS);
    await program.until(isCounted, PATIENCE_MS);
    await handOneByOne(LAST_OF_CROWD);
    areWaiting = stopped.length > 0 && early.length === 0;
    const isAlone = aliveOf(program).every((pid) => stopped.includes(pid)); // else a new child may have built them
    const built = isAlone && stopped.length > 0 ? early.filter(isRight) : [];
    then(stopped);
    return built;
  });
  const answers = await Promise.all(asked);
  return {
    answers,
    builtHere,
    order: areWaiting ? orderIn(program.events.slice(before)) : undefined,
  };
}

/** Without a look at whether anybody is at work on it: so many of these would be dear. */
async function askPlainly(program, job, early) {
  const answer = { ...(await get(urlOf(program, job), { timeoutMs: LAST_MS })), job };
  early.push(answer);
  return answer;
}

/** The first and the last of a crowd, by name; undefined, if they were not reported one by one, or not answered. */
function orderIn(events) {
  const jobs = [...FIRST_OF_CROWD, ...LAST_OF_CROWD];
  const nameOf = ({ url }) => jobs.find((job) => url === pathOf(job))?.name;
  const seen = requestsOf(events, '/report').filter((one) => nameOf(one) && one.endMs);
  const wanted = jobs.map(({ name }) => name);
  const isWhole = seen.map(nameOf).join() === wanted.join(); // in the order in which they came
  if (!isWhole) return undefined;
  const ended = seen.toSorted((a, b) => (a.endMs ?? 0) - (b.endMs ?? 0));
  return { wanted, got: ended.map(nameOf) };
}

/** Of many that come in the same moment not each is reported by itself. */
const countRequests = (events) =>
  eventsOf(events, 'beat').reduce(
    (sum, { more = 0 }) => sum + more,
    requestsOf(events, '/report').length,
  );

/** More at once than there may be children: a larger pool would start another. */
export async function askSome(program) {
  const names = ['p', 'q', 'r', 's', 't', 'u'];
  return countChildren(program, await askTogether(program, names, CHILDREN_ELSEWHERE + 2));
}

/** As many at once as there are children, more than cores. */
export async function askMore(program) {
  const names = Array.from({ length: MORE_THAN_CORES }, (_, index) => `more-${index}`);
  return countChildren(program, await askTogether(program, names, MORE_THAN_CORES));
}

/**
 * One child, busy with a long report; meanwhile others are asked for, each when the one before has come to the server, and one
 * more as soon as the long one is answered.
 * @returns {Promise<{ wanted: number[], got: number[], answers: any[], haveWaited: boolean }>}  the rows in both orders; on a
 *   busy machine it may be that they never waited together
 */
export async function askInTurn(program) {
  let look;
  for (const rows of LONG_ENOUGH) {
    const before = program.events.length;
    const reports = () => requestsOf(program.events.slice(before), '/report');
    const asked = [];
    const jobs = [{ name: 'zoe', rows }, ...IN_TURN];
    for (const job of jobs) {
      asked.push(ask(program, job));
      await program.until(() => reports().length >= asked.length, LAST_MS);
    }
    await asked[0];
    asked.push(ask(program, LATECOMER));
    const answers = await Promise.all(asked);
    const seen = reports();
    const waited = seen.slice(0, jobs.length); // not the latecomer
    jobs.push(LATECOMER);
    const endOf = ({ endMs = Infinity }) => endMs;
    const lastMs = Math.max(...waited.map(({ startMs }) => startMs));
    const areAllThere = seen.length === asked.length && lastMs < Math.min(...seen.map(endOf));
    const ended = seen.toSorted((a, b) => endOf(a) - endOf(b));
    const rowsOf = ({ url }) => jobs.find((job) => url === pathOf(job))?.rows ?? 0;
    look = {
      wanted: jobs.map((job) => job.rows),
      got: ended.map(rowsOf),
      answers,
      haveWaited: areAllThere,
    };
    if (areAllThere || !answers.every(isRight)) break;
  }
  return look;
}

/** Reports of these names at once; longer ones, if on a busy machine they came one after the other. */
export async function askTogether(program, names, atOnce) {
  let answers;
  for (const rows of [8_000, 40_000, 200_000]) {
    const before = program.events.length;
    answers = await askAtOnce(program, names, rows);
    const asked = requestsOf(program.events.slice(before), '/report');
    if (!answers.every(isRight) || deepestOverlap(asked) >= atOnce) break;
  }
  return answers;
}

/** The answers, with how many children it has started by now; a pool that starts them one by one needs so many at once. */
function countChildren(program, answers) {
  const depth = deepestOverlap(requestsOf(program.events, '/report'));
  return { answers, started: childrenOf(program).length, depth };
}

/** No two jobs have the same path. @param {{ name: string, rows: number, isTwin?: boolean }} job */
const pathOf = ({ name, rows, isTwin }) =>
  `/report?name=${name}&rows=${rows}${isTwin ? '&twin' : ''}`;

const urlOf = ({ url }, job) => url + pathOf(job);

/** Asks for a report, until it is there or nobody can be at work on it any more. */
export async function ask(
  program,
  job,
  /** @type {import('node:http').Agent | false} */ agent = false,
) {
  const before = program.events.length;
  let isOver = false;
  const asked = get(urlOf(program, job), { timeoutMs: LAST_MS, agent }).finally(
    () => (isOver = true),
  );
  const silence = async () => {
    const isSilent = watchSilence(program, before, job);
    while (!isOver && !isSilent()) await sleep(LOOK_MS);
    return isOver ? asked : { status: undefined, error: SILENT, body: '' };
  };
  return { ...(await Promise.race([asked, silence()])), job };
}

/**
 * Follows whether all are at rest: nothing has changed, and each loop has turned often, twice one after the other. Once would not
 * do: on a busy machine a child may send its answer when the server's turns are over, and then all have turned, and the server
 * has not heard of it.
 * @returns {(events: any[], state: string | number, haveAllTurned: (since: any[]) => boolean) => boolean}  state: another one
 *   when something has changed
 */
export function watchRest() {
  let known = /** @type {string | number | undefined} */ (undefined);
  let from = Infinity; // the first event of this round
  let rounds = 0;
  return (events, state, haveAllTurned) => {
    if (state !== known) [known, from, rounds] = [state, events.length, 0];
    if (!haveAllTurned(events.slice(from))) return false;
    [from, rounds] = [events.length, rounds + 1];
    return rounds > 1;
  };
}

export const isCalm = (/** @type {any} */ { elu = 0 }) => elu < 0.5;

/**
 * Follows whether nothing more can come: the loops of the server and of each child have turned often, with little to do, since
 * a report came or went, or a process did. A child that was killed tells nobody: they have turned as often since the same
 * children were seen to live. If there is none left, the server would have to start one, and it has no timer to do so.
 * @returns {() => boolean}
 */
function watchSilence(program, before, job) {
  const areAtRest = watchRest();
  return () => {
    const { events, pid } = program;
    const own = requestsOf(events.slice(before), '/report').filter(
      ({ url }) => url === pathOf(job),
    );
    if (own.length === 0 || own.some(({ endMs }) => endMs)) return false; // it has not come, or its answer is on its way to us
    const times = requestsOf(events, '/report').flatMap(({ startMs, endMs = 0 }) => [
      startMs,
      endMs,
    ]);
    const lives = events.filter(({ what }) => LIFE.includes(what));
    const lastMs = Math.max(...times, ...lives.slice(-1).map(({ t }) => t));
    const later = events.slice(before).filter(({ t }) => t > lastMs);
    if (!haveTurned(later, [pid], ROUND)) return false;
    const children = aliveOf(program); // it reads every process of the machine: only now
    if (children.length === 0 && lives.some(({ tid }) => tid !== undefined)) return false; // a thread may be at work
    return areAtRest(events, `${lastMs} ${children}`, (since) => {
      const calm = since.filter(isCalm);
      if (children.length > 0)
        return haveTurned(since, [pid], ROUND) && haveTurned(calm, children, ROUND);
      const alone = calm.filter((event) => event.pid === pid);
      const hasTimer = alone.findLast(({ timers }) => timers !== undefined)?.timers > 0;
      return haveTurned(alone, [pid], hasTimer ? TIMER_ROUND : ROUND);
    });
  };
}

/** Reports of these names, asked for at once. */
export const askAtOnce = (program, names, rows) =>
  Promise.all(names.map((name) => ask(program, { name, rows })));

export const isRight = ({ error, status, body, job }) =>
  !error && status === 200 && parseBody(body).digest === digestOf(job);

export const tooBusy = (got) =>
  new Undecided({
    got,
    why: 'The machine is too busy for this.',
    try: 'close other programs, then check again',
  });

/** The processes that the program has started, dead or alive. */
export function childrenOf({ events, pid: server }) {
  const started = events.flatMap(({ what, role, pid, childPid }) => {
    if (what === 'child') return [childPid];
    return what === 'start' && role !== 'thread' ? [pid] : [];
  });
  return [...new Set(started)].filter((pid) => pid !== server);
}

export const aliveOf = (program) => {
  const survivors = program.survivors();
  return childrenOf(program).filter((pid) => survivors.includes(pid));
};

export const isChild = (/** @type {any} */ { what, role, pid }, server) =>
  what === 'start' && role !== 'thread' && pid !== server;

/** The missing file that a child should have run. */
async function missingFileOf(program) {
  const isMissing = (event) => isChild(event, program.pid) && event.file && !existsSync(event.file);
  return (await program.until((events) => events.find(isMissing), PATIENCE_MS / 4))?.file;
}

/**
 * Six reports at once, and one / after the other until they are there, ever more seldom; the best of four looks. Whoever helps
 * out while all children are busy builds two of six at the least: the children are done when it is, and then there are more
 * than they can take. A look in which they came one after the other, and nobody had to help out, does not count for it.
 * @returns {Promise<any>}  share: of the time that the reports took, one / waited for so much, not counting the
 *   time that the server and this check stood in run queues; cpuShare: of the CPU time that the children took, the server took
 *   so much
 */
export async function askMeanwhile(program) {
  let best = /** @type {any} */ ({ share: Infinity, cpuShare: Infinity });
  const isOver = ({ share, cpuShare }) => share > MOST_OF_SPAN || cpuShare > MOST_OF_CPU;
  const badness = ({ share, cpuShare }) => Math.max(share / MOST_OF_SPAN, cpuShare / MOST_OF_CPU);
  for (let attempt = 0; attempt < 4 && isOver(best); attempt += 1) {
    const sinceMs = performance.now();
    const before = program.events.length;
    let isDone = false;
    const names = ['u', 'v', 'w', 'x', 'y', 'z'].map((name) => name + attempt); // a server may keep what it has built
    const asked = askAtOnce(program, names, WHILE_ROWS);
    const reports = asked.finally(() => (isDone = true));
    const waits = [];
    let refusal;
    while (!isDone) {
      await sleep(Math.max(10, (performance.now() - sinceMs) / 2)); // few: they take CPU time, too
      const queuedMs = queuedMsNow(program);
      const { sentMs, doneMs, status = 200 } = await get(`${program.url}/`);
      if (status !== 200) refusal = status;
      waits.push(doneMs - sentMs - (queuedMsNow(program) - queuedMs));
    }
    const answers = await reports;
    if (refusal) return { share: Infinity, cpuShare: 0, refusal };
    if (answers.some(({ status }) => status !== 200)) return { share: 0, cpuShare: 0 }; // 'answers-match' reports it
    const [waitedMs, spanMs] = [Math.max(...waits), performance.now() - sinceMs];
    const look = {
      share: waitedMs / spanMs,
      waitedMs,
      spanMs,
      ...(await weighReports(program, before)),
    };
    const isTried = isOver(look) || look.atOnce > CHILDREN;
    if (isTried && badness(look) < badness(best)) best = look;
  }
  return best;
}

/** For how long the server and this check have stood in run queues so far: that is not the server's doing. */
const queuedMsNow = ({ pid }) => (queuedMsOf(pid) ?? 0) + (queuedMsOf(process.pid) ?? 0);

/**
 * Who took the CPU time of the latest reports? However busy the machine is, that says who built them.
 * @returns {Promise<{ atOnce: number, cpuShare: number, ownMs?: number, childrenMs?: number }>}  atOnce: so many were under way
 *   together; cpuShare: 0 where it cannot be told: a child came or went meanwhile, and took along what it had not told
 */
async function weighReports(program, before) {
  const latest = program.events.slice(before);
  const children = aliveOf(program);
  const reports = requestsOf(latest, '/report');
  const [sinceMs, untilMs] = [
    Math.min(...reports.map(({ startMs }) => startMs)),
    Math.max(...reports.map(({ endMs = Infinity }) => endMs)),
  ];
  const haveTold = () =>
    haveTurned(program.events.slice(before), [program.pid, ...children], 1, untilMs);
  const isTold = await program.until(haveTold, PATIENCE_MS);
  const isSame = !program.events.slice(before).some(({ what }) => LIFE.includes(what));
  const atOnce = deepestOverlap(reports);
  if (!isTold || !isSame || children.length === 0) return { atOnce, cpuShare: 0 };
  const sum = (pids) => pids.reduce((ms, pid) => ms + cpuMsOf(program.events, pid, sinceMs), 0);
  const [ownMs, childrenMs] = [sum([program.pid]), sum(children)];
  return { atOnce, cpuShare: ownMs / childrenMs, ownMs, childrenMs };
}

/** The CPU time of a process since then, as its beats tell. */
function cpuMsOf(events, pid, sinceMs) {
  const beats = eventsOf(events, 'beat').filter((beat) => beat.pid === pid);
  return beats.reduce((ms, { t, cpu }, index) => {
    const fromMs = Math.max(sinceMs, beats[index - 1]?.t ?? sinceMs);
    return ms + (t > fromMs ? cpu * (t - fromMs) : 0);
  }, 0);
}

export async function waitUntil(isDone, deadlineMs = PATIENCE_MS) {
  const deadline = performance.now() + deadlineMs;
  while (!isDone() && performance.now() < deadline) await sleep(5);
}
