/** Lesson 10: judges what looks.js saw, in the sentences that a learner reads. */
import {
  Undecided,
  demand,
  demandInTime,
  eventsOf,
  howItEnded,
  momentOf,
  primaryExitMoment,
  requestsOf,
  describeCrash,
} from '../../lib/check/checking.js';
import { MACHINES, WORKERS, serversIn } from './looks.js';

const MARKED = 6; // moments of a kind in the X-ray

const NGINX_GIVES_UP_MS = 4_000; // after five seconds of a graceful stop nginx hangs up by itself

const EMERGENCY = /\[emerg\] (?:\d+#\d+: )?(.*)/;
const EMERGENCIES = /** @type {[RegExp, string][]} */ ([
  [
    /bind\(\) to 0\.0\.0\.0/,
    "0.0.0.0 is every address of this computer, the machines' included. A port without an address means that.",
  ],
  [/bind\(\) to/, 'Something listens there already, perhaps a program of yours.'],
  [
    / in upstream |invalid parameter/,
    'In an upstream, `server` takes an address such as 127.0.0.1:40123, without http://, then parameters such as fail_timeout=1s, then a semicolon.',
  ],
  [
    /./,
    'It names the line at which it no longer understood: a word is missing there, or a semicolon or a brace just before. With one fault it does nothing at all.',
  ],
]);

/** nginx has refused to start: that decides at once, however busy the machine is. */
function demandNoEmergency(program, first, story) {
  const emergency = EMERGENCY.exec(program.output())?.[1];
  demand(first || !emergency, {
    ...story,
    got: `nginx says: ${emergency?.replace(/ in \S*\/(\S+):(\d+)$/, ' ($1, line $2)')}`,
    why: EMERGENCIES.find(([kind]) => kind.test(emergency ?? ''))?.[1],
    shows: endShown(program),
    try: 'look at the line that it names, and at the one before: each directive ends with a semicolon',
  });
}
const list = (items) => [...new Set(items)].join(', ');
const wordsOf = ({ error, status } = /** @type {any} */ ({})) =>
  error ?? (status ? `status ${status}` : 'no answer');

const shown = (program, seen, says) => ({
  program,
  moments: seen.slice(0, MARKED).map((one) => momentOf(one, says)),
});
const serversShown = (program) => {
  const servers = serversIn(program);
  return servers.length > 0 ? shown(program, servers, 'listens') : endShown(program);
};
const endShown = (program) => ({ program, moments: [primaryExitMoment(program)] });
const requestsShown = (program, path) =>
  shown(program, requestsOf(program.events, path), 'a request');

export function demandOwnPorts({ program, count }) {
  const servers = serversIn(program);
  const expected = `NODE_CLUSTER_WORKERS=${count}: ${count} processes listen on ${count} ports of 127.0.0.1.`;
  const exposed = servers.find(({ address }) => !/^(127\.|::1$)/.test(address ?? ''));
  demand(!exposed, {
    expected,
    got: `Process ${exposed?.pid} listens on ${exposed?.address ?? 'every address'}, port ${exposed?.port}.`,
    why: 'Anyone who reaches that port bypasses nginx: its limits, its log, its certificate.',
    try: 'look at which address a server listens on',
    shows: shown(program, exposed ? [exposed] : [], 'listens'),
  });
  const [ports, pids] = ['port', 'pid'].map((field) => new Set(servers.map((one) => one[field])));
  demandInTime(ports.size === count && pids.size === count, {
    isFinal: pids.size >= count,
    expected,
    got: `Processes that listen: ${pids.size}; ports: ${list(ports) || 'none'}.`,
    why:
      describeCrash(program.events) ??
      'Without the cluster module two processes cannot share a port. PORT 0 asks the system for a free one.',
    try: 'look at how the servers are started: how many, and each in its own process?',
    shows: serversShown(program),
  });
}

export function demandValid({ program, count, first, hasNginx }) {
  const story = {
    expected: `With ${count} servers nginx starts, and answers on PORT, which is ${program.port} here.`,
    output: program.output(),
    shows: endShown(program),
  };
  demandNoEmergency(program, first, story);
  demandInTime(first, {
    isFinal: !hasNginx,
    ...story,
    got: `Nothing listens on port ${program.port}.`,
    why:
      describeCrash(program.events) ??
      (hasNginx
        ? 'nginx runs, and listens elsewhere: clients know only PORT.'
        : 'No nginx runs: nothing has started one, or it has exited.'),
    try: 'look at where nginx listens in conf.js, and whether server.js starts it',
  });
}

export function demandEveryBackend({ program, count, first }, { answers, pids }) {
  const all = [first, ...answers];
  const lost = all.findIndex(({ status }) => status !== 200);
  const up = serversIn(program).filter(({ t }) => t < first.doneMs).length;
  demand(lost < 0, {
    expected: 'Every request is answered by a server, even the very first.',
    got: `Answer ${lost + 1} was ${wordsOf(all[lost])}.`,
    why:
      lost > 0
        ? 'One of the addresses in the upstream leads nowhere.'
        : up < count
          ? `nginx was up before the servers: ${up} of ${count} listened by then.`
          : `All ${count} servers listened by then: nginx leads elsewhere.`,
    try:
      lost === 0 && up < count
        ? 'look at what the start of nginx waits for'
        : 'look at the upstream: are its addresses those that the servers have reported?',
    shows: serversShown(program),
    output: program.output(),
  });
  demand(pids.length === count, {
    expected: `${count} servers: all of them answer.`,
    got: `${answers.length} requests were answered by ${pids.length} of them.`,
    why: 'Only the servers in the upstream are asked, in turn, unless you say otherwise.',
    try: 'look at the upstream: is every server in it?',
    shows: requestsShown(program, '/pid'),
  });
}

export function demandClientKnown({ program }, { answer, localAddress, claimed }) {
  const said = answer.body.trim();
  demand(answer.status === 200 && said === localAddress, {
    expected: `The client has the address ${localAddress} and claims, in X-Forwarded-For, to be ${claimed}. GET /client says ${localAddress}.`,
    got: answer.status === 200 ? `It says ${said}.` : `The answer was ${wordsOf(answer)}.`,
    why:
      said === claimed
        ? "nginx passes its client's headers on as they are, even a false one."
        : 'To the server the client is nginx, at 127.0.0.1, unless nginx says otherwise.',
    try: 'look at the location: what does nginx say of its client?',
    shows: requestsShown(program, '/client'),
  });
}

export function demandCleanStop(end) {
  const { program, how, opening, fate, output, signalMs } = end;
  const expected = `${how}: what is in flight is answered, everything exits, the folder is removed, and the exit code is 0.`;
  demandInTime(opening?.status === 200, {
    expected: 'With one server nginx leads to that.',
    got: `The first answer was ${wordsOf(opening)}.`,
    why: 'With more servers it answered.',
    try: 'write as many servers into the upstream as there are backends',
  });
  const gone = eventsOf(program.events, 'exit').map((exit) => momentOf(exit, 'exits'));
  const signal = { pid: program.pid, t: signalMs, says: how };
  const story = {
    expected,
    output,
    shows: { program, moments: [signal, ...gone.slice(0, MARKED)] },
  };
  demand(!fate?.signal, {
    ...story,
    got: `It was killed by ${fate?.signal}.`,
    why: 'Without a handler a signal ends this process at once. nginx has no channel to it, so nothing stops nginx.',
    try: 'look at which signals your program handles',
  });
  demandClientsAnswered(end, story);
  demandInTime(fate, {
    ...story,
    got: 'It is still running.',
    why: 'It exits by itself when its children have exited and no timer is set.',
    try: 'look for what is still running after the signal',
  });
  demand(fate?.code === 0, {
    ...story,
    got: `It exited with code ${fate?.code}.`,
    why: "A stop on request isn't a failure.",
    try: 'set process.exitCode only when something has failed',
  });
  demandNothingLeft(end, story);
}

/** Requests in flight, later requests, and a request of which nginx has half must be answered. */
function demandClientsAnswered({ how, signalMs, answers, lost, late = [], half }, story) {
  const hungUp =
    how === 'Ctrl-C'
      ? 'nginx hung up. Ctrl-C is SIGINT, a fast stop for nginx, and reaches it too, unless it was started detached.'
      : 'nginx hung up: SIGTERM and SIGINT are a fast stop for it.';
  demandInTime(lost.length === 0, {
    isFinal: lost.some(({ doneMs }) => doneMs - signalMs < NGINX_GIVES_UP_MS),
    ...story,
    got: `Of ${answers.length} requests in flight ${lost.length} were lost: ${wordsOf(lost[0])}.`,
    why: lost[0]?.status
      ? 'nginx was still there, but the server that had begun the request was not.'
      : hungUp,
    try: 'look at which signals reach nginx, and what has ended before nginx has',
  });
  const refused = late.find(({ status }) => status >= 500);
  demand(!refused, {
    ...story,
    got: `A client that came just after the signal got ${wordsOf(refused)}.`,
    why: 'The servers had stopped accepting, and nginx had not.',
    try: 'look at the order of the stop: what ends first, nginx or the servers?',
  });
  demandInTime(half === '200', {
    isFinal: half,
    ...story,
    got: `A request that nginx had only half read ${half ? `got status ${half}` : 'got no answer'} when the rest came.`,
    why: half
      ? 'nginx waits for such a client, then asks a server. By then the servers had exited.'
      : hungUp,
    try: 'look at how you stop nginx, and what ends before it has',
  });
}

/** @param {any} end @param {any} story @param {string} [crash]  an unhandled error */
function demandNothingLeft({ left, files }, story, crash) {
  demandInTime(left.length === 0, {
    ...story,
    got: `Process ${list(left)} is still there.`,
    why: 'What a program starts, it must end.',
    try: 'look at what is waited for before your program ends',
  });
  demand(files.length === 0, {
    ...story,
    got: `${list(files)} is left in the folder for temporary files.`,
    why: crash
      ? `An error that nothing handled ended the program before it could clean up: ${crash}.`
      : 'Each start makes a new folder, and nothing else removes it.',
    try: crash
      ? 'look at which events of nginx you listen to'
      : 'look at every way out: which of them removes the folder?',
  });
}

export function demandStartFailure({ program, env, fate, isFinal, left, files, output }) {
  const cause = env.PORT ? `PORT is ${env.PORT}, which isn't a port` : 'there is no nginx';
  const story = {
    expected: `When nginx cannot start, because ${cause}: a message, exit code 1, and nothing is left.`,
    output,
    shows: endShown(program),
  };
  const isNoticed = output.split('\n').some((line) => /nginx/.test(line) && !EMERGENCY.test(line));
  demandInTime(fate, {
    isFinal,
    ...story,
    got: 'It keeps running.',
    why: isNoticed
      ? "It noticed, and still runs: it doesn't end its servers, or first awaits an 'exit' of nginx, which has been or never comes."
      : EMERGENCY.test(output)
        ? "nginx has said why and exited, and your program hasn't noticed: its servers run, and no client can reach them."
        : 'Servers that no client can reach are useless, and nothing says so.',
    try: 'look at what you do when nginx has exited unasked',
  });
  demand(fate?.code === 1, {
    ...story,
    got: `It exited (${howItEnded(fate ?? {})}).`,
    why: 'A script or a service manager looks at the exit code, and takes 0 for "all is well".',
    try: 'look at the exit code when nginx cannot start',
  });
  demand(/nginx|port/i.test(output), {
    ...story,
    got: 'It printed nothing about it.',
    why: 'Exit code 1 alone tells the person on call nothing.',
    try: 'look at where the words of nginx go, and what you print yourself',
  });
  const [crash] = /spawn \S+ E[A-Z]+/.exec(describeCrash(program.events) ?? '') ?? [];
  demandNothingLeft({ left, files }, story, crash);
}

export function demandMachines(
  /** @type {any} */ { missing, program, first, machines },
  { serving = new Set() } = {},
) {
  if (missing.length > 0) throw new Undecided(withoutAddress(missing[0]));
  const expected = `--machines: machine.js on ${MACHINES.join(' and on ')}, each with NODE_CLUSTER_WORKERS workers, behind nginx.`;
  const story = { expected, output: program.output(), shows: serversShown(program) };
  const addresses = serversIn(program).map(({ address }) => address);
  demandInTime(machines.length === MACHINES.length, {
    isFinal: addresses.some((address) => !MACHINES.includes(address)),
    ...story,
    got: `Listening on ${list(addresses) || 'nothing'}.`,
    why: ['Two machines have two addresses.', describeCrash(program.events)]
      .filter(Boolean)
      .join(' '),
    try: 'look at how the machines are started: each on its address, with the port of nginx',
  });
  demandNoEmergency(program, first, story);
  demandInTime(first?.status === 200, {
    ...story,
    got: `The first answer was ${wordsOf(first)}.`,
    why: 'nginx is not up, or leads elsewhere.',
    try: 'look at when nginx is started with --machines, and with which backends',
  });
  for (const { address, workers } of machines) {
    const working = workers.filter((pid) => serving.has(pid)).length;
    demandInTime(working === WORKERS, {
      ...story,
      got: `On machine ${address}, ${working} of ${WORKERS} workers have answered.`,
      ...(working === 0 ? NOT_ASKED : HALF_ASKED),
      shows: requestsShown(program, '/report'),
    });
  }
}

const NOT_ASKED = {
  why: 'A machine that nginx never asks is no second machine.',
  try: 'look at the upstream: are both addresses in it?',
};
const HALF_ASKED = {
  why: 'A machine that uses only one of its cores is half a machine.',
  try: 'look at the connections that nginx opens to a machine',
};

const withoutAddress = (address) => ({
  got: `This computer has no address ${address}.`,
  why: 'Linux has all of 127.0.0.0/8; elsewhere the second and the third have to be added by hand.',
  try: 'sudo ifconfig lo0 alias 127.0.0.2 && sudo ifconfig lo0 alias 127.0.0.3 (gone after a restart)',
});

/** The other machine answered the requests of the killed one, and no POST was sent twice. */
export function demandAnotherAnswers({
  program,
  address,
  workers,
  hit,
  answers,
  open,
  doubles,
  deadMs,
  fate,
}) {
  const moments = workers.map((pid) => ({ pid, t: deadMs, says: 'SIGKILL' }));
  const story = { output: program.output(), shows: { program, moments } };
  const expected = `Machine ${address} dies with ${hit} requests in flight. All ${answers.length} requests are answered.`;
  demand(!fate, {
    ...{ ...story, expected },
    got: `The program exited (${howItEnded(fate ?? {})}).`,
    why:
      describeCrash(program.events) ??
      'One machine has died; the other, and nginx, should continue.',
    try: "look at what the 'exit' of a machine leads to: does it end anything else?",
  });
  const lost = answers.filter(({ status }) => status !== 200);
  demand(lost.length === 0, {
    ...{ ...story, expected },
    got: `${lost.length} failed: ${list(lost.map(wordsOf))}.`,
    why: 'A GET may be sent again to another server. After an error nginx does that, unless you say otherwise.',
    try: 'look at proxy_next_upstream: when does nginx ask the other machine?',
  });
  demand(doubles === 0, {
    ...story,
    expected: `Of the POSTs ${open} had no answer when machine ${address} died. None is sent again elsewhere.`,
    got: `The other machine got ${doubles} of these POSTs.`,
    why: 'The dead server may have carried it out before it could say so. Sent again, it is a second purchase.',
    try: 'look at proxy_next_upstream: does it say that a POST may be sent twice?',
  });
}

/** The machine listens again at its old address, and gets requests again. */
export function demandReturn({ program, address, isBack, isUsed, ports, deadMs }) {
  const [before, now = before] = ports;
  const after = (what) => eventsOf(program.events, what).filter(({ t }) => t > deadMs);
  const started = shown(program, after('child'), 'starts a process');
  const shows = started.moments.length > 0 ? started : shown(program, after('exit'), 'exits');
  const story = { output: program.output(), shows };
  demandInTime(isBack, {
    ...story,
    expected: `Machine ${address} has lost its last worker, and exits with code 0. A second later it is started again.`,
    got: 'Seconds later nothing listens there.',
    why: 'Whatever its exit code, a machine that has exited is gone. The next death is the end.',
    try: 'look at what happens when a machine exits, also the second time',
  });
  demandInTime(isUsed, {
    isFinal: before !== now,
    ...story,
    expected: `Machine ${address} listens again, and is asked again within a second or two.`,
    got: 'It got no request for several seconds.',
    why:
      before === now
        ? 'After a failure nginx leaves a server alone for fail_timeout, 10 s by default.'
        : `It was on port ${before}, and is on port ${now} now. nginx still has the old address.`,
    try:
      before === now
        ? 'look at how long nginx leaves a server alone that has failed'
        : 'look at the port that a machine gets when it is started again',
  });
}

export function demandMachinesStop({ program, started, fate, printed }) {
  const story = {
    expected: 'SIGTERM with --machines: both machines exit, and none is started again.',
    output: printed,
    shows: shown(program, started, 'starts a process'),
  };
  demand(started.length === 0, {
    ...story,
    got: 'It started a machine after the signal.',
    why: "A machine that you stop also emits 'exit': its listener can't tell that from a death.",
    try: 'look at what starts a machine while your program stops',
  });
  demandInTime(fate, {
    ...story,
    got: 'It is still running.',
    why: 'Something still waits, or was never signalled.',
    try: 'look at what the stop ends: the machines as well?',
  });
}
