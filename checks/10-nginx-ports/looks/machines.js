/** Two machines behind nginx: who answers, and what happens when one dies. */
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  canListen,
  createOpenLoop,
  eventsOf,
  get,
  haveTurned,
  ignoreStarved,
  isCrowded,
  nowMs,
  requestsOf,
  turnedMs,
  turnsOf,
} from '../../../lib/check/checking.js';
import {
  DEADLINE_MS,
  HEARD,
  goneOrLeft,
  listenersIn,
  nativesOf,
  openDoor,
  sendHalf,
  tooBusy,
} from './nginx.js';

const MACHINES = ['127.0.0.2', '127.0.0.3'];
const WORKERS = 2; // of each machine
const LOAD = { ratePerSecond: 40, durationMs: 1_200 }; // until nginx has tried the dead machine once more
export const POSTS = 12; // nginx asks in turn: some are for the machine that dies
const ARRIVE_MS = 150; // an answer takes some milliseconds
const BOOT_MS = 8_000; // a second, in fact
const BOOT_UNTIMED_MS = 3_000;
const RETURN_MS = 3_000;
const PAUSE_MS = 50;
const ROUNDS = 3;
const AFTERMATH_MS = 4_000; // for what is started while the program ends
const SECOND_TURNS = 65; // of the program's loop, 20 ms each: by then a timer of a second has fired, and more
const VAIN_TURNS = 100; // of the program's loop: two seconds
const LATER_TURNS = 10; // of the program's loop: by then it has started nginx, if it does not wait for the other machine

/** The addresses that this computer does not have. */
async function findMissing() {
  /** @type {string[]} */
  const missing = [];
  for (const address of MACHINES) if (!(await canListen(0, address))) missing.push(address);
  return missing;
}

/** Two machines behind one nginx, and who answers there; undefined if a machine has only one address. */
export async function openMachines(launch, nginx) {
  const missing = await findMissing();
  if (missing.length > 0) return { missing };
  const held = holdingSecond(launch);
  const door = await openDoor(held, { count: WORKERS, nginx, args: ['--machines'] });
  const { program, first } = door;
  const nginxMs = startOf(program, nativesOf(program));
  /** @type {Set<number>} */
  const serving = new Set();
  const size = MACHINES.length * WORKERS;
  if (first?.status !== 200) return { missing, door, nginxMs, serving: [...serving] };
  for (let round = 0; round < ROUNDS && serving.size < size; round += 1) {
    const ask = () => get(`${program.url}/report`, { timeoutMs: DEADLINE_MS });
    await Promise.all(Array.from({ length: 3 * size }, ask)); // at once: a kept connection leads to only one worker
    for (const { pid } of requestsOf(program.events, '/report')) serving.add(pid);
  }
  return { missing, door, nginxMs, serving: [...serving] };
}

/**
 * Starts a program whose second machine takes longer to boot: an nginx that is started too early shows on any machine.
 * @param {(program: any) => Promise<void>} [act]  what is done meanwhile
 */
const holdingSecond =
  (launch, act = async () => {}) =>
  async (options) => {
    const program = await launch(options);
    holdSecond(program, act).catch(ignoreStarved);
    return program;
  };

/** Lets the second machine stand still, as soon as it has started, until the first has listened for a while. */
async function holdSecond(program, act) {
  const machines = (events) =>
    eventsOf(events, 'start').filter(({ ppid, tid }) => ppid === program.pid && tid === undefined);
  await program.until((events) => program.fate || machines(events).length > 1, BOOT_MS);
  const second = machines(program.events)[1]?.pid;
  if (!second || !program.kill(second, 'SIGSTOP')) return;
  try {
    await program.until((events) => program.fate || listenersIn(events).length > 0, BOOT_MS);
    const sinceMs = nowMs();
    const isLater = (events) => haveTurned(events, [program.pid], LATER_TURNS, sinceMs);
    await program.until((events) => program.fate || isLater(events), BOOT_MS);
    await act(program);
  } finally {
    program.kill(second, 'SIGCONT');
  }
}

/** When the program has started one of these, the first time. */
const startOf = ({ events, pid }, pids) =>
  eventsOf(events, 'child').find((one) => one.pid === pid && pids.includes(one.childPid))?.t;

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

