/**
 * What lesson 6 demands of reports and of the children that build them, in the order of its promises; how they end is
 * in deaths.js.
 */
import { tmpdir } from 'node:os';
import {
  demand,
  eventsOf,
  isCrowded,
  momentOf,
  parseBody,
  requestsOf,
  whyOfCrash,
} from '../../../lib/check/checking.js';
import {
  CHILDREN,
  CHILDREN_ELSEWHERE,
  CORES,
  CROWD,
  MORE_THAN_CORES,
  OVERTAKERS,
  MOST_OF_CPU,
  MOST_OF_SPAN,
  aliveOf,
  digestOf,
  isChild,
  isRight,
  tooBusy,
} from '../looks/jobs.js';

const MUCH = 0.6; // of either: on a crowded machine, what a server does anyway, in each turn of its event loop, adds up

const ONE_BY_ONE = 'Reports that were asked for at once came one after the other.';
const NO_JOB_CHILDREN = `Without JOB_CHILDREN, on a machine with ${CHILDREN_ELSEWHERE} cores`;
const FORK = "fork(new URL('./job.js', import.meta.url))";

/**
 * Throws what there is to say about a fault, with what the program has printed by now: what the check does to it later is not
 * its fault. If a process threw something, that is why, unless there is more to explain (isPlain).
 */
export function tell(program, expected, /** @type {any} */ found) {
  if (!found) return;
  const { isPlain, ...fault } = found;
  const { events, pid } = program;
  const why = (isPlain ? undefined : whyOfCrash(events)) ?? fault.why;
  const isOfChild = events.find(({ what }) => what === 'crash')?.pid !== pid;
  const command =
    why !== fault.why && isOfChild ? 'fix the line that its stack, below, names' : fault.try;
  const shows = { program, moments: [momentOf(eventsOf(events, 'crash')[0], 'throws')] };
  demand(false, { expected, shows, ...fault, why, try: command, output: program.output() });
}

/**
 * A server that ends before it listens may have become the child.
 * @returns {never}
 */
export function tellOfImport(error) {
  if (/exit code 0 before/.test(error.story?.got))
    Object.assign(error.story, {
      why: 'Something called process.exit(), or nothing keeps it alive. A server that imports job.js runs it, and has no parent.',
      try: "leave import ... from './job.js' out of pool.js: only the children run that file",
    });
  throw error;
}

export function demandFirst(program, answer) {
  const expected =
    'GET /report?name=first&rows=1000 is answered with the digest that job.js makes.';
  tell(program, expected, faultOfFirst(program, answer));
}

/** What is wrong with the answer to the first report, and where to look. */
function faultOfFirst(program, answer) {
  const got = faultOfAnswers([answer]);
  if (!got) return undefined;
  const file = answer.missingFile;
  if (file)
    return {
      got: `The child should run ${file}, which does not exist.`,
      why: 'A relative path is looked up from the folder where the server was started.',
      try: FORK,
      isPlain: true,
    };
  const ended = faultOfEnds(program);
  if (ended) return { got: `${got} ${ended.got}`, ...ended.how };
  if (got.includes('an object'))
    return {
      got,
      why: 'run(job) must promise the digest itself, not the message or another promise.',
      try: "child.on('message', ({ id, digest }) => ...): resolve(digest)",
    };
  const hears =
    "in job.js: process.on('message', ({ id, job }) => process.send({ id, digest: ... }, () => {}))";
  if (answer.error && !program.fate && aliveOf(program).length > 0)
    return {
      got: `${got} Its child is running, but nothing that it sent has settled the request.`,
      why: 'The child got no message, or listens for a different event, or sends nothing, or sends a different id.',
      try: `${hears}; in pool.js: child.send({ id, job })`,
    };
  const why =
    'A child has to be found, to hear the message, and to send the id back with the digest.';
  return { got, why, try: `${FORK}; ${hears}` };
}

const rowsOf = ({ rows }) => (rows === 1 ? 'one row' : `${rows || 'no'} rows`);
const ofJob = (job) => `of ${job.name || 'an empty name'} with ${rowsOf(job)}`;

