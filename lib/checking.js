/**
 * The one door through which a check sees the machinery. A check is a node:test file:
 *
 *   check('02-cluster-fork', { 'forks-as-told': 'NODE_CLUSTER_WORKERS=4 forks exactly four workers' },
 *     async ({ launch, ready, observe, hold }) => {
 *       const main = observe(async () => ready(await launch({ env: { NODE_CLUSTER_WORKERS: '4' } }), 4));
 *       await hold('forks-as-told', async () => {
 *         const { events } = await main;
 *         demand(forksOf(events).length === 4, { expected, got, why, try });
 *       });
 *     });
 *
 * It runs by itself with `node --test`, which prints what node:test prints; or driven by the command line, which sets
 * FORKSHOP_REPORT=json and gets each record as a diagnostic of its subtest, one line of JSON.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { conditionsNow } from './measure/conditions.js';
import { createRunner } from './observe/run.js';
import { explainNotReady } from './verdict/diagnosis.js';
import { Broken, Undecided, demand, verdictOf } from './verdict/outcome.js';

export { disturbanceOf, watchMachine } from './measure/conditions.js';
export { speedupOfBlocking, speedupOfCpu } from './measure/speedup.js';
export { demandSpeedup } from './verdict/speedup.js';
export { createSpinners } from './measure/ceiling.js';
export { createLoad } from './measure/load.js';
export { mean, meanOf } from './measure/stats.js';
export { askAtOnce } from './observe/ask.js';
export { get } from './observe/client.js';
export { faultOfRandomHex } from './verdict/bodies.js';
export {
  deepestOverlap,
  groupBy,
  listenersOf,
  processesOf,
  requestsOf,
} from './observe/timeline.js';
export { Undecided, demand };

const rootFolder = fileURLToPath(new URL('..', import.meta.url));

/**
 * @typedef {object} Lesson  what a check's body gets
 * @property {(options?: LaunchOptions) => Promise<Program>} launch  starts the learner's program under the probe
 * @property {(program: Program, listeners?: number) => Promise<Program>} ready
 *   waits until so many of its processes listen on PORT (1 unless told), or nothing more will happen. Rejects with
 *   Broken, which says why, when nobody listens there or the program has ended.
 * @property {<T>(look: () => Promise<T>) => Promise<T>} observe
 *   looks at the program once the look before is done, so that no two disturb each other. When one fails, so do those
 *   after it, with the same error; of the promises that wait for them, the first tells and the others are not reached.
 * @property {(id: string, body: () => Promise<void>, options?: { needs?: string[] }) => Promise<void>} hold
 *   runs a promise: it holds when the body returns. Not reached when one of `needs` does not hold.
 * @property {(name: string, measurement: object) => void} measured  reports numbers: value, low, high, ceiling, unit, ...
 * @property {(conditions: object) => import('./measure/conditions.js').Conditions} conditionsWere  adds to what is known
 * @property {() => boolean} allHold  so far
 *
 * @typedef {import('./observe/run.js').Program} Program
 * @typedef {Partial<import('./observe/run.js').StartOptions> & { isReference?: boolean }} LaunchOptions
 *   isReference: the lesson's untouched starter instead of the learner's files
 */

/**
 * Declares the check of one lesson: a test, with a subtest for each promise.
 * @param {string} key  NN-slug
 * @param {Record<string, string>} promises  id → sentence, in the order in which they are held
 * @param {(lesson: Lesson) => Promise<void>} body
 */
export function check(key, promises, body) {
  test(key, async (t) => {
    const runner = createRunner();
    const session = createSession(t, { key, promises, runner });
    try {
      await body(session.lesson);
    } catch (error) {
      session.reportFault(t, error);
    } finally {
      const left = await runner.close();
      session.finish(left);
    }
  });
}

