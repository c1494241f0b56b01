/**
 * One run of a check: it declares looks and promises, and the promises are judged task by task, up to the first task that isn't
 * done. A look is made when a promise needs it, or earlier if a core is idle. An event that is missing or late is looked at a
 * second time, with a fresh program, unless the machine was idle.
 * @typedef {import('../observe/program.js').Program} Program @typedef {import('./programs.js').LaunchOptions} LaunchOptions
 * @typedef {import('../measure/conditions.js').Conditions} Conditions
 * @typedef {import('../verdict/outcome.js').PromiseRecord} PromiseRecord @typedef {import('../verdict/outcome.js').Story} Story
 * @typedef {import('./look-graph.js').Look<any>} Look
 *
 * @typedef {object} Lesson  what a check declares itself with
 * @property {(options?: LaunchOptions) => Promise<Program>} launch  starts the learner's program under the probe
 * @property {() => import('../observe/program-copy.js').Copy} copy  copies the learner's folder, completed from the starter, to deploy
 *   there; start it with `launch({ entry })`. Throws Broken without a program
 * @property {(program: Program, listeners?: number) => Promise<Program>} ready
 *   waits until that many processes (1 by default) listen on PORT; rejects with Broken when they never will
 * @property {import('./look-graph.js').Declare} observe
 *   declares a look: the looks that it needs, and a body that gets their results. No two run at the same time, so that none
 *   disturbs another. A look that fails fails all that need it, and only the first of their promises reports it
 * @property {import('./look-graph.js').Declare} observeInParallel
 *   declares a look that may run in parallel: it uses another program
 * @property {(id: string, looks: Look[], judge: (...seen: any[]) => Promise<void> | void, options?: HoldOptions) => void} hold
 *   declares a promise: it holds if `judge`, which gets the results of the looks, doesn't throw
 * @property {(id: string, steps: Step[], options?: HoldOptions) => void} holdInSteps
 *   the same in steps: the first that fails is reported without waiting for the looks of later ones
 * @property {(looks: Look[], body: (...seen: any[]) => Promise<void> | void) => void} measure
 *   declares a measurement that decides nothing: made when all promises hold, left out by --quick and --only
 * @property {(name: string, measurement: Omit<import('../verdict/terminal.js').Measurement, 'name'>) => void} measured
 * @property {(name: string, chart: Omit<import('../verdict/terminal.js').Chart, 'name'>) => void} drawn
 * @property {(more: Partial<Conditions>) => Conditions} addConditions  adds to what is known about the machine
 * @property {string} place  the file or folder that is judged
 * @property {boolean} isQuick  leave out measurements that decide nothing
 * @property {boolean} isLonger  measure longer, for narrower intervals
 *
 * @typedef {[looks: Look[], judge: (...seen: any[]) => Promise<void> | void]} Step
 *
 * @typedef {object} HoldOptions
 * @property {string[]} [needs]  ids: this promise is judged only if those hold
 * @property {boolean} [isGate]  every later promise needs it
 * @property {boolean} [isMeasurement]  it measures: it needs all earlier promises, and no look runs beside it
 * @property {boolean} [areIndependent]  its steps are independent: if one is undecided, the next may still decide
 *
 * @typedef {object} Definition  a check, as its file declares it
 * @property {string} key  NN-slug
 * @property {Record<string, string>} promises  id → sentence, in the order of judging
 * @property {Record<string, number>} taskOf  id → number of its task in the text
 * @property {(lesson: Lesson) => void} declare
 *
 * @typedef {object} SessionOptions
 * @property {string} root  the folder that holds the rooms
 * @property {string} place  the file or folder to judge
 * @property {import('../observe/runner.js').Runner} runner
 * @property {string[]} [only]  judge these promises and those they need, and no others
 * @property {string[]} [first]  judge these first, and their task before all others
 * @property {boolean} [isThrough]  judge every promise, including those of later tasks
 * @property {boolean} [isQuick] @property {boolean} [isLonger]
 * @property {string} [timelineFile]  where to write the timeline of the learner's first program
 * @property {AbortSignal} [signal]
 * @property {() => () => import('../measure/conditions.js').Crowd} [crowdOf]  measures the load on the cores
 * @property {() => number | undefined} [overrunBy]  how many want each core, if too many to continue
 * @property {(started: import('./programs.js').Started) => void} [onProgram]
 *
 * @typedef {(record: any) => void | Promise<void>} Report
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLookGraph, nextLook, programsOf } from './look-graph.js';
import { conditionsNow, countCrowd, hasIdleCore, overrunNow } from '../measure/conditions.js';
import { watchShortages } from '../observe/shortage.js';
import { createPrograms } from './programs.js';
import { isOutcome, interpretError } from './interpret-error.js';
import { verdictOnMissing } from './whose-fault.js';
import { Broken, Missing, Undecided, verdictOf } from '../verdict/outcome.js';
import { groundsOf, idsIn, roundsOf } from '../verdict/plan.js';
import { whyOfHandler, withPlaceOfSyntax } from '../verdict/thrown.js';

const MOST_OUTPUT = 4_000; // characters, of the program that failed a promise
const AHEAD_MS = 15;
const BEGUN_MS = 45; // until a look that has begun shows up as CPU load

/**
 * @param {Definition} definition @param {SessionOptions} options
 * @param {Report} report  gets { promise, number, of, programs } (the numbers of the programs of its looks), { measurement },
 *   { chart }, and at the end { verdict, isWhole, conditions, output }; { fault } for a bug of ours
 * @returns {Promise<void>}  rejects when the signal aborts it, or with a fault that it has reported
 */
