/** What lesson 11 demands of what was seen, in the order of its promises. */
import { cpus } from 'node:os';
import {
  demand,
  eventsOf,
  exitsOf,
  faultOfRandomHex,
  forksOf,
  listenersOf,
  whyOfCrash,
} from '../../lib/checking.js';
import {
  AT_WORK,
  PRETENDED_CORES,
  UNDER_WAY,
  WORKERS,
  outputOf,
  quickestOf,
  serversOf,
} from '../looks/11-nitro.js';

const LEAST_WORK_MS = 9.5;
const TELL = 'process.env.NITRO_CLUSTER_WORKERS = String(workers); before the import()';
const FOLDERS = "output: { dir: '.output/{{ preset }}' }";

export function demandBuilds({ builds, outputs }) {
  const broken = builds.find(({ code }) => code !== 0);
  demand(!broken, {
    expected: 'Both builds end with exit code 0.',
    got: `${broken?.command} ended with exit code ${broken?.code}. ${errorIn(broken?.output ?? '')}`,
    why: 'What Nitro cannot build nobody can start.',
    try: 'npm run build --prefix lessons/11-nitro',
    output: broken?.output,
  });
  demand(outputOf({ outputs }, 'node-server'), {
    expected: 'The second build, with NITRO_PRESET=node-server, leaves a server of this preset.',
    got: `What is there: ${list(outputs)}.`,
    why: 'The variable wins over the preset of the configuration, unless that sets another entry or preset later.',
    try: 'set preset and output in nitro.config.js, and nothing that depends on the preset',
  });
}

/** The line in which nitropack says what is wrong, and where it only announces that, the next. */
function errorIn(output) {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const first = lines.findIndex((line) => /error/i.test(line));
  const told = lines.slice(first, first + (/:\s*$/.test(lines[first]) ? 2 : 1));
  return told.map((line) => line.replace(/^.*\bERROR\b\s*/, '').trim()).join(' ');
}

const list = (outputs) =>
  outputs.map(({ preset, folder }) => `${preset} in ${folder}`).join(', ') || 'nothing';

export function demandOneProcess({ events, pid }, { requests }) {
  const forks = forksOf(events).length;
  const others = requests.filter((request) => request.pid !== pid);
  demand(forks === 0 && others.length === 0, {
    expected: 'One process, which answers all requests and forks nobody.',
    got: forks > 0 ? `It forked ${forks} workers.` : `Process ${others[0]?.pid} answered as well.`,
    why: 'It is the control: only what differs between the two builds tells what the preset does.',
    try: "no entry, no module and no plugin that forks: the preset 'node-cluster' does it",
  });
}

export function demandWork({ answers, quickestMs, spanMs }) {
  const fault = faultOfRandomHex(answers);
  const isWhole = quickestMs > LEAST_WORK_MS;
  demand(isWhole && spanMs > AT_WORK * LEAST_WORK_MS && !fault, {
    expected:
      'Each / blocks its process for 10 to 20 ms and answers 5,000 to 10,000 random bytes as hex text.',
    got:
      fault ??
      (isWhole
        ? `${AT_WORK} at once were answered within ${spanMs.toFixed(0)} ms: they did not block each other.`
        : `The quickest took ${quickestMs.toFixed(1)} ms.`),
    why: isWhole
      ? 'A handler that waits gives the event loop back: that is another lesson, and no cluster helps it.'
      : 'A bundler removes calls whose result nobody uses, when it sees that they do nothing else; and a server that does less work is no speedup.',
    try: 'blockFor(between(10, 20)); and randomHex(between(5_000, 10_000)) in routes/index.js, without await',
  });
}

export function demandSideBySide(built) {
  const { outputs } = built;
  const [first] = outputs;
  const isOverwritten = outputs.length === 1 && first.folder === '.output';
  demand(outputOf(built, 'node-cluster'), {
    expected: 'After both builds there are two servers: node-cluster and node-server.',
    got: `What is there: ${list(outputs)}.`,
    why: isOverwritten
      ? 'A build empties its output folder first, so of two that share one only the second is left.'
      : 'Without a preset Nitro takes node-server, or what suits the machine on which it builds.',
    try: isOverwritten
      ? `preset: 'node-cluster', and ${FOLDERS} in nitro.config.js`
      : "preset: 'node-cluster' in nitro.config.js",
  });
  const [one, other] = ['node-cluster', 'node-server'].map((name) => outputOf(built, name)?.folder);
  demand(one !== other, {
    expected: 'Each build has an output folder of its own.',
    got: `What is there: ${list(outputs)}.`,
    try: FOLDERS,
  });
}

export function demandForks(program, { requests, answers }) {
  const { events, port } = program;
  const forks = forksOf(events).length;
  demand(forks === WORKERS, {
    expected: `NODE_CLUSTER_WORKERS=${WORKERS}: ${WORKERS} workers.`,
    got: `It forked ${forks}.`,
    why:
      forks === cpus().length
        ? 'So many Nitro takes untold: os.cpus().length. NODE_CLUSTER_WORKERS is our name; Nitro reads NITRO_CLUSTER_WORKERS, once, when its file is loaded.'
        : undefined,
    try: TELL,
  });
  const workers = serversOf(program);
  const idle = workers.filter((worker) => !requests.some(({ pid }) => pid === worker));
  const strangers = requests.filter(({ pid }) => !workers.includes(pid));
  const error = answers.find((answer) => answer.error)?.error;
  demand(idle.length === 0 && strangers.length === 0, {
    expected: `Each of the ${WORKERS} workers answers some of ${requests.length} requests, and nobody else does.`,
    got:
      strangers.length > 0
        ? `Process ${strangers[0].pid}, which is no worker, executed ${strangers.length}.`
        : `${idle.length} answered none.${error ? ` A request failed: ${error}.` : ''}`,
    why:
      whyOfCrash(events) ??
      'A worker runs server.js from the top, and serves when it comes to the import().',
    try: 'the import() in every process; signals and counting only if (cluster.isPrimary)',
  });
  const ports = [...listenersOf(events).keys()];
  demand(ports.length === 1, {
    expected: `All listen on PORT, which is ${port} here.`,
    got: `They listen on ${ports.join(', ')}.`,
  });
}

