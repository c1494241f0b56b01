import {
  askAtOnce,
  eventsOf,
  get,
  groupBy,
  listeningSockets,
  wrongAnswer,
} from '../../lib/check/checking.js';

const solution = 'solutions/04-port-sharing/server.js';
const wrong = (name) => wrongAnswer('04-port-sharing', name);
const small = (name) => `lessons/04-port-sharing/small/${name}.js`;
const env = { NODE_CLUSTER_WORKERS: '4' };
const PATIENCE_MS = 1_500;
const END_MS = 6_000;

/** Starts a program of this lesson with four children, and waits until it is at rest. */
async function start({ launch }, file, give) {
  const program = await launch(file, { env, args: ['--give', give] });
  await program.ready(give === 'listener' ? 5 : 1);
  await program.settled(() => false);
  return program;
}

/** How many of 60 simultaneous clients get an answer. */
async function countAnswered({ url }) {
  const visits = Array.from({ length: 60 }, () => get(`${url}/pid`, { timeoutMs: PATIENCE_MS }));
  return (await Promise.all(visits)).filter(({ error }) => !error).length;
}

/** What a small program prints. */
async function outputOf({ launch }, name, options) {
  const program = await launch(small(name), options);
  await program.ended(END_MS);
  return program.output().trim().split('\n');
}

const servedByEach = (program, requests) =>
  [...groupBy(requests, ({ pid }) => pid)].map(
    ([pid, some]) => `${pid === program.pid ? 'the parent' : `child ${pid}`}: ${some.length}`,
  );

