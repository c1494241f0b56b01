/** Lesson 7: judges what looks.js saw, in the sentences that a learner reads. */
import { availableParallelism } from 'node:os';
import {
  demand,
  demandInTime,
  eventsOf,
  exitMoment,
  firstOf,
  forkMoment,
  forksOf,
  groupBy,
  howItEnded,
  momentOf,
  parseJsonBody,
  primaryExitMoment,
  requestOf,
  requestsOf,
} from '../../lib/check/checking.js';
import { EXPLICIT, WORK_MS, exactOf, workersOf } from './looks.js';

const LEAST_PAGE_MS = 0.95 * WORK_MS; // as measured with a clock in whole milliseconds
const MOST_WAITING = 12; // one process leaves fifty waiting, a cluster two or three
const USUAL_RATE = 200; // default of RATE
const USUAL_UTILIZATION = 0.7; // default of UTILIZATION
const MARKED = 6; // moments of a kind in the X-ray
const FORMULA =
  'look at the formula of task 2, unit by unit: how many workers are busy all the time, and how many do you want?';

const IGNORED = {
  why: 'The formula gives more, but the person who runs the server may know better, and the variable wins.',
  try: 'look at what the count of task 2 does when NODE_CLUSTER_WORKERS is set',
};
const FORK = 'look at the end of the file: which process forks, and how often?';

/** By how many workers were forked. @type {Record<number, { why: string, try: string }>} */
const WHY_TOLD = {
  0: {
    why: 'No process called cluster.fork(): is the loop reached, in the primary, and does it end at a number?',
    try: FORK,
  },
  1: { why: 'cluster.fork() was called once: each call starts one worker.', try: FORK },
  [EXPLICIT.workers - 1]: {
    why: 'It forks once less than the variable says: the count of the loop starts or ends one off.',
    try: FORK,
  },
  [EXPLICIT.workers + 1]: {
    why: 'It forks once more than the variable says. The primary itself is no worker.',
    try: FORK,
  },
};

export function demandExplicit(program) {
  const workers = workersOf(program).length;
  demand(workers === EXPLICIT.workers, {
    expected: `${wordsOf(EXPLICIT)}: ${EXPLICIT.workers} workers, although the formula comes to ${EXPLICIT.formula}.`,
    got: workers === 0 ? 'It forks no workers.' : `It forked ${workers}.`,
    ...(WHY_TOLD[workers] ?? IGNORED),
    shows: forksShown(program),
  });
}

/** @typedef {Awaited<ReturnType<typeof import('./looks.js').countWorkers>>} Counted */

/**
 * A wrong formula, known by the counts that it gives for every setting. `busy` is how many workers are busy all the time.
 * @type {[count: (setting: import('./looks.js').Setting & { exact: number, busy: number }) => number, why: string][]}
 */
const WRONG_FORMULAS = [
  [
    ({ busy }) => Math.ceil(busy),
    'That is rate times page time, rounded up: so many are busy all the time. Divide by UTILIZATION, and bursts find room.',
  ],
  [
    ({ busy, utilization }) => Math.ceil(busy * utilization),
    'That is what multiplying by UTILIZATION gives: the less busy each worker should be, the more you need. Divide by it.',
  ],
  [
    ({ exact }) => Math.floor(exact),
    'There is no part of a worker: the result must be rounded up.',
  ],
  [
    ({ busy, utilization }) => Math.ceil(Math.ceil(busy) / utilization),
    'That is what rounding twice gives: rate times page time was rounded up before the division. Round once, at the end.',
  ],
  [
    ({ exact, rate }) => Math.ceil((exact * USUAL_RATE) / rate),
    `It would be right for ${USUAL_RATE} requests a second, but RATE says another number.`,
  ],
  [
    ({ busy }) => Math.ceil(busy / USUAL_UTILIZATION),
    `It would be right for a utilization of ${USUAL_UTILIZATION}, but UTILIZATION says another number.`,
  ],
  [
    () => availableParallelism(),
    'That is the number of cores, which does not say how many requests come. A page that sleeps needs no core.',
  ],
  [
    ({ exact }) => Math.ceil(exact) + 1,
    'UTILIZATION already includes the room to spare. If you have added none, a slow first run is in your mean.',
  ],
];

const REFUSAL = /NODE_CLUSTER_WORKERS must be .*, not "(.*)"/; // printed by readNumber(), which is given

/**
 * The cause of a count that no wrong formula gives: the first condition that is met. `refused` is the number that readNumber() has refused.
 * @type {[isSo: (facts: Counted & { exact: number, refused?: number }) => boolean, why: string, repair: string][]}
 */
