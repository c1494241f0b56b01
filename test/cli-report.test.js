// Verifies the last lines of a verdict: where something that a lesson needs is not installed, and on a machine that is far too busy.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReporter } from '../lib/cli/report.js';
import { explainMissing, findTool, toolNames } from '../lib/tools/tools.js';

const missing = toolNames.filter((tool) => !findTool(tool));

/** The last line of an undecided verdict on a lesson with these needs. */
const lastLine = (needs) => reportOf(needs).trimEnd().split('\n').at(-1);

/** What is reported of an undecided verdict, with so much else about it. */
function reportOf(needs, more = {}) {
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
    ...more,
  };
  createReporter(/** @type {any} */ ({ lesson, lessons: [lesson], io })).end(result, {});
  return text;
}

test('an undecided lesson is checked again', () => {
  assert.equal(lastLine([]), 'Check again: npm run check lesson-11');
});

test('what is missing is installed first', { skip: missing.length === 0 }, () => {
  assert.equal(lastLine(missing), `Install it first: ${explainMissing(missing[0]).try}`);
});

test('where so many want each core that the rest was left out, it says so, and not how to judge them all', () => {
  const conditions = { cores: 2, node: '20.20.2', overrunBy: 23 };
  const told = reportOf([], { isWhole: false, of: 9, conditions });
  assert.match(
    told,
    /9 of 9 promises were not judged\. 23 programs want each core of this machine\./,
  );
  assert.doesNotMatch(told, /To judge them all/);
});