/** Answered, and with the right digest? Undefined when they all are; a word on the first that is not. */
export function faultOfAnswers(answers) {
  const bad = answers.filter((answer) => !isRight(answer));
  if (bad.length === 0) return undefined;
  const [{ error, status, job, body }] = bad;
  const of = `${bad.length} of ${answers.length} are wrong: the report ${ofJob(job)}`;
  if (error || status !== 200) return `${of} got ${error ?? `status ${status}`}.`;
  const { digest } = parseBody(body);
  const owner = answers.find((other) => digestOf(other.job) === digest)?.job;
  if (owner) return `${of} got the digest ${ofJob(owner)}.`;
  return digest && typeof digest === 'object'
    ? `${of} got as its digest an object (its keys: ${Object.keys(digest).join(', ') || 'none'}).`
    : `${of} got ${body.slice(0, 99)}`;
}

export function demandOwnFile(program, stopped) {
  const fault = faultOfChildren(program, stopped);
  demand(!fault, {
    expected:
      "The server forks a child that runs a different file from the server's, and builds the report.",
    why: "A job that runs in the server's process keeps everybody else waiting.",
    try: `${FORK}, and process.on('message', ...) in job.js`,
    shows: { program, moments: builtShown(program) },
    ...fault,
  });
}

/** The children that were started, or the first report, which no child has built. */
function builtShown({ events, pid }) {
  const starts = eventsOf(events, 'start').filter((event) => isChild(event, pid));
  if (starts.length > 0) return starts.map((start) => momentOf(start, 'a child starts'));
  return [momentOf(requestsOf(events, '/report')[0], 'a report, and no child')];
}

/** What is wrong with where the first reports were built. */
function faultOfChildren({ events, pid }, { unseen, builtHere }) {
  const starts = eventsOf(events, 'start');
  const files = starts.filter((event) => isChild(event, pid)).map(({ file }) => file);
  const own = starts.find((event) => event.pid === pid)?.file;
  if (builtHere)
    return {
      got: `All of its children were frozen for a moment (by SIGSTOP), and a report of ${rowsOf(builtHere)} was built all the same.`,
      why: 'The children are there, but it is the server that builds the reports, or the short ones. In slices it still uses no second core.',
      try: "run(job): child.send({ id, job }), and resolve with the digest that the child's message brings",
    };
  if (files.some((file) => file !== own)) return undefined;
  if (files.length > 0) return { got: "The children run the server's file again." };
  if (unseen.length > 0)
    return {
      got: `It has started a process (pid ${unseen.join(', ')}) in which no Node.js program has appeared.`,
      why: 'In this lesson a child is a Node.js program that inherits the environment.',
      try: FORK,
    };
  if (starts.some(({ role }) => role === 'thread'))
    return {
      got: "The report was built in a thread, which lives and dies with the server's process.",
    };
  return { got: 'The report was built, and the server had started no other process.' };
}

export function demandResponsive({ refusal, share, waitedMs, spanMs, ...cpu }) {
  demand(!refusal, {
    expected: 'While reports are built, the server goes on answering / with "hello".',
    got: `A / got status ${refusal}.`,
    why: 'That page was there before, and has nothing to do with reports.',
    try: "leave app.get('/', ...) in server.js as it was",
  });
  if (share === Infinity) throw tooBusy(ONE_BY_ONE);
  const waited = `A / waited ${Math.round(waitedMs)} ms of the ${Math.round(spanMs)} ms that the reports took.`;
  const isSlow = share > MOST_OF_SPAN;
  if (isSlow && share < MUCH && isCrowded()) throw tooBusy(waited);
  demand(!isSlow, {
    expected: 'While six reports are built and queued, the server goes on answering /.',
    got: waited,
    why: 'The server does part of the job itself, or blocks its event loop while it waits for it.',
    try: "fork() and child.on('message', ...); whatever comes while all children are busy waits in a queue",
  });
  const [ownMs, childrenMs] = [cpu.ownMs, cpu.childrenMs].map(Math.round);
  const got = `While six reports were built, the server's process took ${ownMs} ms of CPU time, and its children ${childrenMs}.`;
  const isMore = cpu.cpuShare > MOST_OF_CPU;
  if (isMore && cpu.cpuShare < MUCH && isCrowded()) throw tooBusy(got);
  demand(!isMore, {
    expected: 'Children build the reports, all of them and from the first row to the last.',
    got,
    why: 'The server does part of the job itself, and keeps everybody else waiting meanwhile.',
    try: 'run(job): child.send({ id, job }), or the queue; the digest comes with the message of a child',
  });
}

