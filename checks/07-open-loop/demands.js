/** Judges what was seen of the programs of lesson 7. */
import { availableParallelism } from 'node:os';
import {
  Undecided,
  deepestOverlap,
  demand,
  eventsOf,
  forksOf,
  isCrowded,
  momentOf,
  overrunNow,
  quickestOf,
  requestOf,
  requestsOf,
} from '../../lib/check/checking.js';
import {
  FIRST_IS,
  LEAST,
  LEAST_OF_PAGE,
  MOST_OFF,
  RATE,
  WORK_MS,
  byProcess,
  exactOf,
  isCalm,
  mayComeOfMachine,
  numbersIn,
  workersIn,
} from './looks.js';

/** @typedef {import('./looks.js').Counted} Counted */
/** @typedef {import('./looks.js').Setting} Setting */
/** @typedef {import('../../lib/observe/program.js').Program} Program */

const LEAST_WORK_MS = LEAST_OF_PAGE * WORK_MS;
const MUCH_OFF = 1.5; // less than that, and half a page would have been seen in one of dozens
const BUSY = 'The machine is busy, and makes less work look like a whole page.';
const RULES = {
  RATE: 'a number above 0',
  UTILIZATION: 'above 0 and at most 1',
  NODE_CLUSTER_WORKERS: 'a whole number from 1 to 99',
};
const REPAIRS = {
  RATE: 'if (!(rate > 0 && rate < Infinity)) { console.error("RATE must be ..."); process.exit(1); }',
  UTILIZATION:
    'if (!(utilization > 0 && utilization <= 1)) { console.error("UTILIZATION must be ..."); process.exit(1); }',
  NODE_CLUSTER_WORKERS:
    'if (!(Number.isInteger(workers) && workers >= 1 && workers <= 99)) { console.error("NODE_CLUSTER_WORKERS must be ..."); process.exit(1); }',
};
const MOST_QUOTED = 80;
const PATIENCE = 'close other programs, then check again';
const MARKED = 6; // moments of a kind

const shown = (program, seen, says) => ({
  program,
  moments: seen.slice(0, MARKED).map((one) => momentOf(one, says)),
});

/** How many it has forked; in a loop that was stopped, who has started; or that it has ended. */
function forksShown(program) {
  const forks = forksOf(program.events);
  if (forks.length > 0) return shown(program, forks, 'fork');
  const started = eventsOf(program.events, 'start').filter(({ pid }) => pid !== program.pid);
  return started.length > 0 ? shown(program, started, 'starts') : endShown(program);
}

const endShown = (program) => ({
  program,
  moments: eventsOf(program.events, 'exit')
    .filter(({ pid }) => pid === program.pid)
    .map((end) => momentOf(end, `ends with exit code ${end.code}`)),
});

export function demandWork({ answers, requests, program }) {
  const quickest = quickestOf(requests);
  const beside = [...byProcess(requests).values()].filter((some) => !areOneByOne(some));
  const depth = Math.max(1, ...beside.map(deepestOverlap));
  const fault =
    faultOfAnswers(answers, requests) ??
    (depth > 1 && `Up to ${depth} pages were under way in one process at the same time.`) ??
    undefined;
  const tooQuick = quickest < LEAST_WORK_MS && `The quickest took ${quickest.toFixed(1)} ms.`;
  const got = fault || tooQuick;
  const expected = `Each / takes the ${WORK_MS} ms of a page and returns {"pid": ...} with the pid of the process that rendered it.`;
  if (!got && quickest > MUCH_OFF * WORK_MS && isCrowded()) {
    const slow = `Of ${requests.length} the quickest took ${quickest.toFixed(1)} ms.`;
    const shows = shown(program, quickestIn(requests), 'the quickest page');
    throw new Undecided({ expected, got: slow, why: BUSY, try: PATIENCE, shows });
  }
  demand(!got, {
    expected,
    got: got || undefined,
    why: "The page blocks, as rendering does. A server that does less work doesn't answer the question of how many workers it needs.",
    try: 'keep serve() and render() as they were: response.end(render());',
    shows: workShown(program, { answers, requests, depth }),
  });
}

/** Requests of one process may wait for each other in a queue of its own: then their answers are a page apart. */
function areOneByOne(requests) {
  const ends = requests.map(({ endMs = Infinity }) => endMs).sort((a, b) => a - b);
  return ends.every((end, index) => index === 0 || end - ends[index - 1] >= LEAST_WORK_MS);
}

