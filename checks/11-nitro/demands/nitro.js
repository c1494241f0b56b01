/** What lesson 11 demands of what was seen, in the order of its promises. */
import { readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import {
  demand,
  eventsOf,
  exitsOf,
  faultOfRandomHex,
  forksOf,
  listenersOf,
  momentOf,
  quickestOf,
  requestsOf,
  whyOfCrash,
} from '../../../lib/check/checking.js';
import {
  AT_WORK,
  INHERITED,
  PRETENDED_CORES,
  WORKERS,
  outputOf,
  serversOf,
} from '../looks/nitro.js';

const LEAST_WORK_MS = 9.5;
const TELL = 'above the import(): process.env.NITRO_CLUSTER_WORKERS = String(workers);';
const FOLDERS = "output: { dir: '.output/{{ preset }}' }";

export function demandBuilds({ builds, outputs }) {
  const broken = builds.find(({ code }) => code !== 0);
  demand(!broken, {
    expected: 'Both builds end with exit code 0.',
    got: `${broken?.command} ended with exit code ${broken?.code}. ${errorIn(broken?.output ?? '')}`,
    why: 'What Nitro cannot build, nobody can start.',
    try: 'npm run build --prefix lessons/11-nitro',
    output: broken?.output,
  });
  demand(outputOf({ outputs }, 'node-server'), {
    expected: 'The second build, with NITRO_PRESET=node-server, leaves a server of this preset.',
    got: `What is there: ${list(outputs)}.`,
    why: 'The variable overrides the configured preset, unless the configuration sets another entry or preset later.',
    try: 'set preset and output in nitro.config.js, and nothing that depends on the preset',
  });
}

/** The line where nitropack says what is wrong, or, if that line only announces it, the next one. */
function errorIn(output) {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const first = lines.findIndex((line) => /error/i.test(line));
  const told = lines.slice(first, first + (/:\s*$/.test(lines[first]) ? 2 : 1));
  return told.map((line) => line.replace(/^.*\bERROR\b\s*/, '').trim()).join(' ');
}

const list = (outputs) =>
  outputs.map(({ preset, folder }) => `${preset} in ${folder}`).join(', ') || 'nothing';

const MARKED = 6; // moments of a kind

const shown = (program, seen, says) => ({
  program,
  moments: seen.slice(0, MARKED).map((one) => momentOf(one, says)),
});
const forksShown = (program) => shown(program, forksOf(program.events), 'fork');

export function demandOneProcess(program, { requests }) {
  const { events } = program;
  const [{ pid } = program] = eventsOf(events, 'start');
  const forks = forksOf(events).length;
  const others = requests.filter((request) => request.pid !== pid);
  demand(forks === 0 && others.length === 0, {
    expected: 'One process, which answers all requests and forks nobody.',
    got: forks > 0 ? `It forked ${forks} workers.` : `Process ${others[0]?.pid} answered as well.`,
    why: 'It is the control: only the difference between the two builds shows what the preset does.',
    try: "no entry, no module and no plugin that forks: the preset 'node-cluster' does it",
    shows: forks > 0 ? forksShown(program) : shown(program, others, 'a request, elsewhere'),
    output: program.output(),
  });
}

/** What Node.js says that a build has left outside, if it does. */
function outsideOf(program) {
  const [, path, name = path] =
    /Cannot find (?:module|package) '([^']+)'|Package import specifier "([^"]+)"/.exec(
      program.output(),
    ) ?? [];
  return name?.split('/').slice(-2).join('/');
}

/** The build imports nothing that is only where it was built. */
function demandWhole(program, isBroken) {
  const outside = outsideOf(program);
  demand(!isBroken || !outside, {
    expected: 'What was built has all that it imports in its own folder.',
    got: `It imports ${outside}, and that was left outside.`,
    why: 'You deploy that folder alone. Where your sources are all is well; on the server there are none.',
    try: 'no externals in nitro.config.js, and no path that is put together when the server runs: the bundler follows import { blockFor } from "#work"',
    output: program.output(),
  });
}