export function demandMatch(program, { answers, overtakers, atOnce, isOver }) {
  const expected =
    'Each of many reports asked for at once is answered with the digest of its own name and rows.';
  tell(program, expected, faultOfBatch(program, answers));
  if (overtakers < OVERTAKERS && (!isOver || atOnce <= OVERTAKERS))
    throw tooBusy('While one child stood still, too few reports came from the others.');
}

/** What is wrong with the answers to reports that were asked for at once: they are missing, refused, or mixed up. */
function faultOfBatch(program, answers) {
  const got = faultOfAnswers(answers);
  if (!got) return undefined;
  const wrong = answers.filter((answer) => !isRight(answer));
  const [{ error, status }] = wrong;
  const ended = faultOfEnds(program);
  if (ended && status !== 200) return { got: `${got} ${ended.got}`, ...ended.how };
  if (wrong.every(({ job }) => digestOf(job) === ''))
    return {
      got,
      why: "Without rows the digest is the name, and when that is empty, the digest is ''. In a condition '' is false, as if there were no digest.",
      try: 'no condition on the digest: a message with an id that is in the Map is an answer',
    };
  if (error?.includes('no answer'))
    return {
      got,
      why: 'A child that is done gets nothing new from the queue, nobody hears its second answer, or two equal reports have the same id.',
      try: 'after each answer put the child back into the idle list, and give it the next in the queue',
    };
  const refusal = refusalIn(answers);
  if (refusal) return { got, ...refusal };
  return {
    got,
    why: 'Answers come in the order in which children finish, not in the order of the questions.',
    try: 'a Map from request id to the promise that waits for it; the child sends the id back',
  };
}

/** What to say if the first wrong answer is a refusal. */
function refusalIn(answers) {
  const { status, body } = answers.find((answer) => !isRight(answer)) ?? {};
  if (!status || status === 200) return undefined;
  return {
    why: `It was refused, although nobody had killed a child. The answer says: ${shorten(body)}`,
    try: 'whatever comes while all children are busy waits in the queue, however many there are, until one of them is idle',
  };
}

/** Children that ended on their own, before anybody killed one: that is why reports are missing. */
function faultOfEnds(program, last = Infinity) {
  const { pid } = program;
  const events = program.events.slice(0, last);
  const crashed = eventsOf(events, 'crash').map((event) => event.pid);
  const isOne = (event) =>
    event.pid !== pid && event.tid === undefined && !crashed.includes(event.pid);
  const ends = eventsOf(events, 'exit').filter(isOne);
  if (ends.length === 0) return undefined;
  const codes = [...new Set(ends.map(({ code }) => code ?? 0))].join(', ');
  const many = ends.length === 1 ? 'A child has' : `${ends.length} children have`;
  return {
    got: `${many} ended, with exit code ${codes}, and nobody had killed one.`,
    how: {
      shows: { program, moments: ends.map((end) => momentOf(end, 'a child ends')) },
      why: 'A child should wait for its next job, however long that takes. One that ends by itself loses whatever it has not sent yet, and the job that is on its way to it.',
      try: "in job.js: no process.exit() after process.send(), and none in a timer; only 'disconnect' ends a child",
    },
  };
}

export const shorten = (body) => body.replaceAll(/\s+/g, ' ').slice(0, 99) || 'nothing';

