import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import {
  acceptQueueOf,
  askAtOnce,
  eventsOf,
  forksOf,
  get,
  groupBy,
  requestsOf,
} from '../../lib/check/checking.js';

const folder = 'lessons/03-scheduling-policies/small';
const solution = 'solutions/03-scheduling-policies/server.js';
const WORKERS = 4;

/** Our solution, under a policy. */
async function start({ launch }, policy = 'rr') {
  const env = { NODE_CLUSTER_WORKERS: String(WORKERS) };
  const program = await launch(solution, { args: ['--policy', policy], env });
  await program.ready(WORKERS);
  return program;
}

/** A program with one worker, or more, that leaves the policy to Node. */
async function startSmall({ launch }, name, policy, workers = 1) {
  const env = { NODE_CLUSTER_WORKERS: String(workers), NODE_CLUSTER_SCHED_POLICY: policy };
  const program = await launch(`${folder}/${name}.js`, { env: policy ? env : {} });
  await program.until(({ length }) => length > 0 && listenersIn(program) >= workers);
  return program;
}

const workersOf = ({ events }) => forksOf(events).map(({ workerPid }) => workerPid);

function listenersIn(program) {
  const workers = workersOf(program);
  return eventsOf(program.events, 'listening').filter(({ pid }) => workers.includes(pid)).length;
}

/** Which process accepts a program's connections; asks once. */
async function acceptorOf(program) {
  await get(`${program.url}/`);
  await program.drained();
  const { how } = eventsOf(program.events, 'connection').at(-1) ?? {};
  return { handed: 'the primary', kernel: 'a worker' }[how] ?? 'no process';
}

const sharesOf = (pids) => [...groupBy(pids, (pid) => pid).values()].map(({ length }) => length);

const isEven = (shares) => shares.length === WORKERS && new Set(shares).size === 1;

/** A request for `path`; resolves as soon as a worker executes it, to that worker and the answer to come. */
async function begin(program, path) {
  const before = requestsOf(program.events, path).length;
  const answer = get(program.url + path);
  await program.until(() => requestsOf(program.events, path).length > before);
  const { pid, startMs } = requestsOf(program.events, path).at(-1) ?? {};
  return { pid, startMs, answer };
}

