import { listLessons } from '../lessons/catalog.js';
import { checkFile, loadCheck } from '../check/definitions.js';
import { createRunner } from '../observe/run.js';
import { EnvironmentError } from '../common/usage-error.js';
import { createStyle } from '../verdict/style.js';
import { visible } from '../verdict/visible.js';
import { parse, portOf } from './args.js';
import { checkLesson } from './check.js';
import { both, joiningOf, openLine } from './join.js';
import { listenForKeys } from './keys.js';
import { createFailures } from './failures.js';
import { nobody, openPage } from './page.js';
import { nextLesson } from './place.js';
import { readProgress } from './progress.js';
import { watchLessons } from './watch.js';

/** @typedef {import('../lessons/catalog.js').Lesson} Lesson */
/** @typedef {import('./progress.js').Io} Io */

const DEFAULT_PORT = 4010;

const options = /** @type {const} */ ({
  port: { type: 'string' },
  'no-page': { type: 'boolean' },
  join: { type: 'string' },
  name: { type: 'string', fromNpm: false },
});

/**
 * `start [--port N] [--no-page] [--join ADDRESS CODE]`: says where the learner is and what comes next, then checks a lesson
 * whenever its files are saved, until it is stopped with q or Ctrl-C. Beside the terminal a page shows the same, and more;
 * with --join the board of a class shows how it went.
 *
 * @param {string[]} argv
 * @param {Io} io
 * @returns {Promise<number>} exit code
 */
export async function run(argv, io) {
  const { values, positionals } = parse(argv, options, io.env, 1);
  const port = portOf(values.port, DEFAULT_PORT);
  const joining = await joiningOf(values, positionals, io);
  const hasPage =
    !values['no-page'] && !(io.env.npm_lifecycle_event && io.env.npm_config_page === '');
  const lessons = listLessons(io.root);
  /** @type {{ checker?: ReturnType<typeof createChecker>, line?: Awaited<ReturnType<typeof openLine>> }} */
  const there = {}; // the page may ask for one before it is
  const check = (/** @type {Lesson} */ lesson) => there.checker?.check(lesson);
  const aside = (words, act) => there.checker?.aside(words, act) ?? false;
  const hand = joining && {
    told: () => there.line?.told() ?? { isUp: false, isHeard: false },
    turn: (/** @type {boolean} */ isUp) => there.line?.hand(isUp),
  };
  const page = hasPage ? await openPage({ lessons, io, port, check, aside, hand }) : nobody;
  const lesson = nextLesson(lessons, readProgress(io));
  const line = joining && (await openLine(joining, { lesson, io, onChange: () => page.tell() }));
  const audience = line ? both(page, line) : page;
  const checker = createChecker(lessons, io, audience);
  Object.assign(there, { checker, line });
  const onSave = (lesson, file) => checker.check(lesson, { file });
  const isInteractive = Boolean(io.stdin.isTTY && io.stdout.isTTY);
  return new Promise((resolve) => {
    const watcher = watchLessons(io.root, lessons, onSave);
    io.stdout.write(home(lessons, io, isInteractive, line !== undefined)); // from now on each save is seen, as it says
    const stop = async () => {
      keys.close();
      watcher.close();
      await checker.stop();
      await audience.close();
      resolve(0);
    };
    const keys = listenForKeys(isInteractive ? io.stdin : undefined, {
      q: stop,
      l: () => checker.afterwards(() => show('list', [], io)),
      h: () => checker.afterwards(() => showHint(checker, io)),
      t: () => checker.afterwards(async () => checker.failures.try()),
      n: () => checker.afterwards(async () => checker.failures.next()),
      c: () => checker.check(checker.current()),
      a: () => checker.check(checker.current(), { isAll: true }),
      r() {
        line?.hand();
        page.tell();
      },
    });
    process.once('SIGINT', stop).once('SIGTERM', stop);
  });
}

/** One check at a time, or something else: a save in the middle of one ends it and begins another. */
function createChecker(lessons, io, /** @type {import('./page.js').Audience} */ audience) {
  let current = nextLesson(lessons, readProgress(io));
  let interrupt = new AbortController();
  let asked = 0; // of them some may wait
  let isStopping = false;
  /** @type {import('../observe/run.js').Runner | undefined} its keeper waits for the next check */
  let runner;
  const open = () => (runner = runner?.isOpen() ? runner : createRunner());
  const failures = createFailures(io);
  /** @type {Lesson | undefined} it has passed, and nothing was checked since */
  let passed;
  const checkWith = async (/** @type {Lesson} */ lesson, options) => {
    passed = undefined;
    const all = { lesson, lessons, io, audience, runner: open(), hasKeys: true, ...options };
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

/** What a learner reads first: where they are, what to read, what to edit, and what will happen. */
function home(lessons, io, isInteractive, hasBoard) {
  const { bold, cyan } = createStyle(io.stdout, io.env);
  const progress = readProgress(io);
  const { key, number, title, minutes } = nextLesson(lessons, progress);
  const passed = lessons.filter((lesson) => progress.passed[lesson.key]).length;
  return [
    `${bold('Forkshop')}: how one Node.js server comes to use all cores. ${passed} of ${lessons.length} lessons passed.`,
    '',
    `${bold(`Lesson ${number}: ${title}`)} (about ${minutes} minutes)`,
    `  Read   ${cyan(`lessons/${key}/README.md`)}`,
    `  Edit   ${cyan(`lessons/${key}/server.js`)}`,
    '',
    'Whenever you save, it is checked here.',
    isInteractive
      ? `Keys: c check now, a check all promises, t what to try, h hint, l list, ${hasBoard ? 'r hand, ' : ''}q quit.`
      : `To check it now: npm run check lesson-${number}`,
    '',
  ].join('\n');
}

/** A hint for the lesson that is worked on: where that has just passed there is none, and none of the next one's is spent. */
async function showHint(checker, /** @type {Io} */ io) {
  const passed = checker.passed();
  const next = checker.current();
  if (!passed) return show('hint', [`lesson-${next.number}`], io);
  const then =
    next === passed ? '' : ` Lesson ${next.number} begins with lessons/${next.key}/README.md`;
  io.stdout.write(`\nLesson ${passed.number} has passed: there is nothing to hint at.${then}\n`);
}

async function show(name, argv, io) {
  io.stdout.write('\n');
  const command = await import(`./${name}.js`);
  await command.run(argv, io);
}