export function demandElsewhere(program, answer) {
  const got = faultOfAnswers([answer]);
  demand(!got, {
    expected: `Started in ${tmpdir()}, it answers reports as it does anywhere else.`,
    got,
    why: 'A relative path is looked up from the folder where the server was started.',
    try: FORK,
    output: program.output(),
  });
}

/** Those without JOB_CHILDREN, where there are three cores, those of a pool of one, and more than there are cores; and where time flies. */
export function demandSizeElsewhere(elsewhere) {
  demandSize(elsewhere, CHILDREN_ELSEWHERE, NO_JOB_CHILDREN);
  if (elsewhere.depth <= CHILDREN_ELSEWHERE)
    throw tooBusy(
      'Too few reports were under way at once to see whether it would start more children.',
    );
}

/** One child builds whatever comes. */
export function demandOneChild(one) {
  demandWaits(one);
  demandAllByChild(one);
  demandSize(one, 1);
}

/** More children than cores, if so told. */
export function demandSizeAboveCores(more) {
  const setting = `With JOB_CHILDREN=${MORE_THAN_CORES}, on a machine with ${CORES} cores`;
  demandSize(more, MORE_THAN_CORES, setting);
}

/** Timers that fire a thousand times as soon do nothing to an idle child, nor to reports that wait. */
export function demandPatience({ program, ended, refused, started, isUnclear }) {
  const where = `With JOB_CHILDREN=${CHILDREN}, and timers and a clock that run a thousand times as fast`;
  const shows = { program, moments: [] };
  demand(ended.length === 0, {
    expected: `${where}: ${CHILDREN} children build what is asked for, and wait for the next.`,
    got: `Every report was answered, nobody had killed a child, and ${ended.length} ended (pid ${ended.join(', ')}).`,
    why: 'With nothing to do it was ended by a timer, in the pool or in its own file. The next report waits for another to start.',
    try: 'no timer that ends an idle child: it waits for its next job, however long that takes',
    shows,
  });
  demand(refused <= started, {
    expected: `${where}: reports that have to wait, while children start or are frozen for a moment (by SIGSTOP), are built all the same.`,
    got: `${refused} were refused, and only ${started} children had been started, each with one report at a time.`,
    why: 'Reports that wait a while are refused: just when most come, those that came first get nothing.',
    try: 'no timer for a report that waits in the queue; a limit for how long a child builds one may end that child, and fails that one report',
    shows,
  });
  if (isUnclear) throw tooBusy('Reports that were asked for at once came one after the other.');
}

/** Nobody but the only child builds reports, however many wait for it. */
function demandAllByChild({ isBuiltCold, builtHere, program }) {
  demand(!isBuiltCold, {
    expected: 'With JOB_CHILDREN=1: one child builds all reports, from the first on.',
    got: 'The first report, of a row or none, was built before a child had been started, or while it was frozen (by SIGSTOP).',
    why: "A child takes a while to start, but building in the server meanwhile makes everybody else wait. One row or a million: the server doesn't know what a job costs.",
    try: 'start the child, and let the report wait for it in the queue',
    shows: { program, moments: [] },
  });
  demand(builtHere.length === 0, {
    expected: 'With JOB_CHILDREN=1: one child builds all reports.',
    got: 'It was frozen for a moment (by SIGSTOP) while more and more reports were asked for, and some were built all the same.',
    why: 'The server lends a hand when many wait. Just when there is most to do it serves nobody.',
    try: 'whatever comes while all children are busy waits in the queue, however many there are',
    shows: { program, moments: [] },
  });
}

/** It has nothing to do, and its timers fire a thousand times as soon: does the only child wait for its next job? */
function demandWaits({ program, last }) {
  const { got, how } = faultOfEnds(program, last) ?? {};
  demand(!got, {
    expected: 'With JOB_CHILDREN=1: one child builds all reports, and waits for the next.',
    ...(got && { got, ...how }),
  });
}

