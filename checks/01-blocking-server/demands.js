/** Lesson 1: judges what looks.js saw, in the sentences that a learner reads. */
import {
  deepestOverlap,
  demand,
  demandInTime,
  eventsOf,
  faultOfRandomHex,
  firstOf,
  mean,
  meanInterval,
  momentOf,
  parseJsonBody,
  quickestOf,
  sumOf,
  describeCrash,
} from '../../lib/check/checking.js';
import { REPORTS } from './looks.js';

const LEAST_MS = 9.5; // a timer may be half a millisecond early
const MOST_MS = 20.5;
const TOO_LONG_MS = 24; // for the quickest of several
const DATABASE_MS = 98;
const UNAWAITED_MS = 5; // shorter than any wait
const SLOW_MS = 150; // for the quickest report
const QUEUED_MS = 190; // for the slowest: behind one other report it takes 200
const MOSTLY = 0.6; // of a delay: a program's own timer reports only its lateness
const MARKED = 3; // moments of a kind in the X-ray
const GROUP = 8; // answers per rate
const LAST = 3 * GROUP + 1; // answers of a later round

const WAIT =
  'look at the handler of /report: which call keeps the thread, and what could wait in its place?';
const durationOf = ({ startMs, endMs = Infinity }) => endMs - startMs;
const inMs = (ms) => `${ms.toFixed(1)} ms`;

export function demandListens(program, { answers: [{ status, error, limitMs }] }) {
  const judge = limitMs === undefined ? demand : demandInTime;
  judge(status === 200 && !error, {
    expected: 'GET / is answered with status 200.',
    got: `GET / ${error ? `failed: ${error}` : `was answered with status ${status}`}.`,
    why: describeCrash(program.events),
    try: 'start it with PORT=8080, then: curl -i localhost:8080/',
    shows: { program, moments: [momentOf(eventsOf(program.events, 'crash')[0], 'throws')] },
  });
}

function demandAnswered(program, path, answers, expected) {
  const failed = answers.find(({ error, status }) => error || status !== 200);
  const [how, judge] = failed?.error
    ? [`failed: ${failed.error}`, demandInTime]
    : [`was answered with status ${failed?.status}`, demand];
  judge(!failed, {
    expected,
    got: `A request for ${path} ${how}.`,
    why:
      describeCrash(program.events) ??
      (failed?.limitMs
        ? 'The handler never answers, or one client after the other waits for it far too long.'
        : `Every request for ${path} needs an answer, the first and the hundredth.`),
    try: `curl -i localhost:8080${path}, several times`,
    shows: { program, moments: [momentOf(eventsOf(program.events, 'crash')[0], 'throws')] },
  });
}

/** @type {[RegExp, string][]} */
const WRONG_BODIES = [
  [/same bytes/, 'Bytes that are made once, outside the handler, are the same for every client.'],
  [/bytes\.$/, 'Two hex digits are one byte, and it takes 5,000 to 10,000 bytes.'],
  [/hex text/, 'There is something else in it than the digits 0 to 9 and a to f.'],
];

export function demandBody(program, first, homes) {
  const answers = [...first.answers, ...homes.answers];
  const expected = 'The body is text of 10,000 to 20,000 hex digits, different each time.';
  demandAnswered(program, '/', answers, expected);
  const fault = faultOfRandomHex(answers, { isTyped: false });
  demand(!fault, {
    expected,
    got: fault,
    why: WRONG_BODIES.find(([isIt]) => isIt.test(fault ?? ''))?.[1],
    try: 'look at the handler of /: what makes its text, and how often?',
  });
}

