/** Lesson 3: judges what looks.js saw, in the sentences that a learner reads. */
import {
  demand,
  demandInTime,
  eventsOf,
  firstOf,
  forksOf,
  howItEnded,
  momentOf,
  describeCrash,
} from '../../lib/check/checking.js';
import { CONNECTIONS, WORKERS } from './looks.js';

const NONE = 1; // cluster.SCHED_NONE
const MARKED = 3; // moments of a kind in the X-ray
const SET =
  "look at the primary's branch: where is the policy set, and has anything been forked by then?";
const SEND =
  'look at the route of /: it reports each request, with a count that outlives the request';
const HEAR =
  'look at where the primary listens for messages: once, before it forks, and the worker is the first argument';
const ARGUMENTS =
  "cluster.on('message') gives the worker, then the message; worker.on('message') gives the message alone.";
/** A TypeError while Node.js passes a message on. */
const IN_LISTENER = /^TypeError[^]*\bat emit \(node:internal\/child_process/;
const PRINT =
  'look at what the primary prints after each report: the whole table, by pid, as one line of JSON';
const HOWS = {
  handed: 'a connection that the primary accepted',
  kernel: 'accepts a connection itself',
};
/** Where `--policy none` was set, if the first fork did not see it. @type {[isSo: (seen: any) => boolean, why: string][]} */
const WRONG_PLACES = [
  [
    ({ fork }) => fork?.policy === NONE,
    'cluster.schedulingPolicy reads as SCHED_NONE, but it was set too late: the first fork() or setupPrimary() had already fixed it.',
  ],
  [
    ({ fork }) => fork?.setup !== undefined,
    'setupPrimary() has no option schedulingPolicy, and silently ignores it. Its options are about the file and the arguments of the workers.',
  ],
  [
    ({ listener }) => listener?.setsPolicy,
    'It was set in a worker. Each process has a cluster object of its own, and the one that forks, the primary, still has rr.',
  ],
  [
    () => true,
    'In the primary, cluster.schedulingPolicy was never SCHED_NONE. Set in process.env or under another name it has no effect.',
  ],
];
const ACCEPTS = {
  handed: 'The primary accepts the connections and hands them over (rr).',
  kernel: 'The process that answers accepts the connections itself (none).',
};

const crashIn = ({ events }) => momentOf(eventsOf(events, 'crash')[0], 'throws');

function storyOfCrash({ events, pid }) {
  const how = describeCrash(events);
  const crash = eventsOf(events, 'crash')[0];
  const isInListener = crash?.pid === pid && IN_LISTENER.test(crash.error);
  const why = isInListener ? `${how}. It is the primary, when a message came: ${ARGUMENTS}` : how;
  return how && { why, try: hintOf(crash?.error) ?? 'fix what was thrown first' };
}

function hintOf(stack) {
  if (/Bad cluster\.schedulingPolicy/.test(stack)) return SET;
  return /^TypeError[^]*\bemit\b/.test(stack) ? HEAR : undefined;
}

/** Adds a hint if the program isn't ready because of an error that is typical of this lesson. @returns {never} */
export function rethrowWithHint(error, { events }) {
  const hint = hintOf(eventsOf(events, 'crash')[0]?.error);
  if (hint && error.story) error.story.try = hint;
  throw error;
}

export function demandRoundRobin(program, { answers, connections }) {
  const forks = forksOf(program.events);
  demandInTime(forks.length === WORKERS, {
    expected: 'NODE_CLUSTER_WORKERS=4 forks four workers.',
    got: `It forked ${forks.length}.`,
    try: 'for (let count = 0; count < workers; count += 1) cluster.fork(); as the starter has it',
    shows: { program, moments: [momentOf(forks.at(-1), 'the last fork')] },
  });
  const others = connections.filter(({ how }) => how !== 'handed');
  demand(others.length === 0, {
    expected: ACCEPTS.handed,
    got: ACCEPTS.kernel,
    why: 'Neither --policy nor NODE_CLUSTER_SCHED_POLICY was given, so the policy should be rr.',
    try: SET,
    shows: { program, moments: marked(others) },
  });
  demandAnswered(program, answers);
  const shares = forks.map(
    ({ workerPid }) => connections.filter(({ pid }) => pid === workerPid).length,
  );
  demandInTime(
    shares.every((share) => share === CONNECTIONS / WORKERS),
    {
      expected: `${CONNECTIONS} new connections, one after the other: ten for each worker.`,
      got: `The workers got ${shares.join(', ')}.`,
      why: 'The primary deals to the worker that has been free for longest. A worker that is slow to confirm misses its turn.',
      try: 'no work in the primary, and none in the workers beside the report and the answer',
      shows: { program, moments: [] },
    },
  );
}

/** @param {any} program @param {any[]} answers  only the last one may have failed */
function demandAnswered(program, answers) {
  const crash = storyOfCrash(program);
  const { error } = answers.at(-1);
  const story = {
    expected: 'Every request for / is answered.',
    got: `Request ${answers.length} failed: ${error}.`,
    why: 'The process that had it has exited, or is stuck.',
    try: 'see what your program printed',
    ...crash,
    shows: { program, moments: [crashIn(program)] },
  };
  demand(!error || !crash, story);
  demandInTime(!error, story);
}

const marked = (connections) =>
  connections.slice(0, MARKED).map((one) => momentOf(one, HOWS[one.how] ?? 'accepts'));

export function demandNone(program, { connections }) {
  const { events } = program;
  const others = connections.filter(({ how }) => how !== 'kernel');
  const fork = forksOf(events).at(-1);
  const listener = eventsOf(events, 'listening').find(({ pid }) => pid === fork?.workerPid);
  const [, why] = firstOf(WRONG_PLACES, { fork, listener });
  demand(others.length === 0, {
    expected: ACCEPTS.kernel,
    got: ACCEPTS.handed,
    why,
    try: SET,
    shows: { program, moments: marked(others) },
  });
  demandInTime(connections.length > 0, {
    expected: ACCEPTS.kernel,
    got: 'No process accepts the connections.',
    ...storyOfCrash(program),
    shows: { program, moments: [crashIn(program)] },
  });
}

export function demandChoices(choices) {
  for (const choice of choices)
    (choice.wanted === 'refused' ? demandRefusal : demandChoice)(choice);
}

function demandRefusal({ name, program, fate, forked }) {
  const expected = `${name}: choosePolicy() refuses it with exit code 1, before a worker is forked.`;
  const shows = { program, moments: [crashIn(program), momentOf(forked, 'starts a process')] };
  demand(!forked, {
    expected,
    got: 'It forked a worker.',
    why: 'The policy is chosen after the first fork, or not by choosePolicy(). By then a worker may already have clients.',
    try: SET,
    shows,
  });
  const got = fate ? `It exited with ${howItEnded(fate)}.` : 'It neither forks nor exits.';
  const why = 'choosePolicy() ends the process that calls it; no other code is needed.';
  demandInTime(fate, { expected, got, why, try: SET, shows });
  demand(fate.code === 1, { expected, got, why, try: SET, ...storyOfCrash(program), shows });
}

function demandChoice({ name, wanted, program, listener }) {
  const how = listener?.handle;
  const expected = `${name}: ${ACCEPTS[wanted]}`;
  const shows = { program, moments: [crashIn(program), momentOf(listener, `listens (${how})`)] };
  demandInTime(how, {
    expected,
    got: 'No worker listens.',
    try: SET,
    ...storyOfCrash(program),
    shows,
  });
  demand(how === wanted, {
    expected,
    got: ACCEPTS[how],
    why:
      wanted === 'handed'
        ? 'Node.js reads the variable itself when it loads the module. So set the policy even if it is rr.'
        : 'Without --policy the variable decides, and choosePolicy() has read it.',
    try: SET,
    shows,
  });
}

export function demandTable(program, look) {
  const { answers, had, others, table } = look;
  const shows = { program, moments: [crashIn(program)] };
  const odd = answers.find(({ status, error }) => !error && status !== 200);
  demand(!odd, {
    expected: 'A request for / is reported, and answered with the pid.',
    got: `It was answered with status ${odd?.status}.`,
    why: `What a route throws becomes such an answer: ${textOf(odd?.body ?? '')}`,
    try: SEND,
    shows,
  });
  demandAnswered(program, answers);
  const expected = `The primary prints, as JSON: ${JSON.stringify(Object.fromEntries(had))}.`;
  const { isFinal } = look;
  demandInTime(table, { isFinal, expected, ...whyNoTable(look), shows });
  for (const name of Object.keys(table))
    demand(had.has(Number(name)), {
      expected,
      got: `It prints a count for ${name}, which is no worker's pid: ${look.line}`,
      why: whyNoPid(program, name),
      try: PRINT,
      shows,
    });
  for (const [pid, count] of had) {
    const told = table[pid] ?? 0;
    const says = table[pid] === null ? 'null' : told;
    const fault = `Process ${pid} has had ${count} requests for /, and the table says ${says}.`;
    demand(told <= count, {
      expected,
      got: fault,
      why:
        told === count + (others.get(pid) ?? 0)
          ? 'The one request too many was for /favicon.ico: other pages are reported too.'
          : 'A report counts several times: a listener for each worker that is forked, or a sum of sums.',
      try: `${SEND}; ${HEAR}`,
      shows,
    });
    demandInTime(told === count, {
      isFinal,
      expected,
      got: fault,
      ...whyTooFew(look, told),
      shows,
    });
  }
}

/** @param {any} program @param {string} name  of the count in the table */
function whyNoPid({ pid }, name) {
  if (Number(name) === pid)
    return 'That is the primary itself: process.pid is the process that runs the line.';
  if (name === 'undefined') return 'A worker has an id and a process; the process has the pid.';
  return 'Clients know a worker by the pid that / returns. worker.id is the number that cluster gives it.';
}

/** The message in Express's error page. */
const textOf = (html) => /<pre>([^<]*)/.exec(html)?.[1] ?? html.slice(0, 80);

function whyNoTable({ line = '' }) {
  if (line === '')
    return {
      got: 'It prints no table.',
      why: "No report has reached a listener in the primary. There cluster.on('message') hears all workers; process.on('message') is the way to hear the process that started this one.",
      try: `${SEND}; ${HEAR}`,
    };
  return {
    got: `It prints "${line.slice(0, 60)}", which isn't JSON.`,
    why: 'The line must be JSON and nothing else, with double quotes: console.log(table) prints an object as you would write it in a program.',
    try: PRINT,
  };
}

function whyTooFew({ table, had, named }, told) {
  const counted = Object.keys(table).length;
  if (counted === 0)
    return {
      why: "JSON has no Map, and leaves out what is undefined: it prints {} for both. cluster's 'message' brings the worker first, then the message.",
      try: PRINT,
    };
  if (Object.values(table).includes(null))
    return {
      why: 'JSON has no NaN, and prints null: undefined + 1 is NaN, and before its first report a worker has no count.',
      try: PRINT,
    };
  if (counted < named.size)
    return {
      why: `The last line has ${counted} of ${had.size} workers, and earlier lines name others. Each process has its own memory, so one table, made once and printed whole, must be in the primary.`,
      try: PRINT,
    };
  if (told === 0 && counted < had.size)
    return {
      why: `The table has ${counted} of ${had.size} workers. Each process has its own memory, so one object for all must be in the primary, and it must hear all workers.`,
      try: HEAR,
    };
  return {
    why: 'Some requests were not reported, or were counted in a variable that starts again with each request.',
    try: SEND,
  };
}
