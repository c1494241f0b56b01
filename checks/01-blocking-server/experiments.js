import { askAtOnce, deepestOverlap, get, mean, wrongAnswer } from '../../lib/check/checking.js';

const solution = 'solutions/01-blocking-server/server.js';
const starter = 'checks/01-blocking-server/starter/server.js';

const whole = (ms) => `${Math.round(ms)} ms`;
const tookMs = ({ sentMs, doneMs }) => doneMs - sentMs;

export default [
  {
    name: 'block-or-wait',
    title: 'Three reports at once, blocking and waiting',
    question:
      'A report takes the database 100 ms. Three clients ask at the same moment. When is each of them answered, if the handler blocks? And if it awaits?',
    async run({ launch }) {
      const seen = {};
      for (const [how, file] of Object.entries({ blocks: starter, waits: solution })) {
        const program = await launch(file);
        await program.ready(1);
        const { answers, requests } = await askAtOnce(program, '/report', 3);
        const times = answers.map(tookMs).sort((a, b) => a - b);
        seen[how] = { times: times.map(whole).join(', '), depth: deepestOverlap(requests) };
        await program.stop();
      }
      const { blocks, waits } = seen;
      return {
        observed: [
          `blocking: answered after ${blocks.times}; at most ${blocks.depth} in flight at once`,
          `waiting: answered after ${waits.times}; at most ${waits.depth} in flight at once`,
        ],
        because:
          'A handler that blocks keeps the only thread until it returns, so the next handler cannot even begin. A handler that awaits gives the thread back.',
        asExpected: blocks.depth === 1 && waits.depth === 3,
      };
    },
  },
  {
    name: 'health-in-the-queue',
    title: 'A /health behind forty others',
    question:
      'Forty clients ask for /, which blocks for 15 ms. A moment later another client asks for /health, which needs no time. How long does it take?',
    async run({ launch }) {
      const program = await launch(solution);
      await program.ready(1);
      const alone = await get(`${program.url}/health`);
      const homes = askAtOnce(program, '/', 40);
      await program.until((events) => events.some(({ url }) => url === '/'));
      const behind = await get(`${program.url}/health`);
      const { requests } = await homes;
      const before = requests.filter(({ endMs }) => endMs < behind.doneMs).length;
      return {
        observed: [
          `alone: ${whole(tookMs(alone))}`,
          `behind them: ${whole(tookMs(behind))}; ${before} of the 40 were answered before it`,
        ],
        because: 'It needs no time on the thread, but it has to get there, and it cannot overtake.',
        asExpected: before >= 5 && tookMs(behind) > tookMs(alone),
      };
    },
  },
  {
    name: 'littles-law',
    title: 'The law, multiplied out',
    question:
      'Thirty clients, each asking again as soon as it is answered. Multiply the requests per second by the seconds that one takes. What do you get?',
    async run({ launch, load }) {
      const program = await launch(solution);
      await program.ready(1);
      const fair = await flow(load(), program, { isFresh: true });
      const lucky = await flow(load(), program, { isFresh: false });
      const words = ({ perSecond, meanMs, inSystem }) =>
        `${perSecond.toFixed(0)} per second x ${(meanMs / 1000).toFixed(3)} s = ${inSystem.toFixed(0)} clients`;
      return {
        observed: [
          `a new connection for each request: ${words(fair)}`,
          `connections that stay open: ${words(lucky)}`,
        ],
        because:
          "With new connections all clients queue, and the product is the thirty clients. On connections that stay open a few are served again and again, and starved clients are missing from the mean. If the product isn't the number of clients, some clients weren't counted.",
        asExpected: fair.inSystem > 21 && fair.inSystem < 36,
      };
    },
  },
  {
    name: 'async-alone',
    title: 'The word async, and nothing else',
    question:
      'You write async in front of a handler that calls blockFor(100). Three clients ask at once. How many are in flight at the same time?',
    async run({ launch }) {
      const program = await launch(wrongAnswer('01-blocking-server', 'blocking-report'));
      await program.ready(1);
      const { answers, requests } = await askAtOnce(program, '/report', 3);
      const times = answers.map(tookMs).sort((a, b) => a - b);
      return {
        observed: `answered after ${times.map(whole).join(', ')}; at most ${deepestOverlap(requests)} in flight at once`,
        because:
          'The word frees nothing. Only an await on something that happens elsewhere gives the thread back.',
        asExpected: deepestOverlap(requests) === 1,
      };
    },
  },
];

/** Thirty clients for two seconds; the first half second, in which the queue fills, does not count. */
async function flow(generator, { url }, { isFresh }) {
  const options = { url: `${url}/`, connections: 30, durationMs: 2_000, isFresh };
  const { startMs, answers } = await generator.fire(options);
  const counted = answers.filter(
    ({ doneMs }) => doneMs > startMs + 500 && doneMs < startMs + 2_000,
  );
  const perSecond = counted.length / 1.5;
  const meanMs = mean(counted.map(tookMs));
  return { perSecond, meanMs, inSystem: (perSecond * meanMs) / 1000 };
}
