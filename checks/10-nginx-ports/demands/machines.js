/** What lesson 10 demands of two machines, alive and dead. */
import {
  Undecided,
  demand,
  isCrowded,
  requestsOf,
  whyOfCrash,
} from '../../../lib/check/checking.js';
import { listenersIn, tooBusy } from '../looks/nginx.js';
import { POSTS, machinesOf } from '../looks/machines.js';
import { emergencyOf, endOf, list } from './nginx.js';
import {
  doorsShown,
  endShown,
  killShown,
  listeningShown,
  nginxShown,
  shown,
  startedShown,
} from './shown.js';

const LEAST_PAUSE_MS = 950; // of a second: the clocks of two processes may differ a little
const MOST_TURNS = 80; // of the program's loop, 20 ms each: no more fit into a second, and half of another one
const LEAST_ASKED = 20; // so many requests, and none for the machine that is back

export function demandMachines(/** @type {any} */ { missing, door, nginxMs, serving }) {
  if (missing.length > 0) throw new Undecided(withoutAddress(missing[0]));
  const { program, first } = door;
  const machines = machinesOf(program).filter(({ pids }) => pids.length > 0);
  const expected =
    '--machines: machine.js twice, on 127.0.0.2 and 127.0.0.3, each with NODE_CLUSTER_WORKERS workers, behind nginx.';
  const addresses = machines.map(({ address }) => address).sort();
  demand(list(addresses) === '127.0.0.2, 127.0.0.3', {
    expected,
    got: addresses.length > 0 ? `They listen on ${list(addresses)}.` : 'No machine listens.',
    why: whyOfCrash(program.events) ?? emergencyOf(program) ?? 'Two machines have two addresses.',
    try: "['127.0.0.2', '127.0.0.3'].map(startMachine), where startMachine(HOST) does start('machine.js', { HOST, PORT: port })",
    shows: addresses.length > 0 ? doorsShown(program) : endShown(program),
    output: program.output(),
  });
  const isEverywhere = /bind\(\) to (0\.0\.0\.0|\[::\]):/.test(emergencyOf(program) ?? '');
  demand(first?.status === 200, {
    expected,
    got: answerOf(first),
    why: isEverywhere
      ? `nginx says: ${emergencyOf(program)}. Without an address it takes all of them, even the machines'.`
      : (emergencyOf(program) ?? 'nginx is not up, or points elsewhere.'),
    try: isEverywhere
      ? 'listen 127.0.0.1:${port};'
      : 'start nginx when both machines listen, with their two addresses as its backends',
    shows: nginxShown(program),
    output: program.output(),
  });
  for (const { address } of machines) demandUpBefore(program, nginxMs, address);
  for (const { address, pids } of machines) {
    const working = pids.filter((pid) => serving.includes(pid)).length;
    demand(working === door.count, {
      expected,
      got: `On machine ${address}, ${working} processes have answered; ${door.count} should.`,
      why: "A machine that is not asked, or uses only one of its cores, isn't a second machine.",
      try: 'both addresses in the upstream, none of them backup or down; machine.js as it was given',
      shows: shown(program, requestsOf(program.events, '/report'), 'a request'),
    });
  }
}

/** nginx was started when this machine listened. */
function demandUpBefore(program, nginxMs, address) {
  const up = listenersIn(program.events).find((one) => one.address === address);
  demand(nginxMs === undefined || (up && up.t < nginxMs), {
    expected: 'nginx is started when both machines listen.',
    got: `It was started ${Math.ceil((up?.t ?? Infinity) - nginxMs)} ms before machine ${address} listened.`,
    why: 'The first clients find only one machine; and if the other boots slowly, nginx leaves it out as failed.',
    try: 'Promise.all([...].map(startMachine)).then(startNginx)',
    shows: listeningShown(program, up ? [up] : []),
    output: program.output(),
  });
}

const answerOf = (first) =>
  first
    ? `The first answer was ${first.error ?? `status ${first.status}`}.`
    : 'Nobody answers on PORT.';

function withoutAddress(address) {
  return {
    got: `This computer has no address ${address}.`,
    why: 'Linux has all of 127.0.0.0/8; elsewhere the second and the third have to be added by hand.',
    try: 'sudo ifconfig lo0 alias 127.0.0.2 && sudo ifconfig lo0 alias 127.0.0.3 (gone after a restart)',
  };
}

export function demandDeaths(seen) {
  if (!seen) return; // there are not two machines, which has already been reported
  demandUp(seen);
  demandDeathRoutedAround(seen.atWork);
  demandLaterDeaths(seen);
}

