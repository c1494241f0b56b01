import {
  eventsOf,
  exitsOf,
  forksOf,
  get,
  mean,
  requestsOf,
  waitsOf,
} from '../../lib/check/checking.js';

const solution = 'solutions/05-crash-restart/server.js';
const starter = 'checks/05-crash-restart/starter/server.js';
const deaths = (name) => `lessons/05-crash-restart/deaths/${name}.js`;
const withWorkers = (count) => ({ env: { NODE_CLUSTER_WORKERS: String(count) } });
const onlineOf = (events) => eventsOf(events, 'online');
const listeningOf = (events) => eventsOf(events, 'worker-listening');
const disconnectsOf = (events) => eventsOf(events, 'disconnect');
const PATIENCE_MS = 30_000; // for twelve processes, one after the other, on a busy machine
const howOf = ({ code, signal }) => signal ?? `exit code ${code}`;

/** What the primary learns about each kind of exit: code or signal, and exitedAfterDisconnect. */
const TABLE = {
  'process.exit(3)': ['exit code 3', false],
  'process.exit(0)': ['exit code 0', false],
  'an exception': ['exit code 1', false],
  'a rejection': ['exit code 1', false],
  'process.abort()': ['SIGABRT', false],
  'kill -9': ['SIGKILL', false],
  'worker.kill()': ['SIGTERM', false],
  'cluster.worker.kill()': ['exit code 0', true],
  'worker.disconnect()': ['exit code 0', true],
  'cluster.worker.disconnect()': ['exit code 0', true],
  'process.disconnect()': ['exit code 0', false],
  'worker.process.disconnect()': ['exit code 0', false],
};

