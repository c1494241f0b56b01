import { setTimeout as sleep } from 'node:timers/promises';
import {
  Undecided,
  askAtOnce,
  check,
  createLoad,
  deepestOverlap,
  demand,
  faultOfRandomHex,
  get,
  mean,
  meanOf,
  quickestOf,
  requestsOf,
  whyOfCrash,
} from '../../lib/check/checking.js';

const promises = {
  listens: 'the server listens on PORT and answers /',
  'home-body': '/ answers 5,000 to 10,000 random bytes as hex text',
  'home-time': '/ takes 10 to 20 ms',
  'home-alone': 'while one / is on, nothing else is: no other /, no /health',
  'health-tells-delay': '/health tells the longest event-loop delay since it was last asked',
  'report-overlaps':
    '/report holds up nobody: three are under way at once, and /health is answered',
  'report-answers': '/report still takes its 100 ms and answers its rows',
};
const AT_ONCE = 8;
const REPORTS_AT_ONCE = 3;
const TIMER_MS = 5; // a timer of one's own tells how late it was: up to its period less than a / took

check('01-blocking-server', promises, (lesson) => {
  const { launch, ready, observe, meanwhile, hold, measure } = lesson;
  const server = observe([], async () => ready(await launch()));
  const first = observe([server], (program) => askAtOnce(program, '/', 1));
  const homes = observe([server, first], (program) => askAtOnce(program, '/', AT_ONCE));
  const home = observe([server, first], (program) =>
    seek(() => askHealthDuring(program, '/', 1), cameInTime),
  );
  const delays = observe([server, first], (program) => seek(() => readDelays(program), areTrue));
  const reports = observe([server, first], (program) =>
    seek(() => askHealthDuring(program, '/report', REPORTS_AT_ONCE), isFree, 2),
  );
  const queue = meanwhile([homes], async () => measureQueue(await ready(await launch())), {
    isSlow: true,
  });

  hold(
    'listens',
    [server, first],
    ({ events }, { answers: [{ status, error }] }) =>
      demand(status === 200 && !error, {
        expected: 'GET / is answered with status 200.',
        got: `GET / ${error ? `failed: ${error}` : `was answered with status ${status}`}.`,
        why: whyOfCrash(events),
        try: 'start it with PORT=8080, then: curl -i localhost:8080/',
      }),
    { isGate: true },
  );

  hold('home-body', [homes], ({ answers }) => {
    const fault = faultOfRandomHex(answers);
    demand(!fault, {
      expected: 'The body is text of 10,000 to 20,000 hex digits, other ones each time.',
      got: fault,
      try: "response.type('text').send(randomHex(between(5_000, 10_000)));",
    });
  });

  hold('home-time', [first, homes, home], (...looks) => {
    const quickest = quickestOf(looks.flatMap(({ requests }) => requests));
    demand(quickest > 9.5 && quickest < 30, {
      expected: 'Each / takes 10 to 20 ms.',
      got: `The quickest took ${quickest.toFixed(1)} ms.`,
      try: 'blockFor(between(10, 20)); before the answer',
    });
  });

  const repair = {
    why: 'The handler gives the event loop back before it has answered.',
    try: 'blockFor(...), without await',
  };

  hold(
    'home-alone',
    [homes, home],
    ({ requests }, seen) => {
      const depth = deepestOverlap(requests);
      demand(depth === 1, {
        expected: 'Of eight requests for / at once, one is executed after the other.',
        got: `${depth} were under way at the same time.`,
        ...repair,
      });
      if (!cameInTime(seen)) throw tooBusy('A /health never came while a / was on.');
      demand(seen.healthMs >= seen.firstEndMs, {
        expected: 'A /health that comes while a / is on is executed after it.',
        got: `It was executed ${(seen.firstEndMs - seen.healthMs).toFixed(1)} ms before its end.`,
        ...repair,
      });
    },
    { needs: ['home-time'] },
  );

  hold(
    'health-tells-delay',
    [delays],
    (seen) =>
      demand(areTrue(seen), {
        expected:
          `{"eventLoopDelayMs": a number}, after a / of ${seen.longestMs.toFixed(1)} ms at least that much, and less ` +
          'when asked again at once.',
        got: `It said ${seen.told}, and when asked again ${seen.toldAgain}.`,
        why: 'monitorEventLoopDelay() counts in nanoseconds, has to be enabled, and keeps its max until reset().',
        try: 'const delay = monitorEventLoopDelay({ resolution: 5 }); delay.enable(); then delay.max / 1e6',
      }),
    { needs: ['home-time', 'home-alone'] },
  );

  hold('report-overlaps', [reports], (seen) =>
    demand(isFree(seen), {
      expected:
        'Three /report are under way before the first is answered, and a /health in between.',
      got:
        seen.depth < REPORTS_AT_ONCE
          ? `${seen.depth} of three was the most that was under way at once.`
          : 'The /health was executed only after the first /report had been answered.',
      why: 'A handler that waits without await holds the only thread, and everybody with it.',
      try: "import { setTimeout as sleep } from 'node:timers/promises'; then: await sleep(100);",
    }),
  );

  hold('report-answers', [reports], ({ answers, requests }) => {
    const quickest = quickestOf(requests);
    const bad = answers.find(({ status, body }) => status !== 200 || parse(body).rows !== 100);
    demand(!bad && quickest > 98, {
      expected: '{"rows":100}, 100 ms after the request',
      got: bad
        ? `One got ${bad.error ?? `status ${bad.status}, ${bad.body.slice(0, 60)}`}.`
        : `The quickest took ${quickest.toFixed(1)} ms.`,
      why: 'The database is as slow as before: only the way of waiting changes.',
    });
  });

  measure([homes, queue], ({ requests }, seen) => tellOfQueue(requests, seen, lesson.measured));
});

