import { setTimeout as sleep } from 'node:timers/promises';
import { eventsOf, forksOf, get, requestsOf } from '../../lib/check/checking.js';

const WORKERS = 4;
const CONNECTIONS = 40;
const CLIENTS = 24;
const PAUSE_MS = 30;
const BETWEEN_MS = 250;

/** Who gets a connection: forty of them under each policy; then a worker that blocks, and one that only waits. */
export default [
  {
    name: 'rr-against-none',
    title: 'Forty connections under rr and under none',
    async perform({ launch, say, begin, drawn, signal }) {
      say('Two clusters of four start, one for each policy.');
      const rr = await launchCluster(launch, 'rr');
      const none = await launchCluster(launch, 'none');
      const draw = () => {
        const charts = [chartOf(rr, 'rr'), chartOf(none, 'none')];
        const values = charts.flatMap(({ rows }) => rows.map(({ value }) => value));
        const most = Math.max(CONNECTIONS / 2, ...values); // one scale for both
        for (const chart of charts) drawn({ ...chart, most });
      };
      draw();
      begin();
      say('New connections, one after the other, to rr and to none by turns.');
      for (let count = 1; count <= CONNECTIONS; count += 1) {
        for (const program of [rr, none]) {
          await get(`${program.url}/`);
          await sleep(PAUSE_MS, undefined, { signal }); // meanwhile all are idle again
        }
        draw();
        if (count === CONNECTIONS / 2)
          say(
            'Thin lines: under rr the primary hands over what it has accepted. Under none it does nothing.',
          );
      }
      for (const program of [rr, none]) await program.drained();
      draw();
      say(`rr: ${told(rr)}. none: ${told(none)}.`);
    },
  },
  {
    name: 'blocked-or-waiting',
    title: 'One worker blocks, one waits',
    async perform({ launch, ask, say, begin }) {
      say('A cluster of four starts, under rr, and warms up.');
      const program = await launchCluster(launch, 'rr', 'primary');
      for (let count = 0; count < 2 * WORKERS; count += 1) await get(`${program.url}/`);
      await program.drained();
      begin();
      say(`One worker blocks for half a second. In the meantime ${CLIENTS} clients connect.`);
      const blocked = await comeMeanwhile('/block', { program, ask });
      await sleep(BETWEEN_MS);
      say(`One worker waits for half a second. In the meantime ${CLIENTS} clients connect.`);
      const waiting = await comeMeanwhile('/wait', { program, ask });
      await sleep(BETWEEN_MS);
      say(
        `One blocked: ${blocked.late} of ${CLIENTS} clients got an answer only after that. ` +
          `One waited: ${waiting.late} of ${CLIENTS}; it answered ${waiting.own} of them itself.`,
      );
    },
  },
];

async function launchCluster(launch, policy, as = policy) {
  const args = ['--policy', policy];
  const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
  const file = 'solutions/03-scheduling-policies/server.js';
  const program = await launch(file, { as, args, env });
  await program.ready(WORKERS);
  return program;
}

/** How many connections each worker has had, as the timeline says. */
function sharesOf({ events }) {
  const pids = forksOf(events).map(({ workerPid }) => workerPid);
  const seen = eventsOf(events, 'connection');
  return pids.map((wanted) => seen.filter(({ pid }) => pid === wanted).length);
}

function chartOf(program, name) {
  const rows = sharesOf(program).map((value, index) => ({ name: `worker ${index + 1}`, value }));
  return { name, label: `under ${name}`, unit: '', rows };
}

/** The shares, and which process accepted. */
function told(program) {
  const seen = eventsOf(program.events, 'connection');
  const handed = seen.filter(({ how }) => how === 'handed').length;
  return `${sharesOf(program).join(', ')}; ${handed} of ${seen.length} handed over`;
}

/** Keeps a worker busy with `path`; how many of the clients that connect then wait for its end, and how many it answers. */
async function comeMeanwhile(path, { program, ask }) {
  const before = program.events.length;
  const seen = (wanted) => requestsOf(program.events.slice(before), wanted);
  const held = ask(program.url + path);
  await program.until(() => seen(path).length > 0);
  const answers = Promise.all(Array.from({ length: CLIENTS }, () => ask(`${program.url}/`)));
  const [{ doneMs }, all] = await Promise.all([held, answers]);
  await program.drained();
  const { pid, endMs } = seen(path)[0];
  const own = seen('/').filter((one) => one.pid === pid && one.startMs < endMs).length;
  return { late: all.filter((one) => one.doneMs > doneMs).length, own };
}
