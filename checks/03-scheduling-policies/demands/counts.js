/**
 * What lesson 3 demands of /counts. It goes through the record of what was asked and answered: what must have been reported
 * by then, and what cannot have been counted yet; and says which mistake leads to such counts.
 */
import {
  Undecided,
  demand,
  isTypedJson,
  momentOf,
  parseBody,
  whyOfCrash,
} from '../../../lib/check/checking.js';
import { ONE_LISTENER, storyOfCrash } from './policies.js';

const COUNTS = 'JSON such as {"5172":10,"5177":10}: how many requests for / each process has had';
const TRY = {
  tell: 'served += 1; process.send({ served }); in the route of /',
  ask: "process.send({ ask: 'counts' }) in /counts, each time; answer when process.on('message', ...) hears the primary",
  answer:
    'worker.send(counts) to the worker that asks; there waiting.shift().json(counts) for each',
  tellApart:
    'questions += 1; and waiting.set(questions, response), or a queue: first asked is first answered',
};

/** @param {Awaited<ReturnType<typeof import('../looks/counts.js').askForCounts>>} look */
export function demandCounts({ events, ...record }) {
  const fault = firstFault(record);
  demand(!fault, {
    expected: COUNTS,
    ...fault,
    ...(fault?.isWaiting ? whyAmongSeveral(fault, events) : storyOfCrash(events)),
  });
}

/**
 * With two workers in haste: none gives up the primary, each of many questions in one millisecond is answered, and each that is
 * asked as another leaves has an answer, and its own; and a request is reported before the worker looks at the next.
 * @param {Awaited<ReturnType<typeof import('../looks/haste.js').askInHaste>>} look
 */
export function demandCountsInHaste({ program, together, leaving, late }) {
  if (together?.early?.status === 200)
    demand(false, { expected: COUNTS, ...faultOfCopy(together.pid) });
  demandNoneLost(
    together?.lost,
    `${together?.clients} clients asked process ${together?.pid} for /counts in the same millisecond.`,
    'Each needs its own answer, so no two questions may share a number, and a timestamp is not unique. Nor may there be room for only a few.',
  );
  demand(leaving?.early?.status !== 200, {
    expected: COUNTS,
    got: `Two clients asked process ${leaving?.pid} for /counts. When the answer to the first came, both had it, though the primary did not know yet that the second had asked.`,
    why: "That answer doesn't include what has happened since the first asked. Questions that share a number share an answer, and a timestamp is not unique.",
    try: TRY.tellApart,
  });
  demandNoneLost(
    leaving?.lost,
    `Two clients asked process ${leaving?.pid} for /counts. The first got its answer, the second waited, and a third asked.`,
    'Each needs its own answer, so no two questions that wait may have the same number. The number waiting is not unique: it has been used before.',
  );
  if (!late) return;
  const told = parseBody(late.answer.body)[late.pid] ?? 0;
  demand(told >= late.had, {
    expected: `${COUNTS}, and each is reported before its worker looks at the next request`,
    got: `Process ${late.pid} had answered ${late.had} requests for / and was in /block. /counts of the other worker said ${told}.`,
    why: 'What came together is reported together, and a request that blocks holds the report up. Each must be reported separately, before it is answered or right after.',
    try: TRY.tell,
    shows: {
      program,
      moments: [
        momentOf(late.moments.home, 'a / that is not reported'),
        momentOf(late.moments.block, 'already in the next request'),
      ],
    },
  });
}

function demandNoneLost(lost, got, why) {
  demand(!lost, {
    expected: COUNTS,
    got: `${got} One got ${lost?.error}.`,
    why,
    try: TRY.tellApart,
  });
}

/** A crash says which; if several waited, that is it. */
function whyAmongSeveral({ why }, events) {
  return { why: [whyOfCrash(events), why].filter(Boolean).join('. ') };
}

/**
 * What has to be reported, given what has happened before:
 * - of the worker that is asked, all that it has answered: it reports a request before it looks at the next, and a
 *   channel keeps the order;
 * - of another, all that it had answered when it was asked itself, and its answer has come: then the primary knew;
 * - of all, no more than they were asked for.
 */
