/**
 * One run of a check: it declares looks and promises, and these are judged, in rounds, task by task; with the first task that
 * is not done it ends. A look is made when the first promise that needs it is judged; or earlier if a core is idle. What is there to be seen decides at once; what is missing or late is
 * looked at a second time, with a fresh program, unless the machine was idle.
 *
 * @typedef {import('../observe/program.js').Program} Program
 * @typedef {import('./programs.js').LaunchOptions} LaunchOptions
 * @typedef {import('../measure/conditions.js').Conditions} Conditions
 * @typedef {import('../verdict/outcome.js').PromiseRecord} PromiseRecord
 * @typedef {import('../verdict/outcome.js').Story} Story
 * @typedef {import('./looks.js').Look<any>} Look
 *
 * @typedef {object} Lesson  what a check gets to declare itself with
 * @property {(options?: LaunchOptions) => Promise<Program>} launch  starts the learner's program under the probe
 * @property {() => import('../observe/copy.js').Copy} copy  copies the learner's folder, to deploy there: what the learner
 *   does not have in it is the starter's. Its entry is launched with `launch({ entry })`. Throws Broken without a program.
 * @property {(program: Program, listeners?: number) => Promise<Program>} ready
 *   waits until so many of its processes listen on PORT (1 unless told), or nothing more will happen. Rejects with
 *   Broken, which says why, when nobody listens there or the program has ended.
 * @property {import('./looks.js').Declare} observe
 *   declares a look at the program: the looks that it needs, and a body that gets what these saw. Of these no two are
 *   made at the same time, so that none disturbs another. Who needs a look that failed fails with the same error; of
 *   the promises that need it the first tells, and the others are not reached.
 * @property {import('./looks.js').Declare} meanwhile
 *   declares a look beside others: at another program, or at nothing that could be disturbed
 * @property {(id: string, looks: Look[], judge: (...seen: any[]) => Promise<void> | void, options?: HoldOptions) => void} hold
 *   declares a promise: it holds when `judge`, which gets what the looks saw, returns
 * @property {(id: string, steps: Step[], options?: HoldOptions) => void} holdInSteps
 *   the same in several steps, in this order: the first that fails is told at once, without waiting for the looks of later ones
 * @property {(looks: Look[], body: (...seen: any[]) => Promise<void> | void) => void} measure
 *   declares what decides nothing: it is measured when all promises hold, and left out by --quick and --only
 * @property {(name: string, measurement: Omit<import('../verdict/terminal.js').Measurement, 'name'>) => void} measured
 * @property {(name: string, chart: Omit<import('../verdict/terminal.js').Chart, 'name'>) => void} drawn
 *   numbers side by side: a distribution, start-up times
 * @property {(more: Partial<Conditions>) => Conditions} conditionsWere  adds to what is known about the machine
 * @property {string} place  the file or folder that is judged
 * @property {boolean} isQuick  measurements that decide nothing are left out
 * @property {boolean} isLonger  measurements take several times as long, and are more exact
 *
 * @typedef {[looks: Look[], judge: (...seen: any[]) => Promise<void> | void]} Step
 *
 * @typedef {object} HoldOptions
 * @property {string[]} [needs]  promises without which it tells nothing: when one does not hold, this is not reached
 * @property {boolean} [isGate]  every promise declared after it needs it
 * @property {boolean} [isAlone]  it measures: it needs all that are declared before it, and no look is made beside it
 * @property {boolean} [areApart]  its steps tell different things: one that can't be judged doesn't keep the next from deciding
 *
 * @typedef {object} Definition  a check, as its file declares it
 * @property {string} key  NN-slug
 * @property {Record<string, string>} promises  id → sentence, in the order in which they are judged
 * @property {Record<string, number>} taskOf  id → the task that it belongs to, by its number in the text
 * @property {(lesson: Lesson) => void} declare
 *
 * @typedef {object} SessionOptions
 * @property {string} root  the folder that holds the rooms
 * @property {string} place  the file or folder that is judged
 * @property {import('../observe/run.js').Runner} runner
 * @property {string[]} [only]  judge these promises, with what they stand on, and nothing else
 * @property {string[]} [first]  judge these first, and their task before all others
 * @property {boolean} [isThrough]  judge every promise, also those of later tasks
 * @property {boolean} [isQuick]
 * @property {boolean} [isLonger]
 * @property {string} [timelineFile]  where to leave the timeline of the learner's first program
 * @property {AbortSignal} [signal]
 * @property {() => () => import('../measure/conditions.js').Crowd} [crowdOf]  counts who wants a core
 * @property {() => number | undefined} [overrunBy]  so many want each core that going on is of no use
 * @property {(started: import('./programs.js').Started) => void} [onProgram]  called when a program has been started
 *
 * @typedef {(record: any) => void | Promise<void>} Report
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLooks, nextLook, programsOf } from './looks.js';
import { conditionsNow, countCrowd, hasIdleCore, overrunNow } from '../measure/conditions.js';
import { watchShortages } from '../observe/shortage.js';
import { createPrograms } from './programs.js';
import { DemandFault, isOutcome, meaningOf } from './unexpected-end.js';
import { verdictOnMissing } from './whose-fault.js';
import { Broken, Missing, Undecided, verdictOf } from '../verdict/outcome.js';
import { groundsOf, idsIn, roundsOf } from '../verdict/plan.js';
import { whyOfHandler, withPlaceOfSyntax } from '../verdict/thrown.js';

const MOST_OUTPUT = 4_000; // characters, of the program that failed a promise
const AHEAD_MS = 15;
const BEGUN_MS = 45; // by then what was begun wants a core, if it wants one

/**
 * Runs a check, once.
 * @param {Definition} definition
 * @param {SessionOptions} options
 * @param {Report} report  gets each record as soon as there is one: { promise, number, of, programs } (the
 *   numbers of those that its looks have started), { measurement }, { chart },
 *   and at the end { verdict, isWhole, conditions, output }; { fault } when it is ours
 * @returns {Promise<void>}  rejects when the signal asks for it, or with a fault that it has reported
 */
