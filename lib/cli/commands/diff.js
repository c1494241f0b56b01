import { join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { lessonFiles } from '../../lessons/catalog.js';
import { createStyle } from '../../verdict/style.js';
import { visible } from '../../verdict/visible.js';
import { isFile, readIfThere } from '../../common/files.js';
import { lessonToReveal } from './solution.js';

/** @typedef {import('../../verdict/style.js').Style} Style */

/** `diff [lesson]`: a unified diff from the learner's files to the solution. @type {import('../dispatch.js').Command} */
export async function run(argv, io) {
  const lesson = lessonToReveal(argv, io);
  if (!lesson) return 0;
  const style = createStyle(io.stdout, io.env);
  for (const { file, patch } of solutionDiffs(io.root, lesson.key))
    io.stdout.write(patch ? coloured(patch, style) : `${file} is the same as in the solution.\n`);
  return 0;
}

/** @param {string} root @param {string} key @returns {{ file: string, patch: string }[]}  patch: escaped; '' if nothing differs */
export const solutionDiffs = (root, key) =>
  lessonFiles(root, key).map((file) => ({
    file,
    patch: visible(patchOf(root, `lessons/${key}/${file}`, `solutions/${key}/${file}`)),
  }));

const readIfFile = (/** @type {string} */ path) => (isFile(path) ? readIfThere(path) : undefined);

/** @param {string} root @param {string} mine @param {string} theirs */
function patchOf(root, mine, theirs) {
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
