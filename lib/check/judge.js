/**
 * Judges the declared promises of a check, one after the other, and makes their looks ahead of them while a core is idle. A look
 * with something missing is made again, with a fresh program, unless the machine was idle.
 * @typedef {import('./look-graph.js').Look<any>} Look @typedef {import('./session.js').Step} Step
 * @typedef {import('../verdict/outcome.js').PromiseRecord} PromiseRecord
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DemandFault, isOutcome } from './interpret-error.js';
import { nextLook, programsOf } from './look-graph.js';
import { hasIdleCore } from '../measure/conditions.js';
import { Broken, Missing, Undecided, verdictOf } from '../verdict/outcome.js';
import { dependenciesOf } from '../verdict/judging-order.js';
import { describeHandlerError, addSyntaxErrorPlace } from '../verdict/thrown-errors.js';

const MOST_OUTPUT = 4_000; // characters, of the program that failed a promise
const AHEAD_MS = 15;
const BEGUN_MS = 45; // until a look that has begun shows up as CPU load

/**
 * @param {any} session  what it declared, and how to report, interpret errors and repeat looks: see runSession()
 * @returns the judge of one session
 */
export function createJudge(session) {
  const { declared, promises, report, numberOf, meaning, overrunBy, crowdOf, takeAgain } = session;
  const { verdictOn, printedBy } = session;
  /** @type {Map<string, PromiseRecord>} */
  const records = new Map();
  const reported = new Set();
  /** @type {typeof declared} the promise that is being judged and, behind it, the rest of the round */
  let coming = [];
  let afterwards = /** @type {Look[]} */ ([]);
  let isOver = false;
  let overrun = /** @type {number | undefined} */ (undefined);
  const verdicts = () => [...records.values()].map(({ verdict }) => verdict);
  const allHold = () => verdicts().every((verdict) => verdict === 'passed');
  const lacks = (one) =>
    dependenciesOf(declared, one).some(
      (id) => records.has(id) && records.get(id)?.verdict !== 'passed',
    );

  const upcoming = () => {
    if (coming.length === 0 || coming[0].isMeasurement) return [];
    return coming.filter((one) => !lacks(one)).flatMap((one) => one.looks);
  };
  const next = () =>
    nextLook(upcoming()) ?? nextLook(allHold() && !coming[0]?.isMeasurement ? afterwards : []);
  /** @returns {Promise<Omit<PromiseRecord, 'id' | 'task' | 'sentence'>>} */
  const decide = async (one) => {
    if (lacks(one)) return { verdict: 'skipped' };
    return outcomeOf(() => judgePromise(one, { declared, crowdOf, takeAgain, verdictOn }), {
      ...{ reported, numberOf, meaning: (error) => meaning(error, one.looks) },
      printed: () => printedBy(one.looks),
    });
  };
  const record = async (
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
    openTask: () =>
      declared.find(({ id }) => (records.get(id)?.verdict ?? 'passed') !== 'passed')?.task,
    overrun: () => overrun,
    verdict: () => ({ verdict: verdictOf(verdicts()), isWhole: records.size === declared.length }),
    stop: () => (isOver = true),
    /** Ends the session while a promise is being judged, which fails with this story. */
    async breakOff(/** @type {any} */ story) {
      isOver = true;
      if (coming.length > 0) await record(coming[0], { verdict: 'failed', ...story });
    },
    /** Judges the promises of a round; later: looks to make once theirs are made and a core is idle. */
    async round(/** @type {string[]} */ ids, /** @type {Look[]} */ later = []) {
      afterwards = later;
      coming = declared.filter(({ id }) => ids.includes(id) && !records.has(id));
      if (records.size === 0) lookAhead(() => isOver, next);
      for (; coming.length > 0; coming = coming.slice(1)) {
        const [one] = coming;
        const outcome = await decide(one);
        if (isOver) return;
        await record(one, outcome);
        if (outcome.verdict === 'inconclusive') overrun = overrunBy();
        if (overrun) return; // the others would take minutes and be undecided as well
      }
    },
  };
}

/** While a core is idle, makes the next look before a promise needs it. */
async function lookAhead(
  /** @type {() => boolean} */ isOver,
  /** @type {() => Look | undefined} */ next,
) {
  while (!isOver()) {
    const look = hasIdleCore() ? next() : undefined;
    look?.see();
    await sleep(look ? BEGUN_MS : AHEAD_MS);
  }
}

/** Returns if the promise holds; looks again where something is missing and the machine wasn't idle. */
async function judgePromise(one, { declared, crowdOf, takeAgain, verdictOn }) {
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
    await callDemand(judge, what);
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    await onMissing(error);
  }
}

/** Marks an error that a demand throws by mistake. A demand that measures may reject later, as a look does. */
function callDemand(judge, what) {
  try {
    return judge(...what);
  } catch (error) {
    throw isOutcome(error) ? error : new DemandFault(error);
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
async function outcomeOf(body, { reported, numberOf, meaning, printed }) {
  try {
    await body();
    return { verdict: 'passed' };
  } catch (thrown) {
    const error = meaning(thrown);
    if (!isOutcome(error)) throw error;
    if (reported.has(error)) return { verdict: 'skipped' };
    reported.add(error);
    const verdict = error instanceof Broken ? 'failed' : 'inconclusive';
    const { shows, output = shows?.program.output?.() ?? printed() ?? '', ...story } = error.story;
    const thrownThere = verdict === 'failed' ? describeHandlerError(output) : undefined;
    const why = thrownThere ?? addSyntaxErrorPlace(story.why, output);
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
