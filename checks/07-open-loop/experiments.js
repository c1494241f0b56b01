import { availableParallelism } from 'node:os';
import {
  acceptQueueOf,
  deepestOverlap,
  measureAtRate,
  reportOf,
  reportTable,
  requestsOf,
  unansweredAt,
} from '../../lib/check/checking.js';

const solution = 'solutions/07-open-loop/server.js';
const starter = 'checks/07-open-loop/starter/server.js';
const withWorkers = (count) => ({ env: { NODE_CLUSTER_WORKERS: String(count) } });
const RATE = 200;
const FEW = 10;
const LATE_MS = 20; // our own requests, sent later than that, say nothing about the server

const inMs = (ms) => `${ms.toFixed(1)} ms`;
const inSeconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
const asTime = (ms) => (ms < 1000 ? inMs(ms) : inSeconds(ms));

/** Starts a program, and has each of its processes render a few pages: the first is slow. */
async function launchWarm(lab, file, workers = 1) {
  const program = await lab.launch(file, withWorkers(workers));
  await program.ready(workers);
  const { fire, close } = lab.openLoop();
  await fire({ url: `${program.url}/`, ratePerSecond: 100, durationMs: 200 });
  await program.drained();
  close();
  return program;
}

/** The waiting clients at each full second. */
function queueBySecond(window, seconds) {
  return Array.from({ length: seconds }, (_, index) =>
    unansweredAt(window, window.startMs + (index + 1) * 1000),
  );
}

/** Answers of the closed loop, in the form of the open one's: they are due when they are sent. */
const closedReport = ({ answers }) =>
  reportOf({
    startMs: 0,
    endMs: 0,
    answers: answers.map((one) => ({ ...one, dueMs: one.sentMs, error: undefined })),
  });