/** The request that was answered wrongly, pages under way at once, or the quickest. */
function workShown(program, { answers, requests, depth }) {
  const wrong = answers.find((answer) => faultOfAnswers([answer], requests));
  const ofWrong = wrong && requestOf(requests, wrong);
  if (ofWrong) return shown(program, [ofWrong], 'a request that is answered wrongly');
  if (depth > 1) return shown(program, overlappingIn(requests), 'pages under way at once');
  return shown(program, quickestIn(requests), 'the quickest page');
}

const quickestIn = (requests) =>
  requests.filter((one) => quickestOf([one]) === quickestOf(requests));

/** Those of one process that were under way while another of it was. */
const overlappingIn = (requests) =>
  requests.filter((one) =>
    requests.some(
      (other) => other !== one && other.pid === one.pid && deepestOverlap([one, other]) > 1,
    ),
  );

function faultOfAnswers(answers, requests) {
  for (const answer of answers) {
    const { status, error, body } = answer;
    if (error) return `A request failed: ${error}.`;
    if (status !== 200) return `A request was answered with status ${status}.`;
    const told = pidIn(body);
    if (told === undefined)
      return `It isn't JSON with a pid: ${JSON.stringify(body.slice(0, 40))}.`;
    const pid = requestOf(requests, answer)?.pid;
    if (told !== pid) return `A page rendered by process ${pid} gives the pid ${told}.`;
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
    'The primary forks the workers; so far nothing does.',
    'if (cluster.isPrimary) for (let count = 0; count < workers; count += 1) cluster.fork();',
  ],
  [
    ({ forks }) => forks === availableParallelism(),
    'That is the number of cores. Pages that wait need no core, and the number of cores does not say how many requests come.',
    'Math.ceil((rate * serviceMs) / 1000 / utilization)',
  ],
  [
    ({ forks, exact, setting }) => forks === Math.ceil(exact * setting.utilization),
    "Without UTILIZATION, workers are busy all the time, and a client that comes a little early has to wait. You get the same number if you don't round up.",
    'Math.ceil((rate * serviceMs) / 1000 / utilization)',
  ],
  [
    ({ forks, exact, setting }) =>
      forks === Math.ceil(Math.ceil(exact * setting.utilization) / setting.utilization),
    'You get this number if you round up the busy workers first and again after dividing by UTILIZATION, or if the number is the same for all settings.',
    'Math.ceil((rate * serviceMs) / 1000 / utilization), rounded once, at the end',
  ],
  [
    ({ forks, setting }) => isOfWholes(forks, setting),
    'You get this number if you round the rate, the pages that a worker can render in a second, or the work that comes in one. A page of 400 ms is 2.5 a second, neither 2 nor 3.',
    'Math.ceil((rate * serviceMs) / 1000 / utilization), rounded once, at the end',
  ],
  [
    ({ forks, setting }) => isOfWholeMs(forks, setting),
    'You get this number if you round the time of a page to whole milliseconds. A page of 0.6 ms takes neither 0 nor 1.',
    'Math.ceil((rate * serviceMs) / 1000 / utilization), rounded once, at the end',
  ],
  [
    ({ forks, exact }) => forks < exact,
    'Half a worker too few is too few: the queue grows without end.',
    'Math.ceil(...)',
  ],
  [
    ({ forks, wanted }) => forks === wanted + 1,
    'UTILIZATION already includes the room to spare. If you have added none, your mean includes a slow first run.',
    'Math.ceil(...), and the median of a few runs',
  ],
  [
    () => true,
    `The first page of a process takes ${FIRST_IS} times as long as the others, and a mean of a few includes it.`,
    'take the median of a few runs',
  ],
];

/** Does it come of a whole number of requests a second, or of pages? */
const isOfWholes = (forks, { rate, utilization, workMs }) =>
  [Math.floor, Math.round, Math.ceil].some((whole) =>
    [whole(rate) / (1000 / workMs), rate / whole(1000 / workMs)].some(
      (busy) => forks === Math.ceil(busy / utilization),
    ),
  );

/** Does it come of a whole number of milliseconds? Only where a fraction is much of a page: elsewhere that is right, or chance. */
const isOfWholeMs = (forks, { rate, utilization, workMs }) =>
  workMs < 2 &&
  [Math.floor(workMs), Math.ceil(workMs)].some(
    (wholeMs) => forks === Math.ceil((rate * wholeMs) / 1000 / utilization),
  );

