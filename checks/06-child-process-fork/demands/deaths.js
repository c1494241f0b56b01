/** What lesson 6 demands when children are killed, at work or idle, and when the server ends. */
import { demand, parseBody, whyOfCrash } from '../../../lib/check/checking.js';
import {
  CHILDREN,
  CHILDREN_ELSEWHERE,
  CROWD,
  LAST_MS,
  SILENT,
  isRight,
  tooBusy,
} from '../looks/jobs.js';
import { faultOfAnswers, shorten, tell } from './jobs.js';

const NAMED_END =
  /\bSIG[A-Z]+|(?<!(?:[Pp]rocess|[Cc]hild|[Pp]id|PID)\W{0,3}|[-\w])(?!503\b)\d{1,3}\b/; // a signal, or an exit code
const CATCH =
  'in server.js: try { ... await pool.run(job) ... } catch (error) { response.status(503).json({ ...job, error: error.message }); }';

export function demandOneFailure(program, crash) {
  const expected =
    'Two children build a report each, others wait. When one child is killed, its report is answered with ' +
    'status 503 and a reason, at once, and all others as if nothing had happened.';
  tell(program, expected, faultOfKilled(crash));
}

/** The same of two children that each have a report. */
export function demandOneOfTwo(program, ofTwo) {
  const expected =
    'Both children have a report, and one child is killed. That report fails, and the other child builds its own, whichever was asked for first.';
  tell(program, expected, faultOfTwo(ofTwo));
}

/** The same of a child that has ended by itself. */
export function demandFailureElsewhere(program, poisoned) {
  const expected =
    'A report whose child ends by itself, here with exit code 0, is answered with status 503 and a reason, and given to no other child.';
  tell(program, expected, faultOfPoisoned(poisoned));
}

/** Of two children at work one was killed. Has the report of the other failed, or is the client of the dead still waiting? */
function faultOfTwo(ofTwo) {
  const bad = ofTwo.find(({ lost, spared }) => lost.error === SILENT || !isRight(spared));
  if (!bad) return undefined;
  const { isLater, lost, spared } = bad;
  const told = ({ error, status }) =>
    error === SILENT ? 'no answer' : (error ?? `status ${status}`);
  return {
    got: `The child with the ${isLater ? 'later' : 'earlier'} of two reports was killed. That report got ${told(lost)}; that of the other child, which lives, ${told(spared)}.`,
    why: "When it was asked for says nothing about which child has a report. The answer that comes later is for nobody, and the dead child's client gets none.",
    try: 'keep the child beside each task in the Map; when a child ends: for (const [id, task] of tasks) if (task.child === child) ...',
    isPlain: true,
  };
}

/** What is wrong with the answer to a report that has ended its child. */
function faultOfPoisoned({ answer, deaths = 0, fate } = /** @type {any} */ ({})) {
  if (deaths === 0 && answer?.error === SILENT)
    return {
      got: 'GET /report?name=adam&name=eve has ended no child. The client is still waiting, and nobody is at work.',
      why: 'The job threw, and the error was swallowed: no message will come, and the child counts as busy for ever.',
      try: "no process.on('uncaughtException') in job.js: let the child end; or send the error, and answer 503",
      isPlain: true,
    };
  if (deaths === 0) return undefined; // the name was refused, or made into one
  const got = 'A report ended its child, with exit code 0 (GET /report?name=adam&name=eve)';
  if (fate) return { got: `${got}. Then the server has ended: ${endOf(fate)}.` };
  if (deaths > 1)
    return {
      got: `${got}, and then another child, to which it was given.`,
      why: 'A job that ends its child ends the next one too, and the next.',
      try: "child.on('exit', ...): reject the task that it was working on; do not queue it again",
      isPlain: true,
    };
  if (answer?.error === SILENT)
    return {
      got: `${got}. The client is still waiting.`,
      why: 'A child that ends by itself has an exit code, and no signal. Whatever the code is, 0 too, no other message will come.',
      try: "child.on('exit', (code, signal) => ...): the same for every code and every signal",
      isPlain: true,
    };
  const fault = faultOfTold(answer);
  return fault && { ...fault, got: `${got}. ${fault.got}`, isPlain: true };
}

