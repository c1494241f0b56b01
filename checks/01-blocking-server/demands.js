/** What lesson 1 demands of what was seen, in the order of its promises; and what the hundred clients show. */
import {
  Undecided,
  deepestOverlap,
  demand,
  eventsOf,
  faultOfRandomHex,
  isCrowded,
  isTypedJson,
  mean,
  meanOf,
  momentOf,
  parseBody,
  quickestOf,
  sumOf,
  whyOfCrash,
} from '../../lib/check/checking.js';
import {
  BRIEF,
  HELD_MS,
  HELD_SOON_MS,
  MORE_BEATS,
  beatsDuring,
  blocksOf,
  cameInTime,
  durationOf,
  faultOfReports,
  isOwnFault,
  isSpinning,
  isTrue,
  isTurning,
  wasDisturbed,
} from './looks.js';

const LEAST_MS = 9.5; // a timer may be half a millisecond early
const LEAST_AFTER_MS = 5; // what a server does itself for an answer is among the time of the request
const MOST_MS = 20.5;
const FAR_TOO_LONG_MS = 30; // for the quickest of many, unless others keep it from running
const TOO_LONG_MS = 24; // for several of them, on one that is not busy
const LONG_BEATS = 12; // of 20 ms: a report whose timers are too short to be stretched takes half as many, and waited for nobody
const FEW = 2;
const MOST_AT_REST_MS = 35; // beside how late a timer of 20 ms was: one of 5 ms sees no gap that is longer than both
const MOSTLY = 3 / 4; // of how late a timer of 20 ms was
const UNLIKE_MS = 80; // a beat or two more, or a timer that was late
const MARKED = 3; // moments, of many of a kind
const OWN_MS = 5; // a / needs no more than that beside its blocking
const DATABASE_MS = 98;
const SLEEP = "import { setTimeout as sleep } from 'node:timers/promises'; then: await sleep(100);";
const LONG_DATABASE_MS = 120;
const SLOW_DATABASE_MS = 300;
const TOO_MANY_BEATS = 7; // of 20 ms: in 100 there is room for six at the most

const tooBusy = (got) =>
  new Undecided({
    got,
    why: 'The machine is too busy for this.',
    try: 'close other programs, then check again',
  });

export function demandListens(program, { answers: [{ status, error }] }) {
  demand(status === 200 && !error, {
    expected: 'GET / is answered with status 200.',
    got: `GET / ${error ? `failed: ${error}` : `was answered with status ${status}`}.`,
    why: whyOfCrash(program.events),
    try: 'start it with PORT=8080, then: curl -i localhost:8080/',
    shows: { program, moments: [momentOf(eventsOf(program.events, 'crash')[0], 'throws')] },
  });
}

/** @param {any[]} looks  all that have answers of / */
export function demandBody(...looks) {
  const many = looks.at(-1);
  const few = looks.slice(0, -1);
  const fault = faultOfRandomHex(few.flatMap(({ answers }) => answers)) ?? faultOfMany(many);
  demand(!fault, {
    expected: 'The body is text of 10,000 to 20,000 hex digits, different each time.',
    got: fault,
    try: "response.type('text').send(randomHex(between(5_000, 10_000)));",
  });
}

/** Some may have failed: so many at once are not what is asked for. @returns {string | undefined} */
function faultOfMany({ answers }) {
  const right = answers.filter(({ status }) => status === 200);
  const { size } = new Set(right.map(({ body }) => body));
  if (size < right.length) return `Of ${right.length} answers only ${size} had new bytes.`;
  return faultOfRandomHex(right, { parts: 2 });
}

