/** Judges what was seen of the program of lesson 10, in sentences that name the repair. */
import { Undecided, demand, whyOfCrash } from '../../lib/checking.js';
import { listenersIn, machinesOf } from '../looks/10-nginx-ports.js';

const LEAST_ASKED = 20; // so many requests, and none for the machine that is back

const emergencyOf = (program) => /\[emerg\] (?:\d+#\d+: )?(.*)/.exec(program.output())?.[1];
const isForbidden = (message = '') => /\(13: Permission denied\)/.test(message);
const endOf = ({ signal, code }) => (signal ? `was ended by ${signal}` : `ended with exit code ${code}`);
const list = (items) => [...new Set(items)].join(', ');

export function demandOwnPorts({ program, count }) {
  const servers = listenersIn(program.events).filter(({ pid }) => pid !== program.pid);
  const exposed = servers.find(({ address }) => !/^(127\.|::1$)/.test(address ?? ''));
  const ports = new Set(servers.map(({ port }) => port));
  const pids = new Set(servers.map(({ pid }) => pid));
  const expected = `NODE_CLUSTER_WORKERS=${count}: ${count} processes listen on ${count} ports of 127.0.0.1.`;
  demand(servers.length > 0, {
    expected,
    got: program.fate ? `It ${endOf(program.fate)}, and no server listened.` : 'No server listens.',
    why: whyOfCrash(program.events) ?? emergencyOf(program),
    try: "start('backend.js', { HOST: '127.0.0.1', PORT: 0 })",
  });
  demand(!exposed, {
    expected,
    got: `Process ${exposed?.pid} listens on ${exposed?.address ?? 'every address'}, port ${exposed?.port}.`,
    why: 'Whoever reaches that port goes past nginx: past its limits, its log, its certificate.',
    try: "HOST: '127.0.0.1', and listen(port, host) in the server",
  });
  demand(ports.size === count && pids.size === count, {
    expected,
    got: `Processes that listen: ${pids.size}; ports: ${list(ports)}.`,
    why: 'Without the cluster module two processes cannot share a port. PORT 0 asks the system for one that is free.',
    try: `Array.from({ length: count }, () => start('backend.js', { HOST: '127.0.0.1', PORT: 0 }))`,
  });
}

export function demandValid(doors) {
  const door = doors.find(({ first }) => !first);
  if (!door) return;
  const { program, count } = door;
  const emergency = emergencyOf(program);
  if (isForbidden(emergency)) return; // where it may write is another promise
  const { fate, port, temporary } = program;
  demand(false, {
    expected: `With ${count} servers, in ${temporary}, nginx starts and answers on PORT, which is ${port} here.`,
    got: emergency
      ? `nginx says: ${emergency}`
      : `Nobody listens on port ${port}${fate ? `, and the program ${endOf(fate)}` : ''}.`,
    why: emergency
      ? 'nginx reads the whole file before it does anything; one fault, and it does nothing.'
      : (whyOfCrash(program.events) ?? 'nginx is not started, or listens elsewhere.'),
    try: emergency
      ? 'look at the line: each directive ends with a semicolon, a path with a blank in it stands in quotes'
      : "spawn(nginx, ['-p', folder, '-c', file, '-e', 'stderr'], { env, stdio: 'inherit', detached: true })",
    output: program.output(),
  });
}

/** [condition, got, why, try] */
const ELSEWHERE = [
  [
    ({ emergency }) => isForbidden(emergency),
    ({ emergency }) => `nginx says: ${emergency}`,
    'Where nothing else is said, nginx writes to /var and /run, as a service of the system may.',
    'pid, access_log, error_log and the five *_temp_path: each with a path in the folder, or off, or stderr',
  ],
  [
    ({ files }) => files?.refusal,
    ({ files }) => `A body of 200 kB was refused with status ${files.refusal}.`,
    'nginx keeps a large body in a file. Started by root, its worker is another user, who may not enter the folder.',
    'the line `${user}` at the top of the configuration, and client_body_temp_path in the folder',
  ],
  [
    ({ files }) => files?.outside.length > 0,
    ({ files }) => `nginx writes to ${list(files.outside)}.`,
    'Two such programs write into the same files, and an ordinary user may not.',
    'access_log off; and each *_temp_path in the folder',
  ],
  [
    ({ files }) => files?.pidFile,
    ({ files }) => `nginx has written its pid to ${files.pidFile}.`,
    'That is where the pid of the system’s own nginx belongs: `nginx -s stop` would now end yours.',
    'pid "${folder}/nginx.pid";',
  ],
  [
    ({ files }) => files?.isElsewhere,
    () => 'nginx was not started with a folder in os.tmpdir(), which is TMPDIR.',
    'A file beside your code stays there when the program is killed, and two programs overwrite it for each other.',
    "mkdtempSync(join(tmpdir(), 'nginx-'))",
  ],
];

export function demandContained({ program }, files) {
  const facts = { files, emergency: emergencyOf(program) };
  const [, got, why, repair] = ELSEWHERE.find(([isSo]) => isSo(facts)) ?? [];
  demand(!got, {
    expected: 'Everything that nginx writes is below one folder in os.tmpdir().',
    got: got?.(facts),
    why,
    try: repair,
    output: program.output(),
  });
}

export function demandEveryBackend({ program, count, first }, asked) {
  const node = listenersIn(program.events).find(({ port }) => port === program.port);
  const server = first.headers.server ?? 'nobody';
  demand(!node && /^nginx/.test(server), {
    expected: 'nginx listens on PORT, and answers there.',
    got: node
      ? `Process ${node.pid}, a Node.js, listens there.`
      : `The header Server of the answers names ${server}.`,
    why: 'This lesson is about a door that is no Node.js.',
    try: 'only nginx listens on PORT; the servers have ports of their own',
  });
  const answers = [first, ...(asked?.answers ?? [])];
  const lost = answers.findIndex(({ status }) => status !== 200);
  const { status, error } = answers[lost] ?? {};
  demand(lost < 0, {
    expected: 'Every request is answered by a server, the very first too.',
    got: `Answer ${lost + 1} was ${error ?? `status ${status}`}.`,
    why:
      lost === 0
        ? 'nginx was there before the servers were, or it leads to ports where nobody listens.'
        : 'One of the addresses in the upstream leads nowhere.',
    try: 'start nginx when all servers have told their addresses, and write these into the upstream',
    output: program.output(),
  });
  demand(asked.pids.length === count, {
    expected: `${count} servers: all of them answer.`,
    got: `${asked.answers.length} requests were answered by ${asked.pids.length} of them.`,
    why: 'Only who stands in the upstream is asked, and nginx asks them in turn, if nothing else is said.',
    try: 'backends.map((address) => `server ${address};`), all of them within upstream { ... }',
  });
}

export function demandClientKnown({ answer, localAddress, claimed }) {
  const { status, error, body } = answer;
  const said = body.trim();
  demand(status === 200 && said === localAddress, {
    expected: `The client has the address ${localAddress} and claims, in X-Forwarded-For, to be ${claimed}. GET /client says ${localAddress}.`,
    got: status === 200 ? `It says ${said}.` : `It got ${error ?? `status ${status}`}.`,
    why:
      said === claimed
        ? 'nginx passes on the headers of its client as they are, also one that lies.'
        : 'For the server the client is nginx, at 127.0.0.1, unless nginx tells.',
    try: 'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; (the server trusts one proxy: its last address)',
  });
}

/** [condition, got, why, try]: what is to be mended first in a stop. */
const STOP_FAULTS = [
  [
    ({ fate }) => fate?.signal,
    ({ fate, natives }) =>
      `it was ended by ${fate.signal}${natives.length > 0 ? `; nginx, process ${natives[0]}, is still there` : ''}.`,
    'A signal without a handler ends this process at once. nginx has no channel to it, so nothing tells nginx.',
    "process.on('SIGTERM', stop); and process.on('SIGINT', stop);",
  ],
  [
    ({ fate }) => !fate,
    () => 'it still ran ten seconds later.',
    'It ends by itself when its children have ended and no timer is set.',
    "front.kill('SIGQUIT'), wait for its 'exit', then stopAll()",
  ],
  [
    ({ lost }) => lost.length > 0,
    ({ lost, answers }) =>
      `of ${answers.length} requests under way ${lost.length} were lost (${lost[0].error ?? `status ${lost[0].status}`}).`,
    'SIGTERM and SIGINT are a fast stop for nginx: it hangs up. Ctrl-C reaches it, too, unless it was started detached. And the servers have to be there until nginx has gone.',
    "detached: true; on the signal front.kill('SIGQUIT'), wait for its 'exit', and only then stopAll()",
  ],
  [
    ({ fate }) => fate.code !== 0,
    ({ fate }) => `it ended with exit code ${fate.code}.`,
    'To stop when told is no failure.',
    'set process.exitCode only where something has failed',
  ],
  [
    ({ left }) => left.length > 0,
    ({ left, natives }) =>
      `process ${list(left)} is still there${natives.length > 0 ? ', an nginx that holds the port' : ''}.`,
    'A daemon leaves its parent, and nobody knows it any more.',
    'daemon off; and wait for the end of whom you have started',
  ],
  [
    ({ files }) => files.length > 0,
    ({ files }) => `${list(files)} is left in the folder for temporary files.`,
    'Nobody cleans up after a program that makes a new folder each time.',
    'rmSync(folder, { recursive: true }), when nginx has ended',
  ],
];

export function demandCleanStops(stops) {
  for (const stop of stops) {
    const [, got, why, repair] = STOP_FAULTS.find(([isSo]) => isSo(stop)) ?? [];
    demand(!got, {
      expected: 'What is under way is answered, all end, the folder is removed, and the exit code is 0.',
      got: got && `${stop.how}: ${got(stop)}`,
      why,
      try: repair,
      output: stop.output,
    });
  }
}

/** [condition, got, why, try] */
const VAIN_FAULTS = [
  [
    ({ fate }) => !fate,
    () => 'it still ran ten seconds later.',
    'Servers that nobody can reach are of no use, and nobody learns of it.',
    "front.on('exit', ...): say so, end the servers, exit code 1",
  ],
  [
    ({ fate }) => fate.code !== 1,
    ({ fate }) => `it ${endOf(fate)}.`,
    'Whoever has started it looks at the exit code, and takes 0 for "all is well".',
    'process.exitCode = 1;',
  ],
  [
    ({ says, output }) => !says.test(output),
    () => 'it did not say why.',
    "nginx tells on stderr; spawn hands that on with stdio: 'inherit'. That there is no nginx is an 'error' of spawn.",
    "stdio: 'inherit', and a message of your own",
  ],
  [
    ({ left }) => left.length > 0,
    ({ left }) => `process ${list(left)} is still there.`,
    'The servers were up before nginx was to start.',
    'stopAll() before it ends',
  ],
  [
    ({ files }) => files.length > 0,
    ({ files }) => `${list(files)} is left in the folder for temporary files.`,
    'The folder was made before nginx was to start.',
    'end in one way, whatever the cause: the function that stops also removes the folder',
  ],
];

export function demandReasons(ends) {
  for (const end of ends) {
    const [, got, why, repair] = VAIN_FAULTS.find(([isSo]) => isSo(end)) ?? [];
    demand(!got, {
      expected: `When ${end.how}: a message that says so, exit code 1, and nothing is left.`,
      got: got && `${end.how}: ${got(end)}`,
      why,
      try: repair,
      output: end.output,
    });
  }
}

export function demandMachines({ missing, door, serving }) {
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
    output: program.output(),
  });
  demand(first?.status === 200, {
    expected,
    got: first ? `The first answer was ${first.error ?? `status ${first.status}`}.` : 'Nobody answers on PORT.',
    why: emergencyOf(program) ?? 'nginx is not there, or leads elsewhere.',
    try: 'start nginx when both machines listen, with their two addresses as its backends',
    output: program.output(),
  });
  for (const { address, pids } of machines) {
    const working = pids.filter((pid) => serving.includes(pid)).length;
    demand(working === door.count, {
      expected,
      got: `Of the machine ${address} ${working} processes have answered; ${door.count} should.`,
      why: 'A machine that is not asked, or uses one of its cores, is no second machine.',
      try: 'both addresses in the upstream, none of them backup or down; machine.js as it was given',
    });
  }
}

