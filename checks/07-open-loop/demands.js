/** Judges what was seen of the programs of lesson 7. */
import { availableParallelism } from 'node:os';
import {
  Undecided,
  deepestOverlap,
  demand,
  forksOf,
  isCrowded,
  quickestOf,
} from '../../lib/check/checking.js';
import {
  FIRST_IS,
  MOST_OFF,
  RATE,
  WORK_MS,
  byProcess,
  exactOf,
  mayComeOfMachine,
} from './looks.js';

/** @typedef {import('./looks.js').Counted} Counted */
/** @typedef {import('../../lib/observe/program.js').Program} Program */

const LEAST_WORK_MS = 0.95 * WORK_MS;
const MOST_LOGGED_MS = 1.5 * WORK_MS; // on a busy machine
const MUCH_OFF = 1.5; // less than that and half a page would have been seen, in one of dozens
const SHARE_OF_QUEUE = 0.25;
const BUSY = 'The machine is busy, and makes less work look like a whole page.';
const RULES = {
  RATE: 'a number above 0',
  UTILIZATION: 'above 0 and at most 1',
  NODE_CLUSTER_WORKERS: 'a whole number from 1 to 99',
};
const PATIENCE = 'close other programs, then check again';

export function demandWork({ answers, requests }) {
  const quickest = quickestOf(requests);
  const depth = Math.max(...[...byProcess(requests).values()].map(deepestOverlap));
  const fault =
    faultOfAnswers(answers, requests) ??
    (depth > 1 && `Up to ${depth} pages were under way in one process at the same time.`) ??
    undefined;
  const tooQuick = quickest < LEAST_WORK_MS && `The quickest took ${quickest.toFixed(1)} ms.`;
  const got = fault || tooQuick;
  const expected = `Each / takes the ${WORK_MS} ms of a page and answers {"pid": ...} with the pid of who rendered it.`;
  if (!got && quickest > MUCH_OFF * WORK_MS && isCrowded()) {
    const slow = `Of ${requests.length} the quickest took ${quickest.toFixed(1)} ms.`;
    throw new Undecided({ expected, got: slow, why: BUSY, try: PATIENCE });
  }
  demand(!got, {
    expected,
    got: got || undefined,
    why: 'The page blocks, as rendering does. A server that does less work is no answer to the question how many workers it needs.',
    try: 'keep serve() and render() as they were: response.end(render());',
  });
}

function faultOfAnswers(answers, requests) {
  const pidOf = new Map(requests.map(({ client, pid }) => [client, pid]));
  for (const { status, error, body, client } of answers) {
    if (error) return `A request failed: ${error}.`;
    if (status !== 200) return `A request was answered with status ${status}.`;
    const told = pidIn(body);
    if (told === undefined)
      return `It is no JSON with a pid: ${JSON.stringify(body.slice(0, 40))}.`;
    if (told !== pidOf.get(client))
      return `A page rendered by process ${pidOf.get(client)} tells the pid ${told}.`;
  }
  return undefined;
}

function pidIn(body) {
  try {
    return JSON.parse(body)?.pid;
  } catch {
    return undefined;
  }
}

/**
 * What a wrong count comes from: the first that explains all counts, or else the first that explains the wrong one.
 * @type {[isSo: (facts: Counted & { exact: number, wanted: number }) => boolean, why: string, repair: string][]}
 */
const MISCOUNTS = [
  [
    ({ isFlood }) => isFlood,
    'The page time is in milliseconds, the rate in requests a second.',
    'Math.ceil((rate * serviceMs) / 1000 / utilization)',
  ],
  [
    ({ forks }) => forks === 0,
    'The primary forks the workers; as yet nobody does.',
    'if (cluster.isPrimary) for (let count = 0; count < workers; count += 1) cluster.fork();',
  ],
  [
    ({ forks }) => forks === availableParallelism(),
    'That is the number of cores. Pages that wait need no core, and cores do not tell how many requests come.',
    'Math.ceil((rate * serviceMs) / 1000 / utilization)',
  ],
  [
    ({ forks, exact, setting }) => forks === Math.ceil(exact * setting.utilization),
    'Without UTILIZATION, workers are busy all the time, and whoever comes a little early has to wait; and the same comes out when you do not round up.',
    'Math.ceil((rate * serviceMs) / 1000 / utilization)',
  ],
  [
    ({ forks, exact }) => forks < exact,
    'Half a worker too few is too few: the queue grows without end.',
    'Math.ceil(...)',
  ],
  [
    ({ forks, wanted }) => forks === wanted + 1,
    'The room to spare is in UTILIZATION already. If you have added none, a slow first run is in your mean.',
    'Math.ceil(...), and the median of some runs',
  ],
  [
    () => true,
    `The first page of a process takes ${FIRST_IS} times as long as the others, and a mean of a few has it in.`,
    'take the median of some runs',
  ],
];

