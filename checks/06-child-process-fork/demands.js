/** Lesson 6: judges what looks.js saw, in the sentences that a learner reads. */
import {
  demand,
  demandInTime,
  eventsOf,
  howItEnded,
  momentOf,
  parseJsonBody,
  requestsOf,
  describeCrash,
} from '../../lib/check/checking.js';
import {
  CHILDREN,
  CORES,
  ENOUGH_HOMES,
  childExitsOf,
  childStartsOf,
  digestOf,
  isRight,
} from './looks.js';

const FORK = 'look at where pool.js starts a child: by which function, and with which file?';
const TIMES = ['only when', 'only once before', 'only twice before'];
const ON_EXIT = 'look at what you do when a child exits';

/** @typedef {import('./looks.js').Report} Report */

export function demandFirst(program, { report, missingFile }) {
  const expected = 'GET /report?name=first-1&rows=1000 returns the digest that job.js computes.';
  demand(!missingFile, {
    expected,
    got: `The child should run ${missingFile}, which doesn't exist.`,
    why: 'The server was started in another folder, and a relative path counts from that folder, not from the file that names it.',
    try: FORK,
  });
  demandAnswer(program, [report], {
    expected,
    why: 'The child got no message, or sent none, or sent a different id. No promise in the pool was resolved.',
    try: 'look in job.js at what happens when a message arrives, and what is sent back',
  });
  demandRight(program, [report], {
    expected,
    why: 'run(job) must resolve with the digest itself, not with the whole message or with another value.',
    try: 'look at what arrives from the child, and what the promise is resolved with',
  });
}

export function demandOwnFile(program) {
  const starts = childStartsOf(program);
  const own = eventsOf(program.events, 'start').find(({ pid }) => pid === program.pid)?.file;
  const shown = starts.map((start) => momentOf(start, 'a child starts'));
  const isThread = program.events.some(({ what, role }) => what === 'start' && role === 'thread');
  const story = {
    expected: 'The server forks children that run job.js, and they build the reports.',
    shows: {
      program,
      moments:
        starts.length > 0
          ? shown
          : [momentOf(requestsOf(program.events, '/report')[0], 'a report, and no child')],
    },
  };
  demand(starts.length > 0 || !isThread, {
    ...story,
    got: 'A thread built the report.',
    why: "A thread lives in the server's process: a signal or a native crash ends both.",
    try: FORK,
  });
  demand(starts.length > 0, {
    ...story,
    got: 'The report was built, and the server had started no other process.',
    why: 'An async function still runs on the thread that calls it, and keeps all other requests waiting.',
    try: FORK,
  });
  demand(
    starts.some(({ file }) => file !== own),
    {
      ...story,
      got: "The children run the server's own file again.",
      why: 'Each child loads Express and sets up a whole server, only to build reports.',
      try: FORK,
    },
  );
}

export function demandResponsive({ statuses, besides, reports }) {
  const expected = 'While four reports are built, the server answers /.';
  const bad = statuses.find((status) => status !== 200);
  demand(!bad, {
    expected,
    got: `GET / got status ${bad}.`,
    why: 'That page was there before, and has nothing to do with reports.',
    try: 'look at the handler of / in server.js: it was given',
  });
  demandInTime(besides >= ENOUGH_HOMES || !reports.every(isRight), {
    expected,
    got: `/ was answered ${TIMES[besides]} all four were built.`,
    why: 'The server builds reports itself, or blocks its event loop while another process builds them.',
    try: 'look for what waits in the server while a child computes',
  });
}

export function demandMatch(program, { reports }) {
  const expected =
    'Of 20 reports requested at once, each gets the digest of its own name and rows.';
  demandRight(program, reports, {
    expected,
    why: 'Children finish in any order, and the answers were matched by the order of the questions.',
    try: 'look at how an answer finds its promise',
  });
  demandAnswer(program, reports, {
    expected,
    why: 'A child that is done gets nothing new from the queue, or nothing listens for its second answer.',
    try: 'look at what happens after an answer: is the child idle again, and what takes the next job?',
  });
}