/** Each / blocks for as long as it should, and only then is its client answered. */
export function demandTime(program, first, homes, home, hasty) {
  const story = {
    expected: 'Each / blocks for 10 to 20 ms, then it is answered.',
    try: 'blockFor(between(10, 20)); before the answer',
  };
  const looks = [first, homes, home];
  const all = looks.flatMap(({ requests }) => requests);
  demandRest(program, story, 1);
  demandRest(hasty, story, BRIEF);
  demandDone(program, story, homes);
  const quickest = quickestOf(all);
  const isKept = quickest >= FAR_TOO_LONG_MS && wasDisturbed(program, all[0].startMs);
  demand(quickest > LEAST_MS && (quickest < FAR_TOO_LONG_MS || isKept), {
    ...story,
    got: `The quickest took ${quickest.toFixed(1)} ms.`,
    shows: { program, moments: [momentOf(quickestIn(all), 'the quickest')] },
  });
  const answered = looks.flatMap(({ answers }) => answers).filter(({ error }) => !error);
  const soonest = Math.min(...answered.map(({ sentMs, doneMs }) => doneMs - sentMs));
  const early = answered.find(({ sentMs, doneMs }) => doneMs - sentMs === soonest);
  demand(soonest > LEAST_MS, {
    ...story,
    shows: {
      program,
      moments: [momentOf(requestOf(all, early), 'its client had the answer before the end')],
    },
    got: `A client had its answer after ${soonest.toFixed(1)} ms, and the handler went on for ${quickest.toFixed(1)} ms.`,
    why: "Work after the answer holds up everybody else just as long, and its own client doesn't notice.",
  });
  const isOneByOne = deepestOverlap(homes.requests) <= 1;
  demandNotTooLong(program, story, isOneByOne ? all : [...first.requests, ...home.requests]);
}

/** Nothing blocks when the answers have been given, be it after one of many. @param {number} times  so long it takes */
function demandRest(program, story, times) {
  const late = blocksOf(program).find(({ answered }) => answered);
  demand(!late, {
    ...story,
    got: `It blocked for ${(late?.ms / times).toFixed(1)} ms after the answer had been sent.`,
    why: 'Work after the answer holds up everybody else just as long, even if it comes only now and then.',
    shows: { program, moments: late ? [blockShown(late)] : [] },
  });
}

/** Nothing else keeps the loop busy then. @param {any} program @param {any} story @param {any} homes */
function demandDone(program, story, { afterMs, requests }) {
  demand(afterMs < LEAST_AFTER_MS, {
    ...story,
    got: `After the answer was sent, each kept the event loop busy for ${afterMs.toFixed(1)} ms more.`,
    why: "Whatever a listener for 'finish' or setImmediate() does holds up the next client, too, even if no client of its own waits for it.",
    shows: { program, moments: [momentOf(requests[0], 'one of them')] },
  });
}

const quickestIn = (requests) => requests.find((one) => durationOf(one) === quickestOf(requests));

/** What a server saw of an answer; undefined where a connection had several requests. */
function requestOf(requests, answer) {
  const ofClient = requests.filter(({ client }) => client === answer?.client);
  return ofClient.length === 1 ? ofClient[0] : undefined;
}

/**
 * None takes too long. How long it was told to block is a fact, where it blocks with blockFor(); how long it took depends
 * on the machine, too.
 */
function demandNotTooLong(program, story, requests) {
  const [fromMs, toMs] = [requests[0].startMs, Math.max(...requests.map(({ endMs }) => endMs))];
  const blocks = blocksOf(program).filter(({ t }) => t > fromMs && t <= toMs);
  const isIn = ({ startMs, endMs = Infinity }, { t }) => t > startMs && t <= endMs;
  const toldMs = requests.map((one) => heldMs(blocks.filter((block) => isIn(one, block))));
  const ownMs = Math.min(...requests.map((one, index) => durationOf(one) - toldMs[index]));
  const longest = Math.max(...toldMs);
  if (Math.min(...toldMs) > 0 && ownMs < OWN_MS) {
    const got = `One / blocked for ${longest.toFixed(1)} ms.`;
    const long = requests[toldMs.indexOf(longest)];
    const shows = { program, moments: [momentOf(long, `it blocked for ${longest.toFixed(1)} ms`)] };
    return demand(longest < MOST_MS, { ...story, got, shows });
  }
  const long = requests.map(durationOf).filter((ms) => ms > TOO_LONG_MS);
  if (long.length <= FEW) return undefined;
  const got = `${long.length} of ${requests.length} took longer than that: up to ${Math.max(...long).toFixed(1)} ms.`;
  if (wasDisturbed(program, fromMs)) throw tooBusy(got);
  const moments = requests.filter((one) => durationOf(one) > TOO_LONG_MS).slice(0, MARKED);
  const shows = { program, moments: moments.map((one) => momentOf(one, 'too long')) };
  throw demand(false, { ...story, got, shows });
}