/**
 * The program is told to stop while one machine is dead, or both.
 * @param {any} seen
 * @param {any} ended
 * @param {any} stopped  in the same way, with servers in place of machines: what it leaves then is reported elsewhere
 */
export function demandEndWithoutOne(seen, ended, stopped) {
  if (!seen) return; // as above
  if (!ended) throw tooBusy('With --machines it came up once, and not a second time.');
  if (ended.isFailedStart) return; // as it may
  if (ended.early) demandEarlyReturn(ended);
  demandEnd(ended, stopped);
}

function demandUp({ program, first, atWork }) {
  demand(atWork, {
    expected:
      'With NODE_CLUSTER_WORKERS=1 and --machines two machines of one worker each, behind nginx.',
    got: first?.status === 200 ? 'No machine listens on its address.' : answerOf(first),
    why:
      whyOfCrash(program.events) ?? emergencyOf(program) ?? 'With two workers each they answered.',
    try: 'env: { NODE_CLUSTER_WORKERS } goes to machine.js as it came, and nothing else depends on it',
    shows: first?.status === 200 ? doorsShown(program) : nginxShown(program),
    output: program.output(),
  });
}

function demandDeathRoutedAround(seen) {
  const { program, victim, hit, deadMs, answers, fate } = seen;
  const death = killShown(program, victim.pids, deadMs);
  const lost = answers.filter(({ status }) => status !== 200);
  const expected = `Machine ${victim.address} is killed, with ${hit} requests under way in it. All ${answers.length} requests are answered.`;
  demand(!fate, {
    expected,
    got: `The program ${endOf(fate ?? {})}.`,
    why:
      whyOfCrash(program.events) ??
      'One machine is dead; the other, and nginx, should go on serving.',
    try: "child.on('exit', ...) of a machine starts it again, and ends nothing else",
    shows: { program, moments: [...death, ...endShown(program).moments] },
    output: program.output(),
  });
  if (lost.length > 0 && isCrowded() && lost.every(({ error }) => error === 'timeout'))
    throw tooBusy(`${lost.length} answers took more than five seconds; none failed.`);
  demand(lost.length === 0, {
    expected,
    got: `${lost.length} failed: ${list(lost.map(({ error, status }) => error ?? `status ${status}`))}.`,
    why: 'A GET may be sent again elsewhere: nginx does so after an error, unless told otherwise.',
    try: 'proxy_next_upstream error timeout;',
    shows: { program, moments: [...death, ...hitShown(seen)] },
    output: program.output(),
  });
  if (seen.doubles > 0 && seen.certain === 0 && isCrowded())
    throw tooBusy('POSTs took long to arrive.');
  demand(seen.doubles === 0, {
    expected: `Of ${POSTS} POSTs ${seen.open} had no answer when machine ${victim.address} died. None is sent again elsewhere.`,
    got: `The other machine got ${seen.doubles} of them afterwards.`,
    why: 'The dead server may have carried it out before it could say so. Sent again, it is a second order.',
    try: 'proxy_next_upstream error timeout; without non_idempotent',
    shows: { program, moments: [...death, ...ordersShown(seen)] },
    output: program.output(),
  });
  demandReturn(seen);
}

/** What was under way in the machine when it died. */
const hitShown = ({ program, victim, deadMs }) =>
  shown(
    program,
    requestsOf(program.events, '/report').filter(
      ({ pid, startMs, endMs }) => victim.pids.includes(pid) && startMs < deadMs && !endMs,
    ),
    'under way when it died',
  ).moments;

/** The POSTs that came to the other machine after the death. */
const ordersShown = ({ program, deadMs }) =>
  shown(
    program,
    requestsOf(program.events, '/order').filter(({ startMs }) => startMs > deadMs),
    'a POST, sent again',
  ).moments;