/** Said before the general message about a build that does not start. */
export const demandWholeStart = (program) => demandWhole(program, program.fate);

export function demandWork({ answers, quickestMs, spanMs }, program) {
  const fault = faultOfRandomHex(answers);
  demandWhole(program, fault);
  const isWhole = quickestMs > LEAST_WORK_MS;
  demand(isWhole && spanMs > AT_WORK * LEAST_WORK_MS && !fault, {
    expected:
      'Each / blocks its process for 10 to 20 ms and returns 5,000 to 10,000 random bytes as hex text.',
    got:
      fault ??
      (isWhole
        ? `${AT_WORK} at once were answered within ${spanMs.toFixed(0)} ms: they did not block each other.`
        : `The quickest took ${quickestMs.toFixed(1)} ms.`),
    why: fault
      ? 'What is made once, or is shorter, is less work than lesson 1 asks for: then one process and cluster are compared at something else.'
      : isWhole
        ? 'A handler that waits frees the event loop: that is another lesson, and a cluster does not help it.'
        : "A bundler removes calls whose result nobody uses, if it sees that they have no other effect; and a server that does less work isn't a speedup.",
    try: 'blockFor(between(10, 20)); and randomHex(between(5_000, 10_000)) in routes/index.js, without await',
    output: program.output(),
  });
}

export function demandSideBySide(built) {
  const { builds, outputs } = built;
  const [configured] = builds[0].outputs;
  demand(outputOf(builds[0], 'node-cluster'), {
    expected: 'As configured, Nitro builds with the preset node-cluster.',
    got: `It built ${list(builds[0].outputs)}.`,
    why: 'Without a preset Nitro takes node-server, or whatever suits the machine it builds on.',
    try: 'task 1 of the text: in nitro.config.js the preset, and a folder for each build',
    output: '',
  });
  const isOverwritten = !outputOf(built, 'node-cluster');
  const folders = ['node-cluster', 'node-server'].map((name) => outputOf(built, name)?.folder);
  demand(!isOverwritten && folders[0] !== folders[1], {
    expected: 'Each build has its own output folder.',
    got: `Both builds wrote to ${configured?.folder}. What is there: ${list(outputs)}.`,
    why: 'A build empties its output folder first, so if two builds share a folder, only the second is left.',
    try: `${FOLDERS}: between two pairs of braces Nitro puts the name of the preset`,
    output: '',
  });
}

/** Said before the general message about a program that does not listen: what causes that in this lesson. */
export function demandListeners(program, built) {
  const { events, fate } = program;
  const printed = program.output();
  const [, missing = ''] = /Cannot find module '([^']+\/index\.mjs)' imported/.exec(printed) ?? [];
  const folder = outputOf(built, 'node-cluster')?.folder;
  const path = (file) => relative(dirname(built.entry), file);
  demand(!fate || missing === '', {
    expected: `server.js imports the build, which is ${folder}/server/index.mjs.`,
    got: `It imports ${path(missing)}, and nothing is there.`,
    why: 'import() and output.dir in nitro.config.js must name one folder.',
    try: FOLDERS,
    output: printed,
  });
  const forks = forksOf(events).length;
  const isSilent = listenersOf(events).size === 0 && exitsOf(events).length === 0;
  demand(fate || forks === 0 || !isSilent || eventsOf(events, 'crash').length > 0, {
    expected: 'Each worker reaches the import() of the build, and listens.',
    got: `It forked ${forks} workers; they run, but none of them listens.`,
    why: 'A worker runs server.js from the top, and serves when it reaches the import().',
    try: 'await import(...) in every process, not only if (cluster.isPrimary)',
    output: printed,
  });
}

