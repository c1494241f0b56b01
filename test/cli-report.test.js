// Verifies the last line of a verdict, where something that a lesson needs is not installed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReporter } from '../lib/cli/report.js';
import { explainMissing, findTool, toolNames } from '../lib/tools/tools.js';

const missing = toolNames.filter((tool) => !findTool(tool));

/** The last line of an undecided verdict on a lesson with these needs. */
function lastLine(needs) {
  let text = '';
  const stdout = { write: (part) => (text += part) };
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
  };
  createReporter(/** @type {any} */ ({ lesson, lessons: [lesson], io })).end(result, {});
  return text.trimEnd().split('\n').at(-1);
}

test('an undecided lesson is checked again', () => {
  assert.equal(lastLine([]), 'Check again: npm run check lesson-11');
});

test('what is missing is installed first', { skip: missing.length === 0 }, () => {
  assert.equal(lastLine(missing), `Install it first: ${explainMissing(missing[0]).try}`);
});