const MISCOUNTS = [
  [
    ({ workers, fate }) => workers === 0 && !fate,
    'The primary should fork the workers, and nothing does yet.',
    FORK,
  ],
  [
    ({ refused }) => Number.isNaN(refused),
    'That is no number: something in the formula has no value. A function returns nothing, or an array has no such position.',
    'look at each part of the formula: does the measurement return a number?',
  ],
  [
    ({ refused = Infinity, exact }) => refused < 2 * exact,
    'There is no part of a worker: the result must be rounded up.',
    FORMULA,
  ],
  [
    ({ fate }) => fate !== undefined,
    'The page time is in milliseconds, the rate in requests a second: without / 1000 there are a thousand times too many.',
    FORMULA,
  ],
  [
    ({ workers, exact }) => workers < exact,
    'With too few workers the queue grows without end.',
    FORMULA,
  ],
  [
    () => true,
    'The first page of a process takes five times as long as the others, and it was counted.',
    'look at which of the measured times you take',
  ],
];

/** @param {Counted} counted */
export function demandNotTooMany(counted) {
  const isTooFew = counted.workers > 0 && counted.workers < exactOf(counted.setting);
  if (!isTooFew) demandComputed(counted); // too few: only a second setting tells which formula is wrong
}

/** @param {Counted[]} counts  each with a setting of its own */
export function demandComputed(...counts) {
  const [, known] =
    WRONG_FORMULAS.find(([count]) =>
      counts.every(({ setting, workers }) => {
        const exact = exactOf(setting);
        return workers === count({ ...setting, exact, busy: exact * setting.utilization });
      }),
    ) ?? [];
  for (const counted of counts) demandFormula(counted, known);
}

/** @param {Counted} counted @param {string} [known]  the wrong formula that gives the counts */
function demandFormula(counted, known) {
  const { setting, workers, fate, output } = counted;
  const exact = exactOf(setting);
  const refused = fate && REFUSAL.exec(output)?.[1];
  const facts = { ...counted, exact, refused: refused === undefined ? undefined : Number(refused) };
  const [, likely, repair] = known ? ['', known, FORMULA] : firstOf(MISCOUNTS, facts);
  demandCount(counted, {
    expected: `${wordsOf(setting)}: ${setting.rate} × ${setting.pageMs / 1000} / ${setting.utilization} is ${exact.toFixed(2)}, so ${Math.ceil(exact)} workers.`,
    why:
      fate && workers === 0 && output.trim()
        ? `It printed: ${output.trim().replace(/\.$/, '')}. ${likely}`
        : likely,
    try: repair,
  });
}

/** @param {Counted} counted */
export function demandMeasured(counted) {
  const { setting, workers } = counted;
  const exact = exactOf(setting);
  const isUsual = workers === Math.ceil((exact * WORK_MS) / setting.pageMs);
  demandCount(counted, {
    expected: `On a slower machine pages take ${setting.pageMs} ms. At ${setting.rate} requests a second that is ${exact.toFixed(2)}, so ${Math.ceil(exact)} workers.`,
    why: isUsual
      ? `That would be right for pages of ${WORK_MS} ms, which is what WORK_MS says. A number that is written down is right on one machine, for one release.`
      : 'The same formula was right for quicker pages; slower ones have to be measured too.',
    try: 'look at where the page time comes from: is it measured at each start?',
  });
}

/**
 * A busy machine makes pages longer, which only adds workers: too few workers are the program's fault. If there are none, the
 * primary may still be loading its modules.
 */
function demandCount({ setting, workers, fate, program, output }, story) {
  const wanted = Math.ceil(exactOf(setting));
  const end =
    fate &&
    (fate.kind === 'excess' ? 'was stopped: it took too much of the machine' : howItEnded(fate));
  const got =
    workers > 0
      ? `It forked ${workers}.`
      : fate
        ? `It forked none, and ended (${end}).`
        : 'It forks no workers.';
  const all = { ...story, got, shows: forksShown(program), output };
  const isForking = workers > 0 || fate !== undefined;
  demand(workers >= wanted || !isForking, all);
  demandInTime(workers === wanted, all);
}

const wordsOf = (/** @type {{ env: Record<string, string> }} */ { env }) =>
  Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ') || 'Without any setting';

