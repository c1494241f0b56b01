import { listLessons } from '../lessons/catalog.js';
import { createStyle } from '../verdict/style.js';
import { parse, portOf } from './args.js';
import { createChecker } from './checker.js';
import { both, joiningOf, openLine } from './join.js';
import { listenForKeys } from './keys.js';
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
    told: () => there.line?.told() ?? { isUp: false, isHeard: false, ballot: null },
    turn: (/** @type {boolean} */ isUp) => there.line?.hand(isUp),
    vote: async (choice) => there.line?.vote(choice),
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
