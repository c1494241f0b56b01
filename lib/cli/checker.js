/** What `npm start` does whenever a file is saved, or a key or the page asks for it. */
import { checkFile, loadCheck } from '../check/definitions.js';
import { EnvironmentError } from '../common/usage-error.js';
import { createRunner } from '../observe/run.js';
import { createStyle } from '../verdict/style.js';
import { visible } from '../verdict/visible.js';
import { checkLesson } from './commands/check.js';
import { createFailures } from './failures.js';
import { nextLesson } from './current-lesson.js';
import { readProgress } from './progress.js';

/** @typedef {import('../lessons/catalog.js').Lesson} Lesson */
/** @typedef {import('./progress.js').Io} Io */

/**
 * One check at a time, or something else: a save in the middle of one ends it and begins another.
 * @param {Lesson[]} lessons
 * @param {Io} io
 * @param {import('./page.js').Audience} audience
 */
export function createChecker(lessons, io, audience) {
  let current = nextLesson(lessons, readProgress(io));
  let interrupt = new AbortController();
  let asked = 0; // of them some may wait
  let isStopping = false;
  /** @type {import('../observe/run.js').Runner | undefined} its keeper waits for the next check */
  let runner;
  const open = () => (runner = runner?.isOpen() ? runner : createRunner());
  const failures = createFailures(io);
  const hasKeys = Boolean(io.stdin.isTTY && io.stdout.isTTY);
  /** @type {Lesson | undefined} it has passed, and nothing was checked since */
  let passed;
  const checkWith = async (/** @type {Lesson} */ lesson, options) => {
    passed = undefined;
    const all = { lesson, lessons, io, audience, runner: open(), hasKeys, ...options };
    const result = await checkLesson(all);
    failures.take(result);
    if (result.verdict === 'passed' && result.isWhole) passed = lesson;
  };
  let running = warmUp(current, io).then(open).then(ignore, ignore); // what is wrong is reported when it matters
  const inTurn = (/** @type {() => Promise<void>} */ action) => {
    asked += 1;
    running = running.then(action).finally(() => (asked -= 1));
  };
  return {
    failures,
    current: () => current,
    passed: () => passed,
    check(/** @type {Lesson} */ lesson, { file = '', isAll = false } = {}) {
      interrupt.abort();
      interrupt = new AbortController();
      const { signal } = interrupt;
      current = lesson;
      inTurn(async () => {
        if (signal.aborted) return;
        io.stdout.write(`\n${rule(file, io)}\n`);
        await audience.begin(lesson, file);
        await checkWith(lesson, { isAll, signal }).catch((error) => {
          tell(error, io);
          audience.end({ verdict: 'inconclusive', obstacle: `${error.message} ${error.hint}` });
        });
        if (!signal.aborted) io.stdout.write('\nWaiting for the next save.\n');
        current = nextLesson(lessons, readProgress(io));
      });
    },
    /** Something else, when nothing runs; a save ends it. @returns {boolean}  false: something runs */
    aside(/** @type {string} */ words, /** @type {(signal: AbortSignal) => Promise<void>} */ act) {
      if (asked > 0 || isStopping) return false;
      interrupt = new AbortController();
      const { signal } = interrupt;
      inTurn(async () => {
        if (signal.aborted) return;
        io.stdout.write(`\n${visible(words)}\n`);
        await act(signal);
        if (!signal.aborted) io.stdout.write('Waiting for the next save.\n');
      });
      return true;
    },
    afterwards(/** @type {() => Promise<void>} */ action) {
      running = running.then(action);
    },
    async stop() {
      isStopping = true;
      interrupt.abort();
      await running;
      await runner?.close();
    },
  };
}

/** Loads the check that comes next while the learner reads. */
const warmUp = (/** @type {Lesson} */ { key }, /** @type {Io} */ { root }) =>
  loadCheck(checkFile(root, key));

const ignore = () => {};

/** What keeps a check from running may be gone at the next save. */
function tell(/** @type {unknown} */ error, /** @type {Io} */ io) {
  if (!(error instanceof EnvironmentError)) throw error;
  io.stderr.write(visible(`${error.message}\n${error.hint}\n`));
}

/** A line that separates one check from the next; nothing is wiped off the screen. */
function rule(file, io) {
  const time = new Date().toLocaleTimeString('en-GB');
  return createStyle(io.stdout, io.env).dim(
    `---- ${time} ${file && `${visible(file)} saved `}----`,
  );
}
