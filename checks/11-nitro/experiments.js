import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  askAtOnce,
  buildNitro,
  eventsOf,
  exitsOf,
  forksOf,
  get,
  groupBy,
} from '../../lib/check/checking.js';

const needs = 'nitropack';
const solution = fileURLToPath(new URL('../../solutions/11-nitro', import.meta.url));
const howOf = ({ code, signal } = {}) => signal ?? `exit code ${code}`;
const LOOK_MS = 1_500;
const MANY = 8; // failed starts: more than ours makes

/** The builds of our solution, each started by its absolute path. */
async function openBuilds({ launch }) {
  const start = ({ entry, ...options }) => launch('', { entry, ...options });
  const { entry, outputs } = await buildNitro(start, solution);
  const [cluster, single] = ['node-cluster', 'node-server'].map((wanted) =>
    outputs.find(({ preset }) => preset === wanted),
  );
  const run = (server) => (env) => start({ entry: server, env });
  return { ours: run(entry), cluster: run(cluster.server), single: run(single.server), outputs };
}

const withWorkers = (count) => ({ NITRO_CLUSTER_WORKERS: String(count) });

export default [
  {
    name: 'two-builds',
    title: 'The same application, built twice',
    needs,
    question:
      'Eight requests at once, to the build with the preset node-server and to the one with node-cluster and four workers. How many processes answer, how many each?',
    async run(lab) {
      const { single, cluster } = await openBuilds(lab);
      const programs = [await single(), await cluster(withWorkers(4))];
      await programs[0].ready(1);
      await programs[1].ready(4);
      const shares = [];
      for (const program of programs) {
        const { requests } = await askAtOnce(program, '/', 8);
        shares.push(
          [...groupBy(requests, ({ pid }) => pid)].map(([pid, { length }]) => ({ pid, length })),
        );
      }
      const [one, four] = shares;
      return {
        observed: [
          `node-server: process ${one.map(({ pid, length }) => `${pid} answers ${length}`).join(', ')}`,
          `node-cluster: ${four.map(({ pid, length }) => `${pid} answers ${length}`).join(', ')}; the primary is ${programs[1].pid}`,
        ],
        because:
          'The routes are the same; the preset chose another file to start with. It is the cluster module that you know: a primary that forks and hands out connections, and workers that serve.',
        asExpected:
          one.length === 1 && four.length > 1 && four.every(({ pid }) => pid !== programs[1].pid),
      };
    },
  },
  {
    name: 'misread-numbers',
    title: 'NITRO_CLUSTER_WORKERS=0, -1, abc, 1e9',
    needs,
    question: `On this machine with ${cpus().length} cores: how many workers does Nitro fork for each of these?`,
    async run(lab) {
      const { cluster } = await openBuilds(lab);
      const rows = [];
      for (const value of ['0', '-1', 'abc', '1e9']) {
        const program = await cluster({ NITRO_CLUSTER_WORKERS: value });
        await program.settled((events) => forksOf(events).length >= cpus().length);
        const end = program.fate ? `, and it ends with ${howOf(program.fate)}` : '';
        rows.push({ value, forks: forksOf(program.events).length, end });
        await program.stop();
      }
      const count = (wanted) => rows.find(({ value }) => value === wanted).forks;
      return {
        observed: rows.map(({ value, forks, end }) => `${value.padEnd(4)} ${forks}${end}`),
        because:
          "It reads Number.parseInt(...) || os.cpus().length: 0 and abc don't count as numbers, so it takes the cores; 1e9 is 1; and a loop up to -1 forks no worker, so the program simply exits, as if all were well. Nothing is refused. Lesson 2 refused all four.",
        asExpected:
          count('0') === cpus().length &&
          count('abc') === cpus().length &&
          count('-1') === 0 &&
          count('1e9') === 1,
      };
    },
  },
  {
    name: 'no-back-off',
    title: 'A worker that cannot start',
    needs,
    question:
      "PORT=80800 isn't a port, so a worker dies before it listens. One worker is wanted. How many does the primary of Nitro fork in 1.5 seconds, and how many does ours?",
    async run(lab) {
      const { cluster, ours } = await openBuilds(lab);
      const nitro = await cluster({ ...withWorkers(1), PORT: '80800' });
      const first = await nitro.until((events) => exitsOf(events)[0]);
      await nitro.until(() => false, LOOK_MS);
      await nitro.until((events) => forksOf(events).length > MANY);
      const all = forksOf(nitro.events);
      const forks = all.filter(({ t }) => t - first.t < LOOK_MS).length;
      const isRunning = !nitro.fate;
      await nitro.stop();
      const program = await ours({ NODE_CLUSTER_WORKERS: '1', PORT: '80800' });
      const fate = await program.ended();
      const exits = exitsOf(program.events);
      return {
        observed: [
          `Nitro: ${forks} in the 1.5 s after the first death, and ${isRunning ? 'it goes on' : 'it has ended'}; each ended with ${howOf(first)}`,
          `ours: ${forksOf(program.events).length}, then ${howOf(fate)}; "${/giving up.*/.exec(program.output())?.[0]}"`,
        ],
        because:
          'It forks in the exit handler, at once and without a count. Only the time that a process takes to start slows it down. Our handler cannot make it wait, but it can end the primary.',
        asExpected: all.length > MANY && isRunning && fate?.code === 1 && exits.length < MANY,
      };
    },
  },
  {
    name: 'taken-port',
    title: 'Another program has the port',
    needs,
    question:
      'The port is taken, and two workers start. With lesson 5 in mind: what becomes of them, and what does the list of processes show?',
    async run(lab) {
      const { cluster } = await openBuilds(lab);
      const other = createServer().listen(0).unref();
      await once(other, 'listening');
      const { port } = /** @type {import('node:net').AddressInfo} */ (other.address());
      const program = await cluster({ ...withWorkers(2), PORT: String(port) });
      await program.until(() => program.output().match(/EADDRINUSE/g)?.length >= 2);
      await program.until(() => false, LOOK_MS);
      other.close();
      const listening = eventsOf(program.events, 'worker-listening').length;
      const ended = exitsOf(program.events).length;
      return {
        observed: [
          `forked: ${forksOf(program.events).length}; ended: ${ended}; listening: ${listening}`,
          `the primary: ${program.fate ? howOf(program.fate) : 'runs'}`,
        ],
        because:
          "Nitro catches every uncaught exception, including the server's EADDRINUSE, logs it, and carries on (nitrojs/nitro#3710). So no worker exits, none is replaced, and none serves. Only a request from outside finds that out.",
        asExpected: listening === 0 && ended === 0 && !program.fate,
      };
    },
  },
  {
    name: 'signal-forwarding',
    title: 'SIGTERM for the primary',
    needs,
    question:
      "Nitro's primary gets SIGTERM, with no request in flight. NITRO_SHUTDOWN_TIMEOUT is 2000 (30000 if unset). Does it still serve half a second later? When does it end? And ours?",
    async run(lab) {
      const { cluster, ours } = await openBuilds(lab);
      const nitro = await cluster({ ...withWorkers(2), NITRO_SHUTDOWN_TIMEOUT: '2000' });
      const program = await ours({ NODE_CLUSTER_WORKERS: '2' });
      await Promise.all([nitro.ready(2), program.ready(2)]);
      const sinceMs = performance.now();
      nitro.kill(nitro.pid, 'SIGTERM');
      await nitro.until(() => false, 500);
      const { status, error } = await get(`${nitro.url}/report`);
      const fate = await nitro.ended();
      const nitroMs = Math.round(performance.now() - sinceMs);
      const thenMs = performance.now();
      program.kill(program.pid, 'SIGTERM');
      const ourFate = await program.ended();
      const ourMs = Math.round(performance.now() - thenMs);
      return {
        observed: [
          `Nitro: half a second later ${error ?? `it answers ${status}`}; it ends after ${nitroMs} ms with ${howOf(fate)}, and says "${/Timeout.*/.exec(nitro.output())?.[0]}"`,
          `ours: after ${ourMs} ms with ${howOf(ourFate)}`,
        ],
        because:
          'The primary hears the signal, stops forking, and waits for its workers to exit. But they have received no signal. When its time is up it exits, and takes them along, with all requests in flight. A container platform often waits no longer than that. We pass the signal on, and the workers know what to do.',
        asExpected: status === 200 && fate?.code === 0 && nitroMs >= 1_900 && ourFate?.code === 0,
      };
    },
  },
  {
    name: 'memory-store',
    title: 'A counter in useStorage()',
    needs,
    question:
      "/visits counts in Nitro's storage, which isn't configured. Twelve requests, one after the other, to one process and to four workers. What does the last answer say?",
    async run(lab) {
      const { single, cluster } = await openBuilds(lab);
      const programs = [await single(), await cluster(withWorkers(4))];
      await programs[0].ready(1);
      await programs[1].ready(4);
      const told = [];
      for (const program of programs) {
        const counts = [];
        for (let asked = 0; asked < 12; asked += 1)
          counts.push(JSON.parse((await get(`${program.url}/visits`)).body).visits);
        told.push(counts);
      }
      return {
        observed: [`one process: ${told[0].join(', ')}`, `four workers: ${told[1].join(', ')}`],
        because:
          'Unless you configure it, the storage is a Map in memory, and each worker has its own (unjs/unstorage#633). The same goes for what Nitro caches: each worker fills its own cache. Lesson 9 is about what to do.',
        asExpected: told[0].at(-1) === 12 && Math.max(...told[1]) === 3,
      };
    },
  },
  {
    name: 'what-is-in-the-output',
    title: 'What a build leaves',
    needs,
    question:
      'How many files does a build leave, and how large are they? Does the folder run where no package is installed?',
    async run(lab) {
      const { outputs } = await openBuilds(lab);
      const place = mkdtempSync(join(tmpdir(), 'forkshop-output-'));
      try {
        const rows = [];
        for (const { preset, server } of outputs) {
          const folder = join(place, preset);
          cpSync(join(server, '../..'), folder, { recursive: true });
          const program = await lab.launch('', {
            entry: join(folder, 'server/index.mjs'),
            env: withWorkers(1),
          });
          await program.ready(1);
          const { status } = await get(program.url);
          rows.push({ preset, status, ...sizeOf(folder) });
          await program.stop();
        }
        return {
          observed: rows.map(
            ({ preset, status, files, kilobytes, hasPackages }) =>
              `${preset}: ${files} files, ${kilobytes} kB, ${hasPackages ? 'with' : 'no'} node_modules; moved elsewhere it answers ${status}`,
          ),
          because:
            'The bundler has put everything that the routes use into the output, our #work too. That folder is all you have to deploy. It left out whatever it did not find used: see the lesson on work whose result is not used.',
          asExpected:
            rows.length === 2 &&
            rows.every(({ status, hasPackages }) => status === 200 && !hasPackages),
        };
      } finally {
        rmSync(place, { recursive: true, force: true });
      }
    },
  },
];

function sizeOf(folder) {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = entries.filter((name) => statSync(join(folder, name)).isFile());
  const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  const hasPackages = entries.some((name) => name.includes('node_modules'));
  return { files: files.length, kilobytes: Math.round(bytes / 1_000), hasPackages };
}