/** @param {Counted[]} counts */
export function demandComputed(counts) {
  const wrong = counts.find(({ isRight }) => !isRight);
  if (!wrong) return;
  const { setting, forks, fate, output } = wrong;
  const { exact, wanted } = factsOf(wrong);
  const name = Object.entries(setting.env).map(([key, value]) => `${key}=${value}`);
  const story = {
    expected: `${name.join(' ') || 'Without any setting'}: ${setting.rate} × ${setting.workMs / 1000} / ${setting.utilization} is ${exact.toFixed(2)}, so ${wanted} workers.`,
    got: gotOf(wrong),
  };
  refuseToJudge(wrong, story);
  const all = counts.map(factsOf);
  const [, why, repair] =
    MISCOUNTS.slice(0, -1).find(([isSo]) => all.every(isSo)) ??
    MISCOUNTS.find(([isSo]) => isSo(factsOf(wrong))) ??
    [];
  const ended = fate?.kind === 'ended' && forks === 0;
  demand(false, { ...story, why: ended ? output.trim() || why : why, try: repair, output });
}

/** What the formula says beside what was counted. @param {Counted} counted */
function factsOf(counted) {
  const exact = exactOf(counted.setting);
  return { ...counted, exact, wanted: Math.ceil(exact) };
}

/** @param {Counted} counted */
function gotOf({ forks, isFlood, fate }) {
  if (isFlood) return 'It started dozens of processes, and more were coming; all were stopped.';
  if (forks > 0) return `It forked ${forks}.`;
  return fate ? `It ended (${fate.signal ?? `exit code ${fate.code}`}).` : 'It forks no worker.';
}

/** @param {Counted} counted */
function refuseToJudge(counted, story) {
  const { slowest } = counted;
  if (slowest <= MOST_OFF || !mayComeOfMachine(counted)) return;
  const why = `Here, too, a page took ${slowest.toFixed(1)} times as long as it should: the machine is busy.`;
  throw new Undecided({ ...story, why, try: PATIENCE });
}

/** @param {Counted} slow */
export function demandMeasured(slow) {
  const { setting, isRight, forks, output } = slow;
  if (isRight) return;
  const exact = exactOf(setting);
  const { workMs, rate } = setting;
  const story = {
    expected: `Where pages take ${workMs} ms, at ${rate} requests a second: ${exact.toFixed(2)}, so ${Math.ceil(exact)} workers.`,
    got: gotOf(slow),
  };
  refuseToJudge(slow, story);
  const isRightFor = (ms) => forks === Math.ceil((exact * ms) / workMs);
  const why = isRightFor(WORK_MS)
    ? `That would be right for pages of ${WORK_MS} ms: a number that is written down is right on one machine, for one release.`
    : isRightFor(Number(setting.env.WORK_MS))
      ? `That would be right for pages of WORK_MS=${setting.env.WORK_MS}. Here they take longer than it says, as on another machine.`
      : 'The same formula was right for quicker pages; what takes longer has to be measured, too.';
  const repair = 'const startMs = performance.now(); render(); and look again';
  demand(false, { ...story, why, try: repair, output });
}

/** @param {{ program: Program, told: number }[]} programs */
export function demandTold(programs) {
  for (const { program, told } of programs) {
    const forks = forksOf(program.events).length;
    demand(forks === told, {
      expected: `NODE_CLUSTER_WORKERS=${told}: so many calls of cluster.fork() in the primary`,
      got: forks === 0 ? 'It forks no worker.' : `It forked ${forks}.`,
      why: 'Whoever runs the server may know better than any formula, and may want fewer.',
      try: 'process.env.NODE_CLUSTER_WORKERS ?? what was computed',
    });
  }
}

/**
 * A cluster that runs has to tell both; one that was ended as soon as it had forked must not tell another number.
 * @param {Program} program
 * @param {Counted[]} counts
 */
