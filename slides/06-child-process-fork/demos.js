import { setTimeout as sleep } from 'node:timers/promises';
import { get } from '../../lib/check/checking.js';

const EVERY_MS = 50;
const REPORT_MS = 1_000; // at the most: it is timed before the code is warm
const ROWS_TO_TIME = 100_000;
const MOST_WAITING = 22; // on a busy machine a report takes longer, and the drawing has no more rows
const AFTER_MS = 250;
const REST_MS = 25; // the histogram behind /health needs a few of its turns after it was reset
const timeoutMs = 10_000;

/** A heavy report, and a client that asks for / every 50 ms: the job in the server, then in a child. */
export default [
  {
    name: 'who-waits',
    title: 'A heavy job in the server, then in a child',
    async perform({ launch, ask, say, begin, drawn }) {
      say('Two servers start and warm up.');
      const env = { JOB_CHILDREN: '1' };
      const starter = 'checks/06-child-process-fork/starter/server.js';
      const solution = 'solutions/06-child-process-fork/server.js';
      const inServer = await launch(starter, { as: 'alone', env });
      await inServer.ready(1); // it comes first, and has the first lane
      const inChild = await launch(solution, { as: 'with a child', env });
      await inChild.ready(1);
      for (const { url } of [inServer, inChild]) {
        await get(`${url}/`); // a server's first answer is slower
        await timeReport(url); // and the child is started
      }
      const rows = Math.round((ROWS_TO_TIME * REPORT_MS) / (await timeReport(inServer.url)));
      await sleep(AFTER_MS); // its silence is over, and reported
      const label = 'longest wait for /';
      const waits = [];
      const show = (name, { waitedMs }) => {
        waits.push({ name, value: Math.round(waitedMs) });
        drawn({ name: 'waits', label, unit: 'ms', rows: waits });
      };
      begin();
      say(
        'The server builds a report itself. In the meantime a client asks for / again and again.',
      );
      const itself = await askMeanwhile(inServer, { rows, ask });
      show('job in the server', itself);
      say('The same report, built by a child, and the same requests.');
      const forked = await askMeanwhile(inChild, { rows, ask });
      show('job in a child', forked);
      say(
        `Answered before the report: ${itself.early} of ${itself.asked}, with a child ${forked.early} of ${forked.asked}. ` +
          `Event-loop delay: ${itself.delayMs} ms, with a child ${forked.delayMs} ms.`,
      );
    },
  },
];

async function timeReport(url) {
  const { sentMs, doneMs } = await get(`${url}/report?rows=${ROWS_TO_TIME}`, { timeoutMs });
  return doneMs - sentMs;
}

/** One report, and a / every 50 ms until it is built, and a little longer. */
async function askMeanwhile({ url }, { rows, ask }) {
  await get(`${url}/health`); // it forgets the delays so far
  await sleep(REST_MS);
  let reportMs = Infinity;
  const report = ask(`${url}/report?rows=${rows}`, { timeoutMs });
  report.then(({ doneMs }) => (reportMs = doneMs));
  const asked = [];
  let waiting = 0;
  while (reportMs === Infinity) {
    await sleep(EVERY_MS);
    if (reportMs < Infinity || waiting === MOST_WAITING) continue;
    waiting += 1;
    asked.push(ask(`${url}/`, { timeoutMs }).finally(() => (waiting -= 1)));
  }
  await report;
  const answers = await Promise.all(asked);
  await sleep(AFTER_MS);
  const { eventLoopDelayMs } = JSON.parse((await get(`${url}/health`)).body);
  return {
    asked: answers.length,
    early: answers.filter(({ doneMs }) => doneMs < reportMs).length,
    waitedMs: Math.max(...answers.map(({ sentMs, doneMs }) => doneMs - sentMs)),
    delayMs: Math.round(eventLoopDelayMs),
  };
}
