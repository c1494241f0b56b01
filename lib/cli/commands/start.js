import { listLessons } from '../../lessons/catalog.js';
import { createStyle } from '../../verdict/style.js';
import { parse, parsePort } from '../args.js';
import { createCheckQueue } from '../check-queue.js';
import { combineAudiences, parseJoining, joinClass } from '../join-class.js';
import { listenForKeys } from '../keys.js';
import { noPage, openPage } from '../learner-page.js';
import { lessonToDo } from '../current-lesson.js';
import { readProgress } from '../saved/progress.js';
import { watchLessons } from '../watch-lessons.js';

/** @typedef {import('../../lessons/catalog.js').Lesson} Lesson @typedef {import('../saved/progress.js').Io} Io */

const DEFAULT_PORT = 4010;

const options = /** @type {const} */ ({
  port: { type: 'string' },
  'no-page': { type: 'boolean' },
  join: { type: 'string' },
  name: { type: 'string', fromNpm: false },
});

/**
 * `start`: shows the next step, then checks a lesson whenever one of its files is saved, until q or Ctrl-C. A page shows the
 * same and more; with --join a class's board shows results. @type {import('../dispatch.js').Command}
 */
export async function run(argv, io) {
  const { values, positionals } = parse(argv, options, io.env, 1);
  const port = parsePort(values.port, DEFAULT_PORT);
  const joining = await parseJoining(values, positionals, io);
  const hasPage =
    !values['no-page'] && !(io.env.npm_lifecycle_event && io.env.npm_config_page === '');
  const lessons = listLessons(io.root);
  const parts = await openParts({ lessons, io, port, joining, hasPage });
  const { queue, board, audience } = parts;
  const isInteractive = Boolean(io.stdin.isTTY && io.stdout.isTTY);
  const watcher = watchLessons(io.root, lessons, (lesson, file) => queue.check(lesson, { file }));
  io.stdout.write(home(lessons, io, isInteractive, board !== undefined)); // after watchLessons(), so that no save is missed
  return new Promise((resolve) => {
    const stop = async () => {
      keys.close();
      watcher.close();
      await queue.stop();
      await audience.close();
      resolve(0);
    };
    const actions = { q: stop, ...keyActions(parts, io) };
    const keys = listenForKeys(isInteractive ? io.stdin : undefined, actions);
    process.once('SIGINT', stop).once('SIGTERM', stop);
  });
}

/** Opens page and board, then the queue; the page is served first, so its callbacks look the others up. */
async function openParts({ lessons, io, port, joining, hasPage }) {
  /** @type {{ queue?: ReturnType<typeof createCheckQueue>, board?: Awaited<ReturnType<typeof joinClass>> }} */
  const later = {};
  const check = (/** @type {Lesson} */ lesson) => later.queue?.check(lesson);
  const runIfIdle = (words, act) => later.queue?.runIfIdle(words, act) ?? false;
  const hand = joining && {
    snapshot: () => later.board?.snapshot() ?? { isUp: false, isHeard: false, ballot: null },
    set: (/** @type {boolean} */ isUp) => later.board?.hand(isUp),
    vote: async (choice) => later.board?.vote(choice),
  };
  const page = hasPage ? await openPage({ lessons, io, port, check, runIfIdle, hand }) : noPage;
  const lesson = lessonToDo(lessons, readProgress(io));
  const onChange = () => page.refresh();
  const board = joining && (await joinClass(joining, { lesson, io, onChange }));
  const audience = board ? combineAudiences(page, board) : page;
  const queue = createCheckQueue(lessons, io, audience);
  Object.assign(later, { queue, board });
  return { page, board, audience, queue };
}

const keyActions = ({ page, board, queue }, /** @type {Io} */ io) => ({
  l: () => queue.afterwards(() => show('list', [], io)),
  h: () => queue.afterwards(() => showHint(queue, io)),
  t: () => queue.afterwards(async () => queue.failures.try()),
  n: () => queue.afterwards(async () => queue.failures.next()),
  c: () => queue.check(queue.current()),
  a: () => queue.check(queue.current(), { isAll: true }),
  r() {
    board?.hand();
    page.refresh();
  },
});

function home(lessons, io, isInteractive, hasBoard) {
  const { bold, cyan } = createStyle(io.stdout, io.env);
  const progress = readProgress(io);
  const { key, number, title, minutes } = lessonToDo(lessons, progress);
  const passed = lessons.filter((lesson) => progress.passed[lesson.key]).length;
  return [
    `${bold('Forkshop')}: how one Node.js server uses all cores. ${passed} of ${lessons.length} lessons passed.`,
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

/** Shows a hint, unless the lesson has just passed: then none of the next lesson's hints is used up. */
async function showHint(queue, /** @type {Io} */ io) {
  const passed = queue.passed();
  const next = queue.current();
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
