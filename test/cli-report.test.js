// Verifies the last lines of a verdict, with a tool missing and on a machine that is far too busy.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReporter } from '../lib/cli/report.js';
import { toolNames } from '../lib/lessons/lesson-yml.js';
import { explainMissing, findTool } from '../lib/tools/tools.js';

const missing = toolNames.filter((tool) => !findTool(tool));

/** The last line of an undecided verdict on a lesson with these needs. */
const lastLine = (needs) => reportOf(needs).trimEnd().split('\n').at(-1);

/** The report of an undecided verdict on a machine with this much other load. */
function reportOf(
  needs,
  more = {},
  { columns, decided = [], picture, ...options } = /** @type {any} */ ({}),
) {
  let text = '';
  const stdout = { columns, write: (part) => (text += part) };
  const lesson = { key: '11-nitro', number: 11, title: 'A title', needs };
  const io = { stdout, env: {}, root: '/root' };
  const result = {
    verdict: 'inconclusive',
    isWhole: true,
    promises: [],
    measurements: [],
    charts: [],
    seconds: 1,
    output: '',
    ...more,
  };
  const all = /** @type {any} */ ({ lesson, lessons: [lesson], io, ...options });
  const reporter = createReporter(all);
  reporter.begin();
  for (const one of decided) reporter.promise(one);
  reporter.end(result, {}, picture);
  return text;
}

/** A lesson of two tasks; the named promises of the first fail. */
const tasks = [
  { number: 1, name: 'task 1', title: 'fork', promises: ['a', 'b', 'c'] },
  { number: 2, name: 'task 2', title: 'stop', promises: ['d', 'e'] },
];
const failure = (/** @type {string} */ id) => ({
  ...{
    id,
    task: 1,
    verdict: 'failed',
    sentence: `the promise ${id}`,
    expected: 'yes',
    got: `${id} is not`,
  },
  ...{ why: 'it matters', try: 'look there', output: `printed for ${id}\n` },
});
const passed = { id: 'a', task: 1, verdict: 'passed', sentence: 'the promise a' };
const inTask1 = {
  verdict: 'failed',
  isWhole: false,
  of: 5,
  tasks,
  promises: [passed, failure('c'), failure('b')],
};

test("the lesson's first failure is opened, with its program's output; other failures take a line each, later tasks one line", () => {
  const told = reportOf([], inTask1);
  assert.match(
    told,
    /\n {2}· Task 2: stop: not yet\n\n {2}Your program printed:\n {4}printed for b\n\n {2}the promise b\n/,
  );
  assert.match(
    told,
    /why {7}it matters\n {2}✖ \[3\/5\] c is not\n\nNot yet\. 1 holds, 2 fail, 2 to come\. .*\nA hint: .*\n$/,
  );
  assert.doesNotMatch(told, /look there/);
});

test('advice appears when the same promise fails again, or on request; keys are named if there are any', () => {
  const before = { failed: ['b'], verdicts: { b: 'failed' }, measured: {} };
  assert.match(reportOf([], inTask1, { before }), /try {7}look there/);
  const other = { ...before, verdicts: { b: 'passed', c: 'failed' } };
  assert.doesNotMatch(reportOf([], inTask1, { before: other }), /look there/);
  assert.match(reportOf([], inTask1, { isHelped: true }), /try {7}look there/);
  const keys = /\nKeys: t what to try, n the next failure, h a hint\n$/;
  assert.match(reportOf([], inTask1, { hasKeys: true }), keys);
});

test('a check that played a scene draws it, and says how to have the same again and where the picture is', () => {
  const slice = { asked: 2, failed: 1, p50Ms: 3, p99Ms: 9, workers: 2 };
  const scene = { startMs: 0, sliceMs: 50, slices: [slice], most: 2, blows: [] };
  const told = reportOf([], { ...inTask1, scene, seed: 7 }, { picture: '/root/.forkshop/a.svg' });
  assert.match(told, /The scene: 2 requests, 1 of them failed/);
  assert.match(
    told,
    /\nSeed 7\. The same again: npm run check lesson-11 -- --seed 7\nThe scene as a picture: \.forkshop\/a\.svg\nA hint: .*\n$/,
  );
});