const IMPORT_AT_TOP = /^import\s[^(]*?['"][^'"]*index\.mjs['"]/m;

export function demandForks(program, { requests, answers }) {
  const { events, port } = program;
  const output = program.output();
  const forks = forksOf(events).length;
  const isAtTop = IMPORT_AT_TOP.test(readFileSync(program.options.entry, 'utf8'));
  demand(forks === WORKERS, {
    expected: `NODE_CLUSTER_WORKERS=${WORKERS}: ${WORKERS} workers, although NITRO_CLUSTER_WORKERS=${INHERITED} was already set.`,
    got: `It forked ${forks}.`,
    why: forks === INHERITED ? whyInherited(isAtTop) : undefined,
    try: isAtTop ? `await import(...) instead of the import at the top; ${TELL}` : TELL,
    shows: forksShown(program),
    output,
  });
  const workers = serversOf(program);
  const idle = workers.filter((worker) => !requests.some(({ pid }) => pid === worker));
  const strangers = requests.filter(({ pid }) => !workers.includes(pid));
  const error = answers.find((answer) => answer.error)?.error;
  demand(idle.length === 0 && strangers.length === 0, {
    expected: `Each of the ${WORKERS} workers answers some of ${requests.length} requests, and nobody else does.`,
    got:
      strangers.length > 0
        ? `Process ${strangers[0].pid}, which isn't a worker, executed ${strangers.length}.`
        : `${idle.length} answered none.${error ? ` A request failed: ${error}.` : ''}`,
    why:
      whyOfCrash(events) ??
      'A worker runs server.js from the top, and serves when it reaches the import().',
    try: 'the import() in every process; signals and counting only if (cluster.isPrimary)',
    shows: shown(program, strangers, 'a request, in no worker'),
    output,
  });
  const ports = [...listenersOf(events).keys()];
  demand(ports.length === 1, {
    expected: `All listen on PORT, which is ${port} here.`,
    got: `They listen on ${ports.join(', ')}.`,
    output,
  });
}

/** One is a number, too. */
export function demandOneWorker(program) {
  const forks = forksOf(program.events).length;
  demand(forks === 1, {
    expected: 'NODE_CLUSTER_WORKERS=1: a primary, and one worker.',
    got: `It forked ${forks}.`,
    why:
      forks === 0
        ? 'A single process uses as many cores as one worker, but when it dies nobody starts it again.'
        : 'In a container that scales by itself, or with a database that allows few connections, one worker is what somebody wants.',
    try: `1 is passed on like any other number; ${TELL}`,
    shows: forksShown(program),
    output: program.output(),
  });
}

const whyInherited = (isAtTop) =>
  isAtTop
    ? 'An import is loaded before the first line of the file runs, wherever it stands: Nitro has forked by then.'
    : 'Nitro reads NITRO_CLUSTER_WORKERS once, when its file is loaded. By then it was not set, was set too late, or was left as it was. NODE_CLUSTER_WORKERS is our name, and wins.';

export function demandCores({ cores, forks, program }, /** @type {number} */ index) {
  demand(forks === cores, {
    expected: `${cores === 1 ? 'One worker' : `${cores} workers`} where os.availableParallelism() is ${cores}.`,
    got: `It forked ${forks}.`,
    why:
      whyOfCrash(program.events) ??
      (index === 0
        ? "os.cpus().length, Nitro's default, counts cores that this process may not be allowed to use."
        : `With ${PRETENDED_CORES} cores it was right. It has to be right on other machines, too: one for each core, on every one.`),
    try: 'const workers = process.env.NODE_CLUSTER_WORKERS ?? availableParallelism();',
    shows: forksShown(program),
    output: program.output(),
  });
}

export function demandSameAnswers(rows, program) {
  const output = program.output();
  const row = rows.find(({ both: [one, cluster] }) => one !== cluster);
  demand(!row, {
    expected: 'The same status, content-type and shape of body from both builds.',
    got: `${row?.path} from one process: ${row?.both[0]}. From the cluster: ${row?.both[1]}.`,
    why: 'A preset decides how an application is started, not what it answers.',
    try: 'nothing in routes/ that depends on cluster.isWorker, process.env or the preset',
    output,
  });
  const quickestMs = quickestOf(requestsOf(program.events, '/'));
  demand(quickestMs > LEAST_WORK_MS, {
    expected: 'A worker works for 10 to 20 ms for each /, as the one process does.',
    got: `The quickest took ${quickestMs.toFixed(1)} ms.`,
    why: "A server that does less work isn't a speedup.",
    output,
  });
}
