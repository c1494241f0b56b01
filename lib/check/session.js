/**
 * One run of a check: it declares looks and promises, which judge.js judges task by task, up to the first task that isn't done.
 * @typedef {import('../observe/program.js').Program} Program @typedef {import('./programs.js').LaunchOptions} LaunchOptions
 * @typedef {import('../measure/conditions.js').Conditions} Conditions @typedef {import('../verdict/outcome.js').Story} Story
 * @typedef {import('./look-graph.js').Look<any>} Look @typedef {import('./look-graph.js').Declare} Declare
 * @typedef {(...seen: any[]) => Promise<void> | void} Judge  gets the results of the looks
 *
 * @typedef {object} Lesson  what a check declares itself with
 * @property {(options?: LaunchOptions) => Promise<Program>} launch  starts the learner's program under the probe
 * @property {() => import('../observe/program-copy.js').Copy} copy  of the learner's folder, completed from the starter; start it with
 *   `launch({ entry })`. Throws Broken without a program
 * @property {(program: Program, listeners?: number) => Promise<Program>} ready  waits until that many processes (1 by default) listen
 *   on PORT; rejects with Broken when they never will
 * @property {Declare} observe  declares a look: the looks that it needs, and a body that gets their results. No two run at the same
 *   time. The error of a look fails all looks that need it, and the first of their promises reports it
 * @property {Declare} observeInParallel  declares a look that may run beside others: it uses another program
 * @property {(id: string, looks: Look[], judge: Judge, options?: HoldOptions) => void} hold  `judge` throws unless the promise holds
 * @property {(id: string, steps: Step[], options?: HoldOptions) => void} holdInSteps  the same in steps: the first that fails is
 *   reported without waiting for the looks of later ones
 * @property {(looks: Look[], body: Judge) => void} measure  declares a measurement that decides nothing: made when all promises hold,
 *   left out by --quick and --only
 * @property {(name: string, measurement: Omit<import('../verdict/terminal.js').Measurement, 'name'>) => void} measured
 * @property {(name: string, chart: Omit<import('../verdict/terminal.js').Chart, 'name'>) => void} drawn
 * @property {(scene: import('../verdict/scene-strip.js').Scene) => void} pictured  the last one of a check is drawn, whatever the verdict
 * @property {(more: Partial<Conditions>) => Conditions} addConditions  adds to what is known about the machine
 * @property {string} place  the file or folder that is judged
 * @property {boolean} isQuick  leave out measurements that decide nothing
 * @property {boolean} isLonger  measure longer, for narrower intervals
 * @property {() => number} seed  for createDraw(); reported with the verdict once a check has asked for it
 *
 * @typedef {[looks: Look[], judge: Judge]} Step
 * @typedef {{ needs?: string[], isGate?: boolean, isMeasurement?: boolean, areIndependent?: boolean }} HoldOptions  needs: ids of promises
 *   that must hold before it is judged; isGate: every later promise needs it; isMeasurement: it needs all earlier promises, and no
 *   look runs beside it; areIndependent: if one of its steps is undecided, the next may still decide
 * @typedef {{ key: string, promises: Record<string, string>, taskOf: Record<string, number>, declare: (lesson: Lesson) => void }}
 *   Definition  key: NN-slug; promises: id → sentence, in the order of judging; taskOf: id → number of its task in the text
 *
 * @typedef {object} SessionOptions
 * @property {string} root  the folder that holds the rooms
 * @property {string} place  the file or folder to judge
 * @property {import('../observe/runner.js').Runner} runner
 * @property {string[]} [only]  judge these promises and those they need, and no others
 * @property {string[]} [first]  judge these first, and their task before all others
 * @property {boolean} [isThrough]  judge every promise, including those of later tasks
 * @property {boolean} [isQuick] @property {boolean} [isLonger] @property {AbortSignal} [signal]
 * @property {number} [seed]  a random one by default
 * @property {string} [timelineFile]  where to write the timeline of the learner's first program
 * @property {() => () => import('../measure/conditions.js').Crowd} [crowdOf]  measures the load on the cores
 * @property {() => number | undefined} [overrunBy]  how many want each core, if too many to continue
 * @property {(started: import('./programs.js').Started) => void} [onProgram]
 * @typedef {(record: any) => void | Promise<void>} Report
 */
import { writeFileSync } from 'node:fs';
import { randomSeed } from './draw.js';
import { createJudge } from './judge.js';
import { createLookGraph, programsOf } from './look-graph.js';
import { conditionsNow, countCrowd, overrunNow } from '../measure/conditions.js';
import { watchShortages } from '../observe/shortage.js';
import { createPrograms } from './programs.js';
import { isOutcome, interpretError } from './interpret-error.js';
import { verdictOnMissing } from './whose-fault.js';
import { Broken } from '../verdict/outcome.js';
import { idsOfTask, roundsOf } from '../verdict/judging-order.js';

/**
 * @param {Definition} definition @param {SessionOptions} options
 * @param {Report} report  gets { promise, number, of, programs } (the numbers of its looks' programs), { measurement }, { chart }, { seed },
 *   { scene }, at the end { verdict, isWhole, conditions, output }; { fault } for a bug of ours
 * @returns {Promise<void>}  rejects when the signal aborts it, or with a fault that it has reported
 */
