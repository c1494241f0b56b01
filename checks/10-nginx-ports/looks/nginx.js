/**
 * What the check of lesson 10 does with the learner's program and sees of it: questions through the door, and its end,
 * in peace and before it has begun.
 */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import http from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Undecided,
  canListen,
  eventsOf,
  get,
  haveTurned,
  ignoreStarved,
  isCrowded,
  nowMs,
  requestsOf,
} from '../../../lib/check/checking.js';
import { configurationOf } from './conf.js';

export const DEADLINE_MS = 20_000; // only a very busy machine needs this long
export const HEARD = 2; // turns of an event loop: what came before has been heard
const KNOCK_MS = 10;
const KNOCKING_MS = 2_000; // a program that stops in the right order takes no longer; knocking for ever may hold up a server
const KNOCKERS = 3;
const CALM_WHEN_BUSY_MS = 8_000;
const CALM_ALONE_MS = 3_000; // the same without nginx, which might be slow
const LATE_SERVERS_MS = 5_000;
const AT_WORK_MS = 50; // between two looks at what nginx is doing
const REST_TURNS = 100; // of the program's loop, two seconds: after that nothing more will come of it
const LEFT_MS = 4_000; // it has had time to end, unless the machine is busy
const MOST_ASKED = 60; // with a random choice among five, one is missed once in a hundred thousand checks
const CLAIMED = '192.0.2.7'; // an address for examples: nobody has it
const UNDER_WAY = 6;
const MANY_BYTES = 30_000; // of a request: nginx puts them into a file
const TAKEN_MS = 3_000; // nginx takes a request at once
const HELD_MS = 700; // from the signal: a program that waits for a time, not for nginx to end, waits less
export const SOONER = /** @type {const} */ ([1_000, 20_000, 3]); // its timers: two seconds are over before that, three are not
const LEAST_LIMIT_S = 3; // of nginx, in seconds: several
const LIMIT_HERE_MS = 900; // one of three seconds that is a timer of the program is not over yet
const HOLDING_LIMIT_S = 4; // leaves us time to hold a request

/**
 * The program with so many servers, and the first answer that its port gave, if any.
 * @typedef {{ program: import('../../../lib/observe/program.js').Program, count: number, first: any }} Door
 */

/** A status, or none; refused or reset means that nginx is not there yet: `nginx -t` opens the port, too. */
const isAnswer = ({ status, error }) => status !== undefined || /^no answer/.test(error);

/**
 * Starts the program and knocks until somebody answers, or nothing more is going to happen.
 * @param {(options: any) => Promise<import('../../../lib/observe/program.js').Program>} launch
 * @param {{ count: number, nginx: string, args?: string[], pretendTimers?: typeof SOONER }} options
 * @returns {Promise<Door>}
 */
export async function openDoor(launch, { count, nginx, args = [], pretendTimers }) {
  const program = await launch({
    args,
    pretendTimers,
    env: { NODE_CLUSTER_WORKERS: String(count), NGINX_BIN: nginx },
    temporary: 'with a blank',
  });
  /** @type {Door} */
  const door = { program, count, first: undefined };
  let isOver = false;
  const knock = async () => {
    while (!door.first && !isOver) {
      const answer = await get(`${program.url}/pid`, { timeoutMs: DEADLINE_MS });
      if (isAnswer(answer)) door.first = answer;
      else await sleep(KNOCK_MS);
    }
  };
  const knocking = knock();
  const lateMs = nowMs() + DEADLINE_MS;
  const mayCome = async () =>
    !door.first && !program.fate && nowMs() < lateMs && (await isComing(program));
  do await program.settled(() => door.first !== undefined, DEADLINE_MS);
  while (await mayCome());
  isOver = true;
  await knocking;
  if (door.first && door.first.status !== 200)
    // servers that come after the door are seen too
    await program.until(() => serversIn(program).length >= count, LATE_SERVERS_MS);
  const hasSaidWhy = /\[emerg\]/.test(program.output()); // nginx has said why, and that is not a busy machine
  if (!door.first && !program.fate && nowMs() > lateMs && isCrowded() && !hasSaidWhy)
    throw tooBusy('It was not up in 20 s.');
  return door;
}