/** Those that have to wait are built in the order in which they came. */
export function demandFewInTurn({ wanted, got, answers, haveWaited }) {
  const fault = faultOfAnswers(answers);
  if (!fault && !haveWaited)
    throw tooBusy('Reports that were asked for one after the other never waited together.');
  const numberOf = (rows) => wanted.indexOf(rows) + 1;
  const isInTurn = got.every((rows, index) => rows === wanted[index]);
  demand(!fault && isInTurn, {
    expected: `One child, and it is busy with the first of ${wanted.length - 1} reports while the others are asked for; one more comes when that one is answered. They are built in the order in which they came.`,
    got: fault ?? `They were answered in this order: ${got.map(numberOf).join(', ')}.`,
    why: 'While more and more come, somebody is always pushed to the front. Whoever is passed over waits for ever.',
    try: 'queue.push() where a job comes, queue.shift() where a child is idle',
  });
}

/** The order holds for three hundred, too. */
export function demandCrowdInTurn({ order, program }) {
  if (!order) return; // nothing can be stopped, or the machine was too busy to see each of them come
  const { wanted, got } = order;
  const placeOf = (name) => wanted.indexOf(name) + 1;
  demand(got.join() === wanted.join(), {
    expected: `More than ${CROWD} reports wait for one child. Of these ${wanted.length} were the first and the last: they are built in the order in which they came.`,
    got: `They were answered in this order: ${got.map(placeOf).join(', ')}.`,
    why: 'With a long queue the order changes. Just when most wait, those who came first wait until all the others have been served.',
    try: 'queue.shift(), however long the queue is',
    shows: { program, moments: [] },
  });
}

/** Whoever waits, waits for the first child that is idle. */
export function demandOneQueue({ answers, idle, built, waiting }) {
  const isLeft = built > 0 && waiting > 1; // a pool of which nobody else builds anything has another fault
  if (isLeft && idle.length === 0) throw tooBusy('Reports waited, and the children were at work.');
  demand(!isLeft, {
    expected: `${answers.length} reports at once, and one child is frozen meanwhile (by SIGSTOP). It has one of them; all others are built.`,
    got: `${waiting} waited for the frozen child, and child ${idle.join(', ')} had nothing to do.`,
    why: 'Whoever waits behind a slow report, for one child and no other, is overtaken by all who came later and were dealt to another.',
    try: 'one queue for all: queue.push() where a job comes, queue.shift() where a child is idle, whichever that is',
  });
}

/** Has it started exactly so many children? */
export function demandSize(
  { started, depth, answers },
  size,
  setting = `With JOB_CHILDREN=${size}`,
) {
  const who =
    size === 1
      ? 'one child builds all reports, and waits'
      : `${size} children build all reports, and wait`;
  const story = {
    expected: `${setting}: ${who} for the next.`,
    got: `${setting}: it started ${started}.`,
  };
  demand(started <= size, {
    ...story,
    why: 'Each child takes time to start, and memory. More children than cores only wait for each other.',
    try: 'start a child only while there are fewer than size; else put the job into a queue',
  });
  const fault = faultOfAnswers(answers);
  demand(!fault, {
    ...story,
    got: `${setting}: ${fault}`,
    why: 'Whatever waits in the queue has to go to a child as soon as one is idle, however many there are.',
    try: 'after each answer put the child back into the idle list, and give it the next in the queue',
    ...refusalIn(answers),
  });
  if (started < size && depth < size) throw tooBusy(ONE_BY_ONE);
  demand(started === size, {
    ...story,
    why: 'Reports wait in the queue while there is a core that could build them.',
    try: 'while something is queued and there are fewer children than size, start one; size is JOB_CHILDREN, or else os.availableParallelism()',
  });
}

export function demandNoCrowd({ answers, crowds }) {
  const [{ listeners, crowded } = {}] = crowds.sort((a, b) => b.listeners - a.listeners);
  demand(!crowded, {
    expected: `After ${answers.length} reports nothing is under way, and they leave nothing behind.`,
    got: `After ${answers.length} reports ${listeners} listeners are left for '${crowded}', on one and the same object.`,
    why: 'Each job adds one, and nothing removes it: memory grows with each report, and each message goes to all of them.',
    try: "child.on('message', ...) once, where the child is started, and a Map from id to the promise that waits",
  });
}
