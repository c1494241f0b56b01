import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lessonFiles, lessonKeys } from '../../lessons/catalog.js';
import { documentPaths, refreshDocument } from '../../lessons/documents.js';
import { lessonPaths } from '../../lessons/lesson-paths.js';
import { parse } from '../args.js';

/**
 * `sync [--check] [--starters]`: for authors. Refreshes the quoted code of all texts; with --starters also copies the lessons'
 * files to the starters. With --check it only reports, with exit code 1. @type {import('../dispatch.js').Command}
 */
export async function run(argv, io) {
  const options = /** @type {const} */ ({
    check: { type: 'boolean' },
    starters: { type: 'boolean' },
  });
  const { values } = parse(argv, options, io.env, 0);
  const changes = [...quoteChanges(io.root), ...(values.starters ? starterChanges(io.root) : [])];
  for (const { path, what, write } of changes) {
    if (!values.check) write();
    io.stdout.write(`${path}: ${what}\n`);
  }
  if (changes.length === 0) io.stdout.write('Everything is up to date.\n');
  if (!values.check || changes.length === 0) return 0;
  io.stdout.write(
    `Nothing was written. To do it: npm run sync${values.starters ? ' -- --starters' : ''}\n`,
  );
  return 1;
}

function quoteChanges(/** @type {string} */ root) {
  return documentPaths(root)
    .map((path) => ({ path, ...refreshDocument(root, path) }))
    .filter(({ stale }) => stale.length > 0)
    .map(({ path, text, stale }) => ({
      path,
      what: `refreshes ${stale.map(({ file, region }) => (region ? `${file}#${region}` : file)).join(', ')}`,
      write: () => writeFileSync(join(root, path), text),
    }));
}

function starterChanges(/** @type {string} */ root) {
  const pairs = lessonKeys(root).flatMap((key) =>
    lessonFiles(root, key).map((file) => [
      `lessons/${key}/${file}`,
      `${lessonPaths(key).starter}/${file}`,
    ]),
  );
  return pairs
    .filter(([from, to]) => existsSync(join(root, from)) && !same(join(root, from), join(root, to)))
    .map(([from, to]) => ({
      path: to,
      what: `is a copy of ${from}`,
      write() {
        mkdirSync(dirname(join(root, to)), { recursive: true });
        copyFileSync(join(root, from), join(root, to));
      },
    }));
}

function same(/** @type {string} */ from, /** @type {string} */ to) {
  return existsSync(to) && readFileSync(from).equals(readFileSync(to));
}