function firstFault({ steps, base, more, queried, unmodified }) {
  const [asked, answered] = [countOf(base), countOf(base)];
  for (const [pid, times] of more) asked.add(pid, times);
  const known = new Map();
  const least = new Map(); // for each question, what has to be reported
  let stands = false;
  let hungUp = [];
  for (const { hasHeard = [], ...step } of steps) {
    stands = step.stands ?? stands;
    hungUp = step.hungUp ?? hungUp;
    for (const pid of hasHeard) known.set(pid, answered.of(pid) - 1);
    const { path, pid, answer } = step.asked ?? step.answered ?? {};
    if (path === '/' && step.asked) asked.add(pid);
    if (path === '/' && step.answered) {
      const fault = faultOfRequest(answer, pid);
      if (fault) return fault;
      answered.add(pid);
    }
    if (path === '/counts' && step.asked) {
      const isWaiting = stands;
      least.set(step.asked, { isWaiting, low: new Map(known).set(pid, answered.of(pid)) });
    }
    if (path === '/counts' && step.answered) {
      const { isWaiting, low } = least.get(step.answered);
      if (stands && isWaiting && answer.status === 200) return faultOfCopy(pid);
      const hasLost = isWaiting && hungUp.includes(pid);
      const { isBrowser } = step.answered;
      const seen = { queried, unmodified, isBrowser };
      const fault = faultOfTold(answer, { pid, low, asked, isWaiting, hasLost, ...seen });
      if (fault) return fault;
      known.set(pid, low.get(pid));
    }
  }
  return undefined;
}

function countOf(base) {
  const counts = new Map(base);
  return {
    pids: () => [...counts.keys()],
    of: (pid) => counts.get(pid) ?? 0,
    add: (pid, times = 1) => counts.set(pid, (counts.get(pid) ?? 0) + times),
  };
}

function faultOfRequest({ error, status }, pid) {
  if (error || status !== 200)
    return {
      got: `A request for / failed: ${error ?? `status ${status}`}.`,
      why: 'A route that counts has to answer too.',
      try: 'curl -i localhost:8080/',
    };
  if (pid === undefined)
    throw new Undecided({
      got: 'It could not be seen which process answered a request for /.',
      why: 'What a process reports about itself did not come in time: other programs keep this machine busy.',
      try: 'close other programs, then check again',
    });
  return undefined;
}

const faultOfCopy = (pid) => ({
  got: `The primary was frozen, and process ${pid} answered /counts all the same.`,
  why: 'It answered with what it had heard earlier, and others may have had requests since. Only the primary hears about all of them.',
  try: TRY.ask,
});

/** What is wrong with an answer to /counts, why, and what to do. */
function faultOfTold({ status, headers, body, error }, question) {
  if (error || status !== 200) return faultOfFailure(error, status, question);
  let told;
  try {
    told = JSON.parse(body) ?? {};
  } catch {
    const got = `/counts doesn't answer JSON: ${body.slice(0, 60)}`;
    const why = question.isBrowser
      ? 'A browser asked, with its own Accept and User-Agent. It gets JSON, too.'
      : 'The body must be JSON, braces included.';
    return { got, why, try: 'response.json(counts)' };
  }
  if (!isTypedJson({ headers })) return faultOfType(headers);
  const { low, asked } = question;
  const pids = [...new Set([...asked.pids().map(String), ...Object.keys(told)])];
  const isWrong = (pid) => {
    const count = told[pid] ?? 0;
    const isIn = count >= (low.get(Number(pid)) ?? 0) && count <= asked.of(Number(pid));
    return !isIn || !Number.isInteger(count);
  };
  const wrong = pids.find(isWrong);
  return wrong === undefined ? undefined : whyWrong(wrong, told, question);
}

const faultOfType = (headers) => ({
  got: `/counts says Content-Type: ${headers['content-type']}.`,
  why: 'Many clients look at the type before they look at the text: they would not read this as JSON.',
  try: 'response.json(counts)',
});

