/**
 * What lesson 3 demands of what was seen, a function for each promise; for the last, see counts.js.
 */
import {
  Undecided,
  demand,
  eventsOf,
  forksOf,
  groupBy,
  momentOf,
  whyOfCrash,
} from '../../../lib/check/checking.js';
import {
  CONNECTIONS,
  KEPT,
  LEAST_BUSY_MS,
  MOST_BUSY_MS,
  WORKERS,
  hasForked,
  isCycle,
  isUp,
} from '../looks/policies.js';

export const ONE_LISTENER =
  "one process.on('message', ...) outside the route, and an array of the responses that wait: waiting.shift().json(counts)";
const NONE = 1; // cluster.SCHED_NONE
const MARKED = 3; // moments, of many of a kind

const crashIn = ({ events }) => momentOf(eventsOf(events, 'crash')[0], 'throws');

/** Connections that were not accepted as they should have been. */
const acceptedOtherwise = ({ events }, how) =>
  eventsOf(events, 'connection')
    .filter((one) => one.how !== how)
    .slice(0, MARKED)
    .map((one) => momentOf(one, HOWS[one.how] ?? 'accepts'));

const HOWS = {
  handed: 'a connection that the primary has accepted',
  kernel: 'accepts a connection by itself',
  dealt: 'a connection that was dealt by hand',
};

/**
 * For a program that is not ready: adds what to do about an error that this lesson is known for.
 * @returns {never}
 */
export function tellHint(error, { events }) {
  const hint = hintOf(events.find(({ what }) => what === 'crash')?.error ?? '');
  if (hint && error.story) error.story.try = hint;
  throw error;
}

/** If a process has died, that explains the rest. */
export function storyOfCrash(events = []) {
  const why = whyOfCrash(events);
  const { error } = events.find(({ what }) => what === 'crash') ?? {};
  return why && { why, try: hintOf(error) ?? 'repair what was thrown first' };
}

/** What to do about the errors that this lesson is known for. */
function hintOf(stack) {
  if (/object Module/.test(stack)) return "import cluster from 'node:cluster', without the star";
  if (/Bad cluster\.schedulingPolicy/.test(stack))
    return 'cluster.SCHED_NONE or cluster.SCHED_RR, not its name';
  if (/ERR_HTTP_HEADERS_SENT/.test(stack)) return ONE_LISTENER;
  return /TypeError[^]*\bWorker\.emit/.test(stack)
    ? "worker.on('message', (message) => ...): only cluster.on('message', (worker, message) => ...) has the worker first"
    : undefined;
}

export function demandRoundRobin(program, { hows }) {
  const { events } = program;
  const forks = forksOf(events).length;
  demand(forks === WORKERS && isAll(hows, 'handed'), {
    expected: 'Four workers; the primary accepts each connection and hands it to one of them.',
    got: forks === WORKERS ? whoAccepted(hows) : `It forked ${forks} workers, not 4.`,
    why: whyNotRr(events),
    try: 'cluster.schedulingPolicy = cluster.SCHED_RR; before the first cluster.fork()',
    ...storyOfCrash(events),
    shows: {
      program,
      moments: [
        crashIn(program),
        ...(forks === WORKERS ? acceptedOtherwise(program, 'handed') : forksShown(events)),
      ],
    },
  });
}

/** Those that are too many; of too few the last. */
const forksShown = (events) => {
  const all = forksOf(events);
  const shown = all.length > WORKERS ? all.slice(WORKERS, WORKERS + MARKED) : all.slice(-1);
  return shown.map((fork) => momentOf(fork, `fork number ${all.indexOf(fork) + 1}`));
};

const isAll = (hows, how) => hows.length > 0 && hows.every((each) => each === how);

/** Who accepted, in words. */
function whoAccepted(hows) {
  const words = {
    handed: 'The primary accepts connections and hands them over (rr).',
    kernel: 'The process that answers has accepted the connection itself (none).',
    dealt: 'Connections are dealt by hand, not by the cluster module.',
  };
  const seen = [...new Set(hows)].map((how) => words[how] ?? 'Nobody accepts the connection.');
  return seen.join(' And: ');
}

/** What cluster.schedulingPolicy read as, a moment after the last fork. */
const policyOf = (events) => forksOf(events).at(-1)?.policy;

function whyNotRr(events) {
  if (policyOf(events) === NONE)
    return 'Neither --policy nor NODE_CLUSTER_SCHED_POLICY was given, so it should be rr.';
  return "The policy may be rr, but connections don't come through it: workers listen with exclusive or reusePort, or not at all, or something else deals.";
}

