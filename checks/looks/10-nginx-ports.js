/** What is done with the program of lesson 10, and what is seen then. Nothing is judged here. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import http from 'node:http';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  createLoad,
  createOpenLoop,
  disturbanceOf,
  get,
  interleave,
  mean,
  nowMs,
  ratioOf,
  requestsOf,
  saturate,
  watchMachine,
} from '../../lib/checking.js';

const DEADLINE_MS = 10_000;
const KNOCK_MS = 10;
const MOST_ASKED = 60; // who is chosen at random among five is missed once in a hundred thousand checks
const CLAIMED = '192.0.2.7'; // an address for examples: nobody has it
const BODY = { bytes: 200_000, sent: 100_000 }; // more than nginx keeps in memory
const HALF_SENT_MS = 400;
const UNDER_WAY = 6;
const MACHINES = ['127.0.0.2', '127.0.0.3'];
const WORKERS = 2; // of each machine
const LOAD = { ratePerSecond: 40, durationMs: 1_200 };
const RETURN_MS = 5_000;
const PAUSE_MS = 50;
const ROUNDS = 3;
const PORTS = 4;

/**
 * The program with so many servers, and the first answer that its port gave, if any.
 * @typedef {{ program: import('../../lib/observe/run.js').Program, count: number, first: any }} Door
 */

/** Starts the program and knocks until somebody answers, or nothing more is going to happen. */
export async function openDoor(launch, { count, nginx, args = [], env = {} }) {
  const program = await launch({
    args,
    env: { NODE_CLUSTER_WORKERS: String(count), NGINX: nginx, ...env },
    temporary: 'with a blank',
  });
  const door = { program, count, first: undefined };
  let isOver = false;
  const knock = async () => {
    while (!door.first && !isOver) {
      const answer = await get(`${program.url}/pid`, { timeoutMs: DEADLINE_MS });
      if (answer.error !== 'ECONNREFUSED') door.first = answer;
      else await sleep(KNOCK_MS);
    }
  };
  const knocking = knock();
  await program.settled(() => door.first !== undefined, DEADLINE_MS);
  isOver = true;
  await knocking;
  return door;
}

/** The processes of Node.js that listen, and where. */
export function listenersIn(events) {
  return events.filter(({ what }) => what === 'listening');
}

/** The processes of the program that are alive and no Node.js. */
function nativesOf(program) {
  const known = new Set(program.events.map(({ pid }) => pid));
  return program.survivors().filter((pid) => !known.has(pid));
}

