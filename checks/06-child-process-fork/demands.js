/** Lesson 6: what must follow from what looks.js did, in the sentences that a learner reads. */
import {
  demand,
  demandInTime,
  eventsOf,
  howItEnded,
  momentOf,
  parseBody,
  requestsOf,
  whyOfCrash,
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

const FORK = "fork(new URL('./job.js', import.meta.url))";
const TIMES = ['only when', 'only once before', 'only twice before'];
const ON_EXIT = "child.on('exit', (code, signal) => ...)";

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
    try: "in job.js: process.on('message', ({ id, job }) => process.send({ id, digest: ... }, () => {}))",
  });
  demandRight(program, [report], {
    expected,
    why: 'run(job) must resolve with the digest itself, not with the whole message or with another value.',
    try: "child.on('message', ({ id, digest }) => ...): resolve(digest)",
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
    try: `${FORK} in place of new Worker(...)`,
  });
  demand(starts.length > 0, {
    ...story,
    got: 'The report was built, and the server had started no other process.',
    why: 'An async function still runs on the thread that calls it, and keeps all other requests waiting.',
    try: `${FORK}, and process.on('message', ...) in job.js`,
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
    try: "leave app.get('/', ...) in server.js as it was",
  });
  demandInTime(besides >= ENOUGH_HOMES || !reports.every(isRight), {
    expected,
    got: `/ was answered ${TIMES[besides]} all four were built.`,
    why: 'The server builds reports itself, or blocks its event loop while another process builds them.',
    try: "child.send({ id, job }), and child.on('message', ...): neither waits for the child",
  });
}

export function demandMatch(program, { reports }) {
  const expected =
    'Of 20 reports asked for at once, each gets the digest of its own name and rows.';
  demandRight(program, reports, {
    expected,
    why: 'Children finish in any order, and the answers were matched by the order of the questions.',
    try: 'a Map from id to the promise that waits; the child sends the id back with the digest',
  });
  demandAnswer(program, reports, {
    expected,
    why: 'A child that is done gets nothing new from the queue, or nothing listens for its second answer.',
    try: 'after each answer, put the child back into the idle list and give it the next job of the queue',
  });
}

/** One child stood still while the other built. */
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
      try: 'queue.push() when a job comes, queue.shift() when a child is idle',
      shows: {
        program,
        moments: ended.slice(0, 3).map((request) => momentOf(request, 'a report')),
      },
    },
  );
}

/** One child stood still: it had one report, and the others waited for no child in particular. */
function demandHandedOut({ count, waiting }, expected) {
  demandInTime(waiting > 0, {
    expected,
    got: `One child was frozen, and all ${count} reports were built: it had none.`,
    why: 'This child is alive, but it is not in the list of idle children, so it never gets a job.',
    try: 'take out of the list the child that gets the job, and no other: idle.pop(), not idle.at(-1)',
  });
  demandInTime(waiting <= 1, {
    expected,
    got: `${waiting} of ${count} waited for the frozen child.`,
    why: 'They were sent to it in advance, or no other child gets any. What waits in a channel cannot go to another child, and is lost if this child dies.',
    try: 'child.send() only to an idle child; all other jobs wait in one queue, for whichever child is idle first',
  });
}

export function demandSize({ started }) {
  const setting = `With JOB_CHILDREN=${CHILDREN}, on a machine with ${CORES} cores`;
  const expected = `${setting}, the server starts ${CHILDREN} children, and they build all reports.`;
  const got = `After 25 reports it had started ${started}.`;
  demand(started <= CHILDREN, {
    ...{ expected, got },
    why: 'Each child takes time to start, and memory. More children than cores only wait for each other.',
    try: 'start a child only while there are fewer than size; a child that has answered builds the next report',
  });
  demandInTime(started === CHILDREN, {
    ...{ expected, got },
    why: 'Reports wait in the queue although another child could build them.',
    try: 'while jobs wait and there are fewer children than size, start one',
  });
}

export function demandNoListeners(crowd) {
  demand(!crowd, {
    expected: 'When all reports are answered, they have left no listener behind.',
    got: `On one object, ${crowd?.listeners} listeners for '${crowd?.crowded}' are left.`,
    why: 'Each job adds a listener that nothing removes: memory grows, and each event goes to all of them.',
    try: 'add listeners once, where the child is started; a Map from id to promise finds the job',
  });
}