/** An Atomics.wait() is told of at its end. */
const blockShown = (/** @type {any} */ { pid, t, ms }) => ({
  pid,
  t: t - ms,
  toMs: t,
  says: 'the thread was blocked',
});

const heldMs = (blocks) => sumOf(blocks.map(({ ms }) => ms));

export function demandAlone({ requests }, seen, program) {
  const repair = {
    why: 'The handler yields to the event loop before it has answered.',
    try: 'blockFor(...), without await',
  };
  const depth = deepestOverlap(requests);
  demand(depth === 1, {
    expected: 'Eight requests for / at once are executed one at a time.',
    got: `${depth} were under way at the same time.`,
    ...repair,
    shows: { program, moments: overlapIn(requests) },
  });
  if (!cameInTime(seen)) throw tooBusy('A /health never came while a / was running.');
  demand(seen.healthMs >= seen.firstEndMs, {
    expected: 'A /health that comes while a / is running is executed after it.',
    got: `It was executed ${(seen.firstEndMs - seen.healthMs).toFixed(1)} ms before its end.`,
    ...repair,
    shows: {
      program,
      moments: [
        momentOf(seen.requests[0], 'a / under way'),
        momentOf(seen.health, 'a /health meanwhile'),
      ],
    },
  });
}

/** The first request that began while another was under way, and that other. */
function overlapIn(requests) {
  const inOrder = [...requests].sort((a, b) => a.startMs - b.startMs);
  const isOn = (one, { startMs }) => (one.endMs ?? Infinity) > startMs;
  const index = inOrder.findIndex((one, at) => at > 0 && isOn(inOrder[at - 1], one));
  if (index < 0) return [];
  return [
    momentOf(inOrder[index - 1], 'one / under way'),
    momentOf(inOrder[index], 'another, before its end'),
  ];
}

/**
 * [condition, why, try]: what is wrong with the number that /health reports. The first whose condition is met.
 * @type {[(delay: any) => boolean, string, string][]}
 */
const WRONG_DELAYS = [
  [
    ({ told, toldAgain }) => [told, toldAgain].some((one) => typeof one !== 'number'),
    'Monitoring wants to compare it with other numbers. In JSON a number has no quotation marks, and Infinity is null.',
    'eventLoopDelayMs: delay.max / 1e6',
  ],
  [
    ({ told, tookMs }) => told > tookMs,
    'That is longer than the time since the last request: max is in nanoseconds, or it is an older one that was never reset.',
    'delay.max / 1e6, and delay.reset() after reporting it',
  ],
  [
    ({ told }) => told <= 0,
    'A histogram counts from enable() on, so one made in the handler has seen nothing.',
    'const delay = monitorEventLoopDelay({ resolution: 5 }); delay.enable(); both outside the handler',
  ],
  [
    ({ told, longestMs }) => told * 1000 > longestMs - 5 && told < 1,
    'The field is called eventLoopDelayMs: these are seconds.',
    'delay.max / 1e6',
  ],
  [
    (delay) => !isTrue({ ...delay, toldAgain: -Infinity }),
    'The mean of many short gaps hides a few long ones. And max only knows what came after the last reset().',
    'delay.max / 1e6; delay.reset() only after reporting it',
  ],
  [
    () => true,
    'It is still the same one: max stays until reset().',
    'delay.reset(); after reporting it',
  ],
];

export function demandDelay({ delay }, program) {
  demandJson('/health', delay.type, { program, moments: [momentOf(delay.asked, 'this answer')] });
  if (isTrue(delay)) return;
  if (delay.isDisturbed && delay.toldAgain > delay.told)
    throw tooBusy(`It said ${asSeen(delay.told)}, and then ${asSeen(delay.toldAgain)}.`); // new, and no fault of its own
  const [, why, repair] = WRONG_DELAYS.find(([isIt]) => isIt(delay)) ?? [];
  const [told, again] = [delay.told, delay.toldAgain].map(asSeen);
  const isSilent = delay.unanswered !== '';
  demand(false, {
    expected:
      `{"eventLoopDelayMs": a number}, after two /, the longer of which took ${delay.longestMs.toFixed(1)} ms, about as ` +
      'much, and less when asked again at once.',
    got: isSilent
      ? `It was not answered: ${delay.unanswered}.`
      : `It said ${told}, and when asked again ${again}.`,
    ...(!isSilent && { why, try: repair }),
    shows: {
      program,
      moments: [
        momentOf(delay.longest, 'the longer of the two /'),
        momentOf(delay.asked, `the /health that tells ${told}`),
      ],
    },
  });
}

