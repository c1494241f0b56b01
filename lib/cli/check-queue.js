/** The queue of `npm start`: one check, or one action of the page, at a time; a save interrupts it and starts the next check. */
import { checkFile, loadCheck } from '../check/definitions.js';
import { EnvironmentError } from '../common/usage-error.js';
import { createRunner } from '../observe/runner.js';
import { createStyle } from '../verdict/style.js';
import { visible } from '../verdict/visible.js';
import { checkLesson } from './check-lesson.js';
import { lessonToDo } from './current-lesson.js';
import { createFailureViewer } from './failure-viewer.js';
import { readProgress } from './saved/progress.js';

/** @typedef {import('../lessons/catalog.js').Lesson} Lesson @typedef {import('./saved/progress.js').Io} Io */

const WAITING = 'Waiting for the next save.';

/** @param {Lesson[]} lessons @param {Io} io @param {import('./learner-page.js').Audience} audience */
export function createCheckQueue(lessons, io, audience) {
  let current = lessonToDo(lessons, readProgress(io));
  const checks = createChecks(lessons, io, audience);
  const queue = createQueue(checks.warmUp(current));
  return {
    failures: checks.failures,
    current: () => current,
    passed: checks.passed,
    check(/** @type {Lesson} */ lesson, { file = '', isAll = false } = {}) {
      current = lesson;
      queue.interrupt();
      queue.add(async (signal) => {
        io.stdout.write(`\n${rule(file, io)}\n`);
        await audience.begin(lesson, file);
        await checks.run(lesson, { isAll, signal });
        if (!signal.aborted) io.stdout.write(`\n${WAITING}\n`);
        if (checks.passed()) current = lessonToDo(lessons, readProgress(io));
      });
    },
    /** Runs something else if the queue is empty; a save interrupts it. @returns {boolean}  false: the queue is busy */
    runIfIdle(
      /** @type {string} */ words,
      /** @type {(signal: AbortSignal) => Promise<void>} */ act,
    ) {
      if (queue.isBusy()) return false;
      queue.add(async (signal) => {
        io.stdout.write(`\n${visible(words)}\n`);
        await act(signal);
        if (!signal.aborted) io.stdout.write(`${WAITING}\n`);
      });
      return true;
    },
    afterwards: queue.afterwards,
    async stop() {
      await queue.stop();
      await checks.close();
    },
  };
}

/** Runs actions one after the other. @param {Promise<unknown>} running  the first one */
function createQueue(running) {
  let interrupt = new AbortController();
  let length = 0;
  let isStopping = false;
  return {
    isBusy: () => length > 0 || isStopping,
    interrupt: () => interrupt.abort(),
    /** Skips the action if it is interrupted while it waits. */
    add(/** @type {(signal: AbortSignal) => Promise<void>} */ action) {
      interrupt = new AbortController();
      const { signal } = interrupt;
      length += 1;
      running = running
        .then(() => (signal.aborted ? undefined : action(signal)))
        .finally(() => (length -= 1));
    },
    afterwards(/** @type {() => Promise<void>} */ action) {
      running = running.then(action);
    },
    async stop() {
      isStopping = true;
      interrupt.abort();
      await running;
    },
  };
}

/** Checks lessons with one runner, whose keeper process serves one check after the other. */
function createChecks(/** @type {Lesson[]} */ lessons, /** @type {Io} */ io, audience) {
  /** @type {import('../observe/runner.js').Runner | undefined} */
  let runner;
  const open = () => (runner = runner?.isOpen() ? runner : createRunner());
  const failures = createFailureViewer(io);
  const hasKeys = Boolean(io.stdin.isTTY && io.stdout.isTTY);
  /** @type {Lesson | undefined} */
  let passed;
  return {
    failures,
    /** The lesson that the last check has completed. */
    passed: () => passed,
    /** Loads the next check while the learner reads; its errors are reported when it runs. */
    warmUp: ({ key }) => loadCheck(checkFile(io.root, key)).then(open).then(ignore, ignore),
    async run(/** @type {Lesson} */ lesson, options) {
      passed = undefined;
      try {
        const all = { lesson, lessons, io, audience, runner: open(), hasKeys, ...options };
        const result = await checkLesson(all);
        failures.load(result);
        if (result.verdict === 'passed' && result.isWhole) passed = lesson;
      } catch (/** @type {any} */ error) {
        printObstacle(error, io);
        audience.end({ verdict: 'inconclusive', obstacle: `${error.message} ${error.hint}` });
      }
    },
    close: async () => runner?.close(),
  };
}

const ignore = () => {};

/** Prints what keeps a check from running, for example a missing tool; other errors are bugs. */
function printObstacle(/** @type {unknown} */ error, /** @type {Io} */ io) {
  if (!(error instanceof EnvironmentError)) throw error;
  io.stderr.write(visible(`${error.message}\n${error.hint}\n`));
}

/** A line between two checks, in place of clearing the screen. */
function rule(file, io) {
  const time = new Date().toLocaleTimeString('en-GB');
  return createStyle(io.stdout, io.env).dim(
    `---- ${time} ${file && `${visible(file)} saved `}----`,
  );
}