/**
 * A machine dies at work, is back and used, and dies again; at the same time the other one loses its last worker, and
 * ends. When both are back it dies a third time; and at last, when the other one has just died again, there is Ctrl-C. Here a
 * machine has only one worker.
 */
export async function killAgainAndAgain(launch, nginx) {
  const door = await openTwo(launch, nginx);
  if (!door?.victim) return door;
  const { program, first, victim } = door;
  const atWork = await killAtWork(program, victim);
  const seen = { program, first, address: victim.address, atWork };
  const isLost = atWork.doubles > 0 || atWork.answers.some(({ status }) => status !== 200);
  if (isLost || !atWork.isUsed || program.fate) return { ...seen, fate: program.fate };
  const twice = await killBoth(program, victim.address);
  const areBack = twice.isBack && twice.other.isBack;
  const all = areBack ? [twice, await killOnceMore(program, victim.address)] : [twice];
  const died = { ...seen, other: twice.other, deaths: all, fate: program.fate };
  if (program.fate || !areBack || !all[1].isBack) return died;
  return { ...died, ended: await stopWithout(program, [twice.other.address], 'Ctrl-C') };
}

/** Two machines of one worker; victim: one of them, if it came up. Nothing where this computer lacks their addresses. */
async function openTwo(launch, nginx) {
  if ((await findMissing()).length > 0) return undefined;
  const { program, first } = await openDoor(launch, { count: 1, nginx, args: ['--machines'] });
  const found = machinesOf(program).find(({ address }) => MACHINES.includes(address));
  return { program, first, victim: first?.status === 200 ? found : undefined };
}

/**
 * Kills a whole machine under load, with requests under way in it, and waits until it is used again. It is frozen
 * first, so that nginx has also sent it POSTs that it has not answered.
 */
async function killAtWork(program, victim) {
  const { fire, close } = createOpenLoop();
  const since = program.events.length;
  const loaded = fire({ url: `${program.url}/report`, ...LOAD });
  const reports = () => requestsOf(program.events.slice(since), '/report');
  const underWay = () => reports().filter((one) => victim.pids.includes(one.pid) && !one.endMs);
  const signal = (name) => victim.pids.forEach((pid) => program.kill(pid, name));
  await program.until(() => underWay().length > 0, BOOT_MS);
  signal('SIGSTOP');
  const orders = Array.from({ length: POSTS }, (_, id) => order(program, `/order?id=${id}`));
  await sleep(ARRIVE_MS);
  const hit = underWay().length;
  const open = orders.filter(({ isAnswered }) => !isAnswered);
  const last = orders.findLast(({ isAnswered }) => isAnswered); // those that came before it had come too
  const deadMs = nowMs();
  signal('SIGKILL');
  const returned = waitForReturn(program, victim, deadMs);
  returned.catch(() => {}); // it is reported below
  const { answers } = await loaded;
  close();
  await Promise.all(orders.map(({ answered }) => answered));
  const isLater =
    (path) =>
    ({ url, t }) =>
      url === path && t > deadMs;
  const doubles = open.filter(({ path }) => program.events.some(isLater(path)));
  const certain = doubles.filter((one) => last && orders.indexOf(one) < orders.indexOf(last));
  const posts = { open: open.length, doubles: doubles.length, certain: certain.length };
  const seen = { program, victim, hit, deadMs, ...posts, answers };
  return { ...seen, ...(await returned), fate: program.fate };
}

/** A POST: is it answered, in whatever way? */
function order(program, path) {
  const asked = get(`${program.url}${path}`, { method: 'POST', timeoutMs: DEADLINE_MS });
  const one = { path, isAnswered: false, answered: asked.then(() => (one.isAnswered = true)) };
  return one;
}

