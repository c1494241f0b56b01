import { readFileSync } from 'node:fs';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { demandTool, get, groupBy, memoryOf, nowMs, requestsOf } from '../../lib/check/checking.js';

const solution = 'solutions/10-nginx-ports/server.js';
const small = 'lessons/10-nginx-ports/small/two-servers.js';
const cluster = 'solutions/10-nginx-ports/machine.js';
const FORWARD = 'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;';
const LIES = { headers: { 'x-forwarded-for': '192.0.2.7' } };
const DEADLINE_MS = 20_000; // only a very busy machine needs this long
const AT_ONCE = 12;

const listenersOf = ({ events }) => events.filter(({ what }) => what === 'listening');
const portOf = (program, pid) => listenersOf(program).find((one) => one.pid === pid)?.port;
const isFine = ({ status }) => status === 200;
const temporary = 'temporary';

/** Starts a program and waits until nginx answers on its port. */
async function open({ launch }, file, { env, ...options } = {}) {
  const NGINX_BIN = demandTool('nginx');
  const program = await launch(file, { temporary, env: { NGINX_BIN, ...env }, ...options });
  const deadline = nowMs() + DEADLINE_MS;
  while (!program.fate && nowMs() < deadline) {
    if (isFine(await get(`${program.url}/pid`))) return program;
    await sleep(10);
  }
  throw new Error(`It did not start. It said: ${program.output()}`);
}

/** Kills one of two servers while it works on some of these requests; returns what the clients get. */
async function killAtWork(program, ask) {
  const first = program.events.length;
  const asked = Promise.all(Array.from({ length: AT_ONCE }, () => ask(`${program.url}/report`)));
  const begun = () => requestsOf(program.events.slice(first), '/report');
  await program.until(() => begun().length === AT_ONCE);
  const [{ pid }] = begun();
  const hit = begun().filter((one) => one.pid === pid).length;
  program.kill(pid, 'SIGKILL');
  const failed = (await asked).filter((answer) => !isFine(answer));
  return { hit, failed: failed.length, how: failed[0]?.error ?? failed[0]?.status };
}

/** @returns {Promise<{ status?: number, error?: string }>} */
function post(url) {
  return new Promise((resolve) => {
    const request = http.request(url, { method: 'POST', agent: false, timeout: DEADLINE_MS });
    request.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode }));
    });
    request.on('error', ({ code }) => resolve({ error: code }));
    request.end('one more');
  });
}