/** @param {string} path @param {string | undefined} type  where it is another than that of JSON @param {any} shows */
const demandJson = (path, type, shows) =>
  demand(type === undefined, {
    expected: `${path} returns JSON, so its Content-Type, if there is one, is application/json.`,
    got: `It says Content-Type: ${type}.`,
    why: 'Many clients look at the type before they look at the text: they would not read this as JSON.',
    try: 'response.json({ ... }), or response.type("json") before send()',
    shows,
  });

/**
 * Not only / holds the loop up, and the longest delay is still the longest when a hundred short ones have come after it. By how
 * much it was held up is a fact: the probe's own timer came so late.
 * @param {Awaited<ReturnType<typeof import('./looks.js').readAfterHold>>} seen
 * @param {Awaited<ReturnType<typeof import('./looks.js').readAtRest>>} rest
 */
export function demandAnyDelay(seen, rest) {
  demandQuiet(rest);
  if (!seen) return;
  const { told, lateMs, lates, atRest, lateBeat, program } = seen;
  demandQuiet(atRest);
  if (lates.some((ms, index) => ms < HELD_MS[index] / 2))
    throw tooBusy('It was frozen, and its timers were not late.');
  const shortMs = Math.min(...lates);
  const isSum = told > lateMs + shortMs / 2;
  demand(typeof told === 'number' && told > MOSTLY * lateMs && !isSum, {
    expected: `{"eventLoopDelayMs": a number}, about ${lateMs.toFixed(0)}: the whole process was frozen twice (by SIGSTOP), and its timers came ${lates.map(Math.round).join(' and ')} ms late. Then came a quiet time.`,
    got: `It said ${asSeen(told)}.`,
    why: isSum
      ? 'It is the longest delay that counts, not the sum of all: the longest tells how long a single request may have had to wait.'
      : 'Whatever holds the loop up counts, and stays the longest until somebody asks. Timing your own handlers misses it, in a mean or a percentile a hundred short gaps hide it, and a reset by a timer forgets it.',
    try: 'monitorEventLoopDelay({ resolution: 5 }), its max / 1e6, and reset() only after reporting it',
    shows: { program, moments: [momentOf(lateBeat, `a timer comes ${lateMs.toFixed(0)} ms late`)] },
  });
}

/**
 * What comes soon after /health has answered counts too, and nobody forgets it before it is reported.
 * @param {Awaited<ReturnType<typeof import('./looks.js').readAfterAnswer>>} seen
 */
export function demandDelayAfterAnswer(seen) {
  if (!seen) return;
  const { told, lateMs, isSoon, asked, lateBeat, program } = seen;
  if (lateMs < HELD_SOON_MS / 2) throw tooBusy('It was frozen, and its timers were not late.');
  demand(typeof told === 'number' && told > MOSTLY * lateMs, {
    expected: `{"eventLoopDelayMs": a number}, about ${lateMs.toFixed(0)} or more: soon after a /health the whole process was frozen (by SIGSTOP). Then /, a page that does not exist and /report were asked for, and then /health again.`,
    got: `It said ${asSeen(told)}.`,
    why: 'What holds the loop up counts from the moment when /health has answered, until it reports that. A reset some time later, or when another page is asked for, forgets what nobody has heard of.',
    try: 'delay.reset(); once, in /health, as soon as it has reported, and nowhere else',
    shows: {
      program,
      moments: [
        momentOf(asked, 'a /health'),
        momentOf(lateBeat, `a timer comes ${lateMs.toFixed(0)} ms late`),
      ],
    },
  });
  if (!isSoon) throw tooBusy('It was never frozen soon enough after a /health.');
}