function withoutAddress(address) {
  return {
    got: `This computer has no address ${address}.`,
    why: 'Linux has all of 127.0.0.0/8; elsewhere the second and the third have to be added by hand.',
    try: 'sudo ifconfig lo0 alias 127.0.0.2 && sudo ifconfig lo0 alias 127.0.0.3 (gone after a restart)',
  };
}

export function demandDeathRoutedAround(seen) {
  const { program, victim, hit, answers } = seen;
  const lost = answers.filter(({ status }) => status !== 200);
  const expected = `Machine ${victim.address} is killed, with ${hit} requests under way in it. All ${answers.length} requests are answered.`;
  demand(!program.fate, {
    expected,
    got: `The program ${endOf(program.fate ?? {})}.`,
    why: whyOfCrash(program.events) ?? 'One machine is dead; the other, and nginx, should serve on.',
    try: "child.on('exit', ...) of a machine starts it again, and ends nobody",
    output: program.output(),
  });
  if (lost.length > 0 && lost.every(({ error }) => error === 'timeout'))
    throw new Undecided({
      expected,
      got: `${lost.length} answers took more than five seconds.`,
      why: 'No request failed; the machine is too busy.',
      try: 'close other programs, then check again',
    });
  demand(lost.length === 0, {
    expected,
    got: `${lost.length} failed: ${list(lost.map(({ error, status }) => error ?? `status ${status}`))}.`,
    why: 'A GET may be asked again elsewhere: nginx does so after an error, if nothing else is said.',
    try: 'proxy_next_upstream error timeout;',
    output: program.output(),
  });
  demandReturn(seen);
}

function demandReturn({ program, victim, isBack, isUsed, asked, returnMs }) {
  const { address } = victim;
  demand(isBack, {
    expected: `A second after its death machine ${address} is started again, on the same address.`,
    got: 'It did not come back within five seconds.',
    why: 'A machine that dies is switched on again, by somebody or something. Here that is your program.',
    try: "child.on('exit', () => setTimeout(() => isStopping || startMachine(HOST), 1_000))",
    output: program.output(),
  });
  const story = {
    expected: `Machine ${address} listens again, and is asked again within a second or two.`,
    got: `${asked} requests in ${returnMs / 1_000} s, and none was for it.`,
  };
  if (!isUsed && asked < LEAST_ASKED)
    throw new Undecided({ ...story, why: 'The machine is too busy.', try: 'check again' });
  demand(isUsed, {
    ...story,
    why: 'After a failure nginx leaves a server alone for fail_timeout, which is 10 s if nothing else is said. And it knows only the address that was written down.',
    try: 'server ${address} max_fails=1 fail_timeout=1s; and the same address for the machine each time',
  });
}
