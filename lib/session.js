/**
 * One run of a check: what its body gets to work with, and the records that it leaves. Under `node --test` a record is
 * a subtest and its words; driven by the command line, which sets FORKSHOP_REPORT=json, it is also a diagnostic, one
 * line of JSON.
 *
 * @typedef {import('./observe/program.js').Program} Program
 * @typedef {Partial<import('./observe/program.js').StartOptions> & { isReference?: boolean }} LaunchOptions
 *   isReference: the lesson's untouched starter instead of the learner's files; with `entry`, a tool or a control
 * @typedef {import('./measure/conditions.js').Conditions} Conditions
 * @typedef {import('./verdict/outcome.js').PromiseRecord} PromiseRecord
 *
 * @typedef {object} Lesson  what a check's body gets
 * @property {(options?: LaunchOptions) => Promise<Program>} launch  starts the learner's program under the probe
 * @property {() => import('./observe/copy.js').Copy} copy  copies the learner's folder, to deploy there: what the learner
 *   does not have in it is the starter's. Its entry is launched with `launch({ entry })`. Throws Broken without a program.
 * @property {(program: Program, listeners?: number) => Promise<Program>} ready
 *   waits until so many of its processes listen on PORT (1 unless told), or nothing more will happen. Rejects with
 *   Broken, which says why, when nobody listens there or the program has ended.
 * @property {<T>(look: () => Promise<T>) => Promise<T>} observe
 *   looks at the program once the look before is done, so that no two disturb each other. When one fails, so do those
 *   after it, with the same error; of the promises that wait for them, the first tells and the others are not reached.
 * @property {<T>(look: () => Promise<T>) => Promise<T>} meanwhile
 *   looks at something else at the same time: at another program, or at nothing that could be disturbed
 * @property {(id: string, body: () => Promise<void>, options?: { needs?: string[], isGate?: boolean }) => Promise<void>} hold
 *   runs a promise: it holds when the body returns. Not reached when one of `needs` does not hold, or an earlier gate.
 * @property {(name: string, measurement: Omit<import('./verdict/terminal.js').Measurement, 'name'>) => void} measured
 * @property {(name: string, chart: Omit<import('./verdict/terminal.js').Chart, 'name'>) => void} drawn
 *   numbers side by side: a distribution, start-up times
 * @property {(more: Partial<Conditions>) => Conditions} conditionsWere  adds to what is known of the machine
 * @property {() => boolean} allHold  so far
 * @property {boolean} isQuick  measurements that decide nothing are to be left out
 */
import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { conditionsNow, isCrowded, watchCrowd } from './measure/conditions.js';
import { nowMs } from './observe/clock.js';
import { copyProgram } from './observe/copy.js';
import { hasUnseenWorker, isFutile } from './observe/settled.js';
import { entryOf, nameOf, starterFolder, subjectFolder } from './subject.js';
import { explainNotReady } from './verdict/diagnosis.js';
import { Broken, Undecided, asText, verdictOf } from './verdict/outcome.js';

const PATIENCE_MS = 6_000; // whoever blocks for ever is told so within 20 s, also then

/**
 * @param {object} options
 * @param {import('node:test').TestContext} options.t  the lesson's test
 * @param {string} options.key
 * @param {Record<string, string>} options.promises  id → sentence
 * @param {import('./observe/run.js').Runner} options.runner
 * @returns {{ lesson: Lesson, reportFault(error: unknown): never, finish(left: number[]): void }}
 */
export function createSession({ t, key, promises, runner }) {
  const report = createReport();
  const records = createRecords(t, report, promises);
  const programs = createPrograms(key, runner);
  let conditions = conditionsNow();
  watchCrowd();
  return {
    lesson: {
      launch: programs.launch,
      copy: programs.copy,
      ready: programs.ready,
      observe: createQueue(),
      meanwhile: (look) => handled(look()),
      hold: records.hold,
      isQuick: process.env.FORKSHOP_QUICK === '1',
      allHold: () => records.verdicts().every((verdict) => verdict === 'passed'),
      measured: (name, measurement) => report(t, { measurement: { name, ...measurement } }),
      drawn: (name, chart) => report(t, { chart: { name, ...chart } }),
      conditionsWere: (more) => (conditions = { ...conditions, ...more }),
    },
    reportFault: (error) => reportFault(report, t, error),
    finish(left) {
      const program = programs.first();
      keepTimeline(program);
      const verdict = verdictOf([...records.verdicts(), ...records.unreached()]);
      report(t, { verdict, conditions, left, output: program?.output() ?? '' });
    },
  };
}

/** Starts the programs of a check, and says why one is not ready. */
function createPrograms(key, runner) {
  const subject = rememberOutcome(() => entryOf(subjectFolder(key)));
  /** @type {Map<string, import('./observe/copy.js').Copy>} */
  const copies = new Map();
  /** @type {Program | undefined} */
  let first;
  const launch = async (/** @type {LaunchOptions} */ { isReference, ...options } = {}) => {
    const entry = isReference ? entryOf(starterFolder(key)) : subject();
    const program = await runner.start({ entry, ...options });
    if (!isReference) first ??= program;
    return program;
  };
  return {
    first: () => first,
    launch: (/** @type {LaunchOptions | undefined} */ options) => handled(launch(options)),
    copy() {
      const from = { place: subjectFolder(key), entry: subject(), rest: starterFolder(key) };
      const copy = copyProgram(from, runner.home);
      copies.set(copy.entry, copy);
      return copy;
    },
    async ready(/** @type {Program} */ program, listeners = 1) {
      const isReady =
        (await program.ready(listeners)) ||
        (isCrowded() && (await program.ready(listeners, PATIENCE_MS))); // at once, where nothing more will happen
      const { port, fate, events } = program;
      const listens = events.some((event) => event.what === 'listening' && event.port === port);
      const isUnseen = hasUnseenWorker(events);
      if (isReady || (listens && !fate && !isUnseen)) return program;
      const copy = copies.get(program.options.entry);
      const name = nameOf(copy ? subject() : program.options.entry);
      const atHome = (/** @type {string} */ text) =>
        copy ? text.replaceAll(copy.entry, name).replaceAll(copy.folder, dirname(name)) : text;
      const command = [name, ...(program.options.args ?? []).map(quoted)].join(' ');
      const seen = { command, isUnseen, isFutile: isFutile(events), nowMs: nowMs() };
      const told = events.map((event) =>
        event.what === 'crash' ? { ...event, error: atHome(event.error) } : event,
      );
      const facts = { name, port, fate, events: told, output: atHome(program.output()), ...seen };
      const expected = `The program listens on PORT, which is ${port} here.`;
      const broken = explainNotReady(facts, expected);
      if (program !== first) broken.story.output = facts.output;
      throw broken;
    },
  };
}