/** The same machine dies a second time, and a third. */
function demandLaterDeaths(seen) {
  const { program, address, deaths, other, fate } = seen;
  const { isBack, dead, deadMs } = deaths.at(-1);
  const death = deaths.length > 1 ? 'third death' : 'second death';
  const output = program.output();
  demand(isBack, {
    expected: `Machine ${address} dies, and a second later it is started again, each time.`,
    got: fate
      ? `After its ${death} the program ${endOf(fate)}.`
      : `After its ${death} it did not come back.`,
    why:
      whyOfCrash(program.events) ??
      (deaths.length > 1
        ? 'It came back twice. A machine that dies now and then is switched on each time: nothing counts that.'
        : "Each start makes a new child, and its 'exit' needs a listener too."),
    try: "child.on('exit', ...) within startMachine(HOST), which calls startMachine(HOST) itself",
    shows: {
      program,
      moments: [...killShown(program, dead, deadMs), ...afterShown(program, deadMs)],
    },
    output,
  });
  demand(other.isBack, {
    expected: `Machine ${other.address}, the other one, loses its last worker, ends with ${other.end}, and is started again a second later.`,
    got: 'It did not come back.',
    why: 'Each of the two has to be watched. And a machine that is gone is gone, whatever its exit code says: one whose last worker has died ends with 0.',
    try: "child.on('exit', () => setTimeout(...)) for every machine, whatever the exit code",
    shows: { program, moments: afterShown(program, deadMs) },
    output,
  });
  demandPause(other, program);
  for (const one of deaths) demandSamePause({ address, ...one }, program);
  demandSamePause(other, program);
}

/** A machine has died while the other one still booted. */
function demandEarlyReturn({ program, early }) {
  const { address, isBack, dead, deadMs } = early;
  demand(isBack, {
    expected: `Machine ${address} listens, and dies while the other one still boots. It is started again, too.`,
    got: 'It did not come back: the program has started only nginx since.',
    why:
      whyOfCrash(program.events) ??
      "If you watch the machines only once both are up, you miss a death before that: 'exit' comes once.",
    try: "child.on('exit', ...) within startMachine(HOST), as soon as this machine listens",
    shows: {
      program,
      moments: [...killShown(program, dead, deadMs), ...afterShown(program, deadMs)],
    },
    output: program.output(),
  });
}

/** The pause is a second each time, not longer after each death. */
function demandSamePause({ address, deadMs, startMs, turns }, program) {
  demand(turns <= MOST_TURNS, {
    expected: `Machine ${address} dies, and is started again a second later, each time.`,
    got: `It was started again after ${Math.round(startMs - deadMs)} ms.`,
    why: 'Until then the other machine has all the work, and if that dies too, nobody is there. This is no worker that fails as soon as it starts, and here nothing counts the deaths.',
    try: 'setTimeout(boot, 1_000), the same each time',
    shows: startedShown(program, deadMs),
    output: program.output(),
  });
}

/** A machine has died, or both; then there is a signal. */
function demandEnd({ program, how, stopMs, isAgain, isTooLate, fate, ...kept }, stopped) {
  const { dead, left, natives, files } = kept;
  const output = program.output();
  const stop = { pid: program.pid, t: stopMs, says: how };
  demand(!isAgain || dead.length === 1, {
    expected: `With --machines, both machines dead, and ${how} before they are started again: neither is, and all end.`,
    got: `A machine was started again after ${how}, and listens.`,
    why: 'With one dead machine nothing was started. With two there are two pauses, each with a timer of its own, and one of them at least ran on: a variable for both keeps only the last.',
    try: 'setTimeout(() => isStopping || startMachine(HOST), 1_000), which asks each time a timer fires; or keep both timers, and clear both',
    shows: { program, moments: [stop, ...afterShown(program, stopMs)] },
    output,
  });
  demand(!isAgain, {
    expected: `With --machines, after ${how}: all end, and nothing is started any more.`,
    got: `A machine was started again after ${how}, and listens.`,
    why: "A machine that was told to end has an 'exit' too; and one that had died a moment before has a timer, which still runs, also while nginx answers what is under way.",
    try: "child.on('exit', () => setTimeout(() => isStopping || startMachine(HOST), 1_000)): looked at when the timer fires, and true from the signal on",
    shows: { program, moments: [stop, ...afterShown(program, stopMs)] },
    output,
  });
  if (isTooLate && isCrowded())
    throw tooBusy(`Its machine was started again before ${how} could be sent.`);
  if (!fate && isCrowded())
    throw tooBusy(`With --machines it was still running 20 s after ${how}.`);
  demand(fate, {
    expected: `With --machines, after ${how}: all end, and so does the program.`,
    got: 'It was still running twenty seconds later.',
    why: whyOfCrash(program.events) ?? 'The end is the same with machines as with servers.',
    try: "front.kill('SIGQUIT'), wait for its 'exit', then stopAll(), which ends the machines too",
    shows: { program, moments: [stop, ...afterShown(program, stopMs)] },
    output,
  });
  demand(left.length === 0 || stopped.left.length > 0, {
    expected: `With --machines, after ${how}: nginx and both machines end.`,
    got: `Process ${list(left)} is still there${natives.length > 0 ? ', an nginx that holds the port' : ''}.`,
    why: 'Here the machines are children of your program. What is left holds their addresses, and the next start finds them taken.',
    try: 'await stopAll(), for machines as for servers',
    shows: { program, moments: [stop, ...afterShown(program, stopMs)] },
    output,
  });
  demand(files.length === 0 || stopped.files.length > 0, {
    expected: `With --machines, after ${how}: the folder is removed, even if a machine has died.`,
    got: `${list(files)} is left in the folder for temporary files.`,
    why: 'If you wait for the end of a child that has already ended, you wait for ever, and what comes after that is never done.',
    try: 'forget a child when it ends, and wait only for those that are there, as children.js does; then rmSync(folder, { recursive: true })',
    shows: { program, moments: [stop, ...endShown(program).moments] },
    output,
  });
}