/** Two children had a report, two more waited, and one child was killed. */
export function demandOneFailure(program, { atWork, queued, fate }) {
  const expected =
    'Two children build a report each, two more reports wait, and one child is killed. One report gets status 503; the other three are built.';
  demandServer(program, fate, expected);
  const [failed, others] = [atWork, queued].map((some) => some.filter(hasFailed));
  demand(others.length === 0, {
    expected,
    got: `${others.length} of the two reports that only waited failed as well.`,
    why: 'They had not been sent to any child yet, so another child can still build them.',
    try: 'reject the tasks of the child that exited, and leave the queue alone',
  });
  demand(failed.length <= 1, {
    expected,
    got: 'The reports of both children failed.',
    why: 'One of these children is alive, and its report will come.',
    try: 'for (const [id, task] of tasks) if (task.child === child) ...: reject no other',
  });
  demand(failed.length === 1 || !atWork.every(isRight), {
    expected,
    got: 'No report failed: another child built the one that was lost.',
    why: 'If the job itself kills its child, it kills the next child too, and the next.',
    try: `${ON_EXIT}: reject the task; don't queue it again`,
  });
  demandInTime(failed.length === 1, {
    expected,
    got: 'No report failed, and one client still waits for an answer.',
    why: "The answer will never come. The child's 'exit' is all that the server hears.",
    try: `${ON_EXIT}: reject the promise of the task that this child was working on`,
  });
  demand503(failed[0], expected);
}

const hasFailed = (/** @type {Report} */ report) => report.answer !== undefined && !isRight(report);

function demandServer(program, fate, expected) {
  demand(!fate, {
    expected,
    got: `The server itself exited (${howItEnded(fate ?? {})}).`,
    why: whyOfCrash(program.events) ?? 'It called process.exit(), or sent itself a signal.',
    try: "in a listener of a child, don't throw: reject the task, and let the server live",
  });
}

/** @param {Report} report  whose child has exited */
function demand503({ answer }, expected) {
  const { error, status, body = '' } = answer ?? {};
  demand(!error, {
    expected,
    got: `Its client got no answer, but ${error}.`,
    why: 'The client cannot tell a dead child from a dead server or a bad network.',
    try: 'in server.js: catch (error) { response.status(503).json({ ...job, error: error.message }); }',
  });
  demand(status !== 500, {
    expected,
    got: `Its client got status 500: ${shorten(body)}`,
    why: 'Express answers 500, with a stack, when a handler throws or its promise is rejected.',
    try: 'in server.js: try { ... await pool.run(job) ... } catch (error) { ... }, with status 503',
  });
  demand(status === 503, {
    expected,
    got: `Its client got status ${status}: ${shorten(body)}`,
    why: 'A load balancer, a cache or a client that looks at the status takes this for a report.',
    try: 'reject the promise when the child exits; in server.js: response.status(503)',
  });
}

const shorten = (/** @type {string} */ body) =>
  body.replaceAll(/\s+/g, ' ').slice(0, 99) || 'an empty body';

/** A job threw in its child. */
export function demandFailureOfPoison(program, { answer, deaths, fate }) {
  const expected =
    'A report whose job throws (GET /report?name=adam&name=eve) costs one child (exit code 1), and gets status 503.';
  const output = program.output();
  demandServer(program, fate, expected);
  demand(deaths <= 1, {
    ...{ expected, output },
    got: 'Its child exited, and so did another child, which got the same job.',
    why: 'One such request takes all children, again and again.',
    try: `${ON_EXIT}: reject the task, whether there is a code or a signal`,
  });
  const story = { expected, output };
  demandInTime(answer || deaths > 0, {
    ...story,
    got: 'No child exited, and the client still waits for an answer.',
    why: 'The error was swallowed in the child: no message comes, and the pool takes the child for busy.',
    try: "in job.js: no process.on('uncaughtException'); let the child exit",
  });
  demandInTime(answer, {
    ...story,
    got: 'Its child exited with an exit code, and the client still waits for an answer.',
    why: 'A child that exits by itself has an exit code and no signal.',
    try: `${ON_EXIT}: handle both alike`,
  });
  if (deaths === 1) demand503({ job: { name: 'adam', rows: 10 }, answer }, expected);
}

/** The place of the crashed child is filled. */
export function demandAfterPoison(program, { after }) {
  demandInTime(after.every(isRight), {
    expected:
      'JOB_CHILDREN=1, and a job ends the only child with exit code 1. The report that waits behind it is built by another child.',
    got: 'The report that waited was not built.',
    why: 'The pool still counts the child that crashed, or nothing hands out the queue after an exit.',
    try: `${ON_EXIT}: forget the child, then hand out what waits`,
    output: program.output(),
  });
}

const REPLACED =
  'When a child is killed, another takes its place: two children build what waits, and what comes later.';

export function demandQueueGoesOn(program, { queued }) {
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
        ? `${ON_EXIT}: hand out what waits in the queue`
        : `${ON_EXIT}: remove the child, and don't put it back into the idle list`,
  });
}

