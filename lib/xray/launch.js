/**
 * Starts a server as its owner does, and finds the port on which it listens.
 * @typedef {import('../observe/program.js').Program} Program
 * @typedef {object} Order  what to start
 * @property {string} entry  absolute path of a script, or a command's name @property {string[]} args
 * @property {boolean} isCommand  run the entry itself, not by Node.js
 * @property {string} cwd  absolute path @property {Record<string, string>} [env]  added to the user's own
 * @property {boolean} [seesStacks]  see observe/program.js
 * @property {number} [port]  where to send the load; by default the port found
 * @typedef {{ program: Program, port: number, otherPorts: number[] }} Up  a server that listens; otherPorts: of its Node.js processes
 */
import { createStreams, get } from '../observe/client.js';
import { EXTERNAL_LIMITS } from '../observe/limits.js';
import { holdersOf } from '../observe/sockets.js';
import { listenersOf, processesOf } from '../observe/timeline.js';
import { ignoreStarved } from '../observe/cpu-time.js';

const UP_WITHIN_MS = 30_000; // it may build first
const TURNS = 25; // each of 20 ms at least
const TURNS_OF_LATE = 150;
const LIFE = new Set(
  'start listening fork online worker-listening child crash exit worker-exit'.split(' '),
);
const FIRST_WITHIN_MS = 10_000;
const IS_SILENT = /^(no|only a part of the) answer/;
const NONE = -1;
const ENDS = 12; // of workers in a row
const SETTLED_WITHIN_MS = 6_000;
const TOLD_WITHIN_MS = 1_000; // so that we hear of its exit

/** The server never answered, or was stopped for exceeding a limit. */
export class NotUp extends Error {
  /** @param {Program} program @param {string} message  a full sentence */
  constructor(program, message) {
    super(message);
    this.name = 'NotUp';
    this.program = program;
  }
}

/**
 * @param {import('../observe/runner.js').Runner} runner @param {Order} order @param {import('./load.js').Plan} plan  of the load
 * @returns {Promise<Up>}  after its first answer, when no process starts or begins to listen any more
 * @throws {NotUp | import('../observe/cpu-time.js').Starved}
 */
export async function launch(runner, order, plan) {
  const { entry, args, isCommand, cwd, env, seesStacks } = order;
  const program = await runner.start({
    ...{ entry, args, cwd, env, isNative: isCommand, seesStacks },
    ...{ isExternal: true, followsChildren: true },
  });
  const port = await program.until(
    (events) => portOf(program, events, order.port) ?? (isCrashLoop(events) && NONE),
    UP_WITHIN_MS,
  );
  if (port === undefined || port === NONE) throw new NotUp(program, whyNot(program, order.port));
  await program.until(isAtRest, SETTLED_WITHIN_MS).catch(ignoreStarved);
  const ports = portsIn(program.events);
  const answering = await firstThatAnswers(program, order.port ? [port] : ports, plan);
  return {
    ...{ program, port: answering },
    otherPorts: ports.filter((one) => one !== answering),
  };
}

/** The first port that accepts a request, even without an answer. @throws {NotUp} @param {Program} program @param {number[]} ports */
async function firstThatAnswers(program, ports, plan) {
  const { path, method, headers, body } = plan;
  const streams = createStreams();
  streams.end(); // the beginning of an answer is enough
  const failed = [];
  for (const port of ports) {
    program.port = port;
    const what = { method, headers, body, streams, isBodyKept: false, timeoutMs: FIRST_WITHIN_MS };
    const { error } = await get(program.url + path, what);
    const isSeen = program.events.some((event) => event.what === 'request');
    if (!error || isSeen || IS_SILENT.test(error)) return port;
    failed.push(`port ${port}: ${inWords(error, addressOf(program, port))}`);
  }
  if (await program.ended(TOLD_WITHIN_MS)) throw new NotUp(program, whyNot(program));
  throw new NotUp(
    program,
    `It does not answer HTTP on 127.0.0.1 (${failed.join(', ')}). ` +
      'HTTPS, other protocols and other addresses are not looked into.',
  );
}

const addressOf = (/** @type {Program} */ { events }, /** @type {number} */ port) =>
  events.find((one) => one.what === 'listening' && one.port === port)?.address;