export function demandBlocks(program, { answers, requests, healths, blocks }) {
  const expected = 'Each / blocks for 10 to 20 ms, and nothing else runs in the meantime.';
  const shown = shownOf(program);
  demandAnswered(program, '/', answers, expected);
  demandNothingBetween(program, [...requests, ...healths], expected);
  const quickestMs = quickestOf(requests);
  const quickest = requests.find((one) => durationOf(one) === quickestMs);
  demand(quickestMs > LEAST_MS, {
    expected,
    got: `The quickest / took ${inMs(quickestMs)}.`,
    why: 'Its handler blocks for less than 10 ms, or not at all. blockFor() takes milliseconds.',
    try: 'look at the handler of /: what comes first, the work or the answer?',
    shows: shown(quickest, 'the quickest'),
  });
  const longest = blocks.find(({ ms }) => ms > MOST_MS);
  demand(!longest, {
    expected,
    got: `A / blocked for ${longest && inMs(longest.ms)}.`,
    why: 'All other clients wait that long, too. between(low, high) takes the two ends of the range.',
    try: 'look at the number that blockFor() gets in the handler of /',
    shows: { program, moments: [longest && blockShown(longest)] },
  });
  demandInTime(quickestMs < TOO_LONG_MS, {
    expected,
    got: `Even the quickest / took ${inMs(quickestMs)}.`,
    why: 'The handler keeps the thread for longer than 20 ms.',
    try: 'look for what else in it takes time; measure with performance.now()',
    shows: shown(quickest, 'the quickest'),
  });
}

function demandNothingBetween(program, requests, expected) {
  const overlap = overlapIn(requests);
  demand(!overlap, {
    expected,
    got: overlap && `A ${overlap.next.url} began before the / ahead of it had been answered.`,
    why: 'The handler gives the thread back before it has answered: it waits, and does not block.',
    try: 'look at the handler of /: it should keep the thread while it works, so nothing in it may wait',
    shows: {
      program,
      moments: [
        momentOf(overlap?.one, 'a / in flight'),
        momentOf(overlap?.next, `a ${overlap?.next.url} begins`),
      ],
    },
  });
}

/** Evidence for a request that was too short or too long: the page marks its whole duration. */
const shownOf = (program) => (request, says) => ({
  program,
  moments: [momentOf(request, says)],
  byLength: true,
});

/** The first request that began while a / was in flight. */
function overlapIn(requests) {
  const inOrder = [...requests].sort((a, b) => a.startMs - b.startMs);
  for (const [index, next] of inOrder.entries()) {
    const one = inOrder
      .slice(0, index)
      .find(({ url, endMs = Infinity }) => url === '/' && endMs > next.startMs);
    if (one) return { one, next };
  }
  return undefined;
}

/** An Atomics.wait() is reported at its end. */
const blockShown = (/** @type {any} */ { pid, t, ms }) => ({
  pid,
  t: t - ms,
  toMs: t,
  says: 'the thread is blocked',
});

export function demandWaits(program, { answers, requests, health, healths, blocks }) {
  const expected = `${REPORTS} reports asked for together each take 100 ms, side by side, and a /health is answered in the meantime.`;
  const shown = shownOf(program);
  demandAnswered(program, '/report', answers, expected);
  demandRows(answers);
  const quickestMs = quickestOf(requests);
  const slowestMs = Math.max(...requests.map(durationOf));
  const quickest = requests.find((one) => durationOf(one) === quickestMs);
  const slowest = requests.find((one) => durationOf(one) === slowestMs);
  demand(quickestMs > DATABASE_MS, {
    expected,
    got: `The quickest report took ${inMs(quickestMs)}.`,
    why:
      quickestMs < UNAWAITED_MS
        ? 'It answers before the database has said anything: a promise without await, or return, is not waited for, and one made outside the handler may be settled already.'
        : 'The database is as slow as before, 100 ms: only the way of waiting changes.',
    try: WAIT,
    shows: shown(quickest, 'the quickest'),
  });
  demandSideBySide(program, { requests, blocks, expected });
  demandHealth(program, { health, healths, requests, expected });
  demandInTime(quickestMs < SLOW_MS, {
    expected,
    got: `Even the quickest report took ${inMs(quickestMs)}.`,
    why: 'The database takes 100 ms, no longer. Waiting longer than that holds up no other client, only its own.',
    try: 'look at how long the handler of /report waits',
    shows: shown(quickest, 'the quickest'),
  });
  demandInTime(slowestMs < QUEUED_MS, {
    expected,
    got: `The quickest report took ${inMs(quickestMs)}, the slowest ${inMs(slowestMs)}.`,
    why: 'One waits until another is done: they queue for something.',
    try: 'look at what the calls of the handler of /report share',
    shows: shown(slowest, 'the slowest'),
  });
}