/** Which files nginx holds open to write to, while it takes a body that is too large for its memory. */
export async function lookAtFiles({ program, first }, nginx) {
  if (!first || program.fate) return undefined;
  const pids = nativesOf(program);
  const socket = connect(program.port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('latin1').on('data', (part) => (answer += part));
  socket.on('error', () => {});
  socket.write(`POST /pid HTTP/1.1\r\nHost: x\r\nContent-Length: ${BODY.bytes}\r\n\r\n`);
  socket.write('x'.repeat(BODY.sent));
  const before = pids.flatMap(filesOf).length;
  const isWritten = () => answer !== '' || pids.flatMap(filesOf).length > before;
  await program.until(isWritten, HALF_SENT_MS);
  const files = [...new Set(pids.flatMap(filesOf))];
  socket.destroy();
  return {
    refusal: /^HTTP\/1\.1 (5\d\d|413)/.exec(answer)?.[1],
    outside: files.filter((file) => !file.startsWith(program.folder)),
    pidFile: defaultPidFile(nginx, pids),
    isElsewhere: pids.length > 0 && !pids.some((pid) => isAtHome(pid, program.temporary)),
  };
}

/** Regular files that a process has open to write to (Linux, else none); see proc(5). */
function filesOf(pid) {
  return readIfThere(() => readdirSync(`/proc/${pid}/fd`), []).flatMap((fd) => {
    const link = readIfThere(() => readlinkSync(`/proc/${pid}/fd/${fd}`), '');
    const info = readIfThere(() => readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1'), '');
    const flags = parseInt(/^flags:\s+(\d+)/m.exec(info)?.[1] ?? '0', 8);
    const isFile = link.startsWith('/') && !/^\/(dev\/(?!shm\/)|proc\/|memfd:)/.test(link);
    return isFile && (flags & 3) !== 0 ? [link.replace(/ \(deleted\)$/, '')] : [];
  });
}

/** The place for nginx's pid with which it was built, if it is the pid of one of these. */
function defaultPidFile(nginx, pids) {
  const { stderr } = spawnSync(nginx, ['-V'], { encoding: 'utf8' });
  const file = /--pid-path=(\S+)/.exec(stderr ?? '')?.[1];
  if (!file || !existsSync(file)) return undefined;
  return pids.includes(Number(readIfThere(() => readFileSync(file, 'utf8'), '0'))) ? file : undefined;
}

/** Was it started with this folder, or in it? Where the system does not tell, yes. */
function isAtHome(pid, folder) {
  if (process.platform !== 'linux') return true;
  const command = readIfThere(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), '');
  const cwd = readIfThere(() => readlinkSync(`/proc/${pid}/cwd`), '');
  return command.includes(folder) || cwd.startsWith(folder);
}

/** @template T @param {() => T} read @param {T} otherwise @returns {T} otherwise: when it has gone meanwhile */
function readIfThere(read, otherwise) {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** Asks one after the other until every server has been seen, or more than enough were asked. */
export async function askEveryBackend({ program, count, first }) {
  if (first?.status !== 200) return undefined;
  const since = program.events.length;
  const seen = () => new Set(requestsOf(program.events.slice(since), '/pid').map(({ pid }) => pid));
  const answers = [];
  const isFine = () => answers.every(({ status }) => status === 200);
  while (answers.length < MOST_ASKED && seen().size < count && isFine())
    answers.push(await get(`${program.url}/pid`, { timeoutMs: DEADLINE_MS }));
  return { answers, pids: [...seen()] };
}

/** Who the server thinks its client is, when that is another address than nginx's and claims to be a third. */
export async function askWhoIsThere({ program, first }) {
  if (first?.status !== 200) return undefined;
  const localAddress = (await canListen('127.0.0.9')) ? '127.0.0.9' : '127.0.0.1';
  const agent = new http.Agent({ localAddress });
  const headers = { 'x-forwarded-for': CLAIMED };
  const answer = await get(`${program.url}/client`, { agent, headers, timeoutMs: DEADLINE_MS });
  agent.destroy();
  return { answer, localAddress, claimed: CLAIMED };
}

async function canListen(address) {
  const server = createServer().listen(0, address);
  const isListening = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  if (isListening) server.close();
  return isListening;
}

/** The signal comes while requests are under way. */
export async function stopAtWork({ program, first }, how) {
  if (first?.status !== 200) return undefined;
  const since = program.events.length;
  const ask = () => get(`${program.url}/report`, { timeoutMs: DEADLINE_MS });
  const asked = Promise.all(Array.from({ length: UNDER_WAY }, ask));
  const begun = (events) => requestsOf(events.slice(since), '/report').length >= UNDER_WAY;
  await program.until(begun, DEADLINE_MS / 2);
  if (how === 'Ctrl-C') program.interrupt('SIGINT');
  else program.kill(program.pid, 'SIGTERM');
  const fate = await program.ended(DEADLINE_MS);
  const answers = await asked;
  const lost = answers.filter(({ status }) => status !== 200);
  return { how, fate, answers, lost, ...(await leftOf(program, fate)) };
}

/** What is left of a program that has ended. */
async function leftOf(program, fate) {
  const left = fate ? await program.gone(DEADLINE_MS / 2) : [];
  const known = new Set(program.events.map(({ pid }) => pid));
  const natives = left.filter((pid) => !known.has(pid));
  return { left, natives, files: readdirSync(program.temporary), output: program.output() };
}

/** In three ways nginx cannot start. */
export async function startInVain(launch, nginx) {
  const other = createServer().listen(0, '127.0.0.1').unref();
  await once(other, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (other.address());
  const ways = [
    { how: `port ${port} is taken`, env: { PORT: String(port) }, says: /in use|taken|EADDRINUSE/i },
    { how: 'there is no nginx', env: { NGINX: '/nowhere/nginx' }, says: /nginx/i },
    { how: 'PORT is 99999, which is none', env: { PORT: '99999' }, says: /port/i },
  ];
  const ends = await Promise.all(
    ways.map(async ({ how, env, says }) => {
      const program = await launch({
        env: { NODE_CLUSTER_WORKERS: '1', NGINX: nginx, ...env },
        temporary: 'with a blank',
      });
      const fate = await program.ended(DEADLINE_MS);
      return { how, fate, says, ...(await leftOf(program, fate)) };
    }),
  );
  other.close();
  return ends;
}

/** Two machines behind one nginx, and who answers there; undefined where a machine has but one address. */
export async function openMachines(launch, nginx) {
  const missing = [];
  for (const address of MACHINES) if (!(await canListen(address))) missing.push(address);
  if (missing.length > 0) return { missing };
  const door = await openDoor(launch, { count: WORKERS, nginx, args: ['--machines'] });
  const { program, first } = door;
  const serving = new Set();
  const size = MACHINES.length * WORKERS;
  if (first?.status !== 200) return { missing, door, serving: [] };
  for (let round = 0; round < ROUNDS && serving.size < size; round += 1) {
    const ask = () => get(`${program.url}/report`, { timeoutMs: DEADLINE_MS });
    await Promise.all(Array.from({ length: 3 * size }, ask)); // at once: a kept connection leads to one worker only
    for (const { pid } of requestsOf(program.events, '/report')) serving.add(pid);
  }
  return { missing, door, serving: [...serving] };
}

/** The machines of a run: the address of each, the processes that listen there, and those that started them. */
export function machinesOf(program) {
  const { events, pid: first } = program;
  const parents = new Map(
    events.flatMap(({ what, pid, ppid }) => (what === 'start' ? [[pid, ppid]] : [])),
  );
  const byAddress = new Map();
  for (const { pid, address } of listenersIn(events)) {
    const pids = byAddress.get(address) ?? new Set();
    for (const one of [parents.get(pid), pid]) if (one !== first && parents.has(one)) pids.add(one);
    byAddress.set(address, pids);
  }
  return [...byAddress].map(([address, pids]) => ({ address, pids: [...pids] }));
}

/** Kills a whole machine under load, with requests under way in it, and waits until it is used again. */
export async function killMachine({ door, serving, missing }) {
  if (missing.length > 0 || serving.length === 0) return undefined;
  const { program } = door;
  const [victim] = machinesOf(program);
  const { fire, close } = createOpenLoop();
  const since = program.events.length;
  const loaded = fire({ url: `${program.url}/report`, ...LOAD });
  const reports = () => requestsOf(program.events.slice(since), '/report');
  const underWay = () => reports().filter((one) => victim.pids.includes(one.pid) && !one.endMs);
  await program.until(() => underWay().length > 1, DEADLINE_MS);
  const hit = underWay().length;
  const deadMs = nowMs();
  for (const pid of victim.pids) program.kill(pid, 'SIGKILL');
  const { answers } = await loaded;
  close();
  return { program, victim, hit, answers, ...(await waitForReturn(program, victim, deadMs)) };
}

/** Until the machine's processes listen again, and then until one of them has been asked. */
async function waitForReturn(program, { address, pids }, deadMs) {
  const isNew = ({ pid, t }) => t > deadMs && !pids.includes(pid);
  const back = () => machinesOf(program).find((one) => one.address === address)?.pids ?? [];
  const fresh = () => back().filter((pid) => !pids.includes(pid));
  const isBack = await program.until(() => fresh().length >= pids.length, DEADLINE_MS / 2);
  const backMs = nowMs();
  const isUsed = () =>
    requestsOf(program.events.filter(isNew)).some(({ pid }) => fresh().includes(pid));
  let asked = 0;
  while (isBack && !isUsed() && nowMs() < backMs + RETURN_MS && !program.fate) {
    await get(`${program.url}/pid`, { timeoutMs: DEADLINE_MS });
    asked += 1;
    await sleep(PAUSE_MS);
  }
  return { isBack: Boolean(isBack), isUsed: isUsed(), asked, returnMs: RETURN_MS };
}

/** One server, the learner's ports behind nginx, and a cluster: in turn, with the same work. */
export async function measure({ launch, measured, drawn, conditionsWere }, nginx) {
  const given = (name) => fileURLToPath(new URL(`../starters/10-nginx-ports/${name}`, import.meta.url));
  const env = { NODE_CLUSTER_WORKERS: String(PORTS) };
  const [one, cluster, { program: ports }] = await Promise.all([
    launch({ entry: given('backend.js') }),
    launch({ entry: given('machine.js'), env }),
    openDoor(launch, { count: PORTS, nginx }),
  ]);
  await Promise.all([one.ready(1), cluster.ready(PORTS)]);
  const load = createLoad();
  const machine = watchMachine();
  const side = (program, processes) => async () =>
    (await saturate(load, program, { path: '/', processes, durationMs: 180 })).perSecond;
  const sides = { one: side(one, 1), ports: side(ports, PORTS), cluster: side(cluster, PORTS) };
  const rates = await interleave(sides, {
    isEnough: ({ ports: some }) => some.length >= 4,
    budgetMs: DEADLINE_MS,
  });
  const conditions = conditionsWere(machine());
  const note = disturbanceOf(conditions);
  for (const [name, label] of [
    ['ports', `blocking work, ${PORTS} ports behind nginx against one process`],
    ['cluster', `the same by the cluster module, with ${PORTS} workers`],
  ]) {
    const ratio = ratioOf(rates.one, rates[name]);
    const [controlPerSecond, candidatePerSecond] = [rates.one, rates[name]].map(mean);
    const isHeadline = name === 'ports';
    const both = { controlPerSecond, candidatePerSecond, ceiling: PORTS, unit: 'times' };
    measured(name, { label, isHeadline, note, ...both, ...ratio });
  }
  await drawLatency({ drawn, load, note }, { one, ports, cluster });
  load.close();
}

/** What the way through nginx costs: the median of one kept connection's answers, in windows that alternate. */
async function drawLatency({ drawn, load, note }, { one, ports, cluster }) {
  const window = (program) => async () => {
    const url = `${program.url}/pid`;
    const { answers } = await load.fire({ url, connections: 1, durationMs: 120 });
    return median(answers.map(({ sentMs, doneMs }) => doneMs - sentMs));
  };
  const sides = { one: window(one), ports: window(ports), cluster: window(cluster) };
  const medians = await interleave(sides, {
    isEnough: ({ one: some }) => some.length >= 4,
    budgetMs: DEADLINE_MS,
  });
  const row = (name, side) => ({ name, value: Math.round(median(medians[side]) * 1_000) });
  const rows = [
    row('one process', 'one'),
    row('through nginx', 'ports'),
    row('cluster', 'cluster'),
  ];
  const label = 'an answer of /pid on an idle server, half are quicker';
  drawn('latency', { label, unit: 'µs', rows, note });
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}