export async function runSession({ key, promises, taskOf, declare }, options, report) {
  const { root, place, runner, signal, isQuick = false, isLonger = false, only } = options;
  const { onProgram, overrunBy = overrunNow } = options;
  const { first, numberOf, stopAll, ofLearner, factsOf, ...programs } = createPrograms({
    ...{ root, key, place, runner, onProgram },
  });
  const printedBy = (/** @type {Look[]} */ looks) => ofLearner(programsOf(looks))[0]?.output();
  const { crowdOf = () => countCrowd(runner.pids) } = options;
  const shortage = watchShortages(runner.home);
  const meaning = (/** @type {unknown} */ error, /** @type {Look[]} */ looks) =>
    interpretError(error, { programs: ofLearner(programsOf(looks)), shortage, factsOf });
  const verdictOn = (/** @type {Story} */ story, /** @type {Look[]} */ looks, how = {}) =>
    verdictOnMissing(story, { programs: ofLearner(programsOf(looks)), ...how });
  let conditions = conditionsNow();
  const { declared, measurements, forgetAll, ...declarers } = createDeclarations(promises, taskOf);
  const takeAgain = async (/** @type {Look[]} */ looks) => {
    const before = programsOf(looks);
    forgetAll(looks);
    await stopAll(before);
  };
  const judge = createJudge({
    ...{ declared, promises, report, numberOf, meaning, overrunBy, crowdOf, takeAgain },
    ...{ verdictOn, printedBy },
  });
  const session = async () => {
    declare({
      ...programs,
      ...declarers,
      ...{ place, isQuick, isLonger },
      measured: (name, measurement) => report({ measurement: { name, ...measurement } }),
      drawn: (name, chart) => report({ chart: { name, ...chart } }),
      addConditions: (more) => (conditions = { ...conditions, ...more }),
    });
    if (declared.length === 0) throw new Error('This check declares no promises.');
    const isMeasuring = !isQuick && !only;
    const looksOf = (/** @type {string[]} */ ids) =>
      declared.filter(({ id }) => ids.includes(id)).flatMap(({ looks }) => looks);
    const measuring = isMeasuring ? measurements.flatMap(({ looks }) => looks) : [];
    const rounds = roundsOf(declared, options);
    for (const [index, ids] of rounds.entries()) {
      const laterLooks = looksOf(rounds.slice(index + 1).flat());
      await judge.round(ids, [...laterLooks, ...measuring]);
      if (judge.overrun()) break;
      const open = only || options.isThrough ? undefined : judge.openTask();
      if (open === undefined) continue;
      await judge.round(idsIn(declared, open));
      break;
    }
    for (const { looks, body } of isMeasuring && judge.allHold() ? measurements : [])
      try {
        await body(...(await Promise.all(looks.map((look) => look.see()))));
      } catch (error) {
        if (!isOutcome(meaning(error, looks))) throw error; // a measurement that decides nothing may be missing
      }
  };
  try {
    await Promise.race([session(), whenAborted(signal)]);
  } catch (/** @type {any} */ error) {
    if (error instanceof Broken) await judge.breakOff(error.story);
    else if (!signal?.aborted) await report({ fault: String(error?.stack ?? error) });
    throw error;
  } finally {
    judge.stop();
    const program = first();
    keepTimeline(program, options.timelineFile);
    if (judge.overrun()) conditions = { ...conditions, overrunBy: judge.overrun() };
    const end = { conditions, output: program?.output() ?? '' };
    if (!signal?.aborted) await report({ ...judge.verdict(), ...end });
  }
}