export default [
  {
    name: 'article',
    title:
      'The article: 200 requests a second for 20 s, on one process and on a cluster of four (90 s)',
    question:
      'A page takes 8.6 ms. 200 requests a second arrive for 20 s. How many does one process answer a second, and four workers? Within what time are nine of ten answered?',
    async run(lab) {
      const seconds = lab.isBrief ? 4 : 20;
      const load = { ratePerSecond: RATE, durationMs: seconds * 1000 };
      const openLoop = lab.openLoop();
      const single = await launchWarm(lab, starter);
      const one = await measureAtRate(openLoop, single, load);
      await single.stop();
      const cluster = await launchWarm(lab, solution, 4);
      const four = await measureAtRate(openLoop, cluster, load);
      const [queue, none] = [one, four].map(({ window }) => queueBySecond(window, seconds));
      return {
        observed: [
          ...reportTable({ 'one process': one, 'four workers': four }),
          `waiting after each second, one process: ${queue.join(' ')}`,
          `four workers: ${none.join(' ')}`,
        ],
        because:
          'One process renders at most 116 pages of 8.6 ms a second; 200 come. The rest waits, more every second, until new clients wait longer than any client will. Four workers have room to spare, and no client waits. The server that renders is the same.',
        asExpected:
          four.report.lateMs.p99 < LATE_MS &&
          four.report.success === 1 &&
          four.report.throughputPerSecond > 0.95 * RATE &&
          one.report.throughputPerSecond < 0.65 * RATE &&
          four.report.latencyMs.p90 * 10 < one.report.latencyMs.p90,
      };
    },
  },
  {
    name: 'closed-loop-lies',
    title: 'A closed loop, and an open one, on the same server',
    question:
      'One process, for three seconds: first ten clients that each wait for their answer before they ask again, then 200 requests a second, no matter what. Within what time does each say that nine of ten are answered?',
    async run(lab) {
      const program = await launchWarm(lab, starter);
      const url = `${program.url}/`;
      const window = await lab.load().fire({ url, connections: FEW, durationMs: 3_000 });
      const closed = closedReport(window);
      await program.drained();
      const open = reportOf(
        await lab.openLoop().fire({ url, ratePerSecond: RATE, durationMs: 3_000, isFresh: false }),
      );
      return {
        observed: [
          `closed loop, ${FEW} clients: ${closed.requests} requests, ${closed.throughputPerSecond.toFixed(0)} a second, p90 ${asTime(closed.latencyMs.p90)}`,
          `open loop, ${RATE} a second: ${open.requests} requests, ${open.throughputPerSecond.toFixed(0)} a second, p90 ${asTime(open.latencyMs.p90)}`,
        ],
        because:
          "Both load the server to its limit. But ten clients that wait cannot make a queue of more than ten: when the server is slow they ask less. Visitors to a web site don't know how the others are doing.",
        asExpected:
          closed.requests < open.requests && closed.latencyMs.p90 * 4 < open.latencyMs.p90,
      };
    },
  },
  {
    name: 'count-from-the-schedule',
    title: 'The same answers, counted from two moments',
    question:
      'A generator has a schedule of 200 requests a second but only ten connections, and waits for a free one. One process answers. What is the 99th percentile counted from when a request was sent, and from when it was due?',
    async run(lab) {
      const program = await launchWarm(lab, starter);
      const window = await lab.openLoop().fire({
        url: `${program.url}/`,
        ratePerSecond: RATE,
        durationMs: 3_000,
        connections: FEW,
        isFresh: false,
        timeoutMs: 20_000,
      });
      const [sent, due] = [reportOf(window, 'sentMs'), reportOf(window, 'dueMs')];
      return {
        observed: [
          `counted from when it was sent: p50 ${asTime(sent.latencyMs.p50)}, p99 ${asTime(sent.latencyMs.p99)}`,
          `counted from when it was due:  p50 ${asTime(due.latencyMs.p50)}, p99 ${asTime(due.latencyMs.p99)}`,
          `half of them were sent more than ${asTime(due.lateMs.p50)} late`,
        ],
        because:
          'The generator waits for the server before it asks, so it does not ask when the answer would take long: generator and server are coordinated, and what is omitted is the waiting. The client whose turn it was waited anyway.',
        asExpected: sent.latencyMs.p99 * 4 < due.latencyMs.p99 && due.success === 1,
      };
    },
  },
  {
    name: 'who-goes-first',
    title: 'Which clients are served first when a server drowns',
    question:
      'One process, 200 requests a second for three seconds, twice: each on a new connection, then on connections that are kept alive. What is the median, what the 90th percentile, and where do the waiting clients wait?',
    async run(lab) {
      const openLoop = lab.openLoop();
      const rows = [];
      for (const isFresh of [true, false]) {
        const program = await launchWarm(lab, starter);
        const load = { url: `${program.url}/`, ratePerSecond: RATE, durationMs: 3_000 };
        const queues = [];
        const timer = setInterval(() => queues.push(acceptQueueOf(program.port) ?? 0), 100);
        const { latencyMs, unanswered } = reportOf(await openLoop.fire({ ...load, isFresh }));
        clearInterval(timer);
        await program.stop();
        const how = isFresh ? 'new connections' : 'kept alive';
        rows.push({ how, ...latencyMs, unanswered, queue: Math.max(...queues) });
      }
      const [fresh, kept] = rows;
      return {
        observed: rows.map(
          ({ how, p50, p90, unanswered, queue }) =>
            `${how}: p50 ${asTime(p50)}, p90 ${asTime(p90)}; ${unanswered} waited at the end, and up to ${queue} connections were not accepted yet`,
        ),
        because:
          'They wait in the kernel, as connections that the process has not accepted. On new connections it is an orderly queue. With keep-alive, a connection that was just answered carries the next request at once, and is served while the others are not even accepted: a few are quick, so the median looks good, and the rest wait until the crowd is gone.',
        asExpected: kept.p50 < 0.6 * fresh.p50 && kept.p90 > 2 * kept.p50,
      };
    },
  },
  {
    name: 'utilization',
    title: 'Two, three, four workers, and clients that come when they like',
    question:
      'Two workers can render 232 pages a second, and 200 are asked for. Is that enough? How does the 90th percentile change when they come at random instead of evenly?',
    async run(lab) {
      const openLoop = lab.openLoop();
      const rows = [];
      for (const workers of [2, 3, 4]) {
        const program = await launchWarm(lab, solution, workers);
        const [even, random] = [false, true].map((isRandom) => async () => {
          const load = { url: `${program.url}/`, ratePerSecond: RATE, durationMs: 2_500 };
          return reportOf(await openLoop.fire({ ...load, isRandom }));
        });
        rows.push({ workers, even: await even(), random: await random() });
        await program.stop();
      }
      const busy = (workers) => `${Math.round((RATE * 8.6) / 10 / workers)} %`;
      return {
        observed: rows.map(
          ({ workers, even, random }) =>
            `${workers} workers, busy ${busy(workers)} of the time: p90 ${inMs(even.latencyMs.p90)} evenly, ${inMs(random.latencyMs.p90)} at random`,
        ),
        because:
          "Two are enough if clients arrive evenly spaced, which real clients don't. At random some come close together, and the busier the workers are, the longer such a crowd takes to clear. That is what the utilization is for.",
        asExpected: rows[0].random.latencyMs.p90 > 1.3 * rows[2].random.latencyMs.p90,
      };
    },
  },
  {
    name: 'autocannon-rate',
    title: "A closed loop with a rate: autocannon's -R",
    question:
      'autocannon is configured to send 200 requests a second for three seconds, with ten connections, to one process. How many does it send?',
    async run(lab) {
      const program = await launchWarm(lab, starter);
      const load = { url: `${program.url}/`, ratePerSecond: RATE, durationMs: 3_000 };
      const window = await lab.load().fire({ ...load, connections: FEW });
      await program.drained();
      const open = await lab.openLoop().fire({ ...load, isFresh: false });
      const closed = closedReport(window);
      return {
        observed: [
          `autocannon: ${closed.requests} of 600, p99 ${asTime(closed.latencyMs.p99)}`,
          `an open loop: ${open.answers.length} of 600, p99 ${asTime(reportOf(open).latencyMs.p99)}`,
        ],
        because:
          'Its rate is an upper limit: a connection that waits for an answer sends nothing. So the server decides how much it is asked, and a drowning server is asked just as much as it can handle.',
        asExpected: closed.requests < 0.8 * open.answers.length,
      };
    },
  },
  {
    name: 'cores-are-not-the-limit',
    title: 'More workers than cores',
    question:
      'Our page waits, as if for a disk, and does not compute. Twice as many workers as this machine has cores: how many pages are in progress at once, and how many are finished a second?',
    async run(lab) {
      const workers = 2 * Math.max(2, availableParallelism());
      const program = await launchWarm(lab, solution, workers);
      const load = { url: `${program.url}/`, connections: 3 * workers, durationMs: 1_000 };
      const window = await lab.load().fire(load);
      await program.drained();
      const requests = requestsOf(program.events, '/').filter(
        ({ startMs }) => startMs >= window.startMs,
      );
      const deepest = deepestOverlap(requests);
      const perSecond = (1000 * window.answers.length) / (window.endMs - window.startMs);
      return {
        observed: [
          `${workers} workers on ${availableParallelism()} cores`,
          `at most ${deepest} pages were in progress at once`,
          `${perSecond.toFixed(0)} a second; one process can do 116`,
        ],
        because:
          'A worker that waits holds its event loop, not a core. For such work the number of workers follows from rate and page time. For work that computes, the cores are the limit, and the formula says how many of them you have to buy.',
        asExpected: deepest > availableParallelism(),
      };
    },
  },
];