function createSession(t, { key, promises, runner }) {
  const report = reporterOf();
  const records = new Map();
  const told = new Set();
  const subject = subjectOf(key);
  let firstProgram;
  let conditions = conditionsNow();

  const launch = async ({ isReference, ...options } = {}) => {
    const entry = isReference ? entryOf(join(rootFolder, 'checks/starters', key)) : subject();
    const program = await runner.start({ entry, ...options });
    if (!isReference) firstProgram ??= program;
    return program;
  };
  const ready = async (program, listeners = 1) => {
    const isReady = await program.ready(listeners);
    if (isReady || (listens(program) && !program.fate)) return program;
    const { port, fate, events } = program;
    const name = nameOf(program.options.entry);
    const facts = { name, port, fate, events, output: program.output() };
    throw explainNotReady(facts, `The program listens on PORT, which is ${port} here.`);
  };
  const reportFault = (where, error) => {
    report(where, { fault: String(error?.stack ?? error) });
    throw error;
  };
  let observed = Promise.resolve();
  const observe = (look) => {
    observed = handled(observed.then(look));
    return observed;
  };
  const hold = async (id, promise, { needs = [] } = {}) => {
    const sentence = promises[id];
    if (!sentence) throw new Error(`The check of ${key} declares no promise '${id}'.`);
    await t.test(sentence, async (subtest) => {
      const isReached = needs.every((need) => records.get(need)?.verdict === 'passed');
      const outcome = isReached
        ? await outcomeOf(promise, told).catch((error) => reportFault(subtest, error))
        : { verdict: 'skipped' };
      records.set(id, { id, sentence, ...outcome });
      report(subtest, {
        promise: records.get(id),
        number: records.size,
        of: Object.keys(promises).length,
      });
      if (outcome.verdict === 'skipped') subtest.skip('not reached');
      else if (outcome.verdict === 'inconclusive')
        subtest.skip(`inconclusive: ${outcome.got} ${outcome.why}`);
      else if (outcome.verdict === 'failed') throw new Error(asText(outcome));
    });
  };
  return {
    lesson: {
      observe,
      launch: (options) => handled(launch(options)),
      ready,
      hold,
      measured: (name, measurement) => report(t, { measurement: { name, ...measurement } }),
      conditionsWere: (more) => (conditions = { ...conditions, ...more }),
      allHold: () => [...records.values()].every(({ verdict }) => verdict === 'passed'),
    },
    reportFault,
    finish(left) {
      for (const [id, sentence] of Object.entries(promises)) {
        if (!records.has(id)) records.set(id, { id, sentence, verdict: 'skipped' });
      }
      keepTimeline(firstProgram);
      const verdict = verdictOf([...records.values()].map((record) => record.verdict));
      report(t, { verdict, conditions, left, output: firstProgram?.output() ?? '' });
    },
  };
}

const listens = ({ events, port }) =>
  events.some((event) => event.what === 'listening' && event.port === port);

/** A promise's outcome. What one promise has told of already (a program that never started) is not told again. */
async function outcomeOf(promise, told) {
  try {
    await promise();
    return { verdict: 'passed' };
  } catch (error) {
    if (!(error instanceof Broken || error instanceof Undecided)) throw error;
    if (told.has(error)) return { verdict: 'skipped' };
    told.add(error);
    return { verdict: error instanceof Broken ? 'failed' : 'inconclusive', ...error.story };
  }
}

function asText({ expected, got, why, try: command }) {
  const lines = { expected, got, why, try: command };
  return Object.entries(lines)
    .flatMap(([name, text]) => (text ? [`${name}: ${text}`] : []))
    .join('\n');
}

/** For the command line a record is a line of JSON; for a person, the numbers in words. */
function reporterOf() {
  if (process.env.FORKSHOP_REPORT === 'json')
    return (t, record) => t.diagnostic(JSON.stringify(record));
  return (t, { measurement, conditions }) => {
    if (measurement) t.diagnostic(measurement.sentence);
    if (conditions)
      t.diagnostic(`on ${conditions.cores} cores, Node ${conditions.node}, ${conditions.platform}`);
  };
}

/** A promise that may reject before anybody awaits it. */
function handled(promise) {
  promise.catch(() => {});
  return promise;
}

/** The learner's file, or, as FORKSHOP_SUBJECT, another folder or file that stands in for it; found out once. */
function subjectOf(key) {
  let entry, error;
  try {
    entry = entryOf(process.env.FORKSHOP_SUBJECT ?? join(rootFolder, 'lessons', key));
  } catch (problem) {
    error = problem;
  }
  return () => {
    if (error) throw error;
    return entry;
  };
}

function entryOf(place) {
  const stats = statSync(place, { throwIfNoEntry: false });
  if (!stats)
    throw new Broken({
      got: `There is no ${nameOf(place)}.`,
      try: 'npm run reset, which brings the starter back',
    });
  if (stats.isFile()) return readable(place);
  const names = ['server.js', 'server.cjs', 'server.mjs'];
  const found = names.map((name) => join(place, name)).find((file) => existsSync(file));
  if (!found)
    throw new Broken({ expected: 'a file server.js', got: `There is none in ${nameOf(place)}.` });
  return readable(found);
}

function readable(file) {
  if (!statSync(file).isFile())
    throw new Broken({ expected: 'a file', got: `${nameOf(file)} is a folder.` });
  try {
    if (readFileSync(file, 'utf8').trim() !== '') return file;
  } catch (error) {
    throw new Broken({
      got: `${nameOf(file)} cannot be read (${error.code}).`,
      try: `chmod u+r ${nameOf(file)}`,
    });
  }
  throw new Broken({
    got: `${nameOf(file)} is empty.`,
    try: 'npm run reset, which brings the starter back',
  });
}

/** A path as a person at the root of the repository would write it. */
function nameOf(file) {
  const name = relative(rootFolder, file);
  return name.startsWith('..') ? file : name;
}

function keepTimeline(program) {
  const target = process.env.FORKSHOP_KEEP_TIMELINE;
  if (!target || !program) return;
  writeFileSync(target, program.events.map((event) => JSON.stringify(event) + '\n').join(''));
}