export async function runSession({ key, promises, taskOf, declare }, options, report) {
  const { root, place, runner, signal, isQuick = false, isLonger = false, only } = options;
  const { onProgram, overrunBy = overrunNow } = options;
  const made = createPrograms({ root, key, place, runner, onProgram });
  const { first, numberOf, stopAll, ofLearner, factsOf, ...programs } = made;
  const printedBy = (/** @type {Look[]} */ looks) => ofLearner(programsOf(looks))[0]?.output();
  const { crowdOf = () => countCrowd(runner.pids) } = options;
  const shortage = watchShortages(runner.home);
  const meaning = (/** @type {unknown} */ error, /** @type {Look[]} */ looks) =>
    meaningOf(error, { programs: ofLearner(programsOf(looks)), shortage, factsOf });
  const verdictOn = (/** @type {Story} */ story, /** @type {Look[]} */ looks, how = {}) =>
    verdictOnMissing(story, { programs: ofLearner(programsOf(looks)), ...how });
  let conditions = conditionsNow();
  const { held, measurements, retake, ...door } = createDeclarations(promises, taskOf);
  const takeAgain = async (/** @type {Look[]} */ looks) => {
    const before = programsOf(looks);
    retake(looks);
    await stopAll(before);
  };
  const judge = createJudge({
    ...{ held, promises, report, numberOf, meaning, overrunBy, crowdOf, takeAgain },
    ...{ verdictOn, printedBy },
  });
  const session = async () => {
    declare({
      ...programs,
      ...door,
      ...{ place, isQuick, isLonger },
      measured: (name, measurement) => report({ measurement: { name, ...measurement } }),
      drawn: (name, chart) => report({ chart: { name, ...chart } }),
      conditionsWere: (more) => (conditions = { ...conditions, ...more }),
    });
    if (held.length === 0) throw new Error('This check declares no promises.');
    const isMeasuring = !isQuick && !only;
    const looksOf = (/** @type {string[]} */ ids) =>
      held.filter(({ id }) => ids.includes(id)).flatMap(({ looks }) => looks);
    const measuring = isMeasuring ? measurements.flatMap(({ looks }) => looks) : [];
    const rounds = roundsOf(held, options);
    for (const [index, ids] of rounds.entries()) {
      const laterLooks = looksOf(rounds.slice(index + 1).flat());
      await judge.round(ids, [...laterLooks, ...measuring]);
      if (judge.overrun()) break;
      const open = only || options.isThrough ? undefined : judge.openTask();
      if (open === undefined) continue;
      await judge.round(idsIn(held, open));
      break;
    }
    for (const { looks, body } of isMeasuring && judge.allHold() ? measurements : [])
      try {
        await body(...(await Promise.all(looks.map((look) => look.see()))));
      } catch (error) {
        if (!isOutcome(meaning(error, looks))) throw error; // else what decides nothing is left out
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

/** What the check's file declares, in its order. */
function createDeclarations(promises, taskOf) {
  /** @type {(import('../verdict/plan.js').Held & { looks: Look[], steps: Step[], isAlone: boolean, areApart: boolean })[]} */
  const held = [];
  /** @type {{ looks: Look[], body: (...seen: any[]) => any }[]} */
  const measurements = [];
  /** @type {Lesson['holdInSteps']} */
  const holdInSteps = (id, steps, options = {}) => {
    const { needs = [], isGate = false, isAlone = false, areApart = false } = options;
    if (Object.keys(promises)[held.length] !== id)
      throw new Error(`'${id}' is not the promise that comes next in this check's list.`);
    const looks = steps.flatMap(([looks]) => looks);
    const grounds = isAlone ? held.map((one) => one.id) : needs;
    held.push({ id, task: taskOf[id], looks, steps, needs: grounds, isGate, isAlone, areApart });
  };
  return {
    held,
    measurements,
    ...createLooks(),
    /** @type {Lesson['hold']} */
    hold: (id, looks, judge, options) => holdInSteps(id, [[looks, judge]], options),
    holdInSteps,
    /** @type {Lesson['measure']} */
    measure: (looks, body) => void measurements.push({ looks, body }),
  };
}

/** Judges promises, and makes looks ahead of them where a core is idle. */
function createJudge(session) {
  const { held, promises, report, numberOf, meaning, overrunBy, crowdOf, takeAgain } = session;
  const { verdictOn, printedBy } = session;
  session;
  /** @type {Map<string, PromiseRecord>} */
  const records = new Map();
  const told = new Set();
  /** @type {typeof held} what is still to be judged in this round, beginning with the promise that is being judged */
  let coming = [];
  let afterwards = /** @type {Look[]} */ ([]);
  let isOver = false;
  let overrun = /** @type {number | undefined} */ (undefined);
  const verdicts = () => [...records.values()].map(({ verdict }) => verdict);
  const allHold = () => verdicts().every((verdict) => verdict === 'passed');
  const lacks = (one) =>
    groundsOf(held, one).some((id) => records.has(id) && records.get(id)?.verdict !== 'passed');

  const upcoming = () => {
    if (coming.length === 0 || coming[0].isAlone) return [];
    return coming.filter((one) => !lacks(one)).flatMap((one) => one.looks);
  };
  const lookAhead = async () => {
    while (!isOver) {
      const next = hasIdleCore()
        ? (nextLook(upcoming()) ?? nextLook(allHold() && !coming[0]?.isAlone ? afterwards : []))
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
        if (one.isAlone) {
          await Promise.all(steps.map(({ seen }) => seen));
          await Promise.allSettled(begun(held.flatMap(({ looks }) => looks)).map(see));
        }
        const confirm = async (step, missing) => {
          if (crowd().isIdle) throw verdictOn(missing.story, step.looks);
          const again = crowdOf();
          await takeAgain(step.looks);
          await judgeAgain(step, again, verdictOn);
        };
        await judgeSteps(steps, one.areApart, confirm);
      },
      {
        ...{ told, numberOf, meaning: (error) => meaning(error, one.looks) },
        printed: () => printedBy(one.looks),
      },
    );
  };
  /** Takes note of what a promise came to, and reports it. */
  const tell = async (
    one,
    /** @type {Omit<PromiseRecord, 'id' | 'sentence' | 'task'>} */ outcome,
  ) => {
    const { id, task, looks } = one;
    const promise = { id, task, sentence: promises[id], ...outcome };
    records.set(id, promise);
    const [number, of] = [held.indexOf(one) + 1, held.length];
    await report({ promise, number, of, programs: programsOf(looks) });
  };
  return {
    allHold: () => records.size === held.length && allHold(),
    /** The first task of which a promise was judged, and does not hold. */
    openTask: () =>
      held.find(({ id }) => (records.get(id)?.verdict ?? 'passed') !== 'passed')?.task,
    overrun: () => overrun,
    verdict: () => ({ verdict: verdictOf(verdicts()), isWhole: records.size === held.length }),
    stop: () => (isOver = true),
    /** What is being judged never comes to its end, for this reason. */
    async breakOff(/** @type {any} */ story) {
      isOver = true;
      if (coming.length > 0) await tell(coming[0], { verdict: 'failed', ...story });
    },
    /** Judges these, unless they were; later: looks to make when a core is idle and all of these are made. */
    async round(/** @type {string[]} */ ids, /** @type {Look[]} */ later = []) {
      afterwards = later;
      coming = held.filter(({ id }) => ids.includes(id) && !records.has(id));
      if (records.size === 0) lookAhead();
      for (; coming.length > 0; coming = coming.slice(1)) {
        const [one] = coming;
        const outcome = await decide(one);
        if (isOver) return;
        await tell(one, outcome);
        if (outcome.verdict === 'inconclusive') overrun = overrunBy();
        if (overrun) return; // the others would take minutes, to be undecided too
      }
    },
  };
}

/**
 * @param {{ looks: Look[], seen: Promise<any[]>, judge: Step[1] }[]} steps
 * @param {boolean} areApart
 * @param {(step: any, missing: Missing) => Promise<void>} confirm  looks again where something was missing
 */
async function judgeSteps(steps, areApart, confirm) {
  /** @type {Undecided | undefined} the first */
  let doubt;
  for (const step of steps) {
    const what = await step.seen;
    try {
      await judgeOnce(step.judge, what, (missing) => confirm(step, missing));
    } catch (error) {
      if (!(areApart && error instanceof Undecided)) throw error;
      doubt ??= error;
    }
  }
  if (doubt) throw doubt;
}

async function judgeOnce(judge, what, onMissing) {
  try {
    await asked(judge, what);
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    await onMissing(error);
  }
}

/** What a demand throws at once, and is no outcome, is our mistake; one that measures rejects later, as a look does. */
function asked(judge, what) {
  try {
    return judge(...what);
  } catch (error) {
    throw isOutcome(error) ? error : new DemandFault(error);
  }
}

/** The second time, with a fresh program: what is missing again fails, unless the machine may be the cause. */
async function judgeAgain({ looks, judge }, crowd, verdictOn) {
  await judgeOnce(judge, await seeAll(looks), ({ story }) => {
    throw verdictOn(story, looks, { isAgain: true, machine: crowd() });
  });
}

const see = (/** @type {Look} */ look) => look.see();

/** What these looks see, when all are made. Who is not asked for it in the end need not hear of its errors. */
function seeAll(/** @type {Look[]} */ looks) {
  const seen = Promise.all(looks.map(see));
  seen.catch(() => {});
  return seen;
}

const begun = (/** @type {Look[]} */ looks) => looks.filter(({ state }) => state === 'begun');

/**
 * What one promise has told already (a program that never started) is not told again by the next.
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

/** What decided it, with the program by its number; nothing where the check does not say. */
function showsOf(shows, numberOf) {
  const program = shows ? numberOf(shows.program) : -1;
  if (program < 0) return {};
  const { events } = shows.program;
  const moments = shows.moments
    .filter(Boolean)
    .map((one) => ({ ...one, what: whatHappened(one, events) }));
  return { shows: { program, moments } };
}

/** The kind of event that a moment is of: some are told at their end. */
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

/** Leaves the timeline of the learner's first program where the command line wants it. */
function keepTimeline(
  /** @type {Program | undefined} */ program,
  /** @type {string | undefined} */ file,
) {
  if (!file || !program) return;
  writeFileSync(file, program.events.map((event) => `${JSON.stringify(event)}\n`).join(''));
}