function faultOfFailure(error, status, { isWaiting }) {
  const got = `/counts failed: ${error ?? `status ${status}`}.`;
  if (isWaiting)
    return {
      isWaiting,
      got: `Two clients waited at each worker: ${got}`,
      why: 'Each needs its own answer: one variable holds one response.',
      try: ONE_LISTENER,
    };
  if (status === 404)
    return { got, why: 'There is no /counts yet.', try: "app.get('/counts', ...) in the workers" };
  if (error?.startsWith('no answer'))
    return {
      got,
      why: 'The primary sent nothing back, or the worker did not pass it on.',
      try: "worker.send(counts) in the primary, process.on('message', ...) in the worker",
    };
  return { got, why: 'Its worker hung up.', try: 'curl -i localhost:8080/counts' };
}

/** Which mistake leads to such counts. */
function whyWrong(wrong, told, question) {
  const { pid, low, asked, isWaiting, hasLost, queried, unmodified } = question;
  const had = asked.of(Number(wrong));
  const tells = `It says ${JSON.stringify(told)}`;
  const got = `${tells}; process ${wrong} has had ${had}.`;
  const pids = Object.keys(told);
  if (pids.length === 0)
    return {
      got,
      why: 'The primary has counted nothing, or it counts in a Map, which becomes {} in JSON.',
      try: 'const counts = {}; and counts[worker.process.pid] = ...',
    };
  if (!pids.some((each) => asked.of(Number(each)) > 0))
    return {
      got,
      why: `The counts should be by pid; "${pids[0]}" isn't the pid of any worker.`,
      try: 'counts[worker.process.pid]',
    };
  if (wrong in told && !Number.isInteger(told[wrong]))
    return {
      got: `${tells}, where ${JSON.stringify(told[wrong])} isn't a count.`,
      why: 'A count is a whole number, without quotation marks in JSON.',
      try: '{"5172":10,"5177":10}',
    };
  if (pids.length === 1 && asked.pids().length > 1)
    return {
      got,
      why: 'A worker knows only its own requests. The primary hears about all of them: ask it.',
      try: "process.send({ ask: 'counts' }) in the worker, worker.send(counts) in the primary",
    };
  if ((told[wrong] ?? 0) > had)
    return {
      got,
      why: 'Something other than a request for / was counted, perhaps one for the counts, or for a page that does not exist.',
      try: 'look in the primary at what each message says',
    };
  const count = low.get(Number(wrong));
  const who = Number(wrong) === pid ? 'it' : `process ${wrong}`;
  const tellsOf = `${count} requests for /, and it reports ${told[wrong] ?? 0}`;
  if (isWaiting)
    return {
      isWaiting,
      got: `Two clients waited at process ${pid} for /counts${hasLost ? ', and a third that asked between them hung up' : ''}. Before the second asked, ${who} had answered ${tellsOf}.`,
      why: `It passed on the answer to another question, which doesn't include what has happened since that was asked.${hasLost ? ' The primary answers a client that has gone, too.' : ''}`,
      try: TRY.answer,
    };
  const late = `When process ${pid} was asked for /counts, ${who} had answered ${tellsOf}.`;
  if (Number(wrong) === queried && (told[wrong] ?? 0) === count - 1)
    return {
      got: `${late} One was for /?page=2, which it answered as any other.`,
      why: 'What is answered as / is a request for /, with a query or without.',
      try: "count in the route of /, or compare new URL(request.url, 'http://localhost').pathname",
    };
  if (Number(wrong) === unmodified && (told[wrong] ?? 0) === count - 1)
    return {
      got: `${late} One came from a client that has kept the page (If-None-Match), and was answered with 304.`,
      why: 'That is a request for /, too: browsers do this when a page is reloaded.',
      try: TRY.tell,
    };
  return {
    got: late,
    why: 'Each request must be reported separately, at once. On a timer, in batches or when the connection closes is too late: the next answer is too low.',
    try: TRY.tell,
  };
}
