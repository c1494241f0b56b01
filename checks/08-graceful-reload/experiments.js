import { once } from 'node:events';
import http from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  MIXED,
  eventsOf,
  exitsOf,
  forksOf,
  get,
  lostOf,
  nowMs,
  requestsOf,
  startTraffic,
} from '../../lib/check/checking.js';

const solution = 'solutions/08-graceful-reload/server.js';
const ways = 'lessons/08-graceful-reload/ways.js';
const DEADLINE_MS = 25_000; // on a busy machine; else a reload takes two or three seconds
const AFTER_MS = 300;
const BUSY_MS = 2_000;
const SHORT_LIMIT_MS = 800;
const TIMES = 3;
const CLIENTS = 4;
const GOODBYE_MS = 100; // less than ours takes

async function start(launch, file, workers, { env = {}, ...options } = {}) {
  const all = { NODE_CLUSTER_WORKERS: String(workers), ...env };
  const program = await launch(file, { env: all, ...options });
  await program.ready(workers);
  return program;
}

/** Reloads a number of times under load, and counts the lost requests. */
async function reloadUnderLoad(program, kinds = MIXED, times = 1) {
  const workers = forksOf(program.events).length;
  const traffic = startTraffic(program.url, kinds);
  await sleep(AFTER_MS);
  const sinceMs = nowMs();
  let done = 0;
  while (done < times && (await reloadOnce(program, (done + 1) * workers))) done += 1;
  const seconds = (nowMs() - sinceMs) / 1_000;
  await sleep(AFTER_MS);
  const sent = await traffic.stop();
  const lost = lostOf(sent, requestsOf(program.events));
  const repeated = sent.filter(({ isRepeated }) => isRepeated).length;
  return { done, seconds, sent: sent.length, lost: lost.length, repeated };
}

async function reloadOnce(program, exits) {
  program.kill(program.pid, 'SIGHUP');
  const isDone = (events) =>
    exitsOf(events).length >= exits && forksOf(events).length === listenedOf(events).length;
  return program.until(isDone, DEADLINE_MS);
}

const ANSWERED = 'answered';