export async function runSession({ key, promises, taskOf, declare }, options, report) {
  const { root, place, runner, signal, isQuick = false, isLonger = false, only } = options;
  const { seed = randomSeed() } = options;
  const { onProgram, overrunBy = overrunNow, crowdOf = () => countCrowd(runner.pids) } = options;
  const programs = createPrograms({ root, key, place, runner, onProgram });
  const { launch, copy, ready, numberOf } = programs;
  const { declared, measurements, forgetAll, ...declarers } = createDeclarations(promises, taskOf);
  const aboutLooks = interpretLooks(programs, runner.home);
  const judge = createJudge({
    ...{ declared, promises, report, numberOf, overrunBy, crowdOf, ...aboutLooks },
    takeAgain: (looks) => takeAgain(looks, forgetAll, programs.stopAll),
  });
  let conditions = conditionsNow();
  const lesson = {
    ...{ launch, copy, ready, ...declarers, place, isQuick, isLonger },
    seed: () => (report({ seed }), seed),
    measured: (name, measurement) => report({ measurement: { name, ...measurement } }),
    drawn: (name, chart) => report({ chart: { name, ...chart } }),
    pictured: (scene) => void report({ scene }),
    addConditions: (more) => (conditions = { ...conditions, ...more }),
  };
  const session = async () => {
    declare(lesson);
    if (declared.length === 0) throw new Error('This check declares no promises.');
    const wanted = isQuick || only ? [] : measurements;
    const measuring = wanted.flatMap(({ looks }) => looks);
    await judgeRounds(judge, declared, options, measuring);
    if (judge.allHold()) await takeMeasurements(wanted, aboutLooks.meaning);
  };
  try {
    await Promise.race([session(), whenAborted(signal)]);
  } catch (/** @type {any} */ error) {
    if (error instanceof Broken) await judge.breakOff(error.story);
    else if (!signal?.aborted) await report({ fault: String(error?.stack ?? error) });
    throw error;
  } finally {
    judge.stop();
    keepTimeline(programs.first(), options.timelineFile);
    if (judge.overrun()) conditions = { ...conditions, overrunBy: judge.overrun() };
    const output = programs.first()?.output() ?? '';
    if (!signal?.aborted) await report({ ...judge.verdict(), conditions, output });
  }
}

function createDeclarations(promises, taskOf) {
  /** @type {(import('../verdict/judging-order.js').DeclaredPromise & { looks: Look[], steps: Step[], isMeasurement: boolean, areIndependent: boolean })[]} */
  const declared = [];
  /** @type {{ looks: Look[], body: (...seen: any[]) => any }[]} */
  const measurements = [];
  /** @type {Lesson['holdInSteps']} */
  const holdInSteps = (id, steps, options = {}) => {
    const { needs = [], isGate = false, isMeasurement = false, areIndependent = false } = options;
    if (Object.keys(promises)[declared.length] !== id)
      throw new Error(`'${id}' is not the next promise in this check's list.`);
    const looks = steps.flatMap(([looks]) => looks);
    const grounds = isMeasurement ? declared.map((one) => one.id) : needs;
    const what = { id, task: taskOf[id], looks, steps, needs: grounds };
    declared.push({ ...what, isGate, isMeasurement, areIndependent });
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

async function judgeRounds(judge, declared, options, measuring) {
  const looksOf = (/** @type {string[]} */ ids) =>
    declared.filter(({ id }) => ids.includes(id)).flatMap(({ looks }) => looks);
  const rounds = roundsOf(declared, options);
  for (const [index, ids] of rounds.entries()) {
    const laterLooks = looksOf(rounds.slice(index + 1).flat());
    await judge.round(ids, [...laterLooks, ...measuring]);
    if (judge.overrun()) return;
    const open = options.only || options.isThrough ? undefined : judge.openTask();
    if (open === undefined) continue;
    await judge.round(idsOfTask(declared, open));
    return;
  }
}

/** What the judge asks about looks: what their programs printed, what an error of theirs means, and whose fault it is. */
function interpretLooks({ ofLearner, factsOf }, /** @type {string} */ home) {
  const shortage = watchShortages(home);
  const programsBehind = (/** @type {Look[]} */ looks) => ofLearner(programsOf(looks));
  return {
    printedBy: (/** @type {Look[]} */ looks) => programsBehind(looks)[0]?.output(),
    meaning: (/** @type {unknown} */ error, /** @type {Look[]} */ looks) =>
      interpretError(error, { programs: programsBehind(looks), shortage, factsOf }),
    verdictOn: (/** @type {Story} */ story, /** @type {Look[]} */ looks, how = {}) =>
      verdictOnMissing(story, { programs: programsBehind(looks), ...how }),
  };
}

async function takeAgain(/** @type {Look[]} */ looks, forgetAll, stopAll) {
  const before = programsOf(looks);
  forgetAll(looks);
  await stopAll(before);
}

/** A measurement decides nothing, so a program or a machine that spoils it leaves it out. */
async function takeMeasurements(wanted, meaning) {
  for (const { looks, body } of wanted)
    try {
      await body(...(await Promise.all(looks.map((look) => look.see()))));
    } catch (error) {
      if (!isOutcome(meaning(error, looks))) throw error;
    }
}

function whenAborted(/** @type {AbortSignal | undefined} */ signal) {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
  });
}

function keepTimeline(program, file) {
  if (!file || !program) return;
  writeFileSync(file, program.events.map((event) => `${JSON.stringify(event)}\n`).join(''));
}
