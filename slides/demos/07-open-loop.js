import { setTimeout as sleep } from 'node:timers/promises';
import { askAtOnce, get } from '../../lib/checking.js';

const solution = 'solutions/07-open-loop/server.js';
const starter = 'checks/starters/07-open-loop/server.js';
const PER_SECOND = 200;
const SECONDS = 2;
const WORKERS = 3;
const LOOK_EVERY_MS = 100;
const FULL_BAR = 170; // who waits for one process at the end
const CALM_MS = 300;

/** The same load on schedule for one process and for the cluster, and who waits for each. */
export default [
  {
    name: 'drown-or-keep-up',
    title: `${PER_SECOND} requests a second: one process, and ${WORKERS} workers`,
    async perform({ launch, say, begin, drawn, signal }) {
      say('One process and our cluster start and warm up.');
      const single = await launch(starter, { as: 'one process' });
      await single.ready(1); // it comes first, and has the first lane
      const cluster = await launch(solution, { as: 'primary' });
      await cluster.ready(WORKERS);
      for (const program of [single, cluster]) {
        await askAtOnce(program, '/', 2 * WORKERS); // a process's first page is slow
        await program.drained();
      }
      const sides = [
        { name: 'one process', ...startTraffic(single, signal) },
        { name: `${WORKERS} workers`, ...startTraffic(cluster, signal) },
      ];
      begin();
      say(`${PER_SECOND} requests a second to each of the two, for ${SECONDS} s.`);
      const look = () =>
        drawn({
          name: 'waiting',
          label: 'Clients that wait for an answer',
          unit: '',
          most: FULL_BAR,
          rows: sides.map(({ name, waiting }) => ({ name, value: waiting() })),
        });
      const timer = setInterval(look, LOOK_EVERY_MS);
      const left = (await Promise.all(sides.map(({ sent }) => sent))).map(String);
      look();
      say(`All are sent. Waiting: ${left.join(' for the one process, ')} for the cluster.`);
      const slowest = await Promise.all(sides.map(({ slowestMs }) => slowestMs));
      clearInterval(timer);
      look();
      await sleep(CALM_MS);
      const [one, many] = slowest.map((ms) => (ms < 1000 ? `${Math.round(ms)} ms` : seconds(ms)));
      say(
        `Sent to each: ${PER_SECOND * SECONDS}. Waiting when the last was sent: ${left.join(' and ')}. ` +
          `The slowest answer: ${one} and ${many}.`,
      );
    },
  },
];

const seconds = (/** @type {number} */ ms) => `${(ms / 1000).toFixed(1)} s`;

/** Asks on schedule, whatever comes back. `sent` tells who still waits when all are asked, `slowestMs` how long one did. */
function startTraffic({ url }, signal) {
  let waiting = 0;
  const latenciesMs = [];
  const asked = [];
  const ask = async (dueMs) => {
    waiting += 1;
    await get(`${url}/`);
    waiting -= 1;
    latenciesMs.push(performance.now() - dueMs);
  };
  const send = async () => {
    const since = performance.now();
    while (asked.length < PER_SECOND * SECONDS && !signal.aborted) {
      const dueMs = since + (asked.length * 1_000) / PER_SECOND;
      await sleep(Math.max(0, dueMs - performance.now()));
      asked.push(ask(dueMs));
    }
    return waiting;
  };
  const sent = send();
  const finish = async () => {
    await sent;
    await Promise.all(asked);
    return Math.max(...latenciesMs);
  };
  return { waiting: () => waiting, sent, slowestMs: finish() };
}