export default [
  {
    name: 'nginx-in-front',
    title: 'Three ports behind one',
    needs: 'nginx',
    question:
      'Three servers behind nginx, six requests one after the other. Which port answers which, and what listens on the port that the client knows?',
    async run(lab) {
      const program = await open(lab, solution, { env: { NODE_CLUSTER_WORKERS: '3' } });
      const first = program.events.length;
      for (let count = 0; count < 6; count += 1) await get(`${program.url}/pid`);
      const ports = requestsOf(program.events.slice(first)).map(({ pid }) => portOf(program, pid));
      const shares = [...groupBy(ports, (port) => port).values()].map(({ length }) => length);
      const own = listenersOf(program).filter(({ port }) => port === program.port).length;
      return {
        observed: [
          `answered by port ${ports.join(', ')}`,
          `Node.js processes that listen on port ${program.port}: ${own}`,
        ],
        because:
          "nginx takes the servers of the upstream in turn (round robin), request by request: it reads HTTP. The cluster module deals connections. No Node.js process has the client's port: a native process does.",
        asExpected: own === 0 && shares.length === 3 && shares.every((share) => share === 2),
      };
    },
  },
  {
    name: 'what-the-backend-sees',
    title: 'Who is the client?',
    needs: 'nginx',
    question:
      'The client has the address 127.0.0.9. Whom does the server see: without any line in the configuration, with X-Forwarded-For, and when the client itself claims in that header to be 192.0.2.7?',
    async run(lab) {
      const plain = await open(lab, small);
      const told = await open(lab, small, { args: [FORWARD] });
      const agent = new http.Agent({ localAddress: '127.0.0.9' });
      const clientSeenBy = async ({ url }, options) =>
        (await get(`${url}/client`, { agent, ...options })).body.trim();
      const seen = [
        await clientSeenBy(plain),
        await clientSeenBy(plain, LIES),
        await clientSeenBy(told),
        await clientSeenBy(told, LIES),
      ];
      agent.destroy();
      return {
        observed: [
          `no line: ${seen[0]}; when the client claims something: ${seen[1]}`,
          `with the line: ${seen[2]}; when the client claims something: ${seen[3]}`,
        ],
        because:
          "The connection comes from nginx, so the server sees nginx. nginx passes on its client's headers, true or not. With the line it adds the address that it sees itself, at the end, and the server, which trusts one proxy, takes the last one.",
        asExpected: seen.join() === '127.0.0.1,192.0.2.7,127.0.0.9,127.0.0.9',
      };
    },
  },
  {
    name: 'next-upstream-off',
    title: 'A server dies at work',
    needs: 'nginx',
    question: `Two servers, ${AT_ONCE} slow requests in flight, and one server gets kill -9. How many fail: by default, with "proxy_next_upstream off;", and if they are POSTs?`,
    async run(lab) {
      const off = ['proxy_next_upstream off;'];
      const asItComes = await killAtWork(await open(lab, small), get);
      const never = await killAtWork(await open(lab, small, { args: off }), get);
      const posts = await killAtWork(await open(lab, small), post);
      const line = (name, { hit, failed, how = 'all answered' }) =>
        `${name}: ${hit} of ${AT_ONCE} were in the server that died, ${failed} failed (${how})`;
      return {
        observed: [line('GET', asItComes), line('GET, off', never), line('POST', posts)],
        because:
          'After an error nginx asks another server, and the client never notices. A POST may already have been carried out: asking again could be a second purchase, so nginx asks again only when it could not even send it. A client gets 502, and decides.',
        asExpected:
          asItComes.failed === 0 && never.failed === never.hit && posts.failed === posts.hit,
      };
    },
  },
  {
    name: 'kill-a-machine',
    title: 'kill -9 for a whole machine',
    needs: 'nginx',
    question:
      'Two machines, two workers each, 60 requests per second for four seconds. After one second a machine dies, all of it. How many fail, and when is it asked again?',
    async run(lab) {
      const args = ['--machines'];
      const program = await open(lab, solution, { args, env: { NODE_CLUSTER_WORKERS: '2' } });
      const at = (address) =>
        listenersOf(program).flatMap((one) => (one.address === address ? [one.pid] : []));
      const first = program.events.length;
      const load = { url: `${program.url}/`, ratePerSecond: 60, durationMs: 4_000 };
      const loaded = lab.openLoop().fire(load);
      await sleep(1_000);
      const dead = at('127.0.0.2');
      const deadMs = nowMs();
      for (const pid of dead) program.kill(pid, 'SIGKILL');
      const { answers } = await loaded;
      const isBack = () => at('127.0.0.2').some((pid) => !dead.includes(pid));
      await program.until(isBack, DEADLINE_MS); // on a busy machine it takes longer to boot
      for (let count = 0; count < 40 && isBack(); count += 1) {
        await get(`${program.url}/pid`);
        await sleep(40);
      }
      const served = requestsOf(program.events.slice(first));
      const heirs = at('127.0.0.2').filter((pid) => !dead.includes(pid));
      const ofHeirs = served.filter(({ pid }) => heirs.includes(pid));
      const birth = listenersOf(program).find(({ pid }) => heirs.includes(pid));
      const count = (pids) => served.filter(({ pid }) => pids.includes(pid)).length;
      const failed = answers.filter((answer) => !isFine(answer)).length;
      const later = (ms) => (ms === undefined ? 'never' : `${Math.round(ms - deadMs)} ms later`);
      return {
        observed: [
          `failed: ${failed} of ${answers.length}`,
          `127.0.0.2: ${count(dead)} requests, then dead; it listens again ${later(birth?.t)}, is asked again ${later(ofHeirs[0]?.startMs)}, and answers ${ofHeirs.length}`,
          `127.0.0.3: ${count(at('127.0.0.3'))} requests`,
        ],
        because:
          'The first request that runs into an error is sent to the other machine. For fail_timeout, one second, nginx leaves the dead one alone; then it tries it with a real request, and again, until one is answered.',
        asExpected: failed === 0 && ofHeirs.length > 0,
      };
    },
  },
  {
    name: 'kept-connections',
    title: 'nginx keeps its connections, and a cluster deals connections',
    needs: 'nginx',
    question:
      'Two machines of two workers each, 20 requests one after the other. How many of the four workers answer?',
    async run(lab) {
      const args = ['--machines'];
      const program = await open(lab, solution, { args, env: { NODE_CLUSTER_WORKERS: '2' } });
      const first = program.events.length;
      for (let count = 0; count < 20; count += 1) await get(`${program.url}/pid`);
      const served = groupBy(requestsOf(program.events.slice(first)), ({ pid }) => pid);
      return {
        observed: `${served.size} of 4 workers answered: ${[...served.values()].map(({ length }) => length).join(' and ')} requests`,
        because:
          'nginx takes the machines in turn, over one connection to each, which it keeps. Inside a machine the primary deals connections, not requests (lesson 3): the worker with that connection gets all of its requests. Under load nginx opens more connections, and the others have work too.',
        asExpected: served.size === 2,
      };
    },
  },
  {
    name: 'ctrl-c',
    title: 'Ctrl-C, and what hears it',
    needs: 'nginx',
    question: `${AT_ONCE} slow requests are in flight behind nginx. Ctrl-C is pressed, and the program says "please" to nginx (SIGQUIT). How many are lost if nginx is in the same process group, and how many if it is not?`,
    async run(lab) {
      const lost = [];
      for (const args of [['--attached'], []]) {
        const program = await open(lab, small, { args });
        const first = program.events.length;
        const ask = () => get(`${program.url}/report`);
        const asked = Promise.all(Array.from({ length: AT_ONCE }, ask));
        const begun = (events) => requestsOf(events.slice(first), '/report').length === AT_ONCE;
        await program.until(begun);
        program.interrupt('SIGINT');
        lost.push((await asked).filter((answer) => !isFine(answer)).length);
        await program.ended();
      }
      return {
        observed: [
          `in the same group: ${lost[0]} of ${AT_ONCE} lost`,
          `detached: ${lost[1]} of ${AT_ONCE} lost`,
        ],
        because:
          'A terminal sends SIGINT to every process of its group in the foreground. For nginx that is a fast stop: it hangs up. Started with detached: true it is in its own group and hears only what you send.',
        asExpected: lost[0] > 0 && lost[1] === 0,
      };
    },
  },
  {
    name: 'parent-killed',
    title: 'kill -9 for the program that started them',
    needs: 'nginx',
    question:
      'Our program gets kill -9, and so does the primary of a cluster. Which processes are still there a second later, and what does a client get on each port?',
    async run(lab) {
      const env = { NODE_CLUSTER_WORKERS: '2' };
      const program = await open(lab, solution, { env });
      const other = await lab.launch(cluster, { env: { ...env, HOST: '127.0.0.1' } });
      await other.ready(2);
      for (const one of [program, other]) one.kill(one.pid, 'SIGKILL');
      await Promise.all([program.ended(), other.ended()]);
      await sleep(1_000);
      const [left, gone] = [program.survivors(), other.survivors()];
      const node = new Set(program.events.map(({ pid }) => pid));
      const natives = left.filter((pid) => !node.has(pid)).length;
      const answers = await Promise.all([get(program.url), get(other.url)]);
      const [here, there] = answers.map(({ status, error }) => error ?? `status ${status}`);
      return {
        observed: [
          `of ours: ${left.length} processes, ${natives} of them nginx; a client gets ${here}`,
          `of the cluster: ${gone.length} processes; a client gets ${there}`,
        ],
        because:
          'Anything that Node.js forks has a channel, and hears when its parent is gone. nginx has none: it stays, holds the port, and no longer finds a server. The cluster module spares you that too. (The workshop has just ended nginx.)',
        asExpected:
          natives > 0 && natives === left.length && gone.length === 0 && here === 'status 502',
      };
    },
  },
  {
    name: 'lines-to-write',
    title: 'What it costs to set up',
    needs: 'nginx',
    question:
      'Four servers behind nginx, and a cluster of four workers: how many lines did we write for each, how many processes run, and how much memory do they take?',
    async run(lab) {
      const env = { NODE_CLUSTER_WORKERS: '4' };
      const behind = await open(lab, solution, { env });
      const workers = await lab.launch(cluster, { env: { ...env, HOST: '127.0.0.1' } });
      await workers.ready(4);
      const ours = ['server.js', 'conf.js', 'children.js'].map((name) => linesOf(name));
      const rows = [
        { name: 'nginx', lines: ours.reduce((sum, lines) => sum + lines), ...sizeOf(behind) },
        { name: 'cluster', lines: linesOf('machine.js'), ...sizeOf(workers) },
      ];
      return {
        observed: rows.map(
          ({ name, lines, processes, megabytes }) =>
            `${name}: ${lines} lines, ${processes} processes, ${megabytes} MB unshared`,
        ),
        because:
          'The lines exclude comments, and backend.js, which is the same. nginx itself is small: two processes of a few megabytes. The price is in the lines, and in one more program to know.',
        asExpected: rows[0].lines > rows[1].lines && rows[0].processes > rows[1].processes,
      };
    },
  },
];

/** Lines that are neither empty nor a comment. */
function linesOf(name) {
  const file = new URL(`../../solutions/10-nginx-ports/${name}`, import.meta.url);
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line.trim() !== '' && !/^\s*\/\//.test(line)).length;
}

/** The processes of a program, and the memory that none of them shares (on Linux; elsewhere what they hold). */
function sizeOf(program) {
  const pids = program.survivors();
  const bytes = pids.map((pid) => memoryOf(pid)).map((one) => one?.ussBytes ?? one?.rssBytes ?? 0);
  const megabytes = Math.round(bytes.reduce((sum, each) => sum + each, 0) / 1024 ** 2);
  return { processes: pids.length, megabytes };
}
