import { availableParallelism } from 'node:os';
import { Agent } from 'node:http';
import { askAtOnce, exitsOf, forksOf, get, groupBy, requestsOf } from '../../lib/check/checking.js';

const solution = 'solutions/02-cluster-fork/server.js';
const withWorkers = (count) => ({ env: { NODE_CLUSTER_WORKERS: String(count) } });

export default [
  {
    name: 'who-answers',
    title: 'Which processes answer eight requests',
    question:
      'Four workers, eight requests at once, each on its own connection. How many does each worker get, and the primary?',
    async run({ launch }) {
      const program = await launch(solution, withWorkers(4));
      await program.ready(4);
      const { requests } = await askAtOnce(program, '/', 8);
      const shares = [...groupBy(requests, ({ pid }) => pid)].map(
        ([pid, some]) => `process ${pid}: ${some.length}`,
      );
      const ofPrimary = requests.filter(({ pid }) => pid === program.pid).length;
      return {
        observed: [...shares, `the primary, process ${program.pid}: ${ofPrimary}`],
        because:
          'The primary accepts every connection and hands it to a worker that is free. Each worker that answers is a separate process.',
        asExpected: shares.length === 4 && requests.length === 8 && ofPrimary === 0,
      };
    },
  },
  {
    name: 'own-memory',
    title: 'Twelve requests, counted in a variable',
    question:
      'let served = 0, and each request adds one. After twelve requests, one after the other, what does the last answer say?',
    async run({ launch }) {
      const program = await launch(solution, withWorkers(4));
      await program.ready(4);
      const told = [];
      for (let count = 0; count < 12; count += 1) {
        const { headers } = await get(`${program.url}/`);
        told.push(headers['x-worker-served']);
      }
      return {
        observed: `X-Worker-Served: ${told.join(', ')}`,
        because:
          'Every worker ran the file from the top and has its own variable. Four of them counted to three.',
        asExpected: told.filter((count) => count === '3').length === 4,
      };
    },
  },
  {
    name: 'one-connection',
    title: 'One connection, or a new one each time',
    question:
      'Four requests one after the other on one connection, as a browser does; then four on new ones. How many workers answer?',
    async run({ launch }) {
      const program = await launch(solution, withWorkers(4));
      await program.ready(4);
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const pidsOf = async (options) => {
        const pids = [];
        for (let count = 0; count < 4; count += 1)
          pids.push((await get(`${program.url}/`, options)).headers['x-worker-pid']);
        return pids;
      };
      const kept = await pidsOf({ agent });
      const fresh = await pidsOf({});
      agent.destroy();
      return {
        observed: [`one connection: ${kept.join(', ')}`, `new ones: ${fresh.join(', ')}`],
        because: 'Connections are dealt, not requests.',
        asExpected: new Set(kept).size === 1 && new Set(fresh).size === 4,
      };
    },
  },
  {
    name: 'one-dies',
    title: 'One of two workers is killed',
    question: 'kill -9 on one of two workers. Are the next six requests answered? Is it replaced?',
    async run({ launch }) {
      const program = await launch(solution, withWorkers(2));
      await program.ready(2);
      const [{ workerPid }] = forksOf(program.events);
      program.kill(workerPid, 'SIGKILL');
      await program.until((events) => exitsOf(events).length > 0);
      const { answers } = await askAtOnce(program, '/', 6);
      const answered = answers.filter(({ status }) => status === 200).length;
      await program.settled(() => false, 1_000);
      const forks = forksOf(program.events).length;
      return {
        observed: [
          `${answered} of 6 were answered, by process ${[...new Set(answers.map(({ headers }) => headers['x-worker-pid']))].join(', ')}`,
          `workers forked from the start until now: ${forks}`,
        ],
        because:
          'The other carries on, because it shares nothing with the dead worker, which nothing replaces until lesson 5.',
        asExpected: answered === 6 && forks === 2,
      };
    },
  },
  {
    name: 'port-taken',
    title: 'Two clusters on one port',
    question:
      'A second cluster is started on the same port. What fails, the primary or the workers? With which code does the primary exit?',
    async run({ launch }) {
      const first = await launch(solution, withWorkers(1));
      await first.ready(1);
      const env = { PORT: String(first.port), NODE_CLUSTER_WORKERS: '2' };
      const second = await launch(solution, { env });
      const fate = await second.ended();
      const error = /bind EADDRINUSE/.exec(second.output())?.[0];
      const exits = exitsOf(second.events);
      return {
        observed: [
          `the workers: ${exits.map(({ code }) => `exit code ${code}`).join(', ')}; ${error}`,
          `the primary: exit code ${fate?.code}`,
        ],
        because:
          'The primary opens the port when a worker asks for it, and passes the error to the worker. The error kills the workers; then the primary has nothing left to do and exits as if all were well.',
        asExpected: fate?.code === 0 && exits.length === 2 && error !== undefined,
      };
    },
  },
  {
    name: 'more-workers',
    title: 'One, two, four, eight workers',
    question:
      'Requests per second for /, which blocks, and for /cpu, which computes. At how many workers does each stop growing?',
    async run({ launch, load }) {
      const generator = load();
      const rows = [];
      for (const workers of [1, 2, 4, 8]) {
        const program = await launch(solution, withWorkers(workers));
        await program.ready(workers);
        const home = await rateOf(generator, program, { path: '/', workers });
        const cpu = await rateOf(generator, program, { path: '/cpu', workers });
        rows.push({ workers, home, cpu });
        await program.stop();
      }
      const [one, , four, eight] = rows;
      return {
        observed: rows.map(
          ({ workers, home, cpu }) =>
            `${workers} workers: / ${home.toFixed(0)} per second, /cpu ${cpu.toFixed(0)}`,
        ),
        because: `Blocked processes sleep, and any number of them sleep side by side. Processes that compute take turns on the cores, of which this machine has ${availableParallelism()}.`,
        asExpected: four.home > 2 * one.home && eight.home > 1.2 * four.home,
      };
    },
  },
];

/** Requests per second for half a second, with two clients for each worker. */
async function rateOf(generator, program, { path, workers }) {
  const first = program.events.length;
  const options = { url: program.url + path, connections: 2 * workers, durationMs: 500 };
  const { startMs } = await generator.fire(options);
  await program.drained();
  const served = requestsOf(program.events.slice(first), path).filter(
    ({ endMs = Infinity }) => endMs < startMs + 500,
  );
  return served.length / 0.5;
}