/**
 * Something may still come of a program that seems calm: it has started a Node.js process that has not reported yet
 * (Linux shows that), or the machine is so busy that calm means little.
 */
async function isComing(program) {
  await sleep(KNOCK_MS);
  const isNode = (pid) => linkOf(`/proc/${pid}/exe`) === process.execPath;
  const natives = nativesOf(program);
  const newsMs = program.events.findLast(({ what }) => what !== 'beat')?.t ?? 0;
  const calmMs = natives.length > 0 ? CALM_WHEN_BUSY_MS : CALM_ALONE_MS;
  return natives.some(isNode) || (isCrowded() && nowMs() < newsMs + calmMs);
}

/** Where a link leads; nowhere when it has gone. */
export function linkOf(path) {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** What was seen may be the machine's fault. */
export function tooBusy(got) {
  const why = 'Other programs are taking the CPU time that this one needs.';
  return new Undecided({ got, why, try: 'close other programs, then check again' });
}

/** The Node.js processes that listen, and where. */
export const listenersIn = (events) => eventsOf(events, 'listening');

/** The same without the program's first process, which isn't a server. */
export const serversIn = ({ events, pid: first }) =>
  listenersIn(events).filter(({ pid }) => pid !== first);

/** The program's living processes that are not Node.js. */
export function nativesOf(program, alive = program.survivors()) {
  const known = new Set(program.events.map(({ pid }) => pid));
  return alive.filter((pid) => !known.has(pid));
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

/** Who the server thinks its client is, when that has an address other than nginx's and claims a third one. */
export async function askWhoIsThere({ program, first }) {
  if (first?.status !== 200) return undefined;
  const localAddress = (await canListen(0, '127.0.0.9')) ? '127.0.0.9' : '127.0.0.1';
  const agent = new http.Agent({ localAddress });
  const headers = { 'x-forwarded-for': CLAIMED };
  const answer = await get(`${program.url}/client`, { agent, headers, timeoutMs: DEADLINE_MS });
  agent.destroy();
  return { answer, localAddress, claimed: CLAIMED };
}

/** The signal comes while requests are under way, and comes again while nginx still waits for a client. */
export async function stopAtWork(/** @type {Door} */ door, how) {
  const { program, first } = door;
  if (first?.status !== 200) return { door, how };
  const sendRest = await sendHalf(program);
  const sendMuch = await sendHalf(program, MANY_BYTES);
  const since = program.events.length;
  const ask = () => get(`${program.url}/report`, { timeoutMs: DEADLINE_MS });
  const asked = Promise.all(Array.from({ length: UNDER_WAY }, ask));
  const begun = (events) => requestsOf(events.slice(since), '/report').length >= UNDER_WAY;
  await program.until(begun, DEADLINE_MS / 2);
  const { directive, seconds } = limitOf(program);
  const signalMs = nowMs();
  program.tellToStop(how);
  const knocked = Promise.all(Array.from({ length: KNOCKERS }, () => knockUntilShut(program)));
  const toldAgain = tellAgain(program, how, signalMs);
  let restMs = 0;
  const resting = Promise.all([asked, toldAgain]).then(async () => {
    if (how === 'SIGTERM' && seconds >= HOLDING_LIMIT_S)
      await program.until(haveServersLeft, Math.max(0, signalMs + HELD_MS - nowMs()));
    restMs = nowMs();
    return Promise.all([sendRest(), sendMuch()]); // until they are answered nginx has to be there, and so do the servers
  });
  resting.catch(() => {}); // it is reported below
  const fate = await program.ended(DEADLINE_MS);
  const answers = await asked;
  const [rest, much] = await resting;
  const isTwice = await toldAgain;
  const isOver = how === 'SIGTERM' && restMs > signalMs + LIMIT_HERE_MS;
  const half = rest === 'none' && (isOver || isCrowded()) ? undefined : rest; // a graceful stop may have a limit
  const lost = answers.filter(({ status }) => status !== 200);
  const turnedAway = (await knocked).flat().find((status) => status >= 500);
  return {
    door,
    how,
    signalMs,
    fate,
    answers,
    lost,
    isTwice,
    half,
    isFolderGone: much === '500', // any other status may come of a server that hangs up before it has read it all
    hurry: seconds < LEAST_LIMIT_S ? directive : undefined,
    turnedAway,
    ...(await leftOf(program, fate)),
  };
}

/**
 * The program has heard the signal, and gets it once more, as from somebody who loses patience.
 * @returns {Promise<boolean>}  whether it was still there
 */
async function tellAgain(program, how, signalMs) {
  const hasHeardSince = (fromMs) => (events) =>
    program.fate || haveTurned(events, [program.pid], HEARD, fromMs);
  const hasHeard = await program.until(hasHeardSince(signalMs), TAKEN_MS).catch(ignoreStarved);
  if (!hasHeard || program.fate) return false;
  const againMs = nowMs();
  const isThere = program.tellToStop(how);
  await program.until(hasHeardSince(againMs), TAKEN_MS).catch(ignoreStarved);
  return isThere;
}

/** Clients that come while it stops: what each was told, until the door is closed, or for a while. */
async function knockUntilShut(program) {
  const told = [];
  const untilMs = nowMs() + KNOCKING_MS;
  while (!program.fate && nowMs() < untilMs) {
    const { status } = await get(`${program.url}/pid`, { timeoutMs: KNOCKING_MS });
    if (status === undefined) break;
    told.push(status);
    if (status >= 500) break;
    await sleep(KNOCK_MS);
  }
  return told;
}

/** How long a graceful stop of nginx may take: the directive that says so, and the seconds. */
function limitOf(program) {
  const { name, args } = configurationOf(program)?.directives.find(
    (one) => one.name === 'worker_shutdown_timeout',
  ) ?? { name: 'no limit', args: ['0'] };
  return { directive: `${name} ${args[0]};`, seconds: secondsOf(args[0]) };
}

/** A time as nginx reads it; without an end where it is more than seconds, or 0, which means no limit. */
function secondsOf(/** @type {string} */ time) {
  if (/^\d+$/.test(time)) return Number(time) || Infinity;
  const [, seconds = 0, ms = 0] = /^(?:(\d+)s)? ?(?:(\d+)ms)?$/.exec(time) ?? ['', Infinity];
  return Number(seconds) + Number(ms) / 1_000 || Infinity;
}

/** Has a server reported its end? */
const haveServersLeft = (events) => {
  const servers = new Set(listenersIn(events).map(({ pid }) => pid));
  return events.some(({ what, pid }) => what === 'exit' && servers.has(pid));
};

/**
 * A client that has begun its request: nginx has taken it, and waits for the rest.
 * @param {import('../../../lib/observe/program.js').Program} program
 * @param {number} [bytes]  of the rest
 * @returns {Promise<() => Promise<string | undefined>>}  sends the rest, and tells what came: a status, or 'none'; nothing
 *   where nginx has not said that it waits
 */
export async function sendHalf(program, bytes = 1) {
  const socket = connect(program.port, '127.0.0.1');
  let told = '';
  let isClosed = false;
  socket.setEncoding('latin1').on('data', (part) => (told += part));
  socket.on('error', () => {}).on('close', () => (isClosed = true));
  const head = ['GET /pid HTTP/1.1', 'Host: x', 'Connection: close', 'Expect: 100-continue'];
  socket.write([...head, `Content-Length: ${bytes}`, '', ''].join('\r\n'));
  const isTaken = () => /^HTTP\/1\.1 100 /.test(told);
  await program.until(() => isTaken() || isClosed, TAKEN_MS);
  return async () => {
    const closed = new Promise((done) => socket.on('close', done));
    if (isTaken() && !isClosed) {
      socket.setTimeout(DEADLINE_MS, () => socket.destroy()).write('x'.repeat(bytes));
      await closed;
    }
    socket.destroy();
    const [, status = 'none'] = /\r\n\r\nHTTP\/1\.1 (\d+)/.exec(told) ?? [];
    return isTaken() ? status : undefined;
  };
}

/** What is left of a program that has ended. */
async function leftOf(program, fate) {
  const left = fate ? await goneOrLeft(program) : [];
  const natives = nativesOf(program, left);
  return { left, natives, files: readdirSync(program.temporary), output: program.output() };
}

/** What has had time to end, and is still there. */
export async function goneOrLeft(program) {
  const left = await program.gone(LEFT_MS);
  return left.length > 0 && isCrowded() ? program.gone(DEADLINE_MS / 2 - LEFT_MS) : left;
}

/** There is no nginx, or it does not accept its configuration. */
export const failToStart = (launch, nginx) =>
  Promise.all([
    endUnserved(launch, {
      how: 'there is no nginx',
      env: { NGINX_BIN: '/nowhere/nginx' },
      says: /nginx/i,
    }),
    endUnserved(launch, {
      how: "PORT is 99999, which isn't a port",
      env: { NGINX_BIN: nginx, PORT: '99999' },
      says: /port/i,
    }),
  ]);

/**
 * nginx accepts its configuration (-t does not mind), but cannot start: the program runs already, and has the port. The
 * second one is given the same folder for temporary files: does it touch what the first has there?
 * @param {(options: any) => Promise<import('../../../lib/observe/program.js').Program>} launch
 * @param {string} nginx
 * @param {Door} door  the first
 */
export async function startTwice(launch, nginx, door) {
  const { port, temporary } = door.program;
  const before = ownedIn(temporary);
  const end = await endUnserved(launch, {
    how: `port ${port} is taken, because it runs already`,
    env: { NGINX_BIN: nginx, PORT: String(port), TMPDIR: temporary },
    says: /in use|taken|EADDRINUSE|not free|occupied|busy|already/i,
  });
  const after = ownedIn(temporary);
  const touched = [...before].find(([name, text]) => after.get(name) !== text)?.[0];
  const files = [...after.keys()].filter((name) => !before.has(name));
  return { ...end, touched, files: [...end.files, ...files] };
}

/** What is in a folder for temporary files, by name, each with the configuration in it, if there is one. */
function ownedIn(temporary) {
  const file = configurationOf({ temporary })?.file ?? '';
  const textOf = (name) =>
    file.startsWith(join(temporary, name)) ? readFileSync(file, 'utf8') : undefined;
  return new Map(readdirSync(temporary).map((name) => [name, textOf(name)]));
}

async function endUnserved(launch, { how, env, says }) {
  const program = await launch({
    env: { NODE_CLUSTER_WORKERS: '1', ...env },
    temporary: 'with a blank',
  });
  const fate = await endOrRest(program);
  return { how, fate, says, program, events: program.events, ...(await leftOf(program, fate)) };
}

/** How it ended; undefined when it goes on, and nothing more will come of it: no nginx is at work, and no timer is set. */
async function endOrRest(program) {
  const lateMs = nowMs() + DEADLINE_MS;
  const isNews = (events, sinceMs) => events.some(({ what, t }) => what !== 'beat' && t > sinceMs);
  let isOver = false;
  while (!program.fate && !isOver && nowMs() < lateMs) {
    await program.settled(() => false, DEADLINE_MS);
    const sinceMs = nowMs();
    if (!program.fate && nativesOf(program).length > 0) {
      await program.until(() => false, AT_WORK_MS); // it may end meanwhile
      continue;
    }
    const hasRested = (events) => haveTurned(events, [program.pid], REST_TURNS, sinceMs);
    await program.until((events) => isNews(events, sinceMs) || hasRested(events), DEADLINE_MS);
    isOver = hasRested(program.events) && !isNews(program.events, sinceMs);
  }
  return program.fate;
}
