import { setTimeout as sleep } from 'node:timers/promises';
import {
  Undecided,
  askAtOnce,
  groupBy,
  requestsOf,
  speedupOfBlocking,
} from '../../lib/check/checking.js';

const WORKERS = 4;
const AT_ONCE = 8;
const PAUSE_MS = 200;
const MOST_ABOVE = 1.02; // of the ceiling: more is an accident of a busy machine
const MOST_APART = 1.5; // the high end of the interval, by its low end

/** The server of lesson 1, and the same work in a cluster of four: first a few requests, then as many as they can. */
export default [
  {
    name: 'eight-at-once',
    title: 'Eight requests at once',
    async perform({ launch, ask, say, begin }) {
      say('Two servers start and warm up.');
      const { single, cluster } = await launchBoth(launch);
      begin();
      say(`${AT_ONCE} requests at once to one process.`);
      const singleMs = await lastAnswerMs(single, ask);
      await sleep(PAUSE_MS);
      say(`The same ${AT_ONCE} to the cluster: the primary deals the connections to four workers.`);
      const before = cluster.events.length;
      const clusterMs = await lastAnswerMs(cluster, ask);
      await cluster.drained();
      const requests = requestsOf(cluster.events.slice(before), '/');
      const shares = [...groupBy(requests, ({ pid }) => pid).values()];
      const counts = shares.map(({ length }) => length).join(', ');
      say(
        `Last answer: one process ${singleMs} ms, cluster ${clusterMs} ms. ` +
          `Its workers answered ${counts}; the primary none.`,
      );
    },
  },
  {
    name: 'one-against-four',
    title: 'One process against four workers',
    async perform({ launch, load, say, begin, measured }) {
      say('Two servers start and warm up.');
      const { single, cluster } = await launchBoth(launch);
      const label = `${WORKERS} workers against one process`;
      const generator = load();
      await generator.fire({ url: `${single.url}/`, connections: 1, durationMs: 50 }); // it is up now
      await single.drained();
      begin();
      say('Full load for both, at the same time, round after round.');
      const { value, low, high, controlPerSecond, candidatePerSecond } = await speedupOfBlocking({
        load: generator,
        control: single,
        candidate: cluster,
        workers: WORKERS,
        path: '/',
        windowMs: 180,
        budgetMs: 4_000,
        target: NaN, // nothing is to be decided: the interval narrows until time is up
        onRound(soFar) {
          // of one round nothing is known as yet
          if (Number.isFinite(soFar.high))
            measured({ name: 'ratio', label, unit: 'times as fast', ...soFar });
        },
      });
      if (!(value <= MOST_ABOVE * WORKERS && high <= MOST_APART * low))
        throw new Undecided({
          got: `It came out as ${value.toFixed(2)} times as fast, which is too rough to count: this machine is too busy.`,
          why: 'Other programs took the cores from one of the two more often than from the other.',
          try: 'run it again, or play the recording',
        });
      const [from, to] = [controlPerSecond, candidatePerSecond].map(Math.round);
      say(
        `From ${from} to ${to} requests a second: ${value.toFixed(2)} times as fast ` +
          `(95\u00a0%: ${low.toFixed(2)} to ${high.toFixed(2)}). The ceiling is ${WORKERS}.`,
      );
    },
  },
];

async function launchBoth(launch) {
  const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
  const single = await launch('solutions/01-blocking-server/server.js', { as: 'one process' });
  await single.ready(1); // it comes first, and has the first lane
  const cluster = await launch('solutions/02-cluster-fork/server.js', { as: 'primary', env });
  await cluster.ready(WORKERS);
  for (const program of [single, cluster]) {
    await askAtOnce(program, '/', 2 * WORKERS); // a process's first requests are slower
    await program.drained();
  }
  return { single, cluster };
}

/** From the moment at which all ask at once to the last answer. */
async function lastAnswerMs({ url }, ask) {
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => ask(`${url}/`)));
  const failed = answers.filter(({ status }) => status !== 200).length;
  if (failed > 0)
    throw new Undecided({
      got: `${failed} of ${AT_ONCE} requests failed: this machine is too busy.`,
      why: 'How long the others took then means nothing.',
      try: 'run it again, or play the recording',
    });
  const first = Math.min(...answers.map(({ sentMs }) => sentMs));
  return Math.round(Math.max(...answers.map(({ doneMs }) => doneMs)) - first);
}