/** Where one worker is enough one serves: no measurement can make it two. */
export function demandLeast({ serving, program }) {
  const { env, rate, utilization, workMs } = LEAST;
  demand(serving <= 1, {
    expected: `${wordsOf(env)}, on a machine with ${LEAST.pretendCores} cores: ${rate} × ${workMs / 1000} / ${utilization} is ${exactOf(LEAST)}, so one worker.`,
    got: `${serving} workers serve.`,
    why: 'The formula says how many are needed, and nobody asked for more. Whoever wants one in reserve sets NODE_CLUSTER_WORKERS.',
    try: 'Math.ceil((rate * serviceMs) / 1000 / utilization), and no Math.max() around it',
    shows: forksShown(program),
  });
}

/** @param {Counted[]} counts */
export function demandComputed(counts) {
  const wrong = counts.find(({ isRight }) => !isRight) ?? counts.find(({ isVague }) => isVague);
  if (!wrong) return;
  const { setting, forks, fate, output } = wrong;
  const { exact, wanted } = factsOf(wrong);
  const name = Object.entries(setting.env).map(([key, value]) => `${key}=${value}`);
  const story = {
    expected: `${name.join(' ') || 'Without any setting'}: ${setting.rate} × ${setting.workMs / 1000} / ${setting.utilization} is ${exact.toFixed(2)}, so ${wanted} workers.`,
    got: gotOf(wrong),
    shows: forksShown(wrong.program),
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
  return fate ? `It ended (${fate.signal ?? `exit code ${fate.code}`}).` : 'It forks no workers.';
}

/** @param {Counted} counted */
function refuseToJudge(counted, story) {
  const { slowest, isVague } = counted;
  const isSlowForUs = slowest > MOST_OFF && mayComeOfMachine(counted);
  const mayBeSlow = overrunNow() && counted.forks > exactOf(counted.setting);
  if (!isVague && !isSlowForUs && !mayBeSlow) return;
  const why = isVague
    ? 'The machine is busy, and pages took so long that a formula with fewer workers would come to as many.'
    : isSlowForUs
      ? `Here too, a page took ${slowest.toFixed(1)} times as long as it should: the machine is busy.`
      : 'The machine is busy, and makes pages longer: then a right formula comes to more workers.';
  throw new Undecided({ ...story, why, try: PATIENCE });
}

/** @param {Counted} slow */
export function demandMeasured(slow) {
  const { setting, isRight, isVague, forks, output } = slow;
  if (isRight && !isVague) return;
  const exact = exactOf(setting);
  const { workMs, rate } = setting;
  const story = {
    expected: `Where pages take ${workMs} ms, at ${rate} requests a second: ${exact.toFixed(2)}, so ${Math.ceil(exact)} workers.`,
    got: gotOf(slow),
    shows: forksShown(slow.program),
  };
  refuseToJudge(slow, story);
  const isRightFor = (ms) => forks === Math.ceil((exact * ms) / workMs);
  const isNear = Math.abs(forks - Math.ceil(exact)) === 1;
  const why = isRightFor(WORK_MS)
    ? `That would be right for pages of ${WORK_MS} ms, which is what WORK_MS says, and what they took before. A number that is written down, in a variable or in a file, is right on one machine, for one release.`
    : isNear
      ? `Neither RATE nor UTILIZATION is set here, so ${rate} and ${setting.utilization} apply. With others the usual pages may need as many workers, but not these.`
      : 'The same formula was right for quicker pages; slower ones have to be measured too.';
  const repair = isNear
    ? `process.env.RATE ?? ${rate}, process.env.UTILIZATION ?? ${setting.utilization}`
    : 'at each start: const startMs = performance.now(); render(); and look again';
  demand(false, { ...story, why, try: repair, output });
}

/** @param {{ program: Program, told: number }[]} programs */
export function demandTold(programs) {
  for (const { program, told } of programs) {
    const forks = workersIn(program.events).length;
    demand(forks === told, {
      expected: `NODE_CLUSTER_WORKERS=${told}: that many calls of cluster.fork() in the primary`,
      got: forks === 0 ? 'It forks no workers.' : `It forked ${forks}.`,
      why: 'The person who runs the server may know better than any formula, and may want fewer.',
      try: 'process.env.NODE_CLUSTER_WORKERS ?? what was computed',
      shows: forksShown(program),
    });
  }
}

/**
 * Only a program that has forked as many as it should is asked for its reasons. A page of a fraction of a millisecond may be
 * rounded away, but its unit is the right one.
 * @param {Counted} usual
 * @param {Counted} other
 * @param {Counted} slow
 * @param {Counted} [fine]
 */
export function demandLog(usual, other, slow, fine) {
  const counts = fine?.told?.mislabelled ? [usual, other, slow, fine] : [usual, other, slow];
  const silent = counts.find(({ isRight, told }) => isRight && !told?.line);
  if (!silent) return;
  const { setting, forks, told, output } = silent;
  const { workMs } = setting;
  const isPretended = setting === slow.setting;
  const where = isPretended ? `Pages take ${workMs} ms here, and WORK_MS says ${WORK_MS}: a` : 'A';
  const when = silent === fine ? ` Here: ${wordsOf(setting.env)}.` : '';
  demand(false, {
    expected: `${where} line with the page time (about ${workMs} ms) and with ${forks}, the number of workers.${when}`,
    got: told?.mislabelled
      ? `The time has the wrong unit: ${told.mislabelled.trim().slice(0, MOST_QUOTED)}`
      : told?.nearly
        ? `No line has both; one says: ${told.nearly.trim().slice(0, MOST_QUOTED)}`
        : output.trim()
          ? `No line has both, and none has the ${forks}.`
          : 'It prints nothing.',
    why: told?.mislabelled
      ? 'Whoever reads it believes it, and a page that seems a thousand times as quick, or as slow, explains nothing.'
      : isPretended
        ? 'The number of workers comes from what was measured. Somebody who looks for the reason has to find that number, not one that was known before.'
        : 'Somebody who wonders why there are so many workers finds the reason where it was decided.',
    try: 'console.log(`a page takes ${serviceMs.toFixed(2)} ms: ${workers} workers`);',
    shows: forksShown(silent.program),
    output,
  });
}

/** @typedef {{ fate?: import('../../lib/observe/program.js').Fate, output: string, isFlood: boolean, isStarted: boolean, program: Program }} Tried */

/**
 * @param {object} tried
 * @param {(Tried & { setting: Record<string, string> })[]} tried.refusals
 * @param {(Tried & { setting: Setting })[]} tried.tooMuch
 * @param {(Tried & { setting: Record<string, string> })[]} tried.sense
 * @param {Awaited<ReturnType<typeof import('./looks.js').refuseAtEdge>>} atEdge
 * @param {Tried & { setting: Record<string, string> }} least
 * @param {Counted[]} counts  for settings where nothing should be refused
 */
export function demandRefusals({ refusals, tooMuch, sense }, atEdge, least, ...counts) {
  demandRefused(refusals);
  if (!counts.every((one) => one.isRight || mayComeOfMachine(one))) return; // a number that is wrong everywhere is wrong here too
  tooMuch.forEach(demandBounded);
  [least, ...sense].forEach(demandTaken);
  demandEdge(atEdge);
}

/** The most that is allowed may also be what was computed. */
function demandEdge(atEdge) {
  if (!atEdge) return;
  const { refused, taken } = atEdge;
  demand(false, {
    expected: `${wordsOf(refused.env)}: ${taken.forks + 1} workers at the most. It forks, as up to 99 are allowed, computed or not.`,
    got: `It refused: it ended (exit code ${refused.fate.code}). With ${taken.forks} workers, at RATE=${taken.rate}, it did not.`,
    why: 'Any whole number from 1 to 99 makes sense, 99 included: a user who needs that many gets no server.',
    try: 'if (!(workers >= 1 && workers <= 99)) { console.error(...); process.exit(1); }',
    shows: endShown(refused.program),
    output: refused.output,
  });
}

function demandRefused(refusals) {
  const faults = refusals.map((one) => ({
    ...one,
    fault: faultOfRefusal(one, Object.keys(one.setting)),
  }));
  const [first, ...others] = faults.filter(({ fault }) => fault);
  if (!first) return;
  const { setting, fault, output, program } = first;
  const names = Object.keys(setting);
  const rules = names.map((name) => `${name} has to be ${RULES[name]}`).join(', and ');
  const more = others.map((one) => wordsOf(one.setting)).join(', ');
  demand(false, {
    expected: `${wordsOf(setting)}: ${rules}. A message that names ${names.length > 1 ? 'one of them' : 'it'}, exit code 1, and no worker.`,
    got: more ? `${fault.got} These are wrong too: ${more}.` : fault.got,
    why: fault.why ?? whyNonsense(setting),
    try: fault.try ?? REPAIRS[names[0]],
    shows: triedShown(program),
    output,
  });
}

const wordsOf = (setting) =>
  Object.entries(setting)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');

/** What happens when it is not refused. */
function whyNonsense(setting) {
  const [[name, value], second] = Object.entries(setting);
  if (second)
    return 'Each is refused on its own. Together they make a number of workers that looks right, or NaN, which is neither below nor above any bound: check what was set, not only what comes out.';
  if (value.includes(','))
    return `What is ${value}? A comma stands before decimals in one country, and between thousands in another. Number('${value}') is NaN: do not guess, tell the person who set it.`;
  if (Number.isNaN(Number(value)))
    return `Number('${value}') is NaN. That goes through every formula, and is neither below nor above any bound.`;
  if (name === 'NODE_CLUSTER_WORKERS')
    return '0 workers serve nobody, half a worker cannot be forked, and a hundred is a typo.';
  if (Number(value) > 0) return 'Nobody is busy for more than 100 % of the time.';
  if (name === 'UTILIZATION' && Number(value) === 0)
    return 'Any rate divided by 0 needs Infinity workers.';
  return 'The formula turns it into a number below 1, and a loop up to that forks nobody.';
}

/** @param {Tried & { setting: Setting }} tried */
function demandBounded(tried) {
  const { env, rate, utilization, workMs } = tried.setting;
  const exact = exactOf(tried.setting);
  const fault = faultOfRefusal(tried, Object.keys(RULES), exact);
  const named = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  demand(!fault, {
    expected: `${named.join(' ')}: ${rate} × ${workMs / 1000} / ${utilization} is ${exact.toFixed(1)}, and more than 99 workers are refused, even if computed: a message that says so, exit code 1.`,
    got: fault?.got,
    why:
      fault?.why ??
      'A few zeros too many in RATE are enough for thousands of workers, and then the machine runs out of memory. And if you cap the number, the queue only grows.',
    try:
      fault?.try ??
      'check the number that is forked in the end, wherever it comes from: if (!(workers >= 1 && workers <= 99)) { console.error(...); process.exit(1); }',
    shows: triedShown(tried.program),
    output: tried.output,
  });
}

/** @param {Tried & { setting: Record<string, string> }} tried */
function demandTaken({ setting, isStarted, fate, output, program }) {
  const isTold = 'NODE_CLUSTER_WORKERS' in setting;
  const named = Object.entries(setting).map(([name, value]) => `${name}=${value}`);
  demand(isStarted, {
    expected: `${named.join(' ')}: ${isTold ? RULES.NODE_CLUSTER_WORKERS : 'a rate above 0, and a utilization above 0 and at most 1'}. It forks.`,
    got: fate
      ? `It refused: it ended (${fate.signal ?? `exit code ${fate.code}`}).`
      : 'It forked nobody.',
    why: isTold
      ? 'NODE_CLUSTER_WORKERS wins, whatever RATE would need; and 99 is at the edge of what makes sense, but on the right side of it.'
      : 'Both are at the edge of what makes sense, but on the right side of it: whoever wants one busy worker for a visitor now and then, or one that hardly ever has anything to do, may have it.',
    try: isTold
      ? 'if (!(Number.isInteger(workers) && workers >= 1 && workers <= 99)) ...'
      : 'if (!(rate > 0 && rate < Infinity)) ...; if (!(utilization > 0 && utilization <= 1)) ...',
    shows: triedShown(program),
    output,
  });
}

/** What it did with a setting: it forked, started or served something, or ended. */
function triedShown(program) {
  const shows = forksShown(program);
  if (shows.moments.some(({ says }) => /^(fork|starts)$/.test(says))) return shows;
  const [listener] = eventsOf(program.events, 'listening');
  return listener ? shown(program, [listener], 'listens') : shows;
}

/**
 * What is wrong with it as a refusal; where why or try is missing, it depends on what was not refused.
 * @param {Tried} tried
 * @param {string[]} names  one of them has to be in its message
 * @param {number} [exact]  what was computed: the number will do, too
 * @returns {{ got: string, why?: string, try?: string } | undefined}
 */
function faultOfRefusal({ fate, output, isStarted, isFlood }, names, exact = Infinity) {
  if (isFlood) return { got: 'It started dozens of processes; all were stopped.' };
  if (isStarted && fate?.kind === 'ended' && fate.code === 1)
    return {
      got: 'It refused, but it had already forked a worker, or listened.',
      why: 'Until the settings are read nobody knows how many workers there should be. A worker that is there already takes memory, and may have taken a request.',
      try: 'read and check every setting first; cluster.fork() comes last',
    };
  if (isStarted) return { got: 'It started all the same.' };
  if (fate?.kind !== 'ended')
    return {
      got: 'It forked nobody, but it did not end either.',
      why: output.trim()
        ? 'A message alone ends nothing: the code after it still runs.'
        : undefined,
      try: 'process.exit(1);',
    };
  if (fate.code !== 1)
    return {
      got: fate.signal
        ? `It was ended by ${fate.signal}.`
        : `It forked no workers, and ended with exit code ${fate.code}${fate.code === 0 ? ', as if all were well' : ''}.`,
      why: 'Whatever started it, a script or a service manager, looks at the exit code: 1 says that it was refused.',
      try: 'process.exit(1);',
    };
  const isTold = numbersIn(output).some((number) => number >= exact);
  if (isTold || names.some((name) => output.includes(name))) return undefined;
  return {
    got: output.trim()
      ? 'It ended, but did not say which setting was wrong.'
      : 'It ended without a word.',
    why: 'The person who reads the message has several variables to look at.',
    try: 'console.error(`${name} must be ..., not "${text}".`);',
  };
}

export function demandIdlePrimary(program, { requests }) {
  const { events } = program;
  const workers = new Set(forksOf(events).map(({ workerPid }) => workerPid));
  const others = requests.filter(({ pid }) => !workers.has(pid));
  demand(others.length === 0, {
    expected: 'Workers execute every request.',
    got: `The primary executed ${others.length} of ${requests.length}.`,
    why: 'A primary that renders is blocked, and deals no connections meanwhile; and it is one more than you computed.',
    try: 'if (cluster.isPrimary) { measure, choose, fork } else { serve(); }',
    shows: shown(program, others, 'a request, in the primary'),
  });
}

/** What a busy machine cannot cause fails at once: an answer that says no, a worker that has ended. */
export function demandKeepsUp({ control, candidate, ends, disturbance, seconds, program }) {
  const { report, waiting } = candidate;
  const failed = report.requests - (report.statuses[200] ?? 0);
  if (isCalm({ control, candidate }) && failed === 0) return;
  const refusal = Object.keys(report.statuses).find((status) => !['0', '200'].includes(status));
  const [error] = Object.keys(report.errors);
  const how = refusal ? `status ${refusal}` : error;
  const deaths = ends.length > 0 ? ` ${ends.length} of its workers ended meanwhile.` : '';
  const story = {
    expected: `${RATE} a second for ${seconds} s: all are answered with 200, and at the end hardly anybody is waiting.`,
    got:
      failed > 0
        ? `${failed} of ${report.requests} failed (${how}).${deaths}`
        : `At the end ${waiting} waited; with one process, ${control.waiting}.`,
    shows: loadShown(program, ends),
  };
  if (disturbance && !refusal && ends.length === 0)
    throw new Undecided({ ...story, why: `Meanwhile ${disturbance}.`, try: PATIENCE });
  const why =
    failed > 0
      ? "An answer that never comes, or says no, isn't an answer in time."
      : 'There are enough workers, so they must be waiting for something that they share, or getting slower from page to page.';
  demand(false, { ...story, why, try: 'npm run check -- --timeline, which draws who worked when' });
}

/** What kept it from keeping up: a worker that ended, an answer that says no, or else the requests that took longest. */
function loadShown(program, ends) {
  const moments = ends.map(({ workerPid: pid, t }) => ({ pid, t }));
  if (moments.length > 0) return shown(program, moments, 'a worker ends');
  const requests = requestsOf(program.events);
  const refused = requests.filter(({ status = 200 }) => status !== 200);
  if (refused.length > 0) return shown(program, refused, 'a request that is refused');
  const tookMs = ({ startMs, endMs = Infinity }) => endMs - startMs;
  const slowest = [...requests].sort((a, b) => tookMs(b) - tookMs(a));
  return shown(program, slowest, 'one of the slowest');
}