function createDeclarations(promises, taskOf) {
  /** @type {(import('../verdict/plan.js').Held & { looks: Look[], steps: Step[], isMeasurement: boolean, areIndependent: boolean })[]} */
  const declared = [];
  /** @type {{ looks: Look[], body: (...seen: any[]) => any }[]} */
  const measurements = [];
  /** @type {Lesson['holdInSteps']} */
  const holdInSteps = (id, steps, options = {}) => {
    const { needs = [], isGate = false, isMeasurement = false, areIndependent = false } = options;
    if (Object.keys(promises)[declared.length] !== id)
      throw new Error(`'${id}' is not the promise that comes next in this check's list.`);
    const looks = steps.flatMap(([looks]) => looks);
    const grounds = isMeasurement ? declared.map((one) => one.id) : needs;
    declared.push({
      id,
      task: taskOf[id],
      looks,
      steps,
      needs: grounds,
      isGate,
      isMeasurement,
      areIndependent,
    });
  };
  return {
    declared,
    measurements,
    ...createLookGraph(),
    /** @type {Lesson['hold']} */
    hold: (id, looks, judge, options) => holdInSteps(id, [[looks, judge]], options),
    holdInSteps,
    /** @type {Lesson['measure']} */
    measure: (looks, body) => void measurements.push({ looks, body }),
  };
}

/** Judges promises, and makes looks ahead of them while a core is idle. */
function createJudge(session) {
  const { declared, promises, report, numberOf, meaning, overrunBy, crowdOf, takeAgain } = session;
  const { verdictOn, printedBy } = session;
  /** @type {Map<string, PromiseRecord>} */
  const records = new Map();
  const told = new Set();
  /** @type {typeof declared} the promise that is being judged and, behind it, the rest of the round */
  let coming = [];
  let afterwards = /** @type {Look[]} */ ([]);
  let isOver = false;
  let overrun = /** @type {number | undefined} */ (undefined);
  const verdicts = () => [...records.values()].map(({ verdict }) => verdict);
  const allHold = () => verdicts().every((verdict) => verdict === 'passed');
  const lacks = (one) =>
    groundsOf(declared, one).some((id) => records.has(id) && records.get(id)?.verdict !== 'passed');

  const upcoming = () => {
    if (coming.length === 0 || coming[0].isMeasurement) return [];
    return coming.filter((one) => !lacks(one)).flatMap((one) => one.looks);
  };
  const lookAhead = async () => {
    while (!isOver) {
      const next = hasIdleCore()
        ? (nextLook(upcoming()) ??
          nextLook(allHold() && !coming[0]?.isMeasurement ? afterwards : []))
        : undefined;
      next?.see();
      await sleep(next ? BEGUN_MS : AHEAD_MS);
    }
  };
  /** @returns {Promise<Omit<PromiseRecord, 'id' | 'task' | 'sentence'>>} */
  const decide = async (one) => {
    if (lacks(one)) return { verdict: 'skipped' };
    return outcomeOf(
      async () => {
        const crowd = crowdOf();
        const steps = one.steps.map(([looks, judge]) => ({ looks, seen: seeAll(looks), judge }));
        if (one.isMeasurement) {
          await Promise.all(steps.map(({ seen }) => seen));
          await Promise.allSettled(begun(declared.flatMap(({ looks }) => looks)).map(see));
        }
        const confirm = async (step, missing) => {
          if (crowd().isIdle) throw verdictOn(missing.story, step.looks);
          const again = crowdOf();
          await takeAgain(step.looks);
          await judgeAgain(step, again, verdictOn);
        };
        await judgeSteps(steps, one.areIndependent, confirm);
      },
      {
        ...{ told, numberOf, meaning: (error) => meaning(error, one.looks) },
        printed: () => printedBy(one.looks),
      },
    );
  };
  const tell = async (
    one,
    /** @type {Omit<PromiseRecord, 'id' | 'sentence' | 'task'>} */ outcome,
  ) => {
    const { id, task, looks } = one;
    const promise = { id, task, sentence: promises[id], ...outcome };
    records.set(id, promise);
    const [number, of] = [declared.indexOf(one) + 1, declared.length];
    await report({ promise, number, of, programs: programsOf(looks) });
  };
  return {
    allHold: () => records.size === declared.length && allHold(),
    /** The first task with a promise that was judged and doesn't hold. */
    openTask: () =>
      declared.find(({ id }) => (records.get(id)?.verdict ?? 'passed') !== 'passed')?.task,
    overrun: () => overrun,
    verdict: () => ({ verdict: verdictOf(verdicts()), isWhole: records.size === declared.length }),
    stop: () => (isOver = true),
    /** Ends the session while a promise is being judged, which fails with this story. */
    async breakOff(/** @type {any} */ story) {
      isOver = true;
      if (coming.length > 0) await tell(coming[0], { verdict: 'failed', ...story });
    },
    /** Judges the promises of a round; later: looks to make once theirs are made and a core is idle. */
    async round(/** @type {string[]} */ ids, /** @type {Look[]} */ later = []) {
      afterwards = later;
      coming = declared.filter(({ id }) => ids.includes(id) && !records.has(id));
      if (records.size === 0) lookAhead();
      for (; coming.length > 0; coming = coming.slice(1)) {
        const [one] = coming;
        const outcome = await decide(one);
        if (isOver) return;
        await tell(one, outcome);
        if (outcome.verdict === 'inconclusive') overrun = overrunBy();
        if (overrun) return; // the others would take minutes and be undecided as well
      }
    },
  };
}