const demandQuiet = (/** @type {{ told: any, lateMs: number }} */ { told, lateMs }) =>
  demand(!(told > lateMs + MOST_AT_REST_MS), {
    expected: `{"eventLoopDelayMs": a number} of a server at rest: less than 25. Its timers came at most ${lateMs.toFixed(1)} ms late.`,
    got: `It said ${asSeen(told)}.`,
    why: 'The sampling interval is included. If that is long, an idle server looks like one that blocks.',
    try: 'monitorEventLoopDelay({ resolution: 5 })',
  });

const asSeen = (value) =>
  typeof value === 'number' ? value.toFixed(1) : (JSON.stringify(value) ?? 'nothing of that name');

export function demandReport({ answers, requests, starvedMs }, late, program) {
  const took = (one) => durationOf(one).toFixed(1);
  const bad = [...answers, ...late.answers].find(
    ({ status, error, body }) => error || status !== 200 || parseBody(body).rows !== 100,
  );
  const expected = '{"rows":100}, 100 ms after each request';
  const joined = [late.first, ...late.between, ...late.later.requests];
  const all = [...requests, ...joined, late.after];
  const shown = (request, says) => ({ program, moments: [momentOf(request, says)] });
  demand(!bad, {
    expected,
    got: `One got ${bad?.error ?? `status ${bad?.status}, ${bad?.body.slice(0, 60)}`}.`,
    why: 'The database is as slow as before, and answers the same: only the way of waiting changes.',
    shows: shown(requestOf(all, bad), 'this answer'),
  });
  const odd = [...answers, ...late.answers].find((answer) => !isTypedJson(answer));
  demandJson('/report', odd?.headers['content-type'], shown(requestOf(all, odd), 'this answer'));
  const quickest = quickestOf(requests);
  demand(quickest > DATABASE_MS, {
    expected,
    got: `The quickest took ${quickest.toFixed(1)} ms.`,
    why: 'The database is as slow as before: only the way of waiting changes. Without await nobody waits.',
    try: SLEEP,
    shows: shown(quickestIn(requests), 'the quickest'),
  });
  demandNotSlow(program, { requests, starvedMs }, late.first, expected);
  const short = joined.find((one) => durationOf(one) === quickestOf(joined));
  demand(quickestOf(joined) > DATABASE_MS, {
    expected,
    got:
      late.isJoined && short !== late.first
        ? `The first took ${took(late.first)} ms; one that came while others were under way took ${took(short)} ms.`
        : `The first ones took ${quickest.toFixed(1)} ms or more, a later one ${took(short)} ms.`,
    why: 'The database takes 100 ms for each report. A cache, or one query for several clients, is another lesson.',
    try: 'await sleep(100); in each call of the handler',
    shows: shown(short, 'less than 100 ms'),
  });
  demand(durationOf(late.after) > DATABASE_MS, {
    expected,
    got: `One that came as soon as others had their answers took ${took(late.after)} ms.`,
    why: 'The database takes 100 ms for each report. A cache, however short, is another lesson.',
    try: 'await sleep(100); in each call of the handler',
    shows: shown(late.after, 'less than 100 ms'),
  });
}

/**
 * Each takes the same time, whenever it comes. One that has to wait for others takes longer the later it came: of that the next
 * promise tells.
 * @param {Awaited<ReturnType<typeof import('./looks.js').askManyReports>>} seen
 */
export function demandAlike({ program, starvedMs, surely, perhaps }) {
  const isSure = surely.ms - starvedMs >= UNLIKE_MS;
  if (!isSure && perhaps.ms < UNLIKE_MS) return;
  const { slow, quick } = isSure ? surely : perhaps;
  const took = [slow, quick].map((one) => Math.round(durationOf(one)));
  const got = `One took ${took[0]} ms, and one that came a little later ${took[1]} ms.`;
  if (!isSure) throw tooBusy(got);
  demand(false, {
    expected:
      'Each /report takes the same time, whenever it comes; here, where timers take ten times as long, too.',
    got,
    why: 'The time begins when the report comes. If a timer looks from time to time which reports are due, or several are collected first, most of them wait longer than the database takes.',
    try: 'await sleep(100); in each call of the handler',
    shows: {
      program,
      moments: [momentOf(slow, `${took[0]} ms`), momentOf(quick, `${took[1]} ms`)],
    },
  });
}