/** One child was frozen while the other built. */
export function demandInTurn(program, { reports, built, waiting }) {
  const count = reports.length;
  const expected = `One child is frozen (by SIGSTOP) with one report. The other child builds the remaining ${count - 1}, in the order in which they came.`;
  demandHandedOut({ count, waiting }, expected);
  const numberOf = new Map(built.map((request, index) => [request, index + 1]));
  const ended = built.toSorted((a, b) => (a.endMs ?? 0) - (b.endMs ?? 0));
  const order = ended.map((request) => numberOf.get(request));
  demand(
    order.every((number, index) => number === index + 1),
    {
      expected,
      got: `They were built in this order: ${order.join(', ')}.`,
      why: 'A job that is passed over waits as long as new ones keep coming.',
      try: 'look at the queue: at which end do jobs come in, and at which do they leave?',
      shows: {
        program,
        moments: ended.slice(0, 3).map((request) => momentOf(request, 'a report')),
      },
    },
  );
}

/** The frozen child had one report; the others waited for any child. */
function demandHandedOut({ count, waiting }, expected) {
  demandInTime(waiting > 0, {
    expected,
    got: `One child was frozen, and all ${count} reports were built: it had none.`,
    why: 'This child is alive, but it is not in the list of idle children, so it never gets a job.',
    try: 'look at how a child leaves the list of idle ones when it gets a job',
  });
  demandInTime(waiting <= 1, {
    expected,
    got: `${waiting} of ${count} waited for the frozen child.`,
    why: 'They were sent to it in advance, or no other child gets any. What waits in a channel cannot go to another child, and is lost if this child dies.',
    try: 'look at which child gets a job when all are busy',
  });
}

export function demandSize({ started }) {
  const setting = `With JOB_CHILDREN=${CHILDREN}, where Node.js reports ${CORES} cores`;
  const expected = `${setting}, the server starts ${CHILDREN} children, and they build all reports.`;
  const got = `After 25 reports it had started ${started}.`;
  demand(started <= CHILDREN, {
    ...{ expected, got },
    why: 'Each child takes time to start, and memory. More children than cores only wait for each other.',
    try: 'look at when a child is started, and whether a child that has answered gets another job',
  });
  demandInTime(started === CHILDREN, {
    ...{ expected, got },
    why: 'Reports wait in the queue although another child could build them.',
    try: 'look at when a child is started: while jobs wait, are there as many as allowed?',
  });
}

export function demandNoListeners(crowd) {
  demand(!crowd, {
    expected: 'When all reports are answered, they have left no listener behind.',
    got: `On one object, ${crowd?.listeners} listeners for '${crowd?.crowded}' are left.`,
    why: 'Each job adds a listener that nothing removes: memory grows, and each event goes to all of them.',
    try: 'look at where listeners are added: for each child, or for each job?',
  });
}

/** One of two busy children was killed while two more reports waited. */
export function demandOneFailure(program, { atWork, queued, fate }) {
  const expected =
    'Two children build a report each, two more reports wait, and one child is killed. One report gets status 503; the other three are built.';
  demandServer(program, fate, expected);
  const [failed, others] = [atWork, queued].map((some) => some.filter(hasFailed));
  demand(others.length === 0, {
    expected,
    got: `${others.length} of the two reports that only waited failed as well.`,
    why: 'They had not been sent to any child yet, so another child can still build them.',
    try: 'look at what you do when a child exits: which jobs does it touch?',
  });
  demand(failed.length <= 1, {
    expected,
    got: 'The reports of both children failed.',
    why: 'One of these children is alive, and its report will come.',
    try: 'look at which promises are rejected when a child exits',
  });
  demand(failed.length === 1 || !atWork.every(isRight), {
    expected,
    got: 'No report failed: another child built the lost report.',
    why: 'If the job itself kills its child, it kills the next child too, and the next.',
    try: `${ON_EXIT}: what becomes of its job?`,
  });
  demandInTime(failed.length === 1, {
    expected,
    got: 'No report failed, and one client still waits for an answer.',
    why: "The answer will never come. The child's 'exit' is all that the server hears, and after a signal its code is null.",
    try: `${ON_EXIT}: what becomes of the promise of its job?`,
  });
  demand503(failed[0], expected);
}

const hasFailed = (/** @type {Report} */ report) => report.answer !== undefined && !isRight(report);

function demandServer(program, fate, expected) {
  demand(fate?.kind !== 'ended', {
    expected,
    got: `The server itself exited (${howItEnded(fate ?? {})}).`,
    why: describeCrash(program.events) ?? 'It called process.exit(), or sent itself a signal.',
    try: 'look for what throws in a listener of a child',
  });
}