function demandRows(answers) {
  const odd = answers.find(({ body }) => parseJsonBody(body).rows !== 100);
  demand(!odd, {
    expected: 'Each report says {"rows":100}.',
    got: `One said ${odd?.body.slice(0, 60)}`,
    why: 'The database gives the same rows as before: only the way of waiting changes.',
    try: 'answer as the starter does',
  });
}

function demandSideBySide(program, { requests, blocks, expected }) {
  const depth = deepestOverlap(requests);
  const blockedMs = sumOf(blocks.map(({ ms }) => ms));
  const blocked = { program, moments: blocks.slice(0, MARKED).map(blockShown) };
  demand(blocks.length === 0 || depth > 1, {
    expected,
    got: `They ran one at a time: while one was in flight, the thread was blocked. All took ${Math.round(blockedMs)} ms.`,
    why: 'blockFor() keeps the only thread until it returns. An async in front of the handler changes nothing, and neither does a promise around the call.',
    try: WAIT,
    shows: blocked,
  });
  demand(blocks.length === 0, {
    expected,
    got: `They waited side by side, but the thread was also blocked, for ${Math.round(blockedMs)} ms in all.`,
    why: 'One part of the handler waits, another part blocks, and that part holds up every client.',
    try: 'look for what still keeps the thread in the handler of /report',
    shows: blocked,
  });
  demandInTime(depth === requests.length, {
    expected,
    got: `At most ${depth} of them were in flight at once.`,
    why: 'Something in the handler keeps the thread: a long loop, or a call that returns only when it is done.',
    try: WAIT,
    shows: {
      program,
      moments: [momentOf(requests[0], 'one /report'), momentOf(requests.at(-1), 'the last one')],
    },
  });
}

function demandHealth(program, { health, healths: [seen], requests, expected }) {
  demandInTime(!health.error, {
    expected,
    got: `The /health that was asked for beside them failed: ${health.error}.`,
    try: 'curl -i localhost:8080/health',
  });
  const firstEndMs = Math.min(...requests.map(({ endMs = Infinity }) => endMs));
  demandInTime(seen?.startMs < firstEndMs, {
    expected,
    got: '/health ran only after the first report had been answered.',
    why: 'Something in the handler of /report keeps the thread, and /health cannot overtake it.',
    try: WAIT,
    shows: {
      program,
      moments: [
        momentOf(requests[0], 'a /report in flight'),
        momentOf(seen, '/health, not before now'),
      ],
    },
  });
}

/** The first condition that is met explains the number. @type {[isSo: (delay: any) => boolean, why: string, repair: string][]} */
const WRONG_DELAYS = [
  [
    ({ told }) => typeof told === 'string',
    'Text in quotation marks: monitoring compares numbers.',
    'report the number itself, without toFixed() and without a unit',
  ],
  [
    ({ told }) => typeof told !== 'number',
    'It must be a number called eventLoopDelayMs. JSON knows neither NaN nor Infinity, and makes them null.',
    'look at the type of the number, and at what it is when nothing was recorded',
  ],
  [
    ({ told, tookMs }) => told > tookMs,
    'That is longer than the time since /health was last asked. max is in nanoseconds.',
    'look at the unit: in which one is the number, and in which one do you report it?',
  ],
  [
    ({ told, watches }) => told <= 0 && watches === 0,
    'No histogram has been started in this process: monitorEventLoopDelay() only makes it, and it records nothing yet.',
    'look at the histogram: what starts it?',
  ],
  [
    ({ told, watches }) => told <= 0 && watches > 1,
    'A histogram is started in each request: it is read when it has only just begun, and the freeze was before.',
    'look at where the histogram is made: when is it there, and when does a request come?',
  ],
  [
    ({ told }) => told <= 0,
    'The histogram is empty when it is read: reset() comes before max is read.',
    'look at the order of the two in the handler of /health',
  ],
  [
    ({ told, longestMs }) => told < 1 && told * 1000 > MOSTLY * longestMs,
    'The field is called eventLoopDelayMs, and these are seconds.',
    'a millisecond has a million nanoseconds',
  ],
  [
    ({ told, toldAgain }) => told === toldAgain,
    'Twice the same number, and the freeze is not in it: it is a constant, disable() has stopped the histogram, or a timer resets it.',
    'look at the handler of /health: which of its lines measures anything?',
  ],
  [
    ({ toldAgain }) => toldAgain === null,
    'This looks like the mean: of many short gaps and a long one it is short, and right after a reset it is NaN.',
    'look at which number of the histogram you report',
  ],
  [
    ({ told, homeMs }) => told > LEAST_MS && told <= homeMs,
    'This looks like the time of the / in between. Timing your own handlers misses everything else that holds up the loop.',
    'look at what is timed: your own handlers, or the loop itself?',
  ],
  [
    ({ told }) => told > LEAST_MS,
    'It is a long gap, but not the longest: a percentile leaves out the gap that counts.',
    'look at which number of the histogram you report',
  ],
  [
    () => true,
    'It has forgotten the long gap: something resets it before it has been reported.',
    'look for every place that calls reset()',
  ],
];