/**
 * None waits for longer than the database takes, be it one of several or alone. The timers that fired meanwhile tell; where
 * they were late, so may have been those of a program that takes several to wait. One of ten milliseconds may also have been
 * held up, by a / or by other programs, between two of ours, which tell nothing of it.
 */
function demandNotSlow(program, { requests, starvedMs }, first, expected) {
  const quickest = quickestOf(requests);
  const slow = [quickestIn(requests), first].find((one) => beatsIn(program, one) >= TOO_MANY_BEATS);
  const explainedMs = slow ? 2 * lateMsIn(program, slow) + blockedMsIn(program, slow) : 0;
  const isLong = slow && !isCrowded() && durationOf(slow) - explainedMs > LONG_DATABASE_MS;
  const isVeryLong = quickest - starvedMs > SLOW_DATABASE_MS;
  const shown = slow ?? quickestIn(requests);
  const got = `${shown === first ? 'One that came alone' : 'The quickest'} took ${durationOf(shown).toFixed(1)} ms.`;
  demand(!isLong && !isVeryLong, {
    expected,
    got,
    why: 'The database is no slower than before. A report that waits longer than it has to is another kind of bug.',
    try: 'await sleep(100);',
    shows: { program, moments: [momentOf(shown, 'longer than 100 ms')] },
  });
  if (slow || quickest > SLOW_DATABASE_MS) throw tooBusy(got);
}

/** For how long a / held the loop up while it was under way. */
const blockedMsIn = (program, { startMs, endMs }) =>
  sumOf(
    blocksOf(program).map(({ t, ms }) =>
      Math.max(0, Math.min(t, endMs) - Math.max(t - ms, startMs)),
    ),
  );

const beatsIn = (program, request) => beatsDuring(program, request).length;
const lateMsIn = (program, request) => sumOf(beatsDuring(program, request).map(({ late }) => late));

/** @type {Record<string, (seen: any) => { got: string, why: string }>} */
const STORIES = {
  turns: ({ depth, requests }) => ({
    got: `At most ${depth} of ${requests.length} were under way at once.`,
    why: 'A handler that waits without await holds the only thread, and everybody with it: async in front of it changes nothing.',
  }),
  health: () => ({
    got: 'The /health was executed only after the first /report had been answered.',
    why: 'A handler that waits without await holds the only thread, and everybody with it.',
  }),
  blocks: ({ blocks }) => ({
    got: `Meanwhile the thread was blocked ${timesOf(blocks.length)}, for ${Math.round(heldMs(blocks))} ms in all.`,
    why: 'One part of the handler waits, another part blocks, and that part holds up everybody.',
  }),
  queue: ({ requests }) => ({
    got: `All were under way together, and took ${inOrder(requests.map(durationOf))} ms.`,
    why: 'One waits until the other is done: they queue for something, or part of the handler blocks.',
  }),
};

/** @type {Record<string, (seen: any) => any[]>} */
const SHOWN = {
  turns: ({ requests }) => [
    momentOf(requests[0], 'one /report'),
    momentOf(requests[1], 'the next, which had to wait'),
  ],
  health: ({ requests, health }) => [
    momentOf(requests[0], 'a /report under way'),
    momentOf(health, '/health, only now'),
  ],
  blocks: ({ blocks }) => blocks.slice(0, MARKED).map(blockShown),
  queue: ({ requests }) => {
    const inOrder = [...requests].sort((a, b) => durationOf(a) - durationOf(b));
    return [momentOf(inOrder[0], 'the quickest'), momentOf(inOrder.at(-1), 'the slowest')];
  },
};

const timesOf = (count) => (count === 1 ? 'once' : `${count} times`);
const inOrder = (times) =>
  times
    .map(Math.round)
    .sort((a, b) => a - b)
    .join(', ');

export function demandOverlap(reports, late, program) {
  for (const seen of [reports, late.later]) {
    const kind = faultOfReports(seen);
    if (!kind) continue;
    const { got, why } = STORIES[kind](seen);
    if (!isOwnFault(kind, seen)) throw tooBusy(got);
    demand(false, {
      expected:
        'Reports that come together do not wait for each other: all are under way before the first is answered, ' +
        '/health is answered in between, and each takes 100 ms.',
      got,
      why,
      try: SLEEP,
      shows: { program, moments: SHOWN[kind](seen) },
    });
  }
  if (!late.isJoined) throw tooBusy('No /report ever came while another one was under way.');
}