export default [
  {
    name: 'keep-alive',
    title: 'Eight requests, one after the other, from three kinds of client',
    question:
      'Four workers, rr. Eight requests on new connections; eight through an agent that keeps one connection open; eight by fetch(). How many workers does each meet?',
    async run(lab) {
      const { url } = await start(lab);
      const agent = new Agent({ keepAlive: true });
      const clients = {
        'new connections': async () => (await get(url)).body,
        'one agent': async () => (await get(url, { agent })).body,
        'fetch()': async () => (await fetch(url)).text(),
      };
      const met = {};
      for (const [name, ask] of Object.entries(clients)) {
        const pids = [];
        while (pids.length < 8) pids.push(await ask());
        met[name] = pids;
      }
      agent.destroy();
      const kinds = Object.entries(met).map(([name, pids]) => [name, new Set(pids).size]);
      const {
        'new connections': fresh,
        'one agent': one,
        'fetch()': byFetch,
      } = Object.fromEntries(kinds);
      return {
        observed: Object.entries(met).map(([name, pids]) => `${name}: ${pids.join(' ')}`),
        because:
          'Connections are dealt, not requests. A client that keeps a connection open stays with its worker; fetch() keeps connections open too, and uses one or two here.',
        asExpected: fresh === WORKERS && one === 1 && byFetch < WORKERS,
      };
    },
  },
  {
    name: 'too-late',
    title: 'The policy, set one line too late',
    question:
      'small/too-late.js forks, and sets cluster.schedulingPolicy to none in the next line. What does it read back as, and which process accepts?',
    async run(lab) {
      const program = await startSmall(lab, 'too-late');
      const acceptor = await acceptorOf(program);
      const isNone = program.output().includes('reads back as none');
      return {
        observed: [
          ...program.output().trim().split('\n'),
          `seen from outside: ${acceptor} accepts`,
        ],
        because:
          'The first fork() copies the policy; after that nothing reads the property, and no error says so.',
        asExpected: isNone && acceptor === 'the primary',
      };
    },
  },
  {
    name: 'typo',
    title: 'NODE_CLUSTER_SCHED_POLICY=NONE',
    question:
      'small/tiny.js leaves the policy to Node.js. What does it do with NODE_CLUSTER_SCHED_POLICY set to none, to NONE and to nonne: which process accepts?',
    async run(lab) {
      const seen = [];
      for (const value of ['none', 'NONE', 'nonne']) {
        const program = await startSmall(lab, 'tiny', value);
        seen.push({ value, acceptor: await acceptorOf(program), said: program.output() });
      }
      const isWindows = process.platform === 'win32'; // none is the default there
      return {
        observed: seen.map(
          ({ value, acceptor, said }) =>
            `${value}: ${acceptor} accepts; it printed ${said === '' ? 'nothing' : `"${said.trim()}"`}`,
        ),
        because:
          'Node.js knows rr and none, in lower case. Anything else is silently treated as not set.',
        asExpected:
          isWindows ||
          (seen.map(({ acceptor }) => acceptor).join() === 'a worker,the primary,the primary' &&
            seen.every(({ said }) => said === '')),
      };
    },
  },
  {
    name: 'rush',
    title: 'Round robin in a rush',
    question:
      'Four workers, rr: 40 connections one after the other, then 160 at the same time, three times. Does each worker get a quarter?',
    async run(lab) {
      const program = await start(lab);
      const calm = [];
      while (calm.length < 40) calm.push((await get(program.url)).body);
      const rushes = [];
      while (rushes.length < 3 || (rushes.length < 8 && rushes.every(isEven))) {
        const { requests } = await askAtOnce(program, '/', 160);
        rushes.push(sharesOf(requests.map(({ pid }) => pid)));
      }
      return {
        observed: [
          `one after the other: ${sharesOf(calm).join(', ')}`,
          ...rushes.map((shares) => `160 at once: ${shares.join(', ')}`),
        ],
        because:
          'The primary gives a worker its next connection when it has confirmed the last one. A worker that confirms sooner gets more: in a rush, "in turn" means the next free worker. How uneven that is differs each time; it may be nearly even.',
        asExpected: isEven(sharesOf(calm)) && !rushes.every(isEven),
      };
    },
  },
  {
    name: 'blocked-worker',
    title: 'New connections while one worker is blocked',
    question:
      'One of four workers blocks for half a second, and 24 new connections come at once. How many does it get: under rr, under none?',
    async run(lab) {
      const lines = [];
      const trapped = {};
      for (const policy of ['rr', 'none']) {
        const program = await start(lab, policy);
        const { pid, answer } = await begin(program, '/block');
        const { requests } = await askAtOnce(program, '/', 24);
        await answer;
        const own = requests.filter((request) => request.pid === pid);
        trapped[policy] = own.length;
        const waited = own.length > 0 ? ', which waited until the block was over' : '';
        lines.push(`${policy}: the blocked worker got ${own.length} of 24${waited}`);
      }
      return {
        observed: lines,
        because:
          'Under rr the primary deals it one, waits for the confirmation, and skips it until that comes: one client in 24 is unlucky. Under none a worker takes what it accepts, and a blocked one accepts nothing.',
        asExpected: trapped.rr === 1 && trapped.none === 0,
      };
    },
  },
  {
    name: 'blocked-primary',
    title: 'The primary blocks for a second',
    question:
      'small/busy-primary.js: the primary blocks. How long does a new client wait under rr, and under none? And a client that is already connected?',
    async run(lab) {
      const seen = {};
      for (const policy of ['rr', 'none']) {
        const program = await startSmall(lab, 'busy-primary', policy, 2);
        const agent = new Agent({ keepAlive: true });
        await get(program.url, { agent });
        const stall = await get(`${program.url}/stall`);
        const [connected, fresh] = await Promise.all([
          get(program.url, { agent }),
          get(program.url),
        ]);
        const awake = await program.until((events) =>
          events.find(
            ({ what, pid, t, late }) =>
              what === 'beat' && pid === program.pid && t > stall.doneMs && late > 500,
          ),
        );
        agent.destroy();
        seen[policy] = { connected, fresh, awakeMs: awake?.t ?? 0 };
      }
      const took = ({ sentMs, doneMs }) => `${Math.round(doneMs - sentMs)} ms`;
      const waited = ({ doneMs }, policy) => doneMs > seen[policy].awakeMs;
      return {
        observed: Object.entries(seen).map(
          ([policy, { connected, fresh }]) =>
            `${policy}: a new client waits ${took(fresh)}, one with an open connection ${took(connected)}`,
        ),
        because:
          "Under rr every new connection goes through the event loop of the primary. Under none, and on open connections under either, it isn't involved.",
        asExpected:
          waited(seen.rr.fresh, 'rr') &&
          !waited(seen.rr.connected, 'rr') &&
          !waited(seen.none.fresh, 'none'),
      };
    },
  },
  {
    name: 'where-they-wait',
    title: 'All workers are blocked, and 40 clients come',
    question:
      'Which process holds 40 connections that no worker can answer yet, under rr and under none?',
    async run(lab) {
      if (process.platform !== 'linux')
        return {
          observed: 'This needs /proc, which only Linux has.',
          because: 'Under rr they wait in the primary, under none in the kernel.',
          asExpected: true,
        };
      const seen = {};
      for (const policy of ['rr', 'none']) {
        const program = await start(lab, policy);
        const before = socketsOf(program.pid);
        const blocks = [];
        while (blocks.length < WORKERS) blocks.push((await begin(program, '/block')).answer);
        const rest = Promise.all(Array.from({ length: 40 }, () => get(program.url)));
        const held = () => socketsOf(program.pid) - before;
        const sumOf = () => held() + acceptQueueOf(program.port);
        const noneIsServed = () => requestsOf(program.events, '/').length === 0;
        while (noneIsServed() && sumOf() < 40) await pause(5);
        // The primary sleeps once it has accepted them all.
        while (noneIsServed() && !isAsleep(program.pid)) await pause(5);
        seen[policy] = { primary: held(), kernel: acceptQueueOf(program.port) };
        await Promise.all([rest, ...blocks]);
      }
      return {
        observed: Object.entries(seen).map(
          ([policy, { primary, kernel }]) =>
            `${policy}: ${primary} in the primary, ${kernel} in the kernel's queue`,
        ),
        because:
          'Under rr the primary accepts at once and keeps them all; even the four that it has sent, one to each worker, stay open there until they are confirmed. Under none no process accepts, and the kernel keeps them.',
        asExpected:
          seen.rr.kernel === 0 &&
          seen.rr.primary >= 30 &&
          seen.none.kernel >= 30 &&
          seen.none.primary === 0,
      };
    },
  },
];

/** Is a process idle? See proc(5). */
function isAsleep(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('S');
}

/** How many sockets a process holds, see proc(5). */
function socketsOf(pid) {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:');
    } catch {
      return false; // it has been closed
    }
  }).length;
}