/**
 * @param {{ looks: Look[], seen: Promise<any[]>, judge: Step[1] }[]} steps @param {boolean} areIndependent
 * @param {(step: any, missing: Missing) => Promise<void>} confirm  looks again when something is missing
 */
async function judgeSteps(steps, areIndependent, confirm) {
  /** @type {Undecided | undefined} the first */
  let doubt;
  for (const step of steps) {
    const what = await step.seen;
    try {
      await judgeOnce(step.judge, what, (missing) => confirm(step, missing));
    } catch (error) {
      if (!(areIndependent && error instanceof Undecided)) throw error;
      doubt ??= error;
    }
  }
  if (doubt) throw doubt;
}

async function judgeOnce(judge, what, onMissing) {
  try {
    await judge(...what);
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    await onMissing(error);
  }
}

/** The second time, with a fresh program: missing again fails, unless the machine may be the cause. */
async function judgeAgain({ looks, judge }, crowd, verdictOn) {
  await judgeOnce(judge, await seeAll(looks), ({ story }) => {
    throw verdictOn(story, looks, { isAgain: true, machine: crowd() });
  });
}

const see = (/** @type {Look} */ look) => look.see();

/** The results of these looks. Ignores a rejection if no promise awaits them in the end. */
function seeAll(/** @type {Look[]} */ looks) {
  const seen = Promise.all(looks.map(see));
  seen.catch(() => {});
  return seen;
}

const begun = (/** @type {Look[]} */ looks) => looks.filter(({ state }) => state === 'begun');

/**
 * The same error, such as that of a program that never started, is reported for the first promise and skips the others.
 * @returns {Promise<Omit<PromiseRecord, 'id' | 'task' | 'sentence'>>}
 */
async function outcomeOf(body, { told, numberOf, meaning, printed }) {
  try {
    await body();
    return { verdict: 'passed' };
  } catch (thrown) {
    const error = meaning(thrown);
    if (!isOutcome(error)) throw error;
    if (told.has(error)) return { verdict: 'skipped' };
    told.add(error);
    const verdict = error instanceof Broken ? 'failed' : 'inconclusive';
    const { shows, output = shows?.program.output?.() ?? printed() ?? '', ...story } = error.story;
    const thrownThere = verdict === 'failed' ? whyOfHandler(output) : undefined;
    const why = thrownThere ?? withPlaceOfSyntax(story.why, output);
    return {
      ...{ verdict, ...story, why },
      ...{ output: output.slice(-MOST_OUTPUT), ...showsOf(shows, numberOf) },
    };
  }
}

/** The program, by its number, and the moments that the learner's page marks. */
function showsOf(shows, numberOf) {
  const program = shows ? numberOf(shows.program) : -1;
  if (program < 0) return {};
  const { events } = shows.program;
  const moments = shows.moments
    .filter(Boolean)
    .map((one) => ({ ...one, what: whatHappened(one, events) }));
  return { shows: { program, moments } };
}

/** The kind of event that a moment marks, found by its start or its end. */
const whatHappened = ({ pid, t, toMs }, events) =>
  events.find((one) => [t, toMs].includes(one.t) && (one.pid === pid || one.workerPid === pid))
    ?.what;

/** @returns {Promise<never>} */
function whenAborted(/** @type {AbortSignal | undefined} */ signal) {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
  });
}

function keepTimeline(
  /** @type {Program | undefined} */ program,
  /** @type {string | undefined} */ file,
) {
  if (!file || !program) return;
  writeFileSync(file, program.events.map((event) => `${JSON.stringify(event)}\n`).join(''));
}
