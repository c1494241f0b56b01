/** What lesson 10 demands of the servers, the configuration and the door, in the order of its promises. */
import { demand, eventsOf, whyOfCrash } from '../../../lib/check/checking.js';
import { listenersIn, serversIn } from '../looks/nginx.js';
import { listeningShown, nginxShown, requestsShown, serversShown } from './shown.js';

/** What nginx says when it cannot go on. */
export const emergencyOf = (program) => /\[emerg\] (?:\d+#\d+: )?(.*)/.exec(program.output())?.[1];
const isForbidden = (message = '') => /\(13: Permission denied\)/.test(message);
export const endOf = ({ signal, code }) =>
  signal ? `was ended by ${signal}` : `ended with exit code ${code}`;
export const list = (items) => [...new Set(items)].join(', ');

/**
 * Reports the first of these faults whose condition is met.
 * @typedef {[(facts: any) => unknown, (facts: any) => string, string, string]} Fault  condition, got, why, try
 * @param {Fault[]} faults
 * @param {{ facts: any, how?: string, expected: string, shows: import('../../../lib/verdict/outcome.js').Shows, output: string }} story
 */
export function demandNone(faults, { facts, how, ...story }) {
  const fault = faults.find(([isSo]) => isSo(facts));
  if (!fault) return;
  const [, got, why, repair] = fault;
  demand(false, { ...story, got: (how ? `${how}: ` : '') + got(facts), why, try: repair });
}

export function demandOwnPorts({ program, count }) {
  const servers = serversIn(program);
  const exposed = servers.find(({ address }) => !/^(127\.|::1$)/.test(address ?? ''));
  const ports = new Set(servers.map(({ port }) => port));
  const pids = new Set(servers.map(({ pid }) => pid));
  const expected = `NODE_CLUSTER_WORKERS=${count}: ${count} processes listen on ${count} ports of 127.0.0.1.`;
  demand(servers.length > 0, {
    expected,
    got: program.fate ? `It ${endOf(program.fate)}, and no server listened.` : 'No server listens.',
    why: whyOfCrash(program.events) ?? emergencyOf(program),
    try: "start('backend.js', { HOST: '127.0.0.1', PORT: 0 })",
    shows: serversShown(program),
  });
  demand(!exposed, {
    expected,
    got: `Process ${exposed?.pid} listens on ${exposed?.address ?? 'every address'}, port ${exposed?.port}.`,
    why: 'Anybody who reaches that port goes past nginx: past its limits, its log, its certificate.',
    try: "HOST: '127.0.0.1', and listen(port, host) in the server",
    shows: listeningShown(program, exposed ? [exposed] : []),
  });
  demand(ports.size === count && pids.size === count, {
    expected,
    got: `Processes that listen: ${pids.size}; ports: ${list(ports)}.`,
    why: 'Without the cluster module two processes cannot share a port. PORT 0 asks the system for one that is free.',
    try: `Array.from({ length: count }, () => start('backend.js', { HOST: '127.0.0.1', PORT: 0 }))`,
    shows: serversShown(program),
  });
}

export function demandValid({ program, count, first }) {
  if (first) return;
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
      ? 'look at the line: each directive ends with a semicolon, and a path with a space in it needs quotes'
      : 'tasks 1 and 2 of the text: a whole configuration in conf.js, and startNginx(backends) in server.js',
    shows: nginxShown(program),
    output: program.output(),
  });
}

/** Which directives say so, or fail to. */
const said = (strays) => ` (${list(strays.map(({ directive }) => directive))})`;