function inWords(/** @type {string} */ error, /** @type {string | undefined} */ address) {
  if (error.startsWith('HPE_')) return `what it says is no HTTP, ${error}`;
  return error === 'ECONNREFUSED' && address ? `it listens on ${address} only` : error;
}

/** HTTP ports first: a request to a port for another protocol may crash the process behind it, such as egg's agent. */
function portsIn(/** @type {import('../observe/timeline.js').Event[]} */ events) {
  const ports = [...listenersOf(events).keys()].filter((port) => port > 0);
  const isHttp = (/** @type {number} */ port) =>
    events.some(({ what, http, ...one }) => what === 'listening' && http && one.port === port);
  return [...ports.filter(isHttp), ...ports.filter((port) => !isHttp(port))];
}

/** The first port on which it listens. Of a server without the probe only a wanted port can be checked. */
function portOf(program, events, wanted) {
  const ports = portsIn(events);
  if (wanted === undefined) return ports[0];
  if (ports.includes(wanted)) return wanted;
  return holdersOf(wanted, () => program.survivors()).length > 0 ? wanted : undefined;
}

const isCrashLoop = (/** @type {import('../observe/timeline.js').Event[]} */ events) =>
  events.filter(({ what }) => what === 'worker-exit').length >= ENDS &&
  !events.some(({ what }) => what === 'worker-listening');

const EXCESSES = {
  output: `it printed more than ${EXTERNAL_LIMITS.output / 1024 ** 2} MB`,
  processes: `it had more than ${EXTERNAL_LIMITS.processes} processes at once`,
  timeline: `it did more than can be recorded (${EXTERNAL_LIMITS.timeline / 1024 ** 2} MB)`,
};

/** @param {import('../observe/program.js').Fate} fate @returns {string | undefined}  undefined: we didn't end it */
export const whyEnded = ({ kind, of = 'memory' }) =>
  kind === 'excess' ? `It was stopped: ${EXCESSES[of] ?? `it took too much ${of}`}.` : undefined;

function whyNot(/** @type {Program} */ { fate, events }, wanted = 0) {
  if (fate?.kind === 'unstarted') return `It could not be started: ${fate.error}.`;
  if (fate) {
    const how = fate.signal ? `was killed by ${fate.signal}` : `exited with code ${fate.code}`;
    const when = listenersOf(events).size > 0 ? 'answered' : 'listened on any port';
    const crash = events.findLast(({ what }) => what === 'crash')?.error.split('\n')[0];
    return whyEnded(fate) ?? `It ${how} before it ${when}.${crash ? ` ${crash}` : ''}`;
  }
  if (isCrashLoop(events)) return `${ENDS} of its workers exited, and none of them listened.`;
  if (events.some(({ what }) => what === 'apart'))
    return 'It starts a process in its own PID namespace, like a container, and that cannot be observed from here.';
  const ports = [...listenersOf(events).keys()];
  if (ports.length > 0) return `It does not listen on port ${wanted}, but on ${ports.join(', ')}.`;
  return (
    `Within ${UP_WITHIN_MS / 1000} s none of its Node.js processes began to listen on a port. ` +
    'If another program listens for it, such as nginx, say where: --port N'
  );
}

/**
 * Every event loop has turned many times since a process last started, exited or began to listen; even more times while a worker doesn't
 * listen yet. @param {import('../observe/timeline.js').Event[]} events
 */
export function isAtRest(events) {
  const since = events.findLastIndex(({ what }) => LIFE.has(what));
  const turns = new Map();
  for (const { what, pid, tid } of events.slice(since + 1))
    if (what === 'beat' && tid === undefined) turns.set(pid, (turns.get(pid) ?? 0) + 1);
  const alive = processesOf(events).filter(({ endMs }) => endMs === undefined);
  const listening = new Set([...listenersOf(events).values()].flatMap((pids) => [...pids]));
  const isLate = ({ pid, role }) => role === 'worker' && !listening.has(pid);
  const wanted = alive.some(isLate) ? TURNS_OF_LATE : TURNS;
  return alive.every(({ pid }) => turns.get(pid) >= wanted);
}