export function demandDelay(program, delay) {
  const { answers, told, toldAgain, lateMs, tookMs, home, lateBeat, asked } = delay;
  const error = answers.find((answer) => answer.error)?.error;
  const homeMs = home ? durationOf(home) : 0;
  const longestMs = Math.max(lateMs, homeMs);
  const isTrue = typeof told === 'number' && told > MOSTLY * longestMs && told <= tookMs;
  const [, why, repair] = isTrue ? [] : firstOf(WRONG_DELAYS, { ...delay, homeMs, longestMs });
  const story = {
    expected: `{"eventLoopDelayMs": a number}, about ${longestMs.toFixed(0)}: the whole process was frozen (by SIGSTOP), and its timers fired that late. Asked again at once: much less.`,
    got: `It said ${asSeen(told)}, and when asked again ${asSeen(toldAgain)}.`,
    shows: {
      program,
      moments: [
        momentOf(lateBeat, `a timer fires ${lateMs.toFixed(0)} ms late`),
        momentOf(asked, `this /health says ${asSeen(told)}`),
      ],
    },
  };
  demandInTime(!error, {
    ...story,
    got: `GET /health failed: ${error}.`,
    why: describeCrash(program.events),
    try: 'curl -i localhost:8080/health',
  });
  demand(isTrue, { ...story, why, try: repair });
  const still = {
    ...story,
    why: 'It still reports the old one: max stays until reset().',
    try: 'look at the handler of /health: when does the longest gap start again?',
  };
  demand(toldAgain !== told, still);
  demandInTime(!(toldAgain > told), still);
}

const asSeen = (value) =>
  typeof value === 'number' ? value.toFixed(1) : (JSON.stringify(value) ?? 'nothing of that name');

export function reportQueue({ clients, answers, requests, healthMs }, measured) {
  const serviceMs = mean(requests.filter(({ endMs }) => endMs).map(durationOf));
  const rates = groupsOf(answers.slice(GROUP)).map(
    (group) => (1000 * (group.length - 1)) / (group.at(-1).doneMs - group[0].doneMs),
  );
  const waits = groupsOf(answers.slice(-LAST)).map(
    (group) => mean(group.map(({ sentMs, doneMs }) => doneMs - sentMs)) / 1000,
  );
  measured('requests-per-second', {
    label: `requests per second for / with ${clients} clients`,
    ...meanInterval(rates),
    formula: {
      value: 1000 / serviceMs,
      says: `1000 / ${serviceMs.toFixed(1)} ms that one / takes`,
    },
    unit: 'requests/s',
  });
  measured('mean-response', {
    label: `mean response time with ${clients} clients`,
    ...meanInterval(waits),
    formula: {
      value: (clients * serviceMs) / 1000,
      says: `Little's law: ${clients} waiting, one served every ${serviceMs.toFixed(1)} ms`,
    },
    unit: 's',
    isHeadline: true,
  });
  measured('health-response', {
    label: 'a single /health in the meantime, which needs no time itself, took',
    value: healthMs / 1000,
    unit: 's',
  });
}

/** @template T @param {T[]} items @returns {T[][]}  groups of GROUP + 1; neighbours share one answer */
const groupsOf = (items) =>
  Array.from({ length: Math.floor((items.length - 1) / GROUP) }, (_, index) =>
    items.slice(index * GROUP, (index + 1) * GROUP + 1),
  );