const isFree = ({ depth, healthMs, firstEndMs }) =>
  depth === REPORTS_AT_ONCE && healthMs < firstEndMs;
const durationOf = ({ startMs, endMs = Infinity }) => endMs - startMs;
const cameInTime = ({ healthSentMs, firstEndMs }) => healthSentMs < firstEndMs;
const areTrue = ({ told, toldAgain, longestMs, sinceMs }) =>
  told > longestMs - TIMER_MS && told <= sinceMs && toldAgain < told;

const tooBusy = (got) =>
  new Undecided({
    got,
    why: 'The machine is too busy for this.',
    try: 'close other programs, then check again',
  });

function parse(body) {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}

/** Looks until it sees what it seeks, a few times at the most: a busy machine spoils one look, not all. */
async function seek(look, isFound, attempts = 4) {
  let seen;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    seen = await look();
    if (isFound(seen)) break;
  }
  return seen;
}

/** Asks for the path several times at once, and for /health when the first of them has been seen to start. */
async function askHealthDuring(program, path, times) {
  const before = program.events.length;
  const asked = askAtOnce(program, path, times);
  await program.until((events) => requestsOf(events.slice(before), path).length > 0);
  const { sentMs } = await get(`${program.url}/health`);
  const { answers, requests } = await asked;
  const [health] = requestsOf(program.events.slice(before), '/health');
  const firstEndMs = Math.min(...requests.map(({ endMs = Infinity }) => endMs));
  const depth = deepestOverlap(requests);
  return { answers, requests, depth, firstEndMs, healthSentMs: sentMs, healthMs: health?.startMs };
}

/** What /health tells after eight / in a row, and when it is asked again at once. */
async function readDelays(program) {
  const tell = async () => parse((await get(`${program.url}/health`)).body).eventLoopDelayMs;
  const fromMs = performance.now();
  await tell();
  const { requests } = await askAtOnce(program, '/', AT_ONCE);
  const told = await tell();
  const sinceMs = performance.now() - fromMs;
  return {
    told,
    toldAgain: await tell(),
    sinceMs,
    longestMs: Math.max(...requests.map(durationOf)),
  };
}

const CLIENTS = 100;
const FIRST_ROUND_MS = 1_700; // by then each client has been served once
const BATCHES = 5;
const BATCH_MS = 150;
const HEALTHS = 4;

/** A hundred clients ask for / as fast as they are answered; some /health come in between. */
async function measureQueue(program) {
  const load = createLoad();
  const durationMs = FIRST_ROUND_MS + BATCHES * BATCH_MS;
  const url = `${program.url}/`;
  const firing = load.fire({ url, connections: CLIENTS, durationMs, isFresh: true });
  await program.until((events) => requestsOf(events, '/').length > 0);
  const healths = Promise.all(
    Array.from({ length: HEALTHS }, async (_, index) => {
      await sleep((FIRST_ROUND_MS * index) / HEALTHS);
      const { sentMs, doneMs } = await get(`${program.url}/health`, { timeoutMs: durationMs });
      return doneMs - sentMs;
    }),
  );
  const { answers, startMs } = await firing;
  load.close();
  return { answers, startMs, healthMs: Math.max(...(await healths)) };
}

/** Little's law, predicted and measured. */
function tellOfQueue(homes, { answers, startMs, healthMs }, measured) {
  const serviceMs = mean(homes.map(durationOf));
  const batches = Array.from({ length: BATCHES }, (_, index) => {
    const fromMs = startMs + FIRST_ROUND_MS + index * BATCH_MS;
    return answers.filter(({ doneMs: t }) => t >= fromMs && t < fromMs + BATCH_MS);
  });
  const waits = batches.map((batch) => mean(batch.map((one) => one.doneMs - one.sentMs)) / 1000);
  measured('requests-per-second', {
    label: `requests per second for / with ${CLIENTS} clients`,
    ...meanOf(batches.map(({ length }) => (length / BATCH_MS) * 1000)),
    formula: {
      value: 1000 / serviceMs,
      says: `1000 / ${serviceMs.toFixed(1)} ms that one / takes`,
    },
    unit: 'requests/s',
  });
  measured('mean-response', {
    label: `mean response time with ${CLIENTS} clients`,
    ...meanOf(waits),
    formula: {
      value: (CLIENTS * serviceMs) / 1000,
      says: `Little's law: ${CLIENTS} waiting, one served every ${serviceMs.toFixed(1)} ms`,
    },
    unit: 's',
    isHeadline: true,
  });
  measured('health-response', {
    label: `the slowest of ${HEALTHS} /health meanwhile, which need no time themselves, took`,
    value: healthMs / 1000,
    unit: 's',
  });
}