/** Connects, waits until the worker is leaving, and only then sends its request. */
async function askTooLate(program) {
  const socket = connect(program.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (part) => (answer += part)).on('error', () => {});
  await program.until((events) => eventsOf(events, 'connection').length > 0, DEADLINE_MS);
  program.kill(program.pid, 'SIGHUP');
  await program.until((events) => listenedOf(events)[1], DEADLINE_MS);
  await sleep(GOODBYE_MS);
  socket.end('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  if (!socket.closed) await once(socket, 'close');
  return answer.startsWith('HTTP/1.1 200') ? ANSWERED : 'closed, without an answer';
}

const listenedOf = (events) => eventsOf(events, 'worker-listening');
const countsOf = ({ sent, lost, repeated, seconds }) =>
  `${lost} of ${sent} requests failed, ${repeated} were repeated by the client; it took ${seconds.toFixed(1)} s`;

export default [
  {
    name: 'kill-all',
    title: 'All at once',
    question:
      'Four workers under 100 requests per second. On SIGHUP all are killed, then four are forked. How many requests fail?',
    async run({ launch }) {
      const counts = await reloadUnderLoad(await start(launch, ways, 4, { args: ['kill-all'] }));
      return {
        observed: countsOf(counts),
        because:
          'The requests in flight died with their workers. And when the last worker was gone, nothing listened until the first new one did: each client that connected in that time was refused.',
        asExpected: counts.lost > 3,
      };
    },
  },
  {
    name: 'one-by-one',
    title: 'One after the other, by SIGTERM',
    question:
      'Now one worker is killed and replaced, then the next. The other three keep serving. How many requests fail?',
    async run({ launch }) {
      const counts = await reloadUnderLoad(await start(launch, ways, 4, { args: ['one-by-one'] }));
      return {
        observed: countsOf(counts),
        because:
          'No client was refused. But each worker took its requests in flight along: the port was never closed, the connections were.',
        asExpected: counts.lost > 0 && counts.done === 1,
      };
    },
  },
  {
    name: 'disconnect-only',
    title: 'disconnect(), and clients that keep asking',
    question:
      'One worker, and four clients that ask for /slow on connections that they keep. A new worker listens, and the old one disconnects. How long is it still there?',
    async run({ launch }) {
      const program = await start(launch, ways, 1, { args: ['disconnect-only'] });
      let isOn = true;
      const client = async () => {
        const agent = new http.Agent({ keepAlive: true });
        while (isOn) await get(`${program.url}/slow`, { agent, timeoutMs: DEADLINE_MS });
        agent.destroy();
      };
      const clients = Array.from({ length: CLIENTS }, client);
      await program.until((events) => requestsOf(events).length >= CLIENTS, DEADLINE_MS);
      const [{ workerPid: old }] = forksOf(program.events);
      program.kill(program.pid, 'SIGHUP');
      const began = await program.until((events) => listenedOf(events)[1], DEADLINE_MS);
      const gone = await program.until((events) => exitsOf(events)[0], BUSY_MS);
      const later = requestsOf(program.events).filter(
        ({ pid, startMs }) => pid === old && startMs > began.t,
      );
      isOn = false;
      await Promise.all(clients);
      const left = await program.until((events) => exitsOf(events)[0], DEADLINE_MS);
      return {
        observed: [
          gone ? 'it left while they were asking' : `${BUSY_MS / 1_000} s later it was still there`,
          `requests that it began after disconnect(): ${later.length}`,
          left
            ? `it left ${((left.t - began.t) / 1_000).toFixed(1)} s after the new one listened, when they had gone`
            : 'when they had gone it stayed anyway',
        ],
        because:
          'disconnect() takes no new connections and closes idle ones. These were never idle for long, and nothing told their clients to stop. They could have continued as long as they liked.',
        asExpected: !gone && later.length > 4,
      };
    },
  },
  {
    name: 'just-come',
    title: 'A client that has only just connected',
    question:
      'A client has connected, and its request is on its way, when the worker leaves: by disconnect(), or the way ours does. Does it get an answer?',
    async run({ launch }) {
      const simple = await askTooLate(await start(launch, ways, 1, { args: ['disconnect-only'] }));
      const ours = await askTooLate(await start(launch, solution, 1));
      const [major, minor] = process.versions.node.split('.').map(Number);
      const closesNew = major > 26 || (major === 26 && minor >= 4);
      return {
        observed: [`disconnect(), on Node.js ${process.versions.node}: ${simple}`, `ours: ${ours}`],
        because: closesNew
          ? "disconnect() calls http's close(), which closes whatever is idle; since Node.js 26.4 that includes a connection that hasn't asked anything yet. net's close() doesn't."
          : "disconnect() calls http's close(), which closes whatever is idle. Before Node.js 26.4 that excludes a connection that hasn't asked anything yet; since then this client is cut.",
        asExpected: ours === ANSWERED && (simple === ANSWERED) === !closesNew,
      };
    },
  },
  {
    name: 'fork-first',
    title: 'Ours',
    question:
      'Our solution, four workers, the same 100 requests per second. How many fail, and how many do clients have to repeat? Which took longer, ours or killing one by one?',
    async run({ launch }) {
      const counts = await reloadUnderLoad(await start(launch, solution, 4));
      return {
        observed: countsOf(counts),
        because:
          'No client is cut, and none is refused. It takes longer: each worker says goodbye for 0.3 s and answers the requests in flight. No client waits for that.',
        asExpected: counts.lost === 0 && counts.done === 1,
      };
    },
  },
  {
    name: 'bad-version',
    title: 'A version that cannot start',
    question:
      'The new app.js throws at the top of the file, and SIGHUP arrives. How many workers are forked, how many old ones exit, and which version answers?',
    async run({ launch, copy }) {
      const { entry, write } = copy('solutions/08-graceful-reload');
      const program = await start(launch, entry, 2);
      const old = forksOf(program.events).map(({ workerPid }) => workerPid);
      write('app.js', `throw new Error('a bad version');`);
      program.kill(program.pid, 'SIGHUP');
      await program.until((events) => exitsOf(events).length > 0, DEADLINE_MS);
      await program.settled(() => false, BUSY_MS);
      const { body } = await get(`${program.url}/version`);
      const forks = forksOf(program.events).length - old.length;
      const left = exitsOf(program.events).filter(({ workerPid }) => old.includes(workerPid));
      const line = program
        .output()
        .split('\n')
        .find((each) => each.startsWith('it does not start'));
      return {
        observed: [
          `forked: ${forks}; old workers that exited: ${left.length}`,
          `/version says ${body.trim()}`,
          `the primary says: ${line}`,
        ],
        because:
          "The new worker exited before it listened. The loop waits for both, 'listening' and 'exit'; after 'exit' it stops, and all old workers stay.",
        asExpected: forks === 1 && left.length === 0 && body.trim() === '1' && Boolean(line),
      };
    },
  },
  {
    name: 'never-ending',
    title: 'A response that never ends',
    question: `A worker must leave in the middle of a response that never ends. DRAIN_LIMIT_MS is ${SHORT_LIMIT_MS}. What becomes of it, and of the reload?`,
    async run({ launch, copy }) {
      const { entry, write } = copy('solutions/08-graceful-reload');
      write(
        'app.js',
        `export const version = 'endless';
        export function handle(request, response) {
          response.write('to be continued');
        }`,
      );
      const env = { DRAIN_LIMIT_MS: String(SHORT_LIMIT_MS) };
      const program = await start(launch, entry, 2, { env });
      const asked = get(program.url, { timeoutMs: DEADLINE_MS });
      await program.until((events) => requestsOf(events).length > 0, DEADLINE_MS);
      const [{ pid }] = requestsOf(program.events);
      await reloadOnce(program, 2);
      const { error } = await asked;
      const exits = exitsOf(program.events);
      const told = listenedOf(program.events).slice(2);
      const lines = exits.map(
        ({ workerPid, code, t }, index) =>
          `${workerPid === pid ? 'the one with the response' : 'the other one'}: exit code ${code}, ${Math.round(t - told[index].t)} ms after a new one listened`,
      );
      return {
        observed: [...lines, `its client: ${error}`],
        because:
          'The limit is the difference between "as long as it takes" and "forever". Its client is cut, and all the others get the new version.',
        asExpected:
          exits.length === 2 &&
          exits.some(({ code, workerPid }) => code === 1 && workerPid === pid),
      };
    },
  },
  {
    name: 'some-rolls',
    title: `${TIMES} reloads in a row`,
    question: `Two workers, ${TIMES} reloads one after the other, always 100 requests per second (npm run bench:reload does twenty, with four workers). How many fail?`,
    async run({ launch }) {
      const counts = await reloadUnderLoad(await start(launch, solution, 2), MIXED, TIMES);
      return {
        observed: [`${counts.done} reloads`, countsOf(counts)],
        because:
          'A reload that loses one request in a thousand looks fine once. This one can lose one only in the race on an idle connection, and there clients repeat it.',
        asExpected: counts.done === TIMES && counts.lost === 0,
      };
    },
  },
];