export function demandCores({ forks, program }) {
  demand(forks === PRETENDED_CORES, {
    expected: `${PRETENDED_CORES} workers where os.availableParallelism() is ${PRETENDED_CORES}.`,
    got: `It forked ${forks}.`,
    why:
      whyOfCrash(program.events) ??
      'os.cpus().length, which Nitro takes untold, counts cores that this process may not be allowed to use.',
    try: 'const workers = process.env.NODE_CLUSTER_WORKERS ?? availableParallelism();',
  });
}

export function demandSameAnswers(rows, { requests }) {
  const row = rows.find(({ both: [one, cluster] }) => one !== cluster);
  demand(!row, {
    expected: 'The same status, content-type and shape of body from both builds.',
    got: `${row?.path} from one process: ${row?.both[0]}. From the cluster: ${row?.both[1]}.`,
    why: 'A preset decides how an application is started, not what it answers.',
    try: 'no question after cluster.isWorker, process.env or the preset in routes/',
  });
  const quickestMs = quickestOf(requests);
  demand(quickestMs > LEAST_WORK_MS, {
    expected: 'A worker works for 10 to 20 ms for each /, as the one process does.',
    got: `The quickest took ${quickestMs.toFixed(1)} ms.`,
    why: 'A server that does less work is no speedup.',
  });
}

export function demandCleanStop(stops) {
  const stop = stops.find(
    ({ fate, lost, left }) => fate?.code !== 0 || lost.length > 0 || left.length > 0,
  );
  demand(!stop, {
    expected: 'The workers answer what they have begun, all end, and the exit code is 0.',
    ...(stop && storyOfStop(stop)),
    output: stop?.output,
  });
}

/** [condition, got, why, try]: what is to be mended first in a stop. The first whose condition is met. */
const STOP_FAULTS = [
  [
    ({ left }) => left.length > 0,
    ({ left }) => `process ${left.join(', ')} is still there.`,
    'What child_process has started goes on without its parent: nobody watches it, and it holds the port.',
    'start the build by import(), in this process; or signal every process that it has started',
  ],
  [
    ({ fate }) => fate?.signal,
    ({ fate }) => `it was ended by ${fate.signal}.`,
    'Whoever stops a server sends SIGTERM or SIGINT, and waits for the end.',
    "process.on('SIGTERM', signalAll); and the same for SIGINT, in the primary",
  ],
  [
    ({ fate, ends }) => !fate && ends === 0,
    () => 'no worker has ended, and it goes on serving.',
    "Nitro's primary hears the signal and then waits, 30 s, for workers which nobody has told.",
    'for (const worker of Object.values(cluster.workers)) worker.process.kill(signal);',
  ],
  [
    ({ fate }) => !fate,
    ({ ends }) => `${ends} of its workers ended, and the program still runs.`,
    'Nitro ends the primary when the last worker has left; if something replaces the workers, none is the last.',
    'tell all workers; fork none yourself',
  ],
  [
    ({ fate }) => fate.code !== 0,
    ({ fate }) => `it ended with exit code ${fate.code}.`,
    'To stop when told is no failure.',
    'let Nitro end the primary, when the last worker has left',
  ],
  [
    () => true,
    ({ lost }) =>
      `of ${UNDER_WAY} requests under way ${lost.length} were lost (${lost[0]?.error}).`,
    'A worker that gets SIGTERM answers first: Nitro sees to it. One that is killed by SIGKILL, or whose primary is gone, does not.',
    'worker.process.kill(signal), with the same signal; no process.exit()',
  ],
];

function storyOfStop({ how, program, fate, lost, left }) {
  const facts = { fate, lost, left, ends: exitsOf(program.events).length };
  const [, got, why, repair] = /** @type {any[]} */ (
    STOP_FAULTS.find(([isSo]) => /** @type {any} */ (isSo)(facts))
  );
  const crash = eventsOf(program.events, 'crash').length > 0 && whyOfCrash(program.events);
  return { got: `${how}: ${got(facts)}`, why: crash || why, try: repair };
}

export function demandEnd({ fate, starts, output }) {
  const { code, signal } = fate ?? {};
  const isTold = /g[ia]v\w* up|too (many|often)|in a row|limit|no (more|further)|abort/i.test(
    output,
  );
  const isRefused = starts === 0 && /PORT/.test(output);
  const faults = [
    [!fate, `${starts} workers had ended before they listened, and it still forked.`],
    [signal, `It was ended by ${signal}.`],
    [code === 0, 'It ended with exit code 0, as if all were well.'],
    [!isTold && !isRefused, 'It ended without a word about giving up.'],
  ];
  const [, got] = faults.find(([isSo]) => isSo) ?? [];
  demand(!got, {
    expected:
      'PORT=80800, which is no port: after some workers in vain a message with "giving up", and exit code 1.',
    got: /** @type {string} */ (got),
    why: "Nitro's primary forks a new worker at once for each that ends, for ever and without a wait: that keeps the cores busy, and nobody learns of it.",
    try: fate
      ? "console.error('giving up: ...'); process.exit(1);"
      : "count the workers in a row that end and were never 'listening'; after five of them process.exit(1)",
    output,
  });
}