export function demandLog(program, counts) {
  const own = { output: program.output(), forks: forksOf(program.events).length };
  const wrong = isTold(own) ? counts.find(isMistold) : own;
  demand(!wrong, {
    expected: `A line with the page time (about ${WORK_MS} ms) and with ${wrong?.forks}, the number of workers.`,
    got: wrong?.output.trim() ? 'No line has both.' : 'It prints nothing.',
    why: 'Whoever wonders why there are so many workers finds the reason where it was decided.',
    try: 'console.log(`a page takes ${serviceMs.toFixed(2)} ms: ${workers} workers`);',
    output: wrong?.output,
  });
}

const isTold = ({ output, forks }) =>
  linesWithPageTime(output).some((line) => numbersIn(line).includes(forks));
const isMistold = ({ output, forks }) =>
  linesWithPageTime(output).length > 0 && !isTold({ output, forks });

const linesWithPageTime = (/** @type {string} */ output) =>
  output.split('\n').filter((line) => numbersIn(line).some(isPageTime));

const numbersIn = (/** @type {string} */ line) => (line.match(/\d+(?:\.\d+)?/g) ?? []).map(Number);

/** In milliseconds, seconds or microseconds. @param {number} value */
const isPageTime = (value) =>
  [1, 1_000, 0.001].some((unit) => value * unit >= LEAST_WORK_MS && value * unit <= MOST_LOGGED_MS);

export function demandRefusals(refusals) {
  const faults = refusals.map((one) => ({ ...one, fault: faultOfRefusal(one) }));
  const [accepted, ...others] = faults.filter(({ fault }) => fault);
  if (!accepted) return;
  const { name, value, fault, output } = accepted;
  const more = others.map((one) => `${one.name}=${one.value}`).join(', ');
  demand(false, {
    expected: `${name}=${value}: ${name} has to be ${RULES[name]}. A message that names it, exit code 1, and no worker.`,
    got: more ? `${fault} Something is wrong with these, too: ${more}.` : fault,
    why: 'NaN and Infinity go through every formula, and come out as no worker or as thousands; 150 % of the time nobody is busy, and half a worker cannot be forked.',
    try: 'if (!(utilization > 0 && utilization <= 1)) { console.error("UTILIZATION must be ..."); process.exit(1); }',
    output,
  });
}

function faultOfRefusal({ name, fate, output, isStarted }) {
  if (isStarted) return 'It started all the same.';
  if (fate?.kind !== 'ended') return 'It neither started nor refused.';
  if (fate.code === 0) return 'It forked no worker and ended as if all were well (exit code 0).';
  if (fate.code !== 1) return `It ended with ${fate.signal ?? `exit code ${fate.code}`}.`;
  if (!output.includes(name)) return 'It ended, but did not say which setting was wrong.';
  return undefined;
}

export function demandIdlePrimary({ events }, { requests }) {
  const workers = new Set(forksOf(events).map(({ workerPid }) => workerPid));
  const others = requests.filter(({ pid }) => !workers.has(pid));
  demand(others.length === 0, {
    expected: 'Workers execute every request.',
    got: `The primary executed ${others.length} of ${requests.length}.`,
    why: 'A primary that renders is blocked, and deals no connection meanwhile; and it is one more than you have computed.',
    try: 'if (cluster.isPrimary) { measure, choose, fork } else { serve(); }',
  });
}

/** What a busy machine cannot be the cause of fails at once: an answer that says no, a worker that has ended. */
export function demandKeepsUp({ control, candidate, deaths, disturbance, seconds }) {
  const { report, waiting } = candidate;
  const failed = report.requests - (report.statuses[200] ?? 0);
  const isCalm = waiting <= SHARE_OF_QUEUE * control.waiting;
  if (isCalm && failed === 0) return;
  const refusal = Object.keys(report.statuses).find((status) => !['0', '200'].includes(status));
  const [error] = Object.keys(report.errors);
  const how = refusal ? `status ${refusal}` : error;
  const ends = deaths > 0 ? ` ${deaths} of its workers ended meanwhile.` : '';
  const story = {
    expected: `${RATE} a second for ${seconds} s: all are answered with 200, and at the end hardly anybody waits.`,
    got:
      failed > 0
        ? `${failed} of ${report.requests} failed (${how}).${ends}`
        : `At the end ${waiting} clients waited; of one process ${control.waiting}.`,
  };
  if (disturbance && !refusal && deaths === 0)
    throw new Undecided({ ...story, why: `Meanwhile ${disturbance}.`, try: PATIENCE });
  const why =
    failed > 0
      ? 'An answer that never comes, or says no, is no answer in time.'
      : 'There are enough workers for it, so they wait for something that they share, or get slower from page to page.';
  demand(false, { ...story, why, try: 'npm run check -- --timeline, which draws who worked when' });
}