export function demandCycle(program, inTurn) {
  const { pids, requests } = inTurn;
  const odd = pids.findIndex((pid, index) => index >= WORKERS && pid !== pids[index % WORKERS]);
  const fault = faultOfAnswers(inTurn);
  demand(!fault && isCycle(pids), {
    expected: `${CONNECTIONS} connections, ${CONNECTIONS / WORKERS} for each worker, in a cycle; / says who answered.`,
    got: fault ?? `The workers that executed them got ${sharesOf(pids).join(', ')}.`,
    why: 'The primary deals to the worker that has been free for longest. What a worker accepts, it should answer itself.',
    try: 'app.listen(port) in each worker, and process.pid as the answer',
    ...storyOfCrash(program.events),
    shows: {
      program,
      moments: fault
        ? [crashIn(program)]
        : [momentOf(requests[odd], `request ${odd + 1}: another worker had its turn`)],
    },
  });
}

function faultOfAnswers({ answers, pids }) {
  const index = answers.findIndex(
    ({ error, body }, at) => error || body.trim() !== String(pids[at]),
  );
  if (index < 0) return undefined;
  const { error, body } = answers[index];
  if (error) return `A request for / failed: ${error}.`;
  const who = pids[index] ? `Process ${pids[index]}` : 'A process that was not seen';
  return `${who} answered a request for / with "${body.slice(0, 40)}", not with its pid.`;
}

const sharesOf = (pids) => [...groupBy(pids, (pid) => pid).values()].map(({ length }) => length);

/** shared: how many workers listen on a socket that the primary opened for all. */
export function demandNone(program, { hows }, shared) {
  const { events } = program;
  const isOwn = isAll(hows, 'kernel');
  demand(isOwn && shared === WORKERS, {
    expected: 'The four workers share the listening socket of the primary and accept from it.',
    got: isOwn ? `${shared} of 4 listen on a socket that the primary opened.` : whoAccepted(hows),
    why: isAll(hows, 'handed') ? whyNotNone(events) : 'Under none all share one socket.',
    try: 'cluster.schedulingPolicy = choosePolicy(); in the primary, before the first cluster.fork()',
    ...storyOfCrash(events),
    shows: { program, moments: [crashIn(program), ...acceptedOtherwise(program, 'kernel')] },
  });
}

function whyNotNone(events) {
  return policyOf(events) === NONE
    ? 'cluster.schedulingPolicy reads as SCHED_NONE, but it was set too late: the first fork() or setupPrimary() had fixed it.'
    : 'In the primary, cluster.schedulingPolicy was never SCHED_NONE. What a worker sets has no effect, and neither does an option of setupPrimary().';
}

export function demandChoices(choices) {
  const wrong = choices.find(({ how, wanted }) => how !== wanted);
  demand(!wrong, {
    expected: `${wrong?.name}: ${whoAccepted([wrong?.wanted])}`,
    got: wrong?.how ? whoAccepted([wrong.how]) : whyNobody(wrong ?? {}),
    why: 'The person who starts the program by hand knows best; the environment comes next; rr is for when neither says anything.',
    try: "values.policy ?? process.env.NODE_CLUSTER_SCHED_POLICY ?? 'rr'",
    ...storyOfCrash(wrong?.events),
    shows: wrong && {
      program: wrong.program,
      moments: [crashIn(wrong), momentOf(wrong.listener, `listens (${wrong.how})`)],
    },
  });
}

/** Without a worker that listens. */
function whyNobody({ fate, output = '', errors = '' }) {
  if (fate?.kind !== 'ended') return 'It runs, but no worker listens.';
  const said = (withoutWarnings(errors) || output).trim().split('\n')[0];
  const end = fate.signal ? `was ended by ${fate.signal}` : `ended with exit code ${fate.code}`;
  return `It ${end} before a worker listened${said && `, and said: ${said}`}`;
}

export function demandRefusals(ends) {
  for (const { name, ...end } of ends) {
    const isCrash = /ERR_INTERNAL_ASSERTION/.test(whyOfCrash(end.events) ?? '');
    const fault = faultOfRefusal(end, isCrash);
    demand(!fault, {
      expected: 'a message on stderr, exit code 1, and no worker',
      got: `${name}: ${fault}`,
      why: isCrash
        ? "It went on to fork. Node.js ignores a value that it does not know, but throws when cluster.schedulingPolicy isn't one of the module's constants."
        : "Nobody notices that a policy isn't the one they asked for; a worker that has started may already have clients.",
      try: "if (name !== 'rr' && name !== 'none') { console.error(...); process.exit(1); }, above the first fork",
      shows: { program: end.program, moments: refusalShown(end) },
    });
  }
}

/** What it started; else what it threw, or its end. */
function refusalShown({ program, events }) {
  const begun = events.find(({ what }) => ['child', 'listening'].includes(what));
  const end = events.find(({ what, pid }) => what === 'exit' && pid === program.pid);
  if (begun) return [momentOf(begun, begun.what === 'child' ? 'starts a process' : 'listens')];
  return [crashIn(program) ?? momentOf(end, `ends with exit code ${end?.code}`)];
}