/** Do two children work again? @param {string} before  what was done to one */
export function demandReplaced(program, { reports, waiting, children }, before) {
  const count = reports.length;
  demand(children.length <= CHILDREN, {
    expected: REPLACED,
    got: `${before} Now there are ${children.length} children.`,
    why: "One exit can bring several events ('error', 'exit'), and a child was started for each.",
    try: 'keep the children in a Set, and begin with: if (!children.delete(child)) return;',
  });
  demandInTime(waiting > 0, {
    expected: REPLACED,
    got: `${before} Then one of two children was frozen, and all ${count} reports were built: it had none.`,
    why: "A child that lives has left the list of idle children. indexOf() of one that isn't in the list is -1, and splice(-1, 1) removes the last.",
    try: 'if (idle.includes(child)) idle.splice(idle.indexOf(child), 1);',
  });
  demandInTime(waiting <= 1, {
    expected: REPLACED,
    got: `${before} Then one child was frozen, and ${waiting} of ${count} reports waited for it.`,
    why: 'No other child is there, or gets a job: the place of the killed child was never freed.',
    try: `${ON_EXIT}: forget the child, so that there are fewer than size`,
  });
}

export function demandIdleReplaced(program, { reports }) {
  const story = {
    expected: REPLACED,
    why: 'The child that is gone was still in the list of idle children, and got a job.',
    try: `${ON_EXIT}: remove the child from the list of idle children`,
  };
  const failed = reports.filter((report) => !isRight(report)).length;
  const got = `A child that had nothing to do was killed. Of the ${reports.length} reports asked for next, ${failed} got no digest.`;
  demand(!reports.some(hasFailed), { ...story, got });
  demandInTime(failed === 0, { ...story, got });
}

/** A job was sent to a child that was gone, before the server had heard of that. */
export function demandUnheard(program, { reports, after, fate }) {
  const expected =
    'A job is sent to a child that has just been killed. The server lives, and that report gets status 503, or another child builds it.';
  demand(!fate, {
    expected,
    got: `The server itself exited (${howItEnded(fate ?? {})}).`,
    why: "child.send() failed, and the child object emitted 'error', which nothing listened for.",
    try: "child.on('error', ...): treat it like 'exit'",
  });
  demandAnswer(program, [...reports, ...after], {
    expected,
    why: 'child.send() failed, and the task that waits for the answer was never rejected.',
    try: "child.on('error', ...): reject the task, as on 'exit'",
  });
  demandRight(program, after, {
    expected: REPLACED,
    why: 'Both children were killed with nothing to do, and later reports are not built.',
    try: `${ON_EXIT}: forget the child; start others when jobs come`,
  });
}

export function demandNoneLeft(program, { left, stayed }) {
  const story = {
    expected: 'The server is killed (SIGKILL), and its children exit.',
    got: `${left.length === 1 ? 'A child is' : `${left.length} children are`} still there (pid ${left.join(', ')}).`,
    why: 'After SIGKILL no line of the server runs. A timer keeps the child alive.',
    try: "in job.js: process.on('disconnect', () => process.exit());",
    output: program.output(),
  };
  demand(stayed.length === 0, story);
  demandInTime(left.length === 0, story);
}

/** Each has been answered, with whatever. @param {Report[]} reports */
function demandAnswer(program, reports, story) {
  const missing = reports.filter(({ answer }) => !answer).length;
  const got = `${missing} of ${reports.length} got no answer, and no process is working on one.`;
  demandInTime(missing === 0, { got, ...story, ...storyOfExit(program) });
}

/** What was answered is right. @param {Report[]} reports */
function demandRight(program, reports, story) {
  const [wrong, ...others] = reports.filter((report) => report.answer && !isRight(report));
  if (!wrong) return;
  const { status, error, body = '' } = wrong.answer ?? {};
  const { digest } = parseBody(body);
  const owner = reports.find(({ job }) => digestOf(job) === digest)?.job.name;
  const isRefused = error || status !== 200;
  const what = isRefused ? (error ?? `status ${status}: ${shorten(body)}`) : shorten(body);
  demand(false, {
    ...story,
    got: `${others.length + 1} of ${reports.length} are wrong: the report of ${wrong.job.name} got ${owner ? `the digest of ${owner}` : what}.`,
    ...(isRefused && storyOfExit(program)),
  });
}

/** A child that has exited by itself is why a report is missing. */
function storyOfExit(program) {
  const [exit] = childExitsOf(program);
  const crash = whyOfCrash(program.events);
  return (
    exit && {
      why:
        crash ??
        `A child exited by itself (exit code ${exit.code}), and a job was on its way to it. A child waits for its next job.`,
      try: crash
        ? 'fix the line that its stack names'
        : 'in job.js: no process.exit() after process.send()',
      shows: { program, moments: [momentOf(exit, 'a child exits')] },
    }
  );
}
