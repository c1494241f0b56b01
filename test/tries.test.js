// Verifies that a check's messages never give a line of the solution away: the hints do that, on request.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { lessonFiles, lessonKeys, rootFolder } from '../lib/lessons/catalog.js';
import { lessonPaths } from '../lib/lessons/lesson-paths.js';
import { readIfThere } from '../lib/common/files.js';

const LEAST = 16; // characters: shorter lines could be in any program
const STRING = /(["'`])((?:\\.|(?!\1)[^\\])*)\1/g;

const read = (/** @type {string} */ path) => readIfThere(join(rootFolder, path)) ?? '';
const plain = (/** @type {string} */ text) => text.trim().replace(/[;,]$/, '');

/** The lines that a learner must find. */
function linesToFind(/** @type {string} */ key) {
  const { solution, starter } = lessonPaths(key);
  const given = new Set(
    lessonFiles(rootFolder, key).flatMap((file) => linesOf(`${starter}/${file}`)),
  );
  const own = lessonFiles(rootFolder, key).flatMap((file) => linesOf(`${solution}/${file}`));
  return own.filter((line) => line.length >= LEAST && !given.has(line) && !line.startsWith('//'));
}

const linesOf = (/** @type {string} */ path) =>
  read(path)
    .split('\n')
    .map((line) => plain(line.replace(/ \/\/ .*$/, '')));

for (const key of lessonKeys(rootFolder))
  test(`${key}: no sentence of its check is a line of its solution`, () => {
    const source = readFileSync(join(rootFolder, lessonPaths(key).checks, 'demands.js'), 'utf8');
    const told = [...source.matchAll(STRING)].map(([, , text]) => text.replaceAll("\\'", "'"));
    const lines = linesToFind(key);
    assert.ok(lines.length > 5 && told.length > 20, 'there is something to compare');
    const given = told.filter((text) => lines.some((line) => text.includes(line)));
    assert.deepEqual(given, []);
  });
