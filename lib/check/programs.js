/**
 * The programs of one check: the learner's, and those beside it.
 * @typedef {import('../observe/program.js').Program} Program
 * @typedef {Partial<import('../observe/program.js').StartOptions> & { isReference?: boolean, named?: string, doing?: string }} LaunchOptions
 *   isReference: the lesson's starter, or with `entry` a tool, instead of the learner's files; named: its command as typed in a
 *   shell, if the options don't say; doing: progress text
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
  const subject = rememberOutcome(() => findEntry(place, root));
  /** @type {Map<string, import('../observe/program-copy.js').Copy>} */
  const copies = new Map();
  /** @type {Program[]} */
  const all = [];
  /** @type {Program | undefined} */
  let first;
  const references = new WeakSet();

  /** @returns {Promise<Program>} */
  const launch = async (
    /** @type {LaunchOptions} */ { isReference, named, doing, ...options } = {},
  ) => {
    const entry = isReference ? findEntry(starterFolder(key, root), root) : subject();
    const program = await runner.start({ entry, ...options });
    if (isReference) references.add(program);
    else first ??= program;
    noteProgram(all.push(program) - 1);
    const name = named ?? commandOf(program.options, Boolean(isReference));
    onProgram?.({ name, isReference, doing, program });
    return program;
  };

  const copy = () => {
    const from = { place, entry: subject(), rest: starterFolder(key, root) };
    const made = copyProgram(from, runner.home);
    copies.set(made.entry, made);
    return made;
  };

  /** Facts for the explanation why a program isn't ready. Paths in a deployed copy appear as the learner's own. */
  const factsOf = (/** @type {Program} */ program) => {
    const { entry } = program.options;
    const deployed = copies.get(entry);
    return describeProgram(program, displayPath(deployed ? subject() : entry, root), deployed);
  };

  /** Waits until that many processes listen on PORT; rejects with Broken when they never will. */
  const ready = async (/** @type {Program} */ program, listeners = 1) => {
    const isReady = await program.ready(listeners);
    await demandFamily(program);
    if (isReady || isListening(program)) return program;
    const facts = factsOf(program);
    const broken = explainNotReady(
      facts,
      `The program listens on PORT, which is ${program.port} here.`,
    );
    const crash = program.events.find(({ what }) => what === 'crash');
    broken.story.shows = { program, moments: [momentOf(crash, 'throws')] };
    if (program !== first) broken.story.output = facts.output;
    if (references.has(program)) throw new Undecided(notOurs(broken.story)); // not the learner's program
    throw broken;
  };

  /** In order of their start; -1 for a program of another check. */
  const numberOf = (/** @type {any} */ program) => all.indexOf(program);

  /** @param {number[]} numbers */
  const stopAll = (numbers) => Promise.all(numbers.map((number) => all[number].stop()));

  /** Leaves out programs for comparison, and Redis. */
  const ofLearner = (/** @type {number[]} */ numbers) =>
    numbers
      .map((number) => all[number])
      .filter((program) => !references.has(program) && !program.options.isNative);

  return { first: () => first, numberOf, stopAll, ofLearner, factsOf, launch, copy, ready };
}

/** @param {Program} program @param {string} name @param {import('../observe/program-copy.js').Copy} [deployed] */
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

/** Does it run and listen on PORT, all workers under the probe, though fewer than were asked for? */
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

const notOurs = (/** @type {{ got?: string }} */ { got }) => ({
  got: `A program that yours is compared with did not start: ${got}`,
  why: 'It is ours and starts on other machines: this one is too busy, or lacks something.',
  try: 'close other programs, then check again',
});

/**
 * A program's command as typed in a shell, with what is pretended to it in parentheses.
 * @param {LaunchOptions & { entry: string }} options @param {boolean} [isReference] @returns {string}
 */
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

/** Calls `find` once; every later call returns the same value or throws the same error. */
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