/** @param {Report} report  of the child that exited */
function demand503({ answer }, expected) {
  const { error, status, body = '' } = answer ?? {};
  demand(!error, {
    expected,
    got: `Its client got no answer, but ${error}.`,
    why: 'The client cannot tell a dead child from a dead server or a bad network.',
    try: 'look at the answer of /report in server.js when the job has failed',
  });
  demand(status !== 500, {
    expected,
    got: `Its client got status 500: ${shorten(body)}`,
    why: 'A 500 says that the server is broken; a 503 says "not now". Express answers 500 when a handler throws or its promise is rejected.',
    try: 'look in server.js at what becomes of a promise that is rejected',
  });
  demand(status === 503, {
    expected,
    got: `Its client got status ${status}: ${shorten(body)}`,
    why: 'A load balancer, a cache or a client that looks at the status takes this for a report.',
    try: 'look at both ends: does the promise fail, and what does server.js answer then?',
  });
}

const TAGS = /<(title|style)>[^]*?<\/\1>|<br>[^]*|<[^>]+>/g; // Express says on its error page what was thrown, then the stack

const shorten = (/** @type {string} */ body) =>
  body.replaceAll(TAGS, ' ').replaceAll(/\s+/g, ' ').trim().slice(0, 99) || 'an empty body';

export function demandFailureOfJob(program, { answer, deaths, fate }) {
  const expected =
    'A report whose job throws (GET /report?name=adam&name=eve) costs one child (exit code 1), and gets status 503.';
  const output = program.output();
  demandServer(program, fate, expected);
  demand(deaths <= 1, {
    ...{ expected, output },
    got: 'Its child exited, and so did another child, which got the same job.',
    why: 'One such request takes all children, again and again.',
    try: `${ON_EXIT}, with a code or with a signal: both end its job`,
  });
  const story = { expected, output };
  demandInTime(answer || deaths > 0, {
    ...story,
    got: 'No child exited, and the client still waits for an answer.',
    why: 'The error was swallowed in the child: no message comes, and the pool takes the child for busy.',
    try: 'look in job.js for what keeps a child alive that has thrown',
  });
  demandInTime(answer, {
    ...story,
    got: 'Its child exited with an exit code, and the client still waits for an answer.',
    why: 'A child that exits by itself has an exit code and no signal.',
    try: `${ON_EXIT}: with a code as with a signal?`,
  });
  if (deaths === 1) demand503({ job: { name: 'adam', rows: 10 }, answer }, expected);
}

export function demandAfterFailedJob(program, { after }) {
  demandInTime(after.every(isRight), {
    expected:
      'JOB_CHILDREN=1, and a job ends the only child with exit code 1. The report that waits behind it is built by another child.',
    got: 'The report that waited was not built.',
    why: 'The pool still counts the child that crashed, or nothing hands out the queue after an exit.',
    try: `${ON_EXIT}, with a code or with a signal: is the child forgotten, and is what waits handed out?`,
    output: program.output(),
  });
}

const REPLACED =
  'When a child is killed, another takes its place: two children build what waits, and what comes later.';

export function demandQueueContinues(program, { queued }) {
  const left = queued.filter(({ answer }) => !answer).length;
  demandInTime(left === 0, {
    expected: REPLACED,
    got: `A child was killed at work, and ${left} of the two reports that waited got no answer.`,
    why:
      left === 2
        ? 'Nothing hands out the queue after an exit, or it was emptied.'
        : 'One was sent to the child that is gone: it still counts as idle.',
    try:
      left === 2
        ? `${ON_EXIT}: which child takes what waits in the queue?`
        : `${ON_EXIT}: which lists is it still in?`,
  });
}

/** Two children must work again. @param {string} before  what happened to one */
export function demandReplaced(program, { reports, waiting, children }, before) {
  const count = reports.length;
  demandNoneTooMany(children, before);
  demandInTime(waiting > 0, {
    expected: REPLACED,
    got: `${before} Then one of two children was frozen, and all ${count} reports were built: it had none.`,
    why: "A child that lives has left the list of idle children. indexOf() of a child that isn't in the list is -1, and splice(-1, 1) removes the last.",
    try: 'look at how a child leaves the list of idle ones when it exits: what if it is not in it?',
  });
  demandInTime(waiting <= 1, {
    expected: REPLACED,
    got: `${before} Then one child was frozen, and ${waiting} of ${count} reports waited for it.`,
    why: 'No other child is there, or gets a job: the place of the killed child was never freed.',
    try: `${ON_EXIT}: does it still count as a child?`,
  });
}