export default [
  {
    name: 'life-and-death',
    title: 'Twelve ways for a worker to end',
    question:
      'Which of them have an exit code, which a signal, and for which is exitedAfterDisconnect true?',
    async run({ launch }) {
      const program = await launch(deaths('all'));
      await program.ended(PATIENCE_MS);
      const lines = [
        ...program.output().matchAll(/^(\S.*?) +\{ code: (\w+), signal: (\S+), .*: (\w+) \}$/gm),
      ];
      const rows = lines.map(([, way, code, signal, flag]) => {
        const how = signal === 'null' ? `exit code ${code}` : signal.replaceAll("'", '');
        return { way, how, flag: flag === 'true' };
      });
      rows.sort((a, b) => Number(a.flag) - Number(b.flag) || a.how.localeCompare(b.how));
      return {
        observed: rows.map(({ way, how, flag }) => `${way.padEnd(28)}${how.padEnd(14)}${flag}`),
        because:
          'A process ends on its own, with a code, or is killed, by a signal: never both. The flag is set only by the disconnect() and kill() of cluster.worker in the worker, and by worker.disconnect() in the primary. worker.kill() in the primary is only a signal.',
        asExpected:
          rows.length === Object.keys(TABLE).length &&
          rows.every(({ way, how, flag }) => TABLE[way]?.[0] === how && TABLE[way][1] === flag),
      };
    },
  },
  {
    name: 'crash-loop',
    title: 'A worker that crashes at the top of its file, for two seconds',
    question:
      'A primary replaces every worker at once when it ends. How many workers does it start in two seconds? How long does it wait before each, and how long does ours?',
    async run({ launch }) {
      const naive = await launch(deaths('loop'));
      await naive.ended();
      const holder = await launch(solution, withWorkers(1));
      await holder.ready(1);
      const ours = await launch(solution, {
        env: { NODE_CLUSTER_WORKERS: '1', PORT: String(holder.port) },
      });
      await ours.until((events) => exitsOf(events).length > 0);
      await ours.until((events) => forksOf(events).length > 3, 2_000);
      const [waits, ourWaits] = [naive, ours].map(({ events }) => waitsOf(events));
      const [starts, online, listening] = [forksOf, onlineOf, listeningOf].map(
        (of) => of(naive.events).length,
      );
      return {
        observed: [
          `at once: ${starts} starts in 2 s; ${online} were online and ${listening} listened`,
          `from the end of one to the start of the next: ${waits.slice(0, 3).join(', ')} ms ...`,
          `with our waits, on a port that is taken: ${ourWaits.join(', ')} ms`,
        ],
        because:
          "Nothing slows the first one down but the time a worker takes to start and die; ours leaves the machine alone, longer each time. And 'online' only says that Node.js has started: healthy means 'listening'.",
        asExpected: mean(waits) < mean(ourWaits) && online > 0 && listening === 0,
      };
    },
  },
  {
    name: 'ctrl-c',
    title: 'Ctrl-C, and a primary that replaces every worker that dies',
    question:
      'Two workers without a handler for SIGINT; the primary has one, and takes a second to clean up. What does Ctrl-C do to the workers, and what does the primary do then?',
    async run({ launch }) {
      const program = await launch(deaths('ctrl-c'));
      await program.until((events) => onlineOf(events).length === 2);
      const before = program.events.length;
      program.interrupt('SIGINT');
      await program.ended();
      const after = program.events.slice(before);
      return {
        observed: [
          `the workers: ${exitsOf(after).slice(0, 2).map(howOf).join(', ')}`,
          `forked after Ctrl-C: ${forksOf(after).length}`,
        ],
        because:
          'The terminal sends SIGINT to every process in the foreground, the workers included. It kills them, that looks like a crash, and the primary replaces them while it is about to end itself.',
        asExpected: forksOf(after).length > 0 && exitsOf(after)[0]?.signal === 'SIGINT',
      };
    },
  },
  {
    name: 'orphans',
    title: 'kill -9 for the primary',
    question:
      'A cluster, and a server started by child_process.fork. Both parents are killed with SIGKILL. Which processes are still there a second later?',
    async run({ launch }) {
      const cluster = await launch(solution, withWorkers(2));
      const parent = await launch(deaths('orphan'));
      await Promise.all([cluster.ready(2), parent.ready(1)]);
      for (const program of [cluster, parent]) program.kill(program.pid, 'SIGKILL');
      await Promise.all([cluster.ended(), parent.ended()]);
      const workers = await cluster.survivorsAfter(3_000);
      await parent.until(() => false, 1_000);
      const orphans = parent.survivors();
      const { body, error } = await get(parent.url);
      return {
        observed: [
          `of the cluster: ${workers.length} processes`,
          `of the other: process ${orphans.join(', ')}, which answers "${error ?? body.trim()}"`,
        ],
        because:
          'A cluster worker ends when its channel to the primary closes; Node.js sees to that. A forked child goes on, unless it listens for that itself. (The workshop has just ended it.)',
        asExpected: workers.length === 0 && orphans.length === 1 && !error,
      };
    },
  },
  {
    name: 'kill-or-kill-9',
    title: 'kill, and kill -9',
    question:
      'Two workers of our solution. One gets SIGTERM, the other SIGKILL. How does each exit, and which is replaced?',
    async run({ launch }) {
      const program = await launch(solution, withWorkers(2));
      await program.ready(2);
      const [one, other] = forksOf(program.events).map(({ workerPid }) => workerPid);
      const ended = (count) => program.until((events) => exitsOf(events).length === count);
      program.kill(one, 'SIGTERM');
      await ended(1);
      program.kill(other, 'SIGKILL');
      await ended(2);
      await program.until((events) => listeningOf(events).length === 3);
      await program.settled(() => false, 1_000);
      const [first, second] = exitsOf(program.events);
      const forks = forksOf(program.events).length - 2;
      return {
        observed: [
          `SIGTERM: ${howOf(first)}, exitedAfterDisconnect ${first.planned}`,
          `SIGKILL: ${howOf(second)}, exitedAfterDisconnect ${second.planned}`,
          `replaced: ${forks} of them`,
        ],
        because:
          'SIGTERM is a request: the worker has a handler, which calls disconnect(), and that is a planned leave. SIGKILL cannot be handled.',
        asExpected: first.planned && first.code === 0 && second.signal === 'SIGKILL' && forks === 1,
      };
    },
  },
  {
    name: 'no-disconnect',
    title: "'exit' comes, 'disconnect' does not",
    question:
      "A worker is killed at work, while a connection is on its way to it. 'disconnect' and 'exit' should both be emitted in the primary. After how many milliseconds?",
    async run({ launch }) {
      const program = await launch(starter, withWorkers(2));
      await program.ready(2);
      for (let count = 0; count < 12; count += 1) get(program.url, { timeoutMs: 4_000 });
      await program.until((events) => requestsOf(events, '/').length > 0);
      const [{ pid, startMs }] = requestsOf(program.events, '/');
      program.kill(pid, 'SIGKILL');
      const isIt = ({ workerPid }) => workerPid === pid;
      await program.until((events) => disconnectsOf(events).some(isIt), 2_000);
      const exit = exitsOf(program.events).find(isIt);
      const disconnect = disconnectsOf(program.events).find(isIt);
      const after = (event) => (event ? `${Math.round(event.t - startMs)} ms later` : 'not in 2 s');
      return {
        observed: [`'exit': ${after(exit)}`, `'disconnect': ${after(disconnect)}`],
        because:
          "'disconnect' waits until everything that was sent to the worker is acknowledged, the connection too, and a process that has exited acknowledges nothing. So restart on 'exit'.",
        asExpected: exit !== undefined && disconnect === undefined,
      };
    },
  },
  {
    name: 'late-goodbye',
    title: 'disconnect() for a worker that has just died',
    question:
      'A worker is killed, and before the primary hears of it, the primary calls worker.disconnect(). What becomes of the primary?',
    async run({ launch }) {
      const program = await launch(deaths('late-goodbye'));
      const fate = await program.ended();
      const [error] = /write \w+/.exec(program.output()) ?? ['nothing'];
      return {
        observed: [`the primary: ${howOf(fate ?? {})}`, `it says: ${error}`],
        because:
          "disconnect() is a message, and the pipe to a worker that has exited is broken. The worker object emits 'error' and has no listener, so that is an uncaught exception, in the primary. A signal to a process that has exited isn't an error: that's why we stop workers by signals.",
        asExpected: fate?.code === 1 && error === 'write EPIPE',
      };
    },
  },
];