export function demandWork(program, { answers, requests }) {
  const workers = new Set(forksOf(program.events).map(({ workerPid }) => workerPid));
  const inPrimary = requests.filter(({ pid }) => !workers.has(pid));
  demand(inPrimary.length === 0, {
    expected: 'Workers render every page.',
    got: `The primary rendered ${inPrimary.length} of ${requests.length}.`,
    why: 'A primary that renders is blocked, and deals no connections. It is also one more than you computed.',
    try: 'look at the end of the file: what does the primary do there, and what a worker?',
    shows: shown(program, inPrimary, 'a request, in the primary'),
  });
  const expected = `Each / takes the ${WORK_MS} ms of a page, and returns {"pid": ...} with the pid of the worker that rendered it.`;
  const repair = 'keep serve() and render() as they were: response.end(render());';
  const wrong = answers.find((answer) => faultOf(answer, requests));
  demand(!wrong, {
    expected,
    got: wrong && faultOf(wrong, requests),
    why: 'serve() was given: its answer names the process that rendered the page.',
    try: repair,
    shows: shown(program, [wrong && requestOf(requests, wrong)], 'a wrong answer'),
  });
  const [quickest] = pagesOf(requests).sort((a, b) => a.tookMs - b.tookMs);
  demand(quickest.tookMs >= LEAST_PAGE_MS, {
    expected,
    got: `A page was answered ${quickest.tookMs.toFixed(1)} ms after ${quickest.since}.`,
    why: 'The page blocks, as rendering does. A server that does less work does not say how many workers it needs.',
    try: repair,
    shows: shown(program, [quickest.request], 'the quickest page'),
  });
}

function faultOf(answer, requests) {
  const { status, error, body } = answer;
  if (error || status !== 200) return `A request got ${error ?? `status ${status}`}.`;
  const { pid } = parseJsonBody(body);
  if (pid === undefined) return `It isn't JSON with a pid: ${JSON.stringify(body.slice(0, 40))}.`;
  const rendered = requestOf(requests, answer)?.pid;
  return pid === rendered
    ? undefined
    : `A page rendered by process ${rendered} gives the pid ${pid}.`;
}

/** Each page's time since its request arrived, or since the previous page of the same process was done. */
function pagesOf(requests) {
  return [...groupBy(requests, ({ pid }) => pid).values()].flatMap((all) => {
    const ended = all.filter(({ endMs }) => endMs).sort((a, b) => a.endMs - b.endMs);
    return ended.flatMap((request, index) => {
      const { startMs, endMs } = request;
      const before = ended[index - 1]?.endMs ?? -Infinity;
      return [
        { request, tookMs: endMs - startMs, since: 'its request arrived' },
        { request, tookMs: endMs - before, since: 'the page before it, in the same process' },
      ];
    });
  });
}

export function demandKeepsUp(program, { cluster, single, exits, seconds }) {
  const { requests, statuses, errors } = cluster.report;
  const failed = requests - (statuses[200] ?? 0);
  const refusal = Object.keys(statuses).find((status) => !['0', '200'].includes(status));
  const story = {
    expected: `200 requests a second for ${seconds} s: all are answered with 200, and at the end hardly any client waits.`,
    shows: loadShown(program, exits),
  };
  demand(exits.length === 0, {
    ...story,
    got: `${exits.length} of its workers exited, and ${failed} of ${requests} requests failed.`,
    why: 'The formula counts workers that stay. Nothing replaces a worker that exits.',
    try: 'look for what ends a worker',
  });
  demand(!refusal, {
    ...story,
    got: `${failed} of ${requests} failed (status ${refusal}).`,
    why: "An answer that says no isn't a page.",
    try: 'look at the handler of /: does each request get its own page?',
  });
  demandInTime(failed === 0, {
    ...story,
    got: `${failed} of ${requests} got no answer (${Object.keys(errors)[0]}).`,
    why: "An answer that never comes isn't an answer in time.",
    try: 'npm run check lesson-7 -- --timeline, which draws which process worked when',
  });
  demandInTime(cluster.waiting <= MOST_WAITING, {
    ...story,
    got: `At the end ${cluster.waiting} clients waited; with one process, ${single.waiting}.`,
    why: 'There are enough workers, so they wait for something that they share, or get slower from page to page.',
    try: 'npm run check lesson-7 -- --timeline, which draws which process worked when',
  });
}

/** Evidence for a growing queue: a worker's exit, a failed answer, or the slowest requests. */
function loadShown(program, exits) {
  if (exits.length > 0) return { program, moments: exits.slice(0, MARKED).map(exitMoment) };
  const requests = requestsOf(program.events);
  const refused = requests.filter(({ status = 200 }) => status !== 200);
  if (refused.length > 0) return shown(program, refused, 'a request that is refused');
  const tookMs = ({ startMs, endMs = Infinity }) => endMs - startMs;
  return shown(
    program,
    requests.sort((a, b) => tookMs(b) - tookMs(a)),
    'one of the slowest',
  );
}

const shown = (program, seen, says) => ({
  program,
  moments: seen.slice(0, MARKED).map((one) => momentOf(one, says)),
});

/** Its forks, or its exit. */
function forksShown(program) {
  const forks = forksOf(program.events).slice(0, MARKED);
  const exits = eventsOf(program.events, 'exit').length > 0 ? [primaryExitMoment(program)] : [];
  return {
    program,
    moments: forks.length > 0 ? forks.map((fork) => forkMoment(fork, 'fork')) : exits,
  };
}