/** Until the machine's processes listen again, and then until one of them has been asked. */
async function waitForReturn(program, { address, pids }, deadMs) {
  const isNew = ({ pid, t }) => t > deadMs && !pids.includes(pid);
  const back = () => machinesOf(program).find((one) => one.address === address)?.pids ?? [];
  const fresh = () => back().filter((pid) => !pids.includes(pid));
  const isBoot = await isStartedAgain(program, deadMs);
  const isElsewhere = () =>
    listenersIn(program.events).some((one) => one.t > deadMs && one.address !== address);
  const isThere = () => fresh().length >= pids.length;
  if (isBoot) await program.until(() => isThere() || isElsewhere(), DEADLINE_MS);
  const isBack = isBoot && isThere();
  const isAnybody = listenersIn(program.events).some(({ t }) => t > deadMs);
  if (isBoot && !isBack && !isAnybody && !program.fate && isCrowded())
    throw tooBusy('Something was started in its place, but was not up in 20 s.');
  const portOf = (all) => listenersIn(program.events).find(({ pid }) => all.includes(pid))?.port;
  const [portWas, port] = [pids, fresh()].map(portOf);
  const backMs = nowMs();
  const isUsed = () =>
    requestsOf(program.events.filter(isNew)).some(({ pid }) => fresh().includes(pid));
  let asked = 0;
  while (isBack && !isUsed() && nowMs() < backMs + RETURN_MS && !program.fate) {
    await get(`${program.url}/pid`, { timeoutMs: DEADLINE_MS });
    asked += 1;
    await sleep(PAUSE_MS);
  }
  const waitedMs = (startOf(program, fresh()) ?? Infinity) - deadMs;
  const seen = { isBoot, isBack: Boolean(isBack), isUsed: isUsed(), waitedMs };
  return { ...seen, asked, returnMs: RETURN_MS, portWas, port };
}

/** The program starts something in time: a second after the death, or a little later if it has set a timer. */
async function isStartedAgain(program, deadMs) {
  const isStarted = (events) =>
    events.some(({ what, pid, t }) => what === 'child' && pid === program.pid && t > deadMs);
  const isOver = (events) => isStarted(events) || isTooLate(program, events, deadMs);
  await program.until(isOver, isCrowded() ? DEADLINE_MS : BOOT_MS);
  return isStarted(program.events);
}

/** It is much more than a second later, and the program has no timer that could start anything. */
function isTooLate(program, events, deadMs) {
  const last = events.findLast(({ pid, timers }) => pid === program.pid && timers !== undefined);
  return !isCrowded() && nowMs() > deadMs + BOOT_UNTIMED_MS && !(last?.timers > 0);
}

/**
 * Both die: this one is killed a second time, of the other one only the workers are, so that it ends on its own. Are both
 * started again, and does everybody know?
 */
async function killBoth(program, address) {
  const otherAddress = MACHINES.find((one) => one !== address);
  const pidsAt = (one) => machinesOf(program).find((each) => each.address === one)?.pids ?? [];
  const [dead, lost] = [address, otherAddress].map(pidsAt);
  const deadMs = nowMs();
  for (const pid of dead) program.kill(pid, 'SIGKILL');
  const end = await loseWorkers(program, lost);
  const heardMs = await haveHeard(program, [...dead, ...lost]);
  const freshAt = (one) => pidsAt(one).filter((pid) => ![...dead, ...lost].includes(pid));
  const isUp = (one) => freshAt(one).length > 1;
  const areUp = () => [address, otherAddress].every(isUp);
  const hasFewer = (events) => startsSince(program, events, deadMs).length < MACHINES.length;
  const isVain = (events) => hasFewer(events) && isTooLate(program, events, deadMs);
  if (await isStartedAgain(program, deadMs))
    await program.until((events) => areUp() || isVain(events), DEADLINE_MS);
  const fresh = [...freshAt(address), ...freshAt(otherAddress)];
  const isSaid = areUp() && (await haveSaid(program, fresh));
  if (!isSaid && !program.fate && isCrowded())
    throw tooBusy('Something was started in the place of a machine, but was not up in 20 s.');
  const waitedMs = (startOf(program, fresh) ?? Infinity) - deadMs;
  const pauseAt = (one) => pauseOf(program, freshAt(one), heardMs);
  const other = { address: otherAddress, isBack: isUp(otherAddress), end, waitedMs, deadMs };
  return {
    isBack: isUp(address),
    dead,
    deadMs,
    ...pauseAt(address),
    other: { ...other, ...pauseAt(otherAddress) },
  };
}

