import { findLesson, listLessons } from '../../lessons/catalog.js';
import { lessonPaths } from '../../lessons/lesson-paths.js';
import { UsageError } from '../../common/usage-error.js';
import { parse } from '../args.js';
import { NO_ANSWER, ask } from '../ask.js';
import { recentLesson } from '../current-lesson.js';
import { readProgress } from '../saved/progress.js';
import { changedFiles, restoreStarter } from '../starter-files.js';

/** @typedef {import('../saved/progress.js').Io} Io @typedef {import('../../lessons/catalog.js').Lesson} Lesson */

// fromNpm: npm has a setting of its own named yes, which may be set for another reason.
const options = /** @type {const} */ ({
  all: { type: 'boolean' },
  yes: { type: 'boolean', short: 'y', fromNpm: false },
});

/**
 * `reset [lesson] [--all] [--yes]`: restores the starter's files, after asking and after a backup. Progress stays.
 * @type {import('../dispatch.js').Command}
 */
export async function run(argv, io) {
  const { values, positionals } = parse(argv, options, io.env);
  const lessons = lessonsToReset(positionals[0], values, io);
  const changed = lessons.flatMap(({ key }) => changedFiles(io.root, key));
  if (changed.length === 0) {
    const names = lessons.map(({ number }) => `lesson-${number}`).join(', ');
    io.stdout.write(`Nothing to reset: the files of ${names} are as they were given to you.\n`);
    return 0;
  }
  io.stdout.write(`These files will be put back to how they were:\n${listOf(changed)}`);
  if (!values.yes && !(await confirm(io))) {
    io.stdout.write('Nothing was changed.\n');
    return 0;
  }
  const backup = restoreStarter(changed, io);
  if (backup) io.stdout.write(`Your versions were kept in ${backup}\n`);
  io.stdout.write('Done. What you have passed stays passed.\n');
  return 0;
}

/** @param {string | undefined} name @param {{ all?: boolean, yes?: boolean }} flags @param {Io} io */
function lessonsToReset(name, { all, yes }, io) {
  const lessons = listLessons(io.root);
  if (all && name !== undefined) {
    throw new UsageError('reset takes a lesson or --all, not both.', 'Leave one of them out.');
  }
  if (all) return lessons;
  if (name !== undefined) return [findLesson(lessons, name)];
  if (!yes) return [recentLesson(lessons, readProgress(io))];
  throw new UsageError(
    'reset --yes asks nothing, so you must say what to reset.',
    'Name the lesson, as in: npm run reset -- lesson-1 --yes\nOr all: npm run reset -- --all --yes',
  );
}

const listOf = (/** @type {import('../starter-files.js').Changed[]} */ changed) =>
  changed.map(({ key, file }) => `  ${lessonPaths(key).mine}/${file}\n`).join('');

async function confirm(/** @type {Io} */ io) {
  if (!io.stdin.isTTY) {
    throw new UsageError(
      'reset asks before it changes anything, and this is no terminal. Nothing was changed.',
      'To go ahead, add --yes after a --, as in: npm run reset -- lesson-1 --yes',
    );
  }
  const answer = await ask(io, 'Go ahead? [y/N] ');
  return answer !== NO_ANSWER && /^y(es)?$/i.test(answer);
}