export default [
  {
    name: 'pause',
    title: 'What pauseOnConnect is worth',
    question:
      '60 clients at once, --give connections. How many are answered without pauseOnConnect?',
    async run(lab) {
      const [paused, reading] = [
        await start(lab, solution, 'connections'),
        await start(lab, wrong('no-pause'), 'connections'),
      ];
      const kept = await countAnswered(paused);
      const left = await countAnswered(reading);
      return {
        observed: [`with pauseOnConnect: ${kept} of 60`, `without: ${left} of 60`],
        because:
          'Without that option a server reads at once, in the parent. The request arrives before the socket is on its way, so the child gets a connection on which nothing more arrives. (On a busy machine the request can come after the socket has left, and nothing is lost: run it again.)',
        asExpected: kept === 60 && left < 60,
      };
    },
  },
  {
    name: 'own-copy',
    title: 'A parent that keeps its copy of the listener',
    question:
      '--give listener, but without server.close(). 60 clients at once: how many are never answered?',
    async run(lab) {
      const program = await start(lab, wrong('keeps-its-copy'), 'listener');
      const holders = listeningSockets(program);
      const answered = await countAnswered(program);
      const accepted = eventsOf(program.events, 'connection');
      const swallowed = accepted.filter(({ pid }) => pid === program.pid).length;
      return {
        observed: [
          holders
            ? `${holders.length} processes hold the listening socket`
            : 'Linux would show which processes hold the socket',
          `answered: ${answered} of 60`,
          `accepted by the parent, which serves nothing: ${swallowed}`,
        ],
        because:
          'One socket, five processes that accept. The first one awake takes a connection, and a parent without work is often first.',
        asExpected: swallowed > 0 && answered === 60 - swallowed,
      };
    },
  },
  {
    name: 'first-come',
    title: 'Which children serve a crowd',
    question:
      '60 clients for / at once. How many does each child get if the parent deals, and how many if they accept clients themselves?',
    async run(lab) {
      const shares = [];
      for (const give of ['connections', 'listener']) {
        const program = await start(lab, solution, give);
        const { requests } = await askAtOnce(program, '/', 60);
        shares.push({ give, counts: servedByEach(program, requests), requests });
      }
      const most = ({ requests }) =>
        Math.max(...[...groupBy(requests, ({ pid }) => pid).values()].map((some) => some.length));
      return {
        observed: shares.flatMap(({ give, counts }) => [`--give ${give}`, ...counts]),
        because:
          'The parent counts. The kernel does not: a child that is awake accepts what it finds in the queue, before it looks at the first request, and then it is blocked for all of them. How much it finds is chance.',
        asExpected: most(shares[0]) === 15 && most(shares[1]) > 15,
      };
    },
  },
  {
    name: 'who-holds-the-port',
    title: 'Which processes hold the listening socket',
    question:
      'Which processes hold the listening socket in our two ways, and under cluster with its two policies? Is it the same socket?',
    async run(lab) {
      const programs = {
        '--give connections': await start(lab, solution, 'connections'),
        '--give listener': await start(lab, solution, 'listener'),
      };
      for (const policy of ['rr', 'none']) {
        const options = { env: { ...env, NODE_CLUSTER_SCHED_POLICY: policy } };
        const program = await lab.launch('solutions/02-cluster-fork/server.js', options);
        await program.ready(4);
        programs[`cluster, ${policy}`] = program;
      }
      const found = Object.entries(programs).map(([way, program]) => {
        const holders = listeningSockets(program);
        const isParent = holders?.some(({ pid }) => pid === program.pid);
        const sockets = new Set(holders?.map(({ inode }) => inode)).size;
        return {
          way,
          owners: `${isParent ? 'parent' : 'no parent'}, ${(holders?.length ?? 0) - Number(isParent)} children`,
          sockets,
        };
      });
      if (process.platform !== 'linux')
        return { observed: 'Only Linux shows that.', because: 'It is in /proc.', asExpected: true };
      return {
        observed: found.map(({ way, owners, sockets }) => `${way}: ${owners}; sockets: ${sockets}`),
        because:
          'There is always one socket. A parent that deals keeps it; a parent that shares sends it to all. cluster does the first under rr and the second under none.',
        asExpected:
          found.every(({ sockets }) => sockets === 1) &&
          found.map(({ owners }) => owners).join('; ') ===
            'parent, 0 children; no parent, 4 children; parent, 0 children; parent, 4 children',
      };
    },
  },
  {
    name: 'worker-handle',
    title: 'What a cluster worker listens with',
    question: "A worker's server has a _handle. Is it a real listening socket?",
    async run(lab) {
      const [dealt] = await outputOf(lab, 'worker-handle', {
        env: { NODE_CLUSTER_SCHED_POLICY: 'rr' },
      });
      const [shared] = await outputOf(lab, 'worker-handle', {
        env: { NODE_CLUSTER_SCHED_POLICY: 'none' },
      });
      return {
        observed: [`rr: ${dealt}`, `none: ${shared}`],
        because:
          'Under rr the worker listens with a dummy, a plain object; the primary sends it connections. Under none it has received a listening socket, like our children with --give listener.',
        asExpected: dealt.endsWith('Object') && shared.endsWith('TCP'),
      };
    },
  },
  {
    name: 'same-port',
    title: 'Two workers, two listens',
    question:
      'Two cluster workers call listen(0), which means any free port. Do they get the same one? And with exclusive: true? And if both want a certain port, exclusively?',
    async run(lab) {
      const any = await outputOf(lab, 'same-port', { env: { PORT: '0' } });
      const own = await outputOf(lab, 'same-port', { env: { PORT: '0' }, args: ['exclusive'] });
      const same = await outputOf(lab, 'same-port', { args: ['exclusive'] });
      const ports = (lines) => new Set(lines.map((line) => line.split(' ').at(-1))).size;
      return {
        observed: [
          ...['listen(0)', ...any],
          ...['listen(0), exclusive', ...own],
          ...['the same port, exclusive', ...same],
        ],
        because:
          'The primary keeps a socket for every address that a worker has asked for, and hands out the same one to the next that asks, for port 0 too. exclusive bypasses the primary: each opens its own.',
        asExpected:
          ports(any) === 1 &&
          ports(own) === 2 &&
          same.filter((line) => line.includes('EADDRINUSE')).length === 1,
      };
    },
  },
  {
    name: 'gone',
    title: 'A message without a handle',
    question:
      'A hundred clients connect and leave at once; the parent sends each connection to a child. How many messages come without one? And with pauseOnConnect?',
    async run(lab) {
      const [reading] = await outputOf(lab, 'gone');
      const [paused] = await outputOf(lab, 'gone', { args: ['--pause'] });
      return {
        observed: [`the parent reads: ${reading}`, `with pauseOnConnect: ${paused}`],
        because:
          'Connections to one child go one by one, and the rest wait in the parent. A parent that reads learns in the meantime that a client is gone, and closes the connection; then it sends only the message. A parent that does not read does not know, and sends them all.',
        asExpected: Number.parseInt(reading, 10) > 0 && Number.parseInt(paused, 10) === 0,
      };
    },
  },
  {
    name: 'after-send',
    title: 'A connection that is given away',
    question:
      'The parent sends a connection to a child and then writes to it. What becomes of that?',
    async run(lab) {
      const given = await outputOf(lab, 'after-send');
      return {
        observed: given,
        because:
          'send() takes the socket away from its sender. Only the child can write to it now.',
        asExpected: given.some((line) => line.includes('ERR_SOCKET_CLOSED')),
      };
    },
  },
];
