// Verifies how the promises of a check belong to the tasks of its text, and how progress is counted: pure parts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tasksOf } from '../lib/lessons/tasks.js';
import { otherFailureLines } from '../lib/verdict/other-promises.js';
import { createStyle } from '../lib/verdict/style.js';
import { countsInWords, tallyOf } from '../lib/verdict/tally.js';

const text = '# A text\n\n### Task 1: fork\n\nFork.\n\n### Task 2: answer\r\n\n### Task 3: stop\n';

test('tasks have the titles of the text; a task that shows only with the next one is named with it', () => {
  assert.deepEqual(tasksOf({ forks: 1, answers: 2, counts: 2, stops: 3 }, text), [
    { number: 1, name: 'task 1', title: 'fork', promises: ['forks'] },
    { number: 2, name: 'task 2', title: 'answer', promises: ['answers', 'counts'] },
    { number: 3, name: 'task 3', title: 'stop', promises: ['stops'] },
  ]);
  const names = (/** @type {Record<string, number>} */ taskOf) =>
    tasksOf(taskOf, text).map(({ name, title }) => `${name} ${title}`);
  assert.deepEqual(names({ answers: 2, stops: 3 }), ['tasks 1 and 2 ', 'task 3 stop']);
  assert.deepEqual(names({ stops: 3 }), ['tasks 1 to 3 ']);
});

test('a promise that held and was not judged again counts as held; a promise never judged is to come', () => {
  const tasks = [{ promises: ['a', 'b'] }, { promises: ['c', 'd', 'e'] }, { promises: ['f'] }];
  const promises = /** @type {any} */ ([
    { id: 'c', verdict: 'failed' },
    { id: 'd', verdict: 'passed' },
    { id: 'e', verdict: 'skipped' },
  ]);
  const before = { a: 'passed', b: 'failed', d: 'failed', c: 'passed' };
  const { heldBefore, counts } = tallyOf({ promises, tasks }, before);
  assert.deepEqual(heldBefore, ['a']);
  assert.deepEqual(counts, { held: 2, failed: 1, undecided: 0, toCome: 3 });
  assert.equal(countsInWords(counts), '2 hold, 1 fails, 3 to come');
  assert.equal(
    countsInWords({ held: 1, failed: 2, undecided: 1, toCome: 0 }),
    '1 holds, 2 fail, 1 undecided',
  );
});

test('besides the opened promise, every other has a line with the sign of its verdict', () => {
  const plain = createStyle({ isTTY: false }, {});
  const tasks = /** @type {any} */ ([{ promises: ['a', 'b', 'c', 'd', 'e', 'f'] }]);
  const all = (/** @type {string} */ verdict, /** @type {string[]} */ ids) =>
    /** @type {any[]} */ (ids.map((id) => ({ id, verdict, got: `seen of ${id}\nand more` })));
  const lines = (/** @type {any[]} */ others) => otherFailureLines(others, { tasks }, plain, 80);
  assert.deepEqual(lines(all('failed', ['b'])), ['  ✖ [2/6] seen of b']);
  assert.deepEqual(lines(all('inconclusive', ['b', 'c', 'd', 'e'])), [
    '  ? [2/6] seen of b',
    '  ? [3/6] seen of c',
    '  ? [4/6] seen of d',
    '  ? and 1 more',
  ]);
});