/** Its third death. Is it started again? */
async function killOnceMore(program, address) {
  const pidsAt = () => machinesOf(program).find((each) => each.address === address)?.pids ?? [];
  const dead = pidsAt();
  const deadMs = nowMs();
  const heardMs = await loseMachines(program, [address]);
  const fresh = () => pidsAt().filter((pid) => !dead.includes(pid));
  const isUp = () => fresh().length > 1;
  if (await isStartedAgain(program, deadMs)) await program.until(isUp, DEADLINE_MS);
  const isSaid = isUp() && (await haveSaid(program, fresh()));
  if (!isSaid && !program.fate && isCrowded())
    throw tooBusy('After its third death a machine was not up in 20 s.');
  return { isBack: isUp(), dead, deadMs, ...pauseOf(program, fresh(), heardMs) };
}

/**
 * When the program started one of these, and how often its event loop had turned by then: since it had heard of the death,
 * or since it last started something that did not come up. A timer fires on time however busy the machine is, and meanwhile
 * the loop turns less often then, not more.
 */
function pauseOf(program, fresh, heardMs) {
  const startMs = startOf(program, fresh) ?? heardMs;
  const up = machinesOf(program).flatMap(({ pids }) => pids);
  const vain = startsSince(program, program.events, heardMs).findLast(
    ({ childPid, t }) => t < startMs && !up.includes(childPid),
  );
  const fromMs = vain?.t ?? heardMs;
  return { startMs, turns: turnsOf(program.events, program.pid, fromMs, startMs) };
}

/**
 * One machine dies while the other one still boots. When it is back it dies once more, and before it is started again the
 * program is told to stop, while a client has sent only half a request: nginx waits for that until the pause of a second is
 * over. Is a machine started all the same? On a busy computer it may be started before the signal.
 */
export async function stopWhileGone(launch, nginx) {
  /** @type {any} */
  let early;
  const held = holdingSecond(launch, async (program) => {
    early = await loseEarly(program);
  });
  const door = await openTwo(held, nginx);
  if (!door) return undefined;
  const { program, victim } = door;
  if (early) early.isBack = victim !== undefined && (await isStartedInPlaceOf(program, early));
  if (early && program.fate) return { program, isFailedStart: true }; // so it takes a machine that dies before nginx is up
  if (early && !early.isBack && victim) return { program, early };
  if (!victim) return undefined; // this is reported elsewhere
  return { ...(await stopWithout(program, [victim.address], 'SIGTERM')), early };
}

/** The only machine that listens dies, when the program knows its address. */
async function loseEarly(program) {
  const [{ address, pids: dead } = { address: '', pids: [] }, ...others] = machinesOf(program);
  if (dead.length === 0 || others.length > 0 || !(await haveSaid(program, dead))) return undefined;
  const deadMs = nowMs();
  return { address, dead, deadMs, heardMs: await loseMachines(program, [address]) };
}

/** Does something listen there again? Not if the program has had its time since nginx came up, and has started only that. */
async function isStartedInPlaceOf(program, { address, heardMs }) {
  const sinceMs = nowMs();
  const isUp = () =>
    listenersIn(program.events).some((one) => one.address === address && one.t > heardMs);
  const isVain = (events) =>
    haveTurned(events, [program.pid], VAIN_TURNS, sinceMs) &&
    startsSince(program, events, heardMs).length < 2;
  await program.until((events) => isUp() || isVain(events), DEADLINE_MS);
  if (!isUp() && !isVain(program.events) && !program.fate && isCrowded())
    throw tooBusy('A machine that had died early was not up in 20 s.');
  return isUp();
}

/**
 * Both die at once, and before they are started again the program is told to stop: is one of them started all the same?
 * Then there is none to be told to end; that is seen where only one has died.
 */
export async function stopWithoutBoth(launch, nginx) {
  const door = await openTwo(launch, nginx);
  return door?.victim && stopWithout(door.program, MACHINES, 'SIGTERM'); // else this is reported elsewhere
}

