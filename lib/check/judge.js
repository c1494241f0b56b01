/**
 * Judges the promises of a check one after the other, and makes their looks ahead of time while a core is idle. Something missing is
 * looked for again with a fresh program, unless the machine was idle or a process threw.
 * @typedef {import('./look-graph.js').Look<any>} Look @typedef {import('./session.js').Step} Step
 * @typedef {import('../verdict/outcome.js').PromiseRecord} PromiseRecord
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DemandFault, isOutcome } from './interpret-error.js';
import { nextLook, programsOf } from './look-graph.js';
import { outcomeOf } from './promise-outcome.js';
import { isCertain } from './whose-fault.js';
import { hasIdleCore } from '../measure/conditions.js';
import { Missing, Undecided, verdictOf } from '../verdict/outcome.js';
import { dependenciesOf } from '../verdict/judging-order.js';

const SKIPPED = /** @type {import('./promise-outcome.js').Outcome} */ ({ verdict: 'skipped' });
const AHEAD_MS = 15;
const BEGUN_MS = 45; // until a look that has begun shows up as CPU load

/** @param {any} session  what it declared, and how to report, interpret errors and repeat looks: see runSession() */
export function createJudge(session) {
  const { declared, overrunBy } = session;
  const records = createRecords(session);
  const outcomes = { ...session, reported: new Set() };
  /** @type {typeof declared} the promise that is being judged and, behind it, the rest of the round */
  let coming = [];
  let afterwards = /** @type {Look[]} */ ([]);
  let isOver = false;
  let overrun = /** @type {number | undefined} */ (undefined);
  const next = () => nextAhead(coming, afterwards, records);
  return {
    allHold: () => records.isComplete() && records.allHold(),
    openTask: records.openTask,
    overrun: () => overrun,
    verdict: () => ({ verdict: records.verdict(), isWhole: records.isComplete() }),
    stop: () => (isOver = true),
    /** Ends the session while a promise is being judged, which fails with this story. */
    async breakOff(/** @type {any} */ story) {
      isOver = true;
      if (coming.length > 0) await records.add(coming[0], { verdict: 'failed', ...story });
    },
    /** Judges the promises of a round; later: looks to make once theirs are made and a core is idle. */
    async round(/** @type {string[]} */ ids, /** @type {Look[]} */ later = []) {
      afterwards = later;
      coming = declared.filter(({ id }) => ids.includes(id) && !records.has(id));
      if (records.isEmpty()) lookAhead(() => isOver, next);
      for (; coming.length > 0; coming = coming.slice(1)) {
        const [one] = coming;
        const outcome = records.lacks(one)
          ? SKIPPED
          : await outcomeOf(() => judgePromise(one, session), one.looks, outcomes);
        if (isOver) return;
        await records.add(one, outcome);
        if (outcome.verdict === 'inconclusive') overrun = overrunBy();
        if (overrun) return; // the others would take minutes and be undecided as well
      }
    },
  };
}

/** The promises judged so far, each reported as it is added. */
function createRecords({ declared, promises, report }) {
  const records = new Map();
  const verdicts = () => [...records.values()].map(({ verdict }) => verdict);
  const didNotHold = (/** @type {string} */ id) =>
    records.has(id) && records.get(id)?.verdict !== 'passed';
  return {
    isEmpty: () => records.size === 0,
    isComplete: () => records.size === declared.length,
    allHold: () => verdicts().every((verdict) => verdict === 'passed'),
    has: (/** @type {string} */ id) => records.has(id),
    /** Has a promise that this one depends on failed, or been left undecided? */
    lacks: (one) => dependenciesOf(declared, one).some(didNotHold),
    /** The first task with a promise that was judged and doesn't hold. */
    openTask: () => declared.find(({ id }) => didNotHold(id))?.task,
    verdict: () => verdictOf(verdicts()),
    async add(one, /** @type {import('./promise-outcome.js').Outcome} */ outcome) {
      const { id, task, looks } = one;
      const promise = { id, task, sentence: promises[id], ...outcome };
      records.set(id, promise);
      const [number, of] = [declared.indexOf(one) + 1, declared.length];
      await report({ promise, number, of, programs: programsOf(looks) });
    },
  };
}

/** The look to make ahead of time: of the promises to come, then of those after them; none while the machine is measured. */
function nextAhead(coming, /** @type {Look[]} */ afterwards, records) {
  if (coming[0]?.isMeasurement) return undefined;
  const looks = coming.filter((one) => !records.lacks(one)).flatMap((one) => one.looks);
  return nextLook(looks) ?? (records.allHold() ? nextLook(afterwards) : undefined);
}

/** While a core is idle, makes the next look before a promise needs it. */
async function lookAhead(isOver, next) {
  while (!isOver()) {
    const look = hasIdleCore() ? next() : undefined;
    look?.see();
    await sleep(look ? BEGUN_MS : AHEAD_MS);
  }
}

async function judgePromise(one, { declared, crowdOf, takeAgain, verdictOn }) {
  const crowd = crowdOf();
  const steps = one.steps.map(([looks, judge]) => ({ looks, seen: seeAll(looks), judge }));
  if (one.isMeasurement) {
    await Promise.all(steps.map(({ seen }) => seen));
    await Promise.allSettled(begun(declared.flatMap(({ looks }) => looks)).map(see));
  }
  const confirm = async (step, missing) => {
    if (crowd().isIdle || isCertain(missing.story)) throw verdictOn(missing.story, step.looks);
    const again = crowdOf();
    await takeAgain(step.looks);
    await judgeAgain(step, again, verdictOn);
  };
  await judgeSteps(steps, one.areIndependent, confirm);
}

async function judgeSteps(steps, areIndependent, confirm) {
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
