import { cpSync, lstatSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filesBelow, findLesson, listLessons } from '../../lessons/catalog.js';
import { lessonPaths } from '../../lessons/lesson-paths.js';
import { UsageError } from '../../common/usage-error.js';
import { parse } from '../args.js';
import { NO_ANSWER, ask } from '../ask.js';
import { hasCode, isFile, timestamp } from '../../common/files.js';
import { currentLesson } from '../current-lesson.js';
import { readProgress } from '../saved/progress.js';
import { homeFolder } from '../saved/saved-files.js';

/** @typedef {import('../saved/progress.js').Io} Io @typedef {import('../../lessons/catalog.js').Lesson} Lesson */
/** @typedef {{ key: string, file: string }} Changed a file that differs from the starter's */

// npm has a setting named yes, which may be set for another reason.
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
  if (!yes) return [currentLesson(lessons, readProgress(io))];
  throw new UsageError(
    'reset --yes asks nothing, so you must say what to reset.',
    'Name the lesson, as in: npm run reset -- lesson-1 --yes\nOr all: npm run reset -- --all --yes',
  );
}

/** @param {Changed[]} changed @param {Io} io @returns {string | undefined}  the folder of the backup, if there was a file to copy */
export function restoreStarter(changed, io) {
  const backup = backUp(changed, io);
  for (const each of changed) restore(each, io.root);
  return backup;
}

/** @param {string} root @param {string} key @returns {Changed[]}  files that differ from the starter's */
export function changedFiles(root, key) {
  const starters = filesBelow(join(root, lessonPaths(key).starter));
  if (starters.length === 0) {
    throw new UsageError(
      `${lessonPaths(key).starter} holds no files to go back to.`,
      'Download the workshop again, into another folder, and copy that folder from there.',
    );
  }
  return starters
    .filter((file) => !sameContent(starterPath(root, { key, file }), minePath(root, { key, file })))
    .map((file) => ({ key, file }));
}

const starterPath = (/** @type {string} */ root, /** @type {Changed} */ { key, file }) =>
  join(root, lessonPaths(key).starter, file);
const minePath = (/** @type {string} */ root, /** @type {Changed} */ { key, file }) =>
  join(root, lessonPaths(key).mine, file);
const listOf = (/** @type {Changed[]} */ changed) =>
  changed.map(({ key, file }) => `  ${lessonPaths(key).mine}/${file}\n`).join('');

function sameContent(/** @type {string} */ starter, /** @type {string} */ mine) {
  try {
    return isFile(mine) && readFileSync(starter).equals(readFileSync(mine));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES')) return false;
    throw error;
  }
}

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

/** Copies the changed files that exist; pipes and sockets have no content to copy. */
function backUp(/** @type {Changed[]} */ changed, /** @type {Io} */ io) {
  const folder = join(homeFolder(io), 'backups', timestamp());
  const present = changed.filter((each) => hasContent(minePath(io.root, each)));
  for (const each of present) {
    const target = join(folder, each.key, each.file);
    mkdirSync(dirname(target), { recursive: true });
    const options = { recursive: true, errorOnExist: true, force: false, filter: hasContent };
    cpSync(minePath(io.root, each), target, options);
  }
  return present.length > 0 ? folder : undefined;
}

function restore(/** @type {Changed} */ changed, /** @type {string} */ root) {
  const target = minePath(root, changed);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(dirname(target), { recursive: true });
  cpSync(starterPath(root, changed), target);
}

function hasContent(/** @type {string} */ path) {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return Boolean(stats?.isFile() || stats?.isDirectory() || stats?.isSymbolicLink());
}
