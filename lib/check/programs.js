/**
 * The programs of one check: the learner's, started under the probe, and those beside it; and why one is not
 * ready.
 *
 * @typedef {import('../observe/program.js').Program} Program
 * @typedef {Partial<import('../observe/program.js').StartOptions> & { isReference?: boolean, named?: string, doing?: string }} LaunchOptions
 *   isReference: the lesson's untouched starter instead of the learner's files; with `entry`, a tool or a control; named: how
 *   one would start it in a shell, if that cannot be told from the rest; doing: what whoever watches is told while it runs
 * @typedef {{ name: string, isReference?: boolean, doing?: string, program: Program }} Started  name: how one would start it in a shell
 */
import { basename, dirname } from 'node:path';
import { nowMs } from '../observe/clock.js';
import { copyProgram } from '../observe/copy.js';
import { noteProgram } from './looks.js';
import { hasUnseenWorker, isFutile } from '../observe/settled.js';
import { nameOf } from '../common/paths.js';
import { entryOf, starterFolder } from '../lessons/program-entry.js';
import { explainNotReady, explainStranger } from '../verdict/diagnosis.js';
import { Undecided, momentOf } from '../verdict/outcome.js';

const END_TOLD_MS = 2_000;

/**
 * @param {object} options
 * @param {string} options.root  the folder that holds the rooms
 * @param {string} options.key  NN-slug
 * @param {string} options.place  the file or folder that is judged
 * @param {import('../observe/run.js').Runner} options.runner
 * @param {(started: Started) => void} [options.onProgram]
 */
export function createPrograms({ root, key, place, runner, onProgram }) {
  const subject = rememberOutcome(() => entryOf(place, root));
  /** @type {Map<string, import('../observe/copy.js').Copy>} */
  const copies = new Map();
  /** @type {Program[]} */
  const all = [];
  /** @type {Program | undefined} */
  let first;
  const references = new WeakSet();

  /** Starts the learner's program under the probe. @returns {Promise<Program>} */
  const launch = async (
    /** @type {LaunchOptions} */ { isReference, named, doing, ...options } = {},
  ) => {
    const entry = isReference ? entryOf(starterFolder(key, root), root) : subject();
    const program = await runner.start({ entry, ...options });
    if (isReference) references.add(program);
    else first ??= program;
    noteProgram(all.push(program) - 1);
    const name = named ?? commandOf(program.options, Boolean(isReference));
    onProgram?.({ name, isReference, doing, program });
    return program;
  };

  /** Copies the learner's folder, to deploy there. */
  const copy = () => {
    const from = { place, entry: subject(), rest: starterFolder(key, root) };
    const made = copyProgram(from, runner.home);
    copies.set(made.entry, made);
    return made;
  };

  /** What can be said of why a program is not what was expected; of a copy as if it were where the learner has it. */
  const factsOf = (/** @type {Program} */ program) => {
    const { port, fate, events, options } = program;
    const deployed = copies.get(options.entry);
    const name = nameOf(deployed ? subject() : options.entry, root);
    const atHome = (/** @type {string} */ text) =>
      deployed
        ? text.replaceAll(deployed.entry, name).replaceAll(deployed.folder, dirname(name))
        : text;
    const command = [name, ...(options.args ?? []).map(quoted)].join(' ');
    const isUnseen = hasUnseenWorker(events);
    const seen = { command, isUnseen, isFutile: isFutile(events), nowMs: nowMs() };
    const told = events.map((event) =>
      event.what === 'crash' ? { ...event, error: atHome(event.error) } : event,
    );
    return { name, port, fate, events: told, output: atHome(program.output()), ...seen };
  };

  /** Waits until so many of its processes listen on PORT, or nothing more will happen; then rejects with Broken. */
  const ready = async (/** @type {Program} */ program, listeners = 1) => {
    const isReady = await program.ready(listeners);
    await demandFamily(program);
    const { port, fate, events } = program;
    const listens = events.some((event) => event.what === 'listening' && event.port === port);
    const isUnseen = hasUnseenWorker(events);
    if (isReady || (listens && !fate && !isUnseen)) return program;
    const facts = factsOf(program);
    const expected = `The program listens on PORT, which is ${port} here.`;
    const broken = explainNotReady(facts, expected);
    const crash = events.find(({ what }) => what === 'crash');
    broken.story.shows = { program, moments: [momentOf(crash, 'throws')] };
    if (program !== first) broken.story.output = facts.output;
    if (references.has(program)) throw new Undecided(notOurs(broken.story)); // never the learner's fault
    throw broken;
  };

  /** The number of a program of this check, in the order in which they were started; -1 for another. */
  const numberOf = (/** @type {any} */ program) => all.indexOf(program);

  /** Ends programs of this check. @param {number[]} numbers */
  const stopAll = (numbers) => Promise.all(numbers.map((number) => all[number].stop()));

  /** The learner's of these programs, by their numbers: not those to which theirs are compared, nor Redis. */
  const ofLearner = (/** @type {number[]} */ numbers) =>
    numbers
      .map((number) => all[number])
      .filter((program) => !references.has(program) && !program.options.isNative);

  return { first: () => first, numberOf, stopAll, ofLearner, factsOf, launch, copy, ready };
}

/** A process that is reported to listen belongs to this run, or has just ended, as the timeline will show. */
async function demandFamily(/** @type {Program} */ program) {
  if (program.strangers().length === 0) return;
  const isTold = await program.until(() => program.strangers().length === 0, END_TOLD_MS);
  if (isTold || program.fate) return;
  throw explainStranger(program.strangers()[0]);
}

/** One of our programs that did not start. */
const notOurs = (/** @type {{ got?: string }} */ { got }) => ({
  got: `A program that yours is compared with did not start: ${got}`,
  why: 'It is ours, and it starts elsewhere: this machine is too busy, or lacks something.',
  try: 'close other programs, then check again',
});

/**
 * How one would start a program in a shell, and what is pretended to it.
 * @param {LaunchOptions & { entry: string }} options
 * @param {boolean} [isReference]
 * @returns {string}
 */
export function commandOf(options, isReference = false) {
  const { entry, args = [], env = {} } = options;
  const settings = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)}`);
  const command = [...settings, basename(entry), ...args.map(quoted)].join(' ');
  const remarks = [
    isReference && 'ours, to compare with',
    options.pretendForks && 'forks are pretended',
    options.pretendExitCode && `exit code 1 of a worker becomes ${options.pretendExitCode}`,
    options.pretendCores && `it is told of ${options.pretendCores} cores`,
  ].filter(Boolean);
  return remarks.length > 0 ? `${command} (${remarks.join('; ')})` : command;
}

/** An argument as typed in a shell. */
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
