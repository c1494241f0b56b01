// Verifies that the catalog reads lessons from their lesson.yml and hints.md, finds a lesson by any of its names, and
// explains errors.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { findLesson, lessonFiles, listLessons, rootFolder } from '../lib/lessons/catalog.js';
import { about, hints, keys, makeRoot, write } from './fixture-root.js';

test('rootFolder is the folder that holds package.json', () => {
  assert.equal(join(rootFolder, 'test', 'catalog.test.js'), import.meta.filename);
});

test('listLessons reads every lesson in order, and ignores other folders', () => {
  const root = makeRoot();
  write(root, { 'lessons/work.js': '', 'lessons/drafts/README.md': 'none' });
  const lessons = listLessons(root);
  assert.deepEqual(
    lessons.map(({ key }) => key),
    keys,
  );
  const { text, ...second } = lessons[1];
  assert.deepEqual(second, {
    key: '02-cluster-fork',
    number: 2,
    slug: 'cluster-fork',
    title: 'About 02-cluster-fork',
    minutes: 20,
    goal: 'Know 02-cluster-fork.',
    concepts: ['02-cluster-fork'],
    hints: [{ task: 1, name: 'Task 1', hints: ['nudge', 'look it up', 'the answer'] }],
    predicts: undefined,
    starterFails: ['greets'],
    needs: [],
    folder: join(root, 'lessons', '02-cluster-fork'),
  });
  assert.match(text, /^# About 02-cluster-fork\n/);
});

test('a lesson file may have CRLF and a byte order mark', () => {
  const root = makeRoot();
  const crlf = (/** @type {string} */ text) => `\uFEFF${text.replaceAll('\n', '\r\n')}`;
  write(root, { [`lessons/${keys[0]}/lesson.yml`]: crlf(about(keys[0])) });
  write(root, { [`checks/${keys[0]}/hints.md`]: crlf(hints) });
  const [{ goal, hints: read }] = listLessons(root);
  assert.deepEqual([goal, read[0].hints.length], ['Know 01-blocking-server.', 3]);
});

test('a hint that is a block of code keeps its lines', () => {
  const root = makeRoot();
  const code = 'if (isReady) {\n  start();\n}';
  const text = hints.replace('the answer', `\`\`\`js\n${code}\n\`\`\``);
  write(root, { [`checks/${keys[0]}/hints.md`]: text });
  assert.deepEqual(listLessons(root)[0].hints[0].hints, ['nudge', 'look it up', code]);
});

/** @type {Record<string, [text: string, message: RegExp]>} */
const broken = {
  empty: ['', /title must be text; minutes must be/],
  'not YAML': ['title: [\n', /is not YAML: /],
  'a scalar': ['hello\n', /title must be text/],
  'minutes in words': [
    about('x').replace('minutes: 20', 'minutes: soon'),
    /minutes must be a number/,
  ],
};
for (const [name, [text, message]] of Object.entries(broken)) {
  test(`a broken lesson.yml is explained: ${name}`, () => {
    const root = makeRoot();
    write(root, { [`lessons/${keys[1]}/lesson.yml`]: text });
    assert.throws(() => listLessons(root), { name: 'UsageError', message, hint: /^Fix it/ });
    assert.throws(() => listLessons(root), { message: /lessons\/02-cluster-fork\/lesson\.yml/ });
  });
}

test('two hints, an empty one and four are explained', () => {
  const root = makeRoot();
  const [two] = hints.split('### Third');
  for (const text of [two, `${two}### Third\n`, `${hints}### Fourth\n\nmore\n`]) {
    write(root, { [`checks/${keys[1]}/hints.md`]: text });
    const message = /^checks\/02-cluster-fork\/hints\.md must have exactly three hints for Task 1/;
    assert.throws(() => listLessons(root), { name: 'UsageError', message, hint: /### First/ });
  }
});

test('hints belong to a task of the text', () => {
  const root = makeRoot();
  const file = `checks/${keys[1]}/hints.md`;
  write(root, { [file]: hints.replace('## Task 1', '## Later') });
  assert.throws(() => listLessons(root), /has "Later", which names no task/);
  write(root, { [file]: '# Hints\n' });
  assert.throws(() => listLessons(root), /has hints for no task/);
  write(root, { [file]: hints.replace('## Task 1', '## Tasks 1 and 2') });
  assert.deepEqual(
    listLessons(root)[1].hints.map(({ task, name }) => [task, name]),
    [[2, 'Tasks 1 and 2']],
  );
});

test('a missing text, no lessons and no lessons folder are explained', () => {
  const root = makeRoot();
  rmSync(join(root, 'lessons', keys[0], 'README.md'));
  assert.throws(() => listLessons(root), /lessons\/01-blocking-server\/README\.md is missing/);
  rmSync(join(root, 'lessons'), { recursive: true });
  assert.throws(() => listLessons(root), {
    name: 'UsageError',
    message: /no folder named lessons/,
  });
  mkdirSync(join(root, 'lessons'));
  assert.throws(() => listLessons(root), { name: 'UsageError', message: /There is no lesson in/ });
});

test('findLesson accepts every name of a lesson', () => {
  const lessons = listLessons(makeRoot());
  const names = [
    'lesson3',
    'Lesson 3',
    'lesson-3',
    '3',
    '03',
    '03-scheduling-policies',
    'scheduling-policies',
    'Lesson-3',
  ];
  for (const name of [...names, 'LESSON-03', 'Scheduling-Policies', ' 3 ']) {
    assert.equal(findLesson(lessons, name).number, 3, name);
  }
});

const guesses = {
  'lesson-33': 'lesson-3',
  'clutser-fork': 'cluster-fork',
  '02-cluster-fokr': '02-cluster-fork',
  '2-cluster-fork': '02-cluster-fork',
  leson3: 'lesson-3',
  policies: 'scheduling-policies',
  'lessons/02-cluster-fork/server.js': '02-cluster-fork',
};
for (const [name, guess] of Object.entries(guesses)) {
  test(`findLesson guesses what ${name} means, and lists the existing lessons`, () => {
    const lessons = listLessons(makeRoot());
    const hint = new RegExp(`^Did you mean ${guess}\\? .*\n.*${keys.join('\n.*')}$`);
    const message = /^There is no lesson named "/;
    assert.throws(() => findLesson(lessons, name), { name: 'UsageError', message, hint });
  });
}

test('findLesson survives hostile names', () => {
  const lessons = listLessons(makeRoot());
  const hostile = [
    '',
    ' ',
    '../../etc/passwd',
    '..',
    '0',
    '-1',
    '1e0',
    '1.0',
    '３',
    'ünïcödé 🍴',
    '__proto__',
  ];
  for (const name of [
    ...hostile,
    'x'.repeat(100_000),
    '\u001b[31mred',
    '\u009b2J',
    '1\n2',
    '\u202e',
  ]) {
    const message = /^[^\p{Cc}\p{Cf}]{1,500}$/u;
    assert.throws(() => findLesson(lessons, name), { name: 'UsageError', message });
  }
});

test("lessonFiles lists the solution's files, without build output", () => {
  const root = makeRoot();
  const more = [
    'lib/pool.js',
    '.output/a.js',
    'node_modules/x/i.js',
    'lib/node_modules/x.js',
    'a.conf',
  ];
  write(root, Object.fromEntries(more.map((file) => [`solutions/${keys[0]}/${file}`, ''])));
  assert.deepEqual(lessonFiles(root, keys[0]), ['a.conf', 'lib/pool.js', 'server.js']);
  assert.deepEqual(lessonFiles(root, '99-none'), []);
});