function faultOfRefusal({ fate, events, output, errors }, isCrash) {
  if (isUp(events)) return `it ${hasForked(events) ? 'forked a worker' : 'listens'} all the same.`;
  if (fate?.kind !== 'ended') return 'it neither started nor refused.';
  if (fate.signal) return `it was ended by ${fate.signal}.`;
  if (fate.code === 0) return 'it forked no workers and ended as if all were well (exit code 0).';
  if (isCrash) return 'it crashed inside Node.js, with a stack trace.';
  if (fate.code !== 1) return `it refused with exit code ${fate.code}, not 1.`;
  const slip = slipOf(events);
  if (slip) return `it ended because of a bug, ${slip}`;
  if (withoutWarnings(errors) !== '') return undefined;
  return output.trim() === ''
    ? 'it ended, but did not say why.'
    : 'it said why on stdout, where a script looks for results; errors belong on stderr.';
}

/** What JavaScript throws at a mistake, such as a name that does not exist; a program that refuses by throwing uses its own words. */
const SLIP = new RegExp(
  '^(ReferenceError: .* (is not defined|before initialization)|' +
    'TypeError: (Cannot ((read|set|destructure) propert|convert (undefined|a |object))|Assignment to constant |.* is not (a function|a constructor|iterable)))',
);

function slipOf(events) {
  const [error] = (events.find(({ what }) => what === 'crash')?.error ?? '').split('\n');
  return SLIP.test(error) ? error : undefined;
}

/** A remark by Node.js itself isn't a refusal. */
const withoutWarnings = (errors) => errors.replace(/^\((node:\d+|Use `node).*$/gm, '').trim();

export function demandPinned({ answers, pids, opened, requests }, program) {
  const [first, second] = [pids[0], pids[KEPT]];
  const isClosed = opened !== 2 && `${answers.length} requests took ${opened} connections, not 2.`;
  const fault = isClosed || faultOfAnswers({ answers, pids });
  demand(!fault && first !== second, {
    expected: `${KEPT} requests on one connection: one worker. On a second connection: another worker.`,
    got: fault ?? `Both connections went to process ${first}.`,
    why: 'A policy deals connections, not requests, and a connection stays open for the next request.',
    try: 'no "Connection: close" and no keepAliveTimeout: leave connections as Node.js handles them',
    shows: {
      program,
      moments: fault
        ? []
        : [
            momentOf(requests[0], 'the first connection'),
            momentOf(requests[KEPT], 'the second, at the same worker'),
          ],
    },
  });
}

export function demandSkipped(look, program) {
  const fault = faultOfBlocked(look) ?? faultOfWaiting(look);
  demand(!fault, {
    expected:
      'While a worker is in /block it answers nothing else and traps at most one connection; while one is in /wait it gets its share.',
    got: fault,
    why: 'The primary deals a worker its next connection when it has taken the last one. A blocked worker takes none.',
    try: 'blockFor(500); in /block, setTimeout(..., 500) in /wait, as the starter has them',
    shows: {
      program,
      moments: [
        momentOf(look[faultOfBlocked(look) ? 'blocked' : 'waiting'].request, 'the busy worker'),
      ],
    },
  });
  const isLate = [look.blocked, look.waiting].some(({ tookMs }) => tookMs > MOST_BUSY_MS);
  if (!look.isThrough || isLate) throw tooSlow();
}

function faultOfBlocked({ blocked: { fault, own, trapped, tookMs }, isThrough, starvedMs }) {
  if (fault) return fault;
  if (own > 0) return `The worker in /block answered ${own} other requests meanwhile.`;
  if (isNotHalfASecond(tookMs, starvedMs)) return `/block took ${Math.round(tookMs)} ms, not 500.`;
  return !isThrough && trapped > 1
    ? `The blocked worker trapped ${trapped} connections.`
    : undefined;
}

/** What others took of the time does not count. */
const isNotHalfASecond = (ms, starvedMs) => ms < LEAST_BUSY_MS || ms - starvedMs > MOST_BUSY_MS;

function faultOfWaiting({ waiting: { fault, own, tookMs }, isThrough, starvedMs }) {
  if (fault) return fault;
  if (isNotHalfASecond(tookMs, starvedMs)) return `/wait took ${Math.round(tookMs)} ms, not 500.`;
  const rest = 'while a client of the others got all its answers.';
  return isThrough && own === 0 ? `The worker in /wait answered nothing else, ${rest}` : undefined;
}

const tooSlow = () =>
  new Undecided({
    got: 'The requests sent while a worker was busy for 500 ms came too late to tell.',
    why: 'Other programs keep this machine busy.',
    try: 'close other programs, then check again',
  });