/** The records of the promises, each decided in a subtest of its own. */
function createRecords(t, report, promises) {
  /** @type {Map<string, PromiseRecord>} */
  const records = new Map();
  const told = new Set();
  /** @type {string[]} */
  const gates = [];
  /** @returns {Promise<Omit<PromiseRecord, 'id' | 'sentence'>>} */
  const decide = async (subtest, body, needs) => {
    if ([...gates, ...needs].some((need) => records.get(need)?.verdict !== 'passed'))
      return { verdict: 'skipped' };
    return outcomeOf(body, told).catch((error) => reportFault(report, subtest, error));
  };
  return {
    verdicts: () => [...records.values()].map(({ verdict }) => verdict),
    unreached: () =>
      Object.keys(promises).flatMap((id) =>
        records.has(id) ? [] : [/** @type {const} */ ('skipped')],
      ),
    async hold(id, body, { needs = /** @type {string[]} */ ([]), isGate = false } = {}) {
      const sentence = promises[id];
      if (!sentence) throw new Error(`This check declares no promise '${id}'.`);
      await t.test(sentence, async (subtest) => {
        /** @type {PromiseRecord} */
        const record = { id, sentence, ...(await decide(subtest, body, needs)) };
        records.set(id, record);
        if (isGate) gates.push(id);
        report(subtest, {
          promise: record,
          number: records.size,
          of: Object.keys(promises).length,
        });
        if (record.verdict === 'skipped') subtest.skip('not reached');
        else if (record.verdict === 'inconclusive') subtest.skip(`inconclusive\n${asText(record)}`);
        else if (record.verdict === 'failed') throw new Error(asText(record));
      });
    },
  };
}

/**
 * What one promise has told already (a program that never started) is not told again by the next.
 * @returns {Promise<Omit<PromiseRecord, 'id' | 'sentence'>>}
 */
async function outcomeOf(body, told) {
  try {
    await body();
    return { verdict: 'passed' };
  } catch (error) {
    if (!(error instanceof Broken || error instanceof Undecided)) throw error;
    if (told.has(error)) return { verdict: 'skipped' };
    told.add(error);
    return { verdict: error instanceof Broken ? 'failed' : 'inconclusive', ...error.story };
  }
}

/** Looks one after the other. */
function createQueue() {
  let last = Promise.resolve();
  return (/** @type {() => Promise<any>} */ look) => (last = handled(last.then(look)));
}

/** A promise that may reject before anybody awaits it. */
function handled(promise) {
  promise.catch(() => {});
  return promise;
}

/** An argument as one types it in a shell. */
const quoted = (arg) => (/^[\w./=-]+$/.test(arg) ? arg : JSON.stringify(arg));

/** Calls `find` once and has the same answer, or throws the same error, ever after. */
function rememberOutcome(find) {
  const outcome = { done: false, value: /** @type {any} */ (undefined), error: undefined };
  return () => {
    try {
      if (!outcome.done) outcome.value = find();
    } catch (/** @type {any} */ error) {
      outcome.error = error;
    }
    outcome.done = true;
    if (outcome.error) throw outcome.error;
    return outcome.value;
  };
}

/** @returns {never} */
function reportFault(report, t, error) {
  report(t, { fault: String(error?.stack ?? error) });
  throw error;
}

/** @returns {(t: import('node:test').TestContext, record: any) => void} */
function createReport() {
  if (process.env.FORKSHOP_REPORT === 'json')
    return (t, record) => t.diagnostic(JSON.stringify(record));
  return (t, { measurement, chart, conditions }) => {
    if (measurement) t.diagnostic(asWords(measurement));
    if (chart) t.diagnostic(chartAsWords(chart));
    if (conditions)
      t.diagnostic(`on ${conditions.cores} cores, Node ${conditions.node}, ${conditions.platform}`);
  };
}

function asWords({ label, value, low, high, ceiling, unit }) {
  const interval =
    low === undefined ? '' : ` (95 % interval ${low.toFixed(2)} to ${high.toFixed(2)})`;
  const above = ceiling === undefined ? '' : `, ceiling ${ceiling.toFixed(2)}`;
  return `${label}: ${value.toFixed(2)} ${unit}${interval}${above}`;
}

function chartAsWords({ label, rows, unit }) {
  return `${label}: ${rows.map(({ name, value }) => `${name} ${value}`).join(', ')} ${unit}`;
}

/** Leaves the timeline of the learner's first program where the command line wants it. */
function keepTimeline(/** @type {Program | undefined} */ program) {
  const file = process.env.FORKSHOP_KEEP_TIMELINE;
  if (!file || !program) return;
  writeFileSync(file, program.events.map((event) => `${JSON.stringify(event)}\n`).join(''));
}