/** @type {Fault[]} */
const ELSEWHERE = [
  [
    ({ emergency }) => isForbidden(emergency),
    ({ emergency }) => `nginx says: ${emergency}`,
    'Unless told otherwise, nginx writes to /var and /run, as a system service may.',
    'pid, access_log, error_log and the five *_temp_path: each with a path in the folder, or off, or stderr',
  ],
  [
    ({ files }) => files?.refusal,
    ({ files }) => `A body of 200 kB was refused with status ${files.refusal}.`,
    'nginx keeps a large body in a file. Started by root, its workers run as a user who may not enter the folder.',
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
    "That is the place for the pid of the system's nginx: `nginx -s stop` would now end yours.",
    'pid "${folder}/nginx.pid";',
  ],
  [
    ({ files }) => files?.strays.length > 0,
    ({ files }) =>
      `nginx would use ${list(files.strays.map(({ place }) => place))}${said(files.strays)}.`,
    'nginx makes these folders when it starts. Where an ordinary user may not, it ends; where they already exist, two programs share them.',
    'the five *_temp_path in http, and pid, each with a path in the folder: proxy_temp_path "${folder}/proxy";',
  ],
  [
    ({ files }) => files?.confBeside,
    ({ files }) => `nginx reads its configuration from ${files.confBeside}.`,
    "Two such programs overwrite each other's, with other ports; and what is written beside the code stays there.",
    "const file = join(folder, 'nginx.conf');",
  ],
  [
    ({ files }) => files?.isElsewhere,
    () => 'nginx was not started with a folder in os.tmpdir(), which is TMPDIR.',
    "A file beside your code stays there when the program is killed, and two programs overwrite each other's.",
    "mkdtempSync(join(tmpdir(), 'nginx-'))",
  ],
];

export function demandContained({ program }, files) {
  demandNone(ELSEWHERE, {
    facts: { files, emergency: emergencyOf(program) },
    expected: 'Everything that nginx writes is below one folder in os.tmpdir().',
    shows: nginxShown(program),
    output: program.output(),
  });
}

export function demandEveryBackend({ program, count, first }, asked) {
  const node = nodeAt(program, [first, ...(asked?.answers ?? [])]);
  const server = first.headers.server ?? (first.error ? 'nginx' : 'nobody');
  demand(!node && /^nginx/.test(server), {
    expected: 'nginx listens on PORT, and answers there.',
    got: node
      ? `Process ${node.pid}, a Node.js process, listens there.`
      : `The header Server of the answers names ${server}.`,
    why: "This lesson is about a door that isn't Node.js.",
    try: 'only nginx listens on PORT; the servers have their own ports',
    shows: listeningShown(program, node ? [node] : []),
  });
  const answers = [first, ...(asked?.answers ?? [])];
  const lost = answers.findIndex(({ status }) => status !== 200);
  const { status, error } = answers[lost] ?? {};
  demand(lost < 0, {
    expected: 'Every request is answered by a server, even the very first.',
    got: `Answer ${lost + 1} was ${error ?? `status ${status}`}.`,
    why:
      lost === 0
        ? 'nginx was there before the servers, or it leads to ports where nothing listens.'
        : 'One of the addresses in the upstream leads nowhere.',
    try: 'start nginx when all servers have reported their addresses, and write those into the upstream',
    shows: upShown(program),
    output: program.output(),
  });
  demand(asked.pids.length === count, {
    expected: `${count} servers: all of them answer.`,
    got: `${asked.answers.length} requests were answered by ${asked.pids.length} of them.`,
    why: 'Only the servers in the upstream are asked, in turn, unless nginx is told otherwise.',
    try: 'backends.map((address) => `server ${address};`), all of them within upstream { ... }',
    shows: requestsShown(program, '/pid'),
  });
}

/** The Node.js process that accepts at PORT; who only tries whether that is free, before nginx is there, accepts nobody. */
function nodeAt({ port, events }, answers) {
  const clients = new Set(answers.map(({ client }) => client));
  const accepts = new Set(
    eventsOf(events, 'connection')
      .filter(({ client }) => clients.has(client))
      .map(({ pid }) => pid),
  );
  return listenersIn(events).find((one) => one.port === port && accepts.has(one.pid));
}

/** Who was there first: nginx, or the servers. */
const upShown = (program) => ({
  program,
  moments: [...nginxShown(program).moments, ...serversShown(program).moments],
});

export function demandClientKnown(/** @type {any} */ { answer, localAddress, claimed }, door) {
  const { status, error, body } = answer;
  const said = body.trim();
  demand(status === 200 && said === localAddress, {
    expected: `The client has the address ${localAddress} and claims, in X-Forwarded-For, to be ${claimed}. GET /client says ${localAddress}.`,
    got: status === 200 ? `It says ${said}.` : `It got ${error ?? `status ${status}`}.`,
    why:
      said === claimed
        ? "nginx passes on its client's headers as they are, even one that lies."
        : 'To the server the client is nginx, at 127.0.0.1, unless nginx says otherwise.',
    try: 'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; (the server trusts one proxy: its last address)',
    shows: requestsShown(door.program, '/client'),
  });
}
