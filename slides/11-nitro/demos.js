import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  askAtOnce,
  buildNitro,
  groupBy,
  isNitroBuilt,
  requestsOf,
} from '../../lib/check/checking.js';

const solution = fileURLToPath(new URL('../../solutions/11-nitro', import.meta.url));
const WORKERS = 4;
const AT_ONCE = 8;
const PAUSE_MS = 200;

/** The same routes, built for one process and built as a cluster: the same few requests for both. */
export default [
  {
    name: 'two-builds',
    title: 'One application, two builds',
    needs: 'nitropack',
    isPrepared: () => isNitroBuilt(solution),
    async perform({ launch, ask, say, begin }) {
      say('Nitro builds the application twice, unless it has done so before; both servers start.');
      const { single, cluster } = await launchBoth(launch);
      begin();
      say(`${AT_ONCE} requests at once to the build with the preset node-server.`);
      const singleMs = await lastAnswerMs(single, ask);
      await sleep(PAUSE_MS);
      say(`The same ${AT_ONCE} to the build with the preset node-cluster.`);
      const before = cluster.events.length;
      const clusterMs = await lastAnswerMs(cluster, ask);
      await cluster.drained();
      const requests = requestsOf(cluster.events.slice(before), '/');
      const shares = [...groupBy(requests, ({ pid }) => pid).values()];
      const counts = shares.map(({ length }) => length).join(', ');
      say(
        `Last answer: node-server ${singleMs} ms, node-cluster ${clusterMs} ms. ` +
          `Its workers answered ${counts}; the primary none.`,
      );
    },
  },
];

async function launchBoth(launch) {
  const start = ({ entry, ...options }) => launch('', { entry, as: 'nitropack', ...options });
  const { outputs } = await buildNitro(start, solution);
  const [one, four] = ['node-server', 'node-cluster'].map((wanted) =>
    outputs.find(({ preset }) => preset === wanted),
  );
  const single = await launch('', { entry: one.server, as: 'node-server' });
  await single.ready(1); // it comes first, and has the first lane
  const env = { NITRO_CLUSTER_WORKERS: String(WORKERS) };
  const cluster = await launch('', { entry: four.server, as: 'primary', env });
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
  const first = Math.min(...answers.map(({ sentMs }) => sentMs));
  return Math.round(Math.max(...answers.map(({ doneMs }) => doneMs)) - first);
}