/** What is wrong with the answers to the reports whose children were killed, or to those that had to wait. */
function faultOfKilled({ victims, areBusy, ends, isRetried, fate, queued }) {
  const waits = {
    why: "Nobody else will ever answer that request: the child's exit is all that the server hears.",
    try: "child.on('exit', ...): reject the promises of the tasks that this child was working on",
  };
  if (victims.length !== CHILDREN)
    return { ...waits, got: `There were ${victims.length} children at that time.` };
  if (fate)
    return {
      got: `The server itself has ended: ${endOf(fate)}.`,
      why: 'Nothing was thrown: something in it called process.exit(), or sent it a signal.',
      try: "child.on('exit', ...): reject the tasks of this child, and let the server live",
    };
  const bad = ends.find((told) => told.length !== 1 || faultOfTold(told[0]));
  if (bad?.length > 1)
    return {
      got: 'When one child was killed, both reports failed.',
      why: "The other child's task was rejected too.",
      try: 'for (const [id, task] of tasks) if (task.child === child) ...',
    };
  if (bad?.length === 1 && bad[0].error !== SILENT && !parseBody(bad[0].body).digest)
    return faultOfTold(bad[0]);
  if (bad) return { ...waits, ...faultOfSilence(areBusy, isRetried) };
  const failed = queued.filter(({ status }) => status >= 500).length;
  if (failed === 0) return undefined;
  return {
    got: `${failed} of ${queued.length} reports that were only waiting failed too.`,
    why: 'They had been given to the children that were killed, or were mistaken for theirs.',
    try: 'give each child one job at a time; the rest waits in your queue for the next free child',
  };
}

/** No report failed: why not? */
function faultOfSilence(areBusy, isRetried) {
  const got = 'When a child was killed, no report failed: ';
  if (isRetried)
    return {
      got: `${got}another child built it.`,
      why: 'A job that kills its child would kill the next one too, and the next.',
      try: "child.on('exit', ...): reject the task that it was working on; do not queue it again",
    };
  if (areBusy) return { got: `${got}a client is still waiting for it.` };
  return {
    got: `${got}the child had nothing to do, while others waited.`,
    why: 'The jobs are not given to all children.',
    try: 'give the first in the queue to whichever child is idle',
  };
}

/** All of a text, and of JSON what the client has not said itself. @param {string} body */
function toldIn(body) {
  const fields = Object.entries(parseBody(body)); // none in a text
  const told = fields.flatMap(([key, value]) =>
    ['name', 'rows'].includes(key) || value === null ? [] : [value],
  );
  return fields.length > 0 ? JSON.stringify(told) : body;
}

const STATUS_TEXT = 'Service Unavailable'; // what sendStatus(503) says is no reason

