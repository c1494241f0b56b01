import { setTimeout as sleep } from 'node:timers/promises';
import { Undecided, askAtOnce, forksOf, nowMs, reportOf } from '../../lib/check/checking.js';

const solution = 'solutions/07-open-loop/server.js';
const starter = 'checks/07-open-loop/starter/server.js';
const SECONDS = 2;
const LOAD = { ratePerSecond: 200, durationMs: SECONDS * 1000, isFresh: false, timeoutMs: 10_000 };
const WORKERS = 3;
const LOOK_EVERY_MS = 100;
const FULL_BAR = 200; // about as many wait for one process when the last is sent
const CALM_MS = 300;

/** The same load on schedule for one process and for the cluster, and who waits for each. */
export default [
  {
    name: 'drown-or-keep-up',
    title: `${LOAD.ratePerSecond} requests a second: one process, and ${WORKERS} workers`,
    async perform({ launch, openLoop, say, begin, drawn, repeat }) {
      say('One process and our cluster start and warm up.');
      const single = await launch(starter, { as: 'one process' });
      await single.ready(1); // it comes first, and has the first lane
      const cluster = await launch(solution, { as: 'primary' });
      await cluster.ready(WORKERS);
      const { length: forked } = forksOf(cluster.events);
      if (forked !== WORKERS)
        throw new Undecided({
          got: `It measured its page time on a busy machine, and forked ${forked} workers, not ${WORKERS}.`,
          why: 'What is shown here is about as many as the formula gives.',
          try: 'run it again, or play the recording',
        });
      const sides = [
        { name: 'one process', program: single, generator: openLoop() },
        { name: `${WORKERS} workers`, program: cluster, generator: openLoop() },
      ];
      for (const { program, generator } of sides) {
        await askAtOnce(program, '/', 2 * WORKERS); // a process's first page is slow
        await generator.fire({ ...LOAD, url: `${program.url}/`, durationMs: 50 }); // it is up now
        await program.drained();
      }
      begin();
      say(`${LOAD.ratePerSecond} requests a second to each of the two, for ${SECONDS} s.`);
      const sinceMs = nowMs();
      const waiting = sides.map(({ program }) => countWaiting(program, sinceMs));
      const look = () =>
        drawn({
          name: 'waiting',
          label: 'Clients that wait for an answer',
          unit: '',
          most: FULL_BAR,
          isOverTime: true,
          rows: sides.map(({ name }, index) => ({ name, value: waiting[index]() })),
        });
      const stop = repeat(look, LOOK_EVERY_MS);
      const windows = await Promise.all(
        sides.map(({ program, generator }) => generator.fire({ ...LOAD, url: `${program.url}/` })),
      );
      stop();
      look();
      await sleep(CALM_MS);
      const [one, many] = windows.map((window) => reportOf(window));
      say(
        `Sent to each: ${one.requests}. Waiting when the last was sent: ${one.unanswered} and ${many.unanswered}. ` +
          `The slowest answer: ${asTime(one.latencyMs.max)} and ${asTime(many.latencyMs.max)}.`,
      );
    },
  },
];

const asTime = (/** @type {number} */ ms) =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

/** How many clients are waiting: those that were due, by the schedule, less those that the program has answered. */
function countWaiting(program, sinceMs) {
  const first = program.events.length;
  return () => {
    const due = Math.ceil(((nowMs() - sinceMs) / 1000) * LOAD.ratePerSecond);
    const sent = Math.min(due, LOAD.ratePerSecond * SECONDS);
    const answered = program.events.slice(first).filter(({ what }) => what === 'response').length;
    return Math.max(0, sent - answered);
  };
}