/** These machines die; then, within the pause of a second, there is the signal, and nginx waits until that is over. */
async function stopWithout(program, addresses, how) {
  const sendRest = await sendHalf(program);
  const deadMs = nowMs();
  await loseMachines(program, addresses);
  const stopMs = nowMs();
  program.tellToStop(how);
  const toldMs = nowMs();
  const started = () => {
    const { events, pid } = program;
    const heardMs = turnedMs(events, pid, HEARD, toldMs);
    return startsSince(program, events, heardMs).map(({ childPid }) => childPid);
  };
  const isAgain = () => {
    const listening = machinesOf(program).flatMap(({ pids }) => pids);
    return started().some((pid) => listening.includes(pid));
  };
  const isPauseOver = (events) =>
    haveTurned(events, [program.pid], SECOND_TURNS, toldMs) && !started().some(isBooting(events));
  await program.until((events) => program.fate || isAgain() || isPauseOver(events), DEADLINE_MS);
  await sendRest();
  await program.until(() => program.fate || isAgain(), DEADLINE_MS);
  const isTooLate = startsSince(program, program.events, deadMs).some(({ t }) => t < toldMs);
  const { fate } = program;
  const left = fate ? await goneOrLeft(program) : [];
  const files = fate ? readdirSync(program.temporary) : [];
  const seen = { program, how, stopMs, dead: addresses, isAgain: isAgain(), isTooLate, fate };
  return { ...seen, left, natives: nativesOf(program, left), files };
}

/**
 * Both machines listen, and there is no nginx: the program has failed, and ends them. Are they started again all the same?
 * What it says, and with which exit code it ends, is seen with servers.
 */
export async function failWithMachines(launch) {
  if ((await findMissing()).length > 0) return undefined;
  const env = { NODE_CLUSTER_WORKERS: '1', NGINX_BIN: '/nowhere/nginx' };
  const program = await launch({ args: ['--machines'], env, temporary: 'with a blank' });
  const upMs = () => listenersIn(program.events)[MACHINES.length - 1]?.t ?? Infinity;
  const areAgain = (events) =>
    eventsOf(events, 'start').some(({ ppid, t }) => ppid === program.pid && t > upMs());
  await program.settled(areAgain, DEADLINE_MS);
  const isAgain = areAgain(program.events);
  const fate = await program.ended(AFTERMATH_MS);
  await program.stop();
  return { program, isAgain, fate };
}

/** Has this Node.js process been started, and not ended? */
const isBooting = (events) => (pid) =>
  events.some((one) => one.what === 'start' && one.pid === pid) &&
  !events.some((one) => one.what === 'exit' && one.pid === pid);

/** These have turned, and then the program has: it has been told their addresses. */
async function haveSaid(program, fresh) {
  const waitForTurns = async (pids) => {
    const sinceMs = nowMs();
    return program.until((events) => haveTurned(events, pids, HEARD, sinceMs), DEADLINE_MS);
  };
  return (await waitForTurns(fresh)) && waitForTurns([program.pid]);
}

/** Machines are killed, at once, and the program has heard of it. @returns {Promise<number>} by when */
async function loseMachines(program, addresses) {
  const pids = machinesOf(program).flatMap((one) =>
    addresses.includes(one.address) ? one.pids : [],
  );
  for (const pid of pids) program.kill(pid, 'SIGKILL');
  return haveHeard(program, pids);
}

/** These have been killed, and the program has heard of it. @returns {Promise<number>} by when */
async function haveHeard(program, pids) {
  const areGone = () => {
    const alive = program.survivors();
    return pids.every((pid) => !alive.includes(pid));
  };
  await program.until(areGone, DEADLINE_MS);
  const goneMs = nowMs();
  await program.until((events) => haveTurned(events, [program.pid], HEARD, goneMs), DEADLINE_MS);
  return nowMs();
}

/** The workers of a machine are killed; it ends on its own then, or is killed, too. Returns how it ended. */
async function loseWorkers(program, pids) {
  const workers = eventsOf(program.events, 'fork').map(({ workerPid }) => workerPid);
  const [machine] = pids.filter((pid) => !workers.includes(pid));
  for (const pid of pids) if (pid !== machine) program.kill(pid, 'SIGKILL');
  const endIn = (events) => eventsOf(events, 'exit').find(({ pid }) => pid === machine);
  await program.until(endIn, BOOT_UNTIMED_MS);
  const end = endIn(program.events);
  if (!end && machine) program.kill(machine, 'SIGKILL');
  return end ? `exit code ${end.code}` : 'SIGKILL';
}

/** The processes that the program has started since. */
const startsSince = ({ pid: program }, events, sinceMs) =>
  eventsOf(events, 'child').filter(({ pid, t }) => pid === program && t > sinceMs);