/** There is no nginx for the two machines, and the program ends them: that is no death. */
export function demandNoneAgain(/** @type {any} */ failed) {
  if (!failed) return; // this computer lacks their addresses, which has already been reported
  const { program, isAgain, fate } = failed;
  if (!fate && !isAgain && isCrowded())
    throw tooBusy('With --machines, and no nginx, it was still running.');
  demand(fate, {
    expected: 'With --machines, and no nginx: both machines end, and so does the program.',
    got: `${isAgain ? 'A machine was started again, and the' : 'Both machines ran on, and the'} program was still running.`,
    why: isAgain
      ? "A machine that is ended because nginx cannot start has an 'exit' too. Started again, it serves nobody, holds its address, and keeps the program alive."
      : 'Servers that nobody can reach are useless, and nobody hears about it.',
    try: 'isStopping = true; also when the program ends because something has failed',
    shows: doorsShown(program),
    output: program.output(),
  });
}

/** What was started since, and where it listens; or how it ended. */
function afterShown(program, sinceMs) {
  const listeners = listenersIn(program.events).filter(({ t }) => t > sinceMs);
  return [
    ...startedShown(program, sinceMs).moments,
    ...listeningShown(program, listeners).moments,
    ...endShown(program).moments,
  ];
}

function demandReturn(seen) {
  const { program, victim, deadMs, isBoot, isBack, isUsed, waitedMs } = seen;
  const { asked, returnMs, portWas, port } = seen;
  const { address } = victim;
  const shows = {
    program,
    moments: [...killShown(program, victim.pids, deadMs), ...afterShown(program, deadMs)],
  };
  const isMoved = isBack && port !== portWas;
  demand(isBack, {
    expected: `A second after its death machine ${address} is started again, on the same address.`,
    got: isBoot
      ? `Something was started in its place, but does not listen on ${address}.`
      : 'It did not come back, and nothing was started in its place.',
    why: isBoot
      ? (whyOfCrash(program.events) ??
        'nginx knows the machine by its address, and finds nothing there.')
      : 'A machine that dies is switched on again, by somebody or something. Here that is your program.',
    try: isBoot
      ? "startMachine(HOST) again: start('machine.js', { HOST, PORT: port })"
      : "child.on('exit', () => setTimeout(() => isStopping || startMachine(HOST), 1_000))",
    shows,
    output: program.output(),
  });
  const story = {
    expected: `Machine ${address} listens again, and is asked again within a second or two.`,
    got: `${asked} requests in ${returnMs / 1_000} s, and none was for it.`,
  };
  if (!isUsed && asked < LEAST_ASKED) throw tooBusy(story.got);
  demand(isUsed, {
    ...story,
    why: isMoved
      ? `The machine was on port ${portWas}, and is on port ${port} now. nginx knows the address that was written down when it started.`
      : 'After a failure nginx leaves a server alone for fail_timeout, which is 10 s by default.',
    try: isMoved
      ? "start('machine.js', { HOST, PORT: port }): the same port each time"
      : 'server ${address} max_fails=1 fail_timeout=1s; in the upstream',
    shows,
    output: program.output(),
  });
  demandPause({ address, waitedMs, deadMs }, program);
}

/** A machine that has died is not started again at once. */
function demandPause({ address, waitedMs, deadMs }, program) {
  demand(waitedMs >= LEAST_PAUSE_MS, {
    expected: `Machine ${address} dies, and is started again a second later.`,
    got: `It was started again after ${Math.round(waitedMs)} ms.`,
    why: 'A computer that is switched on again takes a while; and one that dies each time it boots would be started without a pause.',
    try: "child.on('exit', () => isStopping || setTimeout(boot, 1_000))",
    shows: startedShown(program, deadMs),
    output: program.output(),
  });
}