/**
 * There is no limit on how many may wait: the last of many waits no longer than the first.
 * @param {Awaited<ReturnType<typeof import('./looks.js').askManyReports>>} seen
 */
export function demandNoLimit({ program, answers, requests, blocks, mostBeats, depth }) {
  const [block] = blocks;
  const isHeldUp = block !== undefined || mostBeats >= MORE_BEATS;
  const isRefused = ({ status, error }) => (error ? error === 'ECONNRESET' : status !== 200);
  const refused = isHeldUp ? undefined : answers.find(isRefused); // we have ended it then
  const times = requests.map(durationOf).sort((a, b) => a - b);
  const took = [times[0], times.at(-1)].map((ms) => Math.round(ms ?? 0));
  const heldUp = block
    ? `One blocked for ${block.ms.toFixed(1)} ms.`
    : `The quickest took ${took[0]} ms, the slowest ${took[1]} ms.`;
  demand(!isHeldUp && !refused, {
    expected: `${answers.length} reports come within a moment, to a server whose timers take ten times as long, and a client that was there before hangs up. All wait side by side.`,
    got: refused ? `One got ${refused.error ?? `status ${refused.status}`}.` : heldUp,
    why: refused
      ? 'There is no limit on how many may wait. And a client that hangs up is nothing to the others.'
      : 'There is no limit on how many may wait, not even a large one: one more would wait for another to be done.',
    try: SLEEP,
    shows: { program, moments: SHOWN.queue({ requests }) },
  });
  if (depth < answers.length && mostBeats >= LONG_BEATS)
    throw tooBusy(`At most ${depth} of ${answers.length} reports were under way at once.`);
}

/**
 * A handler that waits for nearly all of its 100 ms and spins for the rest blocks, too. That it used the CPU meanwhile is a
 * fact: one that others kept from running did not.
 * @param {Awaited<ReturnType<typeof import('./looks.js').askSoonReports>>} seen
 */
export function demandNoSpinning({ program, request, turnMs, busyMs, times }) {
  if (isTurning({ turnMs })) return;
  const which = times === 1 ? 'a single /report' : `each of ${times} /report, one after the other,`;
  const got = `Around ${which} the event loop did not turn for some ${Math.round(turnMs)} ms; the process used ${Math.round(busyMs)} ms of CPU time meanwhile.`;
  if (!isSpinning({ busyMs })) throw tooBusy(got);
  demand(false, {
    expected: 'Nothing in /report blocks, not even here, where its timers fire at once.',
    got,
    why: 'A loop that looks at the clock until the time is up holds the only thread, even if it waits before, and is meant to be exact.',
    try: SLEEP,
    shows: { program, moments: [momentOf(request, 'a /report that blocks')] },
  });
}

/** Little's law, predicted and measured. */
export function tellOfQueue({ requests }, { clients, batches, batchMs, healthMs }, measured) {
  const serviceMs = mean(requests.map(durationOf));
  const waits = batches.map((batch) => mean(batch.map((one) => one.doneMs - one.sentMs)) / 1000);
  measured('requests-per-second', {
    label: `requests per second for / with ${clients} clients`,
    ...meanOf(batches.map(({ length }) => (length / batchMs) * 1000)),
    formula: {
      value: 1000 / serviceMs,
      says: `1000 / ${serviceMs.toFixed(1)} ms that one / takes`,
    },
    unit: 'requests/s',
  });
  measured('mean-response', {
    label: `mean response time with ${clients} clients`,
    ...meanOf(waits),
    formula: {
      value: (clients * serviceMs) / 1000,
      says: `Little's law: ${clients} waiting, one served every ${serviceMs.toFixed(1)} ms`,
    },
    unit: 's',
    isHeadline: true,
  });
  measured('health-response', {
    label: 'a single /health meanwhile, which needs no time itself, took',
    value: healthMs / 1000,
    unit: 's',
  });
}
