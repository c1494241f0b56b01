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
  requestsOf,
  whyOfCrash,
} from '../lib/checking.js';

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

check('01-blocking-server', promises, async ({ launch, ready, ...lesson }) => {
  const { observe, hold } = lesson;
  const server = observe(async () => ready(await launch()));
  const first = observe(async () => askAtOnce(await server, '/', 1));

  const answersAtAll = async () => {
    const [{ status, error }] = (await first).answers;
    demand(status === 200 && !error, {
      expected: 'GET / is answered with status 200.',
      got: `GET / ${error ? `failed: ${error}` : `was answered with status ${status}`}.`,
      why: whyOfCrash((await server).events),
      try: 'start it with PORT=8080, then: curl -i localhost:8080/',
    });
  };
  await hold('listens', answersAtAll, { isGate: true });

  const homes = observe(async () => askAtOnce(await server, '/', AT_ONCE));

  await hold('home-body', async () => {
    const fault = faultOfRandomHex((await homes).answers);
    demand(!fault, {
      expected: 'The body is text of 10,000 to 20,000 hex digits, other ones each time.',
      got: fault,
      try: "response.type('text').send(randomHex(between(5_000, 10_000)));",
    });
  });

  const home = observe(async () => seek(() => askHealthDuring(server, '/', 1), cameInTime));

  await hold('home-time', async () => {
    const looks = await Promise.all([first, homes, home]);
    const requests = looks.flatMap((look) => look.requests);
    const quickest = Math.min(...requests.map(durationOf));
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

  await hold(
    'home-alone',
    async () => {
      const depth = deepestOverlap((await homes).requests);
      demand(depth === 1, {
        expected: 'Of eight requests for / at once, one is executed after the other.',
        got: `${depth} were under way at the same time.`,
        ...repair,
      });
      const seen = await home;
      if (!cameInTime(seen)) throw tooBusy('A /health never came while a / was on.');
      demand(seen.healthMs >= seen.firstEndMs, {
        expected: 'A /health that comes while a / is on is executed after it.',
        got: `It was executed ${(seen.firstEndMs - seen.healthMs).toFixed(1)} ms before its end.`,
        ...repair,
      });
    },
    { needs: ['home-time'] },
  );

  const delays = observe(() => seek(() => readDelays(server), areTrue));

  await hold(
    'health-tells-delay',
    async () => {
      const seen = await delays;
      demand(areTrue(seen), {
        expected:
          `{"eventLoopDelayMs": a number}, after a / of ${seen.longestMs.toFixed(1)} ms at least that much, and less ` +
          'when asked again at once.',
        got: `It said ${seen.told}, and when asked again ${seen.toldAgain}.`,
        why: 'monitorEventLoopDelay() counts in nanoseconds, has to be enabled, and keeps its max until reset().',
        try: 'const delay = monitorEventLoopDelay({ resolution: 5 }); delay.enable(); then delay.max / 1e6',
      });
    },
    { needs: ['home-time', 'home-alone'] },
  );

  const isFree = ({ depth, healthMs, firstEndMs }) =>
    depth === REPORTS_AT_ONCE && healthMs < firstEndMs;
  const reports = observe(() =>
    seek(() => askHealthDuring(server, '/report', REPORTS_AT_ONCE), isFree, 2),
  );

  await hold('report-overlaps', async () => {
    const seen = await reports;
    demand(isFree(seen), {
      expected:
        'Three /report are under way before the first is answered, and a /health in between.',
      got:
        seen.depth < REPORTS_AT_ONCE
          ? `${seen.depth} of three was the most that was under way at once.`
          : 'The /health was executed only after the first /report had been answered.',
      why: 'A handler that waits without await holds the only thread, and everybody with it.',
      try: "import { setTimeout as sleep } from 'node:timers/promises'; then: await sleep(100);",
    });
  });

  await hold('report-answers', async () => {
    const { answers, requests } = await reports;
    const quickest = Math.min(...requests.map(durationOf));
    const bad = answers.find(({ status, body }) => status !== 200 || parse(body).rows !== 100);
    demand(!bad && quickest > 98, {
      expected: '{"rows":100}, 100 ms after the request',
      got: bad
        ? `One got ${bad.error ?? `status ${bad.status}, ${bad.body.slice(0, 60)}`}.`
        : `The quickest took ${quickest.toFixed(1)} ms.`,
      why: 'The database is as slow as before: only the way of waiting changes.',
    });
  });

  if (lesson.allHold() && !lesson.isQuick)
    await measureQueue(await server, (await homes).requests, lesson.measured);
});

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
async function askHealthDuring(server, path, times) {
  const program = await server;
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
async function readDelays(server) {
  const program = await server;
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
const FIRST_ROUND_MS = 2_000; // by then each client has been served once
const BATCHES = 5;
const BATCH_MS = 500;

/** A hundred clients ask for / as fast as they are answered: Little's law, predicted and measured. */
async function measureQueue(program, homes, measured) {
  const serviceMs = mean(homes.map(durationOf));
  const load = createLoad();
  const durationMs = FIRST_ROUND_MS + BATCHES * BATCH_MS;
  const url = `${program.url}/`;
  const firing = load.fire({ url, connections: CLIENTS, durationMs, isFresh: true });
  await sleep(FIRST_ROUND_MS);
  const { sentMs, doneMs } = await get(`${program.url}/health`, { timeoutMs: durationMs });
  const { answers, startMs } = await firing;
  load.close();
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
    label: 'a single /health meanwhile, which needs no time itself, took',
    value: (doneMs - sentMs) / 1000,
    unit: 's',
  });
}