function demandNoneTooMany(children, before) {
  demand(children.length <= CHILDREN, {
    expected: REPLACED,
    got: `${before} Now there are ${children.length} children.`,
    why: "One exit can bring several events ('error', 'exit'), and the pool makes room for a child at each.",
    try: "look at what happens when both 'exit' and 'error' come for one child",
  });
}

export function demandIdleReplaced(program, { reports }) {
  const story = {
    expected: REPLACED,
    why: 'The child that is gone was still in the list of idle children, and got a job.',
    try: `${ON_EXIT}: which lists is it still in?`,
  };
  const failed = reports.filter((report) => !isRight(report)).length;
  const got = `A child that had nothing to do was killed. Of the ${reports.length} reports asked for next, ${failed} got no digest.`;
  demand(!reports.some(hasFailed), { ...story, got });
  demandInTime(failed === 0, { ...story, got });
}

/** A job was sent to a killed child whose exit the server hadn't noticed. */
export function demandUnheardExit(program, { reports, after, children, fate }) {
  const expected =
    'A job is sent to a child that has just been killed. The server lives, and that report gets status 503, or another child builds it.';
  demand(fate?.kind !== 'ended', {
    expected,
    got: `The server itself exited (${howItEnded(fate ?? {})}).`,
    why: "child.send() failed, and the child object emitted 'error', which nothing listened for.",
    try: "look at which events of a child you listen to: sending to a child that is gone is an 'error'",
  });
  demandAnswer(program, [...reports, ...after], {
    expected,
    why: 'child.send() failed, and the task that waits for the answer was never rejected.',
    try: "look at what you do on a child's 'error': its job has failed too",
  });
  demandRight(program, after, {
    expected: REPLACED,
    why: 'Both children were killed with nothing to do, and later reports are not built.',
    try: `${ON_EXIT}: which child gets the jobs that come later?`,
  });
  demandNoneTooMany(children, 'Both children were killed, and a job was sent to one of them.');
}

export function demandNoneLeft(program, { left, haveStayed }) {
  demandInTime(left.length === 0, {
    isFinal: haveStayed,
    expected: 'The server is killed (SIGKILL), and its children exit.',
    got: `${left.length === 1 ? 'A child is' : `${left.length} children are`} still there (pid ${left.join(', ')}).`,
    why: 'After SIGKILL no line of the server runs. A timer keeps the child alive.',
    try: 'look at the last lines of job.js: they were given',
    output: program.output(),
  });
}

/** @param {Report[]} reports  must be answered, with any status */
function demandAnswer(program, reports, story) {
  const missing = reports.filter(({ answer }) => !answer).length;
  const got = `${missing} of ${reports.length} got no answer, and no process is working on one.`;
  demandInTime(missing === 0, { got, ...story, ...storyOfExit(program) });
}

/** @param {Report[]} reports  must have the right digest if answered */
function demandRight(program, reports, story) {
  const [wrong, ...others] = reports.filter((report) => report.answer && !isRight(report));
  if (!wrong) return;
  const { status, error, body = '' } = wrong.answer ?? {};
  const { digest } = parseJsonBody(body);
  const owner = reports.find(({ job }) => digestOf(job) === digest)?.job.name;
  const isRefused = error || status !== 200;
  const what = isRefused ? (error ?? `status ${status}: ${shorten(body)}`) : shorten(body);
  const isPromise = digest && Object.keys(digest).length === 0;
  demand(false, {
    ...story,
    ...(isPromise && { why: 'JSON makes {} of a promise: nothing has waited for this one.' }),
    got: `${others.length + 1} of ${reports.length} are wrong: the report of ${wrong.job.name} got ${owner ? `the digest of ${owner}` : what}.`,
    ...(isRefused && storyOfExit(program)),
  });
}

/** Blames missing reports on a child that exited by itself. */
function storyOfExit(program) {
  const [exit] = childExitsOf(program);
  const crash = describeCrash(program.events);
  return (
    exit && {
      why:
        crash ??
        `A child exited by itself (exit code ${exit.code}), and a job was on its way to it. A child waits for its next job.`,
      try: crash
        ? 'fix the line that its stack names'
        : 'look in job.js for what ends the child after an answer',
      shows: { program, moments: [momentOf(exit, 'a child exits')] },
    }
  );
}
