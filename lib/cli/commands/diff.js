import { join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { lessonFiles } from '../../lessons/catalog.js';
import { createStyle } from '../../verdict/style.js';
import { visible } from '../../verdict/visible.js';
import { isFile, readIfThere } from '../../common/files.js';
import { lessonToReveal } from './solution.js';

/** @typedef {import('../../verdict/style.js').Style} Style */

/**
 * `diff [lesson]`: shows how the learner's files differ from the finished ones, in unified format;
 * before the lesson has passed, only when asked twice. Line ends make no difference.
 *
 * @param {string[]} argv
 * @param {import('../progress.js').Io} io
 * @returns {Promise<number>} exit code
 */
export async function run(argv, io) {
  const lesson = lessonToReveal(argv, io);
  if (!lesson) return 0;
  const style = createStyle(io.stdout, io.env);
  for (const { file, patch } of patchesOf(io.root, lesson.key))
    io.stdout.write(patch ? coloured(patch, style) : `${file} is the same as in the solution.\n`);
  return 0;
}

/**
 * How each of the learner's files differs from the finished one.
 *
 * @param {string} root
 * @param {string} key
 * @returns {{ file: string, patch: string }[]} patch: in unified format, made visible; empty where nothing differs
 */
export const patchesOf = (root, key) =>
  lessonFiles(root, key).map((file) => ({
    file,
    patch: visible(patchOf(root, `lessons/${key}/${file}`, `solutions/${key}/${file}`)),
  }));

const readIfFile = (/** @type {string} */ path) => (isFile(path) ? readIfThere(path) : undefined);

function patchOf(
  /** @type {string} */ root,
  /** @type {string} */ mine,
  /** @type {string} */ theirs,
) {
  const [from, to] = [mine, theirs].map((path) => readIfFile(join(root, path)));
  const [before, after] = [from ?? '', to ?? ''].map((text) => text.replaceAll('\r\n', '\n'));
  if (before === after) return '';
  const header = from === undefined ? '(you have no such file)' : '';
  return createTwoFilesPatch(mine, theirs, before, after, header, '');
}

function coloured(/** @type {string} */ patch, /** @type {Style} */ style) {
  return patch
    .split('\n')
    .map((line) => {
      if (/^(={3}|---|\+{3})/.test(line)) return style.bold(line);
      if (line.startsWith('@@')) return style.cyan(line);
      if (line.startsWith('+')) return style.green(line);
      return line.startsWith('-') ? style.red(line) : line;
    })
    .join('\n');
}
