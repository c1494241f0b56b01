/**
 * The programs of one check: the learner's, and those beside it.
 * @typedef {import('../observe/program.js').Program} Program
 * @typedef {Partial<import('../observe/program.js').StartOptions> & { isReference?: boolean, named?: string, doing?: string }} LaunchOptions
 *   isReference: the lesson's starter, or with `entry` a tool, instead of the learner's files; named: as typed in a shell; doing: for
 *   the progress line
 * @typedef {{ name: string, isReference?: boolean, doing?: string, program: Program }} Started  name: its command
 */
import { basename, dirname } from 'node:path';
import { nowMs } from '../observe/clock.js';
import { copyProgram } from '../observe/program-copy.js';
import { noteProgram } from './look-graph.js';
import { hasUnseenWorker, isFutile } from '../observe/settled.js';
import { displayPath } from '../common/paths.js';
import { findEntry, starterFolder } from '../lessons/program-entry.js';
import { explainNotReady, explainStranger } from '../verdict/startup-failure.js';
import { Undecided, momentOf } from '../verdict/outcome.js';

const EXIT_REPORTED_MS = 2_000;

/**
 * @param {{ root: string, key: string, place: string, runner: import('../observe/runner.js').Runner, onProgram?: (started: Started) => void }} options
 *   root: the folder that holds the rooms; key: NN-slug; place: the file or folder to judge
 */
export function createPrograms({ root, key, place, runner, onProgram }) {
  const subject = createSubject({ root, key, place }, runner.home);
  /** @type {Program[]} in the order of their start */
  const all = [];
  let first;
  const references = new WeakSet();
  return {
    ...{ copy: subject.copy, factsOf: subject.factsOf, first: () => first },
    async launch(/** @type {LaunchOptions} */ { isReference, named, doing, ...options } = {}) {
      const entry = isReference ? findEntry(starterFolder(key, root), root) : subject.entry();
      const program = await runner.start({ entry, ...options });
      if (isReference) references.add(program);
      else first ??= program;
      noteProgram(all.push(program) - 1);
      const name = named ?? commandOf(program.options, Boolean(isReference));
      onProgram?.({ name, isReference, doing, program });
      return program;
    },
    /** Waits until that many processes listen on PORT; rejects with Broken when they never will. */
    async ready(/** @type {Program} */ program, listeners = 1) {
      const isReady = await program.ready(listeners);
      await demandFamily(program);
      if (isReady || isListening(program)) return program;
      const how = { isFirst: program === first, isReference: references.has(program) };
      throw whyNotReady(program, subject.factsOf(program), how);
    },
    /** -1 for a program of another check. */
    numberOf: (/** @type {any} */ program) => all.indexOf(program),
    stopAll: (/** @type {number[]} */ numbers) =>
      Promise.all(numbers.map((number) => all[number].stop())),
    /** Leaves out programs for comparison, and Redis. */
    ofLearner: (/** @type {number[]} */ numbers) =>
      numbers
        .map((number) => all[number])
        .filter((program) => !references.has(program) && !program.options.isNative),
  };
}

/** The learner's files: the program in them, and copies of them to deploy. */
function createSubject({ root, key, place }, /** @type {string} */ home) {
  const entry = rememberOutcome(() => findEntry(place, root));
  const copies = new Map();
  return {
    entry,
    copy() {
      const from = { place, entry: entry(), rest: starterFolder(key, root) };
      const made = copyProgram(from, home);
      copies.set(made.entry, made);
      return made;
    },
    /** Facts for the explanation why a program isn't ready. The learner sees their own path instead of a copy's. */
    factsOf(/** @type {Program} */ program) {
      const started = program.options.entry;
      const deployed = copies.get(started);
      return describeProgram(program, displayPath(deployed ? entry() : started, root), deployed);
    },
  };
}

function describeProgram(program, name, deployed) {
  const { port, fate, events, options } = program;
  const atHome = (/** @type {string} */ text) =>
    deployed
      ? text.replaceAll(deployed.entry, name).replaceAll(deployed.folder, dirname(name))
      : text;
  return {
    ...{ name, port, fate, output: atHome(program.output()) },
    events: events.map((event) =>
      event.what === 'crash' ? { ...event, error: atHome(event.error) } : event,
    ),
    command: [name, ...(options.args ?? []).map(quoted)].join(' '),
    ...{ isUnseen: hasUnseenWorker(events), isFutile: isFutile(events), nowMs: nowMs() },
  };
}

/** Fewer processes listen on PORT than it should have, but it runs, and the probe sees all its workers. */
const isListening = (/** @type {Program} */ { port, fate, events }) =>
  events.some((event) => event.what === 'listening' && event.port === port) &&
  !fate &&
  !hasUnseenWorker(events);

/** Throws if a process outside the run listens; a process that has just exited will be reported within EXIT_REPORTED_MS. */
async function demandFamily(/** @type {Program} */ program) {
  if (program.strangers().length === 0) return;
  const isGone = await program.until(() => program.strangers().length === 0, EXIT_REPORTED_MS);
  if (isGone || program.fate) return;
  throw explainStranger(program.strangers()[0]);
}

/** The error for a program that isn't ready: Undecided for one of ours, Broken for the learner's. */
function whyNotReady(/** @type {Program} */ program, facts, { isFirst, isReference }) {
  const expected = `The program listens on PORT, which is ${program.port} here.`;
  const broken = explainNotReady(facts, expected);
  const crash = program.events.find(({ what }) => what === 'crash');
  broken.story.shows = { program, moments: [momentOf(crash, 'throws')] };
  if (!isFirst) broken.story.output = facts.output;
  return isReference ? new Undecided(notOurs(broken.story)) : broken;
}

const notOurs = (/** @type {{ got?: string }} */ { got }) => ({
  got: `A program that yours is compared with did not start: ${got}`,
  why: 'It is ours and starts on other machines: this one is too busy, or lacks something.',
  try: 'close other programs, then check again',
});

/** As typed in a shell; pretences in parentheses. @param {LaunchOptions & { entry: string }} options @param {boolean} [isReference] */
export function commandOf(options, isReference = false) {
  const { entry, args = [], env = {} } = options;
  const settings = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)}`);
  const command = [...settings, basename(entry), ...args.map(quoted)].join(' ');
  const remarks = [
    isReference && 'ours, to compare with',
    options.pretendForks && 'forks are pretended',
    options.pretendExitCode && `exit code 1 of a worker becomes ${options.pretendExitCode}`,
    options.pretendCores && `it sees ${options.pretendCores} cores`,
  ].filter(Boolean);
  return remarks.length > 0 ? `${command} (${remarks.join('; ')})` : command;
}

const quoted = (arg) => (/^[\w./=-]+$/.test(arg) ? arg : JSON.stringify(arg));

function rememberOutcome(find) {
  let outcome;
  return () => {
    try {
      outcome ??= { value: find() };
    } catch (error) {
      outcome = { error };
    }
    if (outcome.error) throw outcome.error;
    return outcome.value;
  };
}
