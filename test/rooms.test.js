// Verifies that CONTRIBUTING.md draws the rooms of lib/ as they are: each import from one room into another is an arrow of
// its picture, each arrow is used, and all lead down; and that the files exist that its tour of a save names.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import { Linter } from 'eslint';
import { filesBelow, rootFolder } from '../lib/lessons/catalog.js';

const MOST_FILES = 25; // in one folder: a glance takes in no more

const guide = readFileSync(join(rootFolder, 'CONTRIBUTING.md'), 'utf8');
const files = filesBelow(join(rootFolder, 'lib'));

/** The picture: each room, from the top, with the rooms that it imports. @returns {Map<string, string[]>} */
function picture() {
  const [, text = ''] = /^```text\n(cli .*?)^```/ms.exec(guide) ?? [];
  const rows = text.trimEnd().split('\n');
  return new Map(
    rows.map((row) => {
      const [, room, rest] = /^(\w+) +[^→]+→(.*)$/.exec(row) ?? assert.fail(`no room: ${row}`);
      return [room, rest.split(' ').filter(Boolean)];
    }),
  );
}

const isText = (/** @type {any} */ node) => typeof node?.value === 'string';

/** Paths that the current file names: in import, export from, import(), require() and new URL(). @type {string[]} */
let names = [];
const take = (/** @type {any} */ node) => void (isText(node) && names.push(node.value));
const ofSource = (/** @type {any} */ { source }) => take(source);
const ofFirst = (/** @type {any} */ { arguments: [first] }) => take(first);
const visitor = {
  ImportDeclaration: ofSource,
  ExportNamedDeclaration: ofSource,
  ExportAllDeclaration: ofSource,
  ImportExpression: ofSource,
  CallExpression: ofFirst,
  NewExpression: ofFirst,
};
const linter = new Linter();
const config = /** @type {any} */ ([
  {
    plugins: { rooms: { rules: { collect: { create: () => visitor } } } },
    rules: { 'rooms/collect': 'error' },
  },
  { files: ['**/*.cjs'], languageOptions: { sourceType: 'commonjs' } },
]);

/** @param {string} file  below lib/ @returns {string[]}  the files below lib/ that it imports */
function importsOf(file) {
  names = [];
  const text = readFileSync(join(rootFolder, 'lib', file), 'utf8');
  const [fault] = linter.verify(text, config, { filename: posix.basename(file) });
  assert.equal(fault, undefined, `${file}: ${fault?.message}`);
  return names
    .filter((name) => /^\.\.?\//.test(name))
    .map((name) => posix.join(posix.dirname(file), name))
    .filter((name) => files.includes(name));
}

/** @returns {Record<string, string[]>}  for each arrow an import that it stands for */
function arrows() {
  /** @type {Record<string, string[]>} */
  const found = {};
  const roomOf = (/** @type {string} */ file) => file.split('/')[0];
  for (const file of files.filter((name) => /\.c?js$/.test(name)))
    for (const other of importsOf(file))
      if (roomOf(other) !== roomOf(file))
        (found[`${roomOf(file)} → ${roomOf(other)}`] ??= []).push(`${file} imports ${other}`);
  return found;
}

test('the picture of lib/ has all its rooms, and all arrows lead down', () => {
  const rooms = [...picture().keys()];
  assert.deepEqual([...rooms].sort(), readdirSync(join(rootFolder, 'lib')).filter(isRoom).sort());
  for (const [room, others] of picture())
    for (const other of others)
      assert.ok(rooms.indexOf(other) > rooms.indexOf(room), `${room} → ${other} leads up`);
});

const isRoom = (/** @type {string} */ name) => !name.includes('.');

test('every import from one room into another is an arrow of the picture, and every arrow is used', () => {
  const found = arrows();
  const drawn = [...picture()].flatMap(([room, others]) => others.map((one) => `${room} → ${one}`));
  const undrawn = Object.keys(found).filter((arrow) => !drawn.includes(arrow));
  assert.deepEqual(
    undrawn.flatMap((arrow) => found[arrow]),
    [],
    'not in the picture',
  );
  assert.deepEqual(
    drawn.filter((arrow) => !found[arrow]),
    [],
    'no import stands for it',
  );
});

test('no folder of lib/ holds more files than a reader can take in', () => {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const file of files) {
    const folder = `lib/${posix.dirname(file)}`;
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  assert.ok(counts.size > 13);
  for (const [folder, count] of counts)
    assert.ok(count <= MOST_FILES, `${folder} has ${count} files`);
});

test('the tour of a save has ten stations, and the files that it names exist', () => {
  const [, tour = ''] = /^## One save, in ten stations\n(.*?)^## /ms.exec(guide) ?? [];
  assert.equal(tour.match(/^\d+\. /gm)?.length, 10);
  const named = [...tour.matchAll(/`([\w/.-]+\/[\w.-]+\.c?js)`/g)].map(([, file]) => file);
  assert.ok(named.length >= 10);
  for (const file of named) assert.ok(existsSync(join(rootFolder, file)), file);
});