/** Does a word stand for what nobody knew? Of exit code and signal one is null, and the other says how a child ended. */
const isEmptyWordIn = (body, told) =>
  /\bundefined\b|\[object /.test(body) || (/\bnull\b/.test(told) && !NAMED_END.test(told));

/** What is wrong with the answer to a report whose child was killed. */
function faultOfTold({ error, status, body }) {
  const told = toldIn(body);
  const saysWhy = /[\p{L}\p{N}]/u.test(told.replace(STATUS_TEXT, ''));
  const isEmptyWord = isEmptyWordIn(body, told);
  if (!error && status === 503 && saysWhy && !isEmptyWord) return undefined;
  const got = `The report of the killed child got ${error ?? `status ${status}`}`;
  const isErrorObject = Object.values(parseBody(body)).some(
    (value) => JSON.stringify(value) === '{}',
  );
  if (error) return { got: `${got} instead of an answer.`, try: CATCH };
  if (status === 503 && isEmptyWord)
    return {
      got: `${got}, and as its reason: ${shorten(body)}`,
      why: body.includes('[object ')
        ? 'In a text an object is [object Object], whatever is in it.'
        : "An exit code and a signal come with 'exit', one of the two; the other is null. No other event of a child has them.",
      try: "child.on('exit', (code, signal) => ...): signal ?? `exit code ${code}`",
    };
  if (status === 503)
    return {
      got: `${got}, and no reason${body && `: ${shorten(body)}`}.`,
      why: isErrorObject
        ? "An Error in JSON is {}: its message isn't one of the properties that JSON.stringify() looks at."
        : 'Somebody who reads the answer, or a log of it, cannot tell what happened, or whether another try may work.',
      try: CATCH,
    };
  const why =
    status === 500
      ? 'An uncaught rejection in a handler makes Express answer 500, with a stack.'
      : 'The promise was resolved instead of rejected, or server.js caught the error but did not answer 503.';
  return { got: `${got}: ${shorten(body)}`, why, try: CATCH };
}

const REPLACED = `After children were killed, at work or idle, ${CHILDREN} build what was queued and what comes later.`;

export function demandReplaced(program, later) {
  tell(program, REPLACED, faultOfLater(later));
}

/** The same when the other child had nothing to do. */
export function demandReplacedBeside(program, besideIdle) {
  tell(program, REPLACED, faultOfBeside(besideIdle) ?? faultOfUnused(besideIdle));
}

/** The same when a job was sent to a dead child. */
export function demandReplacedUnheard(program, dead) {
  tell(program, REPLACED, faultOfDead(program, dead) ?? faultOfAgain(dead));
}

const IN_ORDER =
  'With JOB_CHILDREN=1 the only child is killed at work, and so is the one in its place: one report fails each time, and those that wait are built in the order in which they came.';

/** The same of a program with one child. */
export function demandReplacedInTurn(program, inTurn) {
  tell(program, IN_ORDER, faultOfTurn(inTurn));
}

/** The same when many wait. */
export function demandReplacedInCrowd(program, inCrowd) {
  tell(program, IN_ORDER, faultOfCrowd(inCrowd));
}

/** The same after many deaths. */
export function demandReplacedOften(program, often) {
  const eachTime =
    'With JOB_CHILDREN=1 another child takes the place of each that was killed, however many died before it.';
  tell(program, eachTime, faultOfOften(often));
}

/** Was there one child again, each time? */
function faultOfOften(often) {
  const killed = `${often?.deaths} children had been killed, one after the other, and each had built reports.`;
  return faultOfNumber(often, killed, {
    why: 'A limit on total deaths ends the pool one day, however far apart they are.',
    try: 'no count of deaths: start another child whenever there are fewer than size',
  });
}

/** The same of one whose child has ended by itself. */
export function demandReplacedElsewhere(program, poisoned) {
  const asMany = `After a child has ended by itself, here with exit code 0, ${CHILDREN_ELSEWHERE} build what comes later.`;
  tell(program, asMany, faultOfAfter(poisoned));
}

/** The only child was killed while three hundred reports waited: it had one of them, or that of a client that had hung up. */
function faultOfCrowd({ failed, most }) {
  if (failed <= most) return undefined;
  if (failed === 1)
    return {
      got: `The only child stood still with a report whose client had hung up. It was killed while ${CROWD} others waited, and one of them failed.`,
      why: 'It was sent to the child, which still had the other one to build: a client that hangs up tells a child nothing. However many wait, what is in its channel dies with it.',
      try: "a child is idle again when its answer comes, and not before: no 'close' of a request or response frees it",
      isPlain: true,
    };
  return {
    got: `The only child was killed once more, while ${CROWD} reports waited, and ${failed} of them failed.`,
    why: 'The more wait, the more were sent to a child in advance. What is in its channel cannot be given to another, and dies with it.',
    try: 'however long the queue is: child.send() only to a child that has nothing to do',
    isPlain: true,
  };
}

/** Is there another child in the place of the one that had ended by itself, and of those that did so after it? */
function faultOfAfter({ more = [], after } = /** @type {any} */ ({})) {
  const silent = more.filter(({ error }) => error === SILENT).length;
  if (silent > 0)
    return {
      got: `A report ended its child, with exit code 0 (GET /report?name=adam&name=eve), and then ${more.length} more like it were asked for at once. ${silent} of these clients are still waiting.`,
      why: 'The place of a dead child stays taken, or after some deaths in a row no other is started. Whoever asks now waits for ever, and nobody hears about it.',
      try: 'forget each child that has ended, whatever its exit code, count no deaths, and start another whenever there are fewer than size',
      isPlain: true,
    };
  const got = after && faultOfBoth(after);
  return (
    got && {
      got: `A report ended its child, with exit code 0 (GET /report?name=adam&name=eve), and then ${more.length} more did the same. After that: ${got}`,
      why: 'A child that has ended is gone, whatever its exit code was, and however many have ended before it. Its place stays taken, or empty, until somebody frees it.',
      try: "child.on('exit', (code, signal) => ...): the same for every code and every signal",
      isPlain: true,
    }
  );
}

const TWICE = {
  why: "One death can bring several events, 'error', 'disconnect', 'exit': count each of them, or start a child for each, and you have one too many from then on.",
  try: 'keep the children in a Set, and begin with: if (!children.delete(child)) return;',
};

/**
 * Are there as many children as before, and do they build what they should?
 * @param {any} both  what was seen; nothing: it did not come to that
 * @param {string} before  what had happened
 * @param {{ why: string, try: string }} [tooFew]  what to say, unless there is one too many
 */
function faultOfNumber(both, before, tooFew = FREED) {
  const got = both && faultOfBoth(both);
  const story = () => (both.alive > both.size ? TWICE : tooFew);
  return got && { got: `${before} After that: ${got}`, ...story(), isPlain: true };
}

const faultOfBeside = (besideIdle) =>
  faultOfNumber(besideIdle?.both, 'A child was killed at work, while another had nothing to do.');

const faultOfAgain = (dead) =>
  faultOfNumber(
    dead?.again,
    'Children that had nothing to do were killed, and a job was sent to one before the server had heard about that.',
  );

/** A child was killed at work, while the other had nothing to do. Is one without a job now? */
function faultOfUnused({ unused = [] } = /** @type {any} */ ({})) {
  if (unused.length === 0) return undefined;
  return {
    got: `A child was killed at work, while another had nothing to do. After that a report waited, and child ${unused.join(', ')} had nothing to do.`,
    why: "indexOf() of a child that isn't in the list is -1, and splice(-1, 1) removes the last one, which is alive.",
    try: 'if (idle.includes(child)) idle.splice(idle.indexOf(child), 1);',
  };
}

/** What is wrong with the reports that waited while the only child was killed, and then its successor. */
function faultOfTurn({ wanted, ended, kills }) {
  const numberOf = ({ name }) => wanted.indexOf(name) + 1;
  const failed = ended.filter(({ status }) => status !== 200);
  if (failed.length > kills)
    return {
      got: `${kills} children were killed, and report ${failed.map(numberOf).join(', ')} of ${wanted.length} failed.`,
      why: 'The child that took the place of the dead one had more than one report at a time.',
      try: 'put the new child into the list of idle children once; take it out before child.send()',
      isPlain: true,
    };
  const order = ended.map(numberOf);
  if (order.every((number, index) => number === index + 1)) return undefined;
  return {
    got: `They ended in this order: ${order.join(' ')}.`,
    why: 'The child that takes the place of a dead one begins with a report that came later, or with one that did not have to wait at all.',
    try: 'queue.shift() wherever a task leaves the queue: the one that has waited longest; and whoever comes while others wait goes to its end',
    isPlain: true,
  };
}

/** What became of a job that was sent to a child that was already dead, before the server had heard of it. */
function faultOfDead({ events }, dead) {
  if (!dead || isRight(dead.answer)) return undefined;
  const { answer, fate } = dead;
  const when =
    'A child that had nothing to do was killed, and a job was sent to it before the server had heard about that';
  const fault = fate ? { got: `The server has ended: ${endOf(fate)}.` } : faultOfTold(answer);
  return (
    fault && {
      got: `${when}. ${fault.got}`,
      why:
        whyOfCrash(events) ??
        'child.send() failed, and nothing told the task that waits for the answer.',
      try: "child.on('error', ...): it comes when a message cannot be sent; treat it like 'exit'",
      isPlain: true,
    }
  );
}

const endOf = ({ signal, code }) => signal ?? `exit code ${code}`;

const FREED = {
  why: 'The place of a dead child stays empty, or taken, until somebody frees it.',
  try: "child.on('exit', ...): forget the child, then give what is queued to another",
};

/** What is wrong with the queue, then with later reports, and then with those that came when an idle child was killed. */
function faultOfLater({ queued, after, idle, unused = [] }) {
  const got = faultOfAnswers(queued) ?? faultOfBoth(after);
  if (got) return { got, ...FREED };
  const idleGot = faultOfBoth(idle);
  const killed = 'A child that had nothing to do was killed. After that';
  if (idleGot)
    return {
      got: `${killed}: ${idleGot}`,
      why: 'The dead child is still in the list of idle children, and was given a job.',
      try: "child.on('exit', ...): remove the child from the list of idle children, too",
    };
  if (unused.length === 0) return undefined;
  return {
    got: `${killed} a report waited, and child ${unused.join(', ')} had nothing to do.`,
    why: 'It is alive, it takes memory, and it is in no list any more: nobody gives it a job, and nobody starts another for it.',
    try: 'idle.splice(idle.indexOf(child), 1): the dead child leaves the list, and no other',
  };
}

/** Were the reports right, and were the children as many then as the reports? */
function faultOfBoth({ answers, alive, depth, size }) {
  const fault = faultOfAnswers(answers);
  if (fault || alive === size) return fault;
  if (alive < size && depth < size)
    throw tooBusy('Reports that were asked for at once came one after the other.');
  return `There are ${alive} children now.`;
}

/** @param {any} end  undefined: there was no such end */
export function demandNoneLeft(end) {
  if (!end) return;
  const { signal, output, hasEnded, left, isEarly, isUnasked, crash } = end;
  const expected = 'When the server ends, its children end too.';
  demand(hasEnded, {
    output,
    expected,
    got: `The server did not end within ${LAST_MS / 1000} s of ${signal}.`,
    why: 'It listens for this signal, and does not end.',
    try: 'process.exit() when the children have been told',
  });
  const pids = left.join(', ');
  demand(left.length === 0 || !isEarly, {
    output,
    expected,
    got: `The server was killed before its child had loaded job.js, and the child is still there (pid ${pids}).`,
    why: "The channel was closed before process.on('disconnect', ...) had run, and an event that nobody listens for yet is lost.",
    try: 'in job.js, as its last line: if (!process.connected) process.exit();',
  });
  demand(left.length === 0 || !isUnasked, {
    output,
    expected,
    got: `The server was killed before anybody had asked for a report, and its child is still there (pid ${pids}).`,
    why: "A child listens for 'disconnect' from its first line on, or it misses the end of a server that never sent it a job.",
    try: "in job.js, outside all handlers: process.on('disconnect', () => process.exit());",
  });
  demand(left.length === 0, {
    output,
    expected,
    got: `After ${signal} to the server ${left.length} of its children are still there (pid ${pids}).`,
    why: 'A timer, a server or a connection keeps a child alive without its parent, for ever.',
    try: "in job.js: process.on('disconnect', () => process.exit()); if (!process.connected) process.exit();",
  });
  demand(!crash, {
    expected:
      'When the server is killed while a child has a report to build, that child ends, too, and throws nothing.',
    got: `The child threw: ${shorten(crash?.error.split('\n')[0] ?? '')}`,
    why: "A failed process.send() emits an 'error' event that nobody listens for, unless its callback takes the error: a stack in the log for each child, whenever the server dies.",
    try: 'in job.js: process.send(answer, () => {})',
  });
}