test('a task with promises in two parts says so, and a question keeps its one question mark', () => {
  const later = { ...passed, id: 'd', task: 2 };
  const decided = [later, passed, { ...later, id: 'e' }].map((promise, index) => ({
    ...{ promise, number: index + 1, of: 5, task: tasks[promise.task - 1] },
  }));
  const asking = [tasks[0], { ...tasks[1], title: 'why?', promises: ['f'] }];
  const told = reportOf([], { ...inTask1, tasks: asking }, { decided });
  const heads = told.match(/^ {2}(· )?Task .*$/gm);
  assert.deepEqual(heads, [
    '  Task 2: stop',
    '  Task 1: fork',
    '  Task 2: stop (the rest)',
    '  · Task 2: why? not yet',
  ]);
});

test('promises that held before and were not judged are shown and counted', () => {
  const before = {
    failed: ['d'],
    verdicts: { a: 'passed', b: 'passed', c: 'passed', e: 'passed' },
    measured: {},
  };
  const promises = [{ ...failure('d'), task: 2 }];
  const told = reportOf([], { ...inTask1, promises }, { before });
  assert.match(
    told,
    /✔ Task 1: fork: 3 promises held before\n {2}✔ Task 2: stop: 1 promise held before\n/,
  );
  assert.match(told, /Not yet\. 4 hold, 1 fails\./);
});

test('a verdict fits in a window of 30 lines of 100 columns, however long its story and its output', () => {
  const long = 'a word and another '.repeat(40);
  const output = 'Error: it is broken\n    at serve (/root/a.js:1:1)\n'.repeat(200);
  const records = ['a', 'b', 'c'].map((id) => ({
    ...failure(id),
    expected: long,
    got: long,
    why: long,
    output,
  }));
  const promises = records.map((record, index) => ({
    ...record,
    sentence: `${'a promise that is long '.repeat(5)}${index}`,
  }));
  const decided = promises.map((promise, index) => ({
    promise,
    number: index + 1,
    of: 5,
    task: tasks[0],
  }));
  const told = reportOf([], { ...inTask1, promises }, { columns: 100, decided });
  const lines = told.trimEnd().split('\n');
  assert.ok(lines.length <= 30, `${lines.length} lines`);
  assert.ok(
    lines.every((line) => line.length <= 100),
    told,
  );
  assert.match(told, /Your program printed:\n[^]*Error: it is broken/);
});

test('an output of one line leaves its room to the story', () => {
  const why = 'the reason for it is '.repeat(11);
  const said = (/** @type {string} */ output) => {
    const promises = [{ ...failure('a'), why, output }];
    const decided = promises.map((promise) => ({ promise, number: 1, of: 5, task: tasks[0] }));
    const above = Array(7).fill(decided[0]);
    return reportOf([], { ...inTask1, promises }, { columns: 80, decided: above });
  };
  assert.match(said('one\n'.repeat(4)), /\[\.\.\.\]/);
  assert.doesNotMatch(said('one\n'), /\[\.\.\.\]/);
});

test('the advice for an undecided lesson is to check again', () => {
  assert.equal(lastLine([]), 'Check again: npm run check lesson-11');
});

test('the advice for a missing tool is to install it first', { skip: missing.length === 0 }, () => {
  assert.equal(lastLine(missing), `Install it first: ${explainMissing(missing[0]).try}`);
});

test('if other programs crowd the cores and the rest was skipped, it says so, and does not say how to judge all', () => {
  const conditions = { cores: 2, node: '20.20.2', overrunBy: 23 };
  const told = reportOf([], { isWhole: false, of: 9, conditions });
  assert.match(
    told,
    /9 of 9 promises were not judged\. 23 programs want each core of this machine\./,
  );
  assert.doesNotMatch(told, /To judge them all/);
});
