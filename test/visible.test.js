// Verifies that a program's output, errors and answers, and names of paths, are shown without controlling the terminal.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createReporter } from '../lib/cli/report.js';
import { createStyle } from '../lib/verdict/style.js';
import { promiseDetails } from '../lib/verdict/terminal.js';
import { allVisible, cut, cutLine, visible } from '../lib/verdict/visible.js';
import { forkshop, keys, makeRoot } from './fixture-root.js';

const CLEAR = '\u001b[2J\r\b\u0007\u009b2J\u007f'; // clears the screen, goes back, and rings
const SHOWN = String.raw`\u001b[2J\u000d\u0008\u0007\u009b2J\u007f`;
const STEERING = /(?![\n\t])\p{Cc}/u;

test('control characters are shown as escapes; line ends, tabs and all letters stay', () => {
  assert.equal(visible(`a${CLEAR}b`), `a${SHOWN}b`);
  assert.equal(visible('ü\t日本 ✔\r\nnext\n'), 'ü\t日本 ✔\nnext\n');
  assert.equal(visible('a\u202eb\u2066c\u200fd'), String.raw`a\u202eb\u2066c\u200fd`);
  assert.equal(
    visible('שלום، سلام 👩‍💻'),
    'שלום، سلام 👩‍💻',
    'what writes from the right needs no controls',
  );
  const record = { rows: [{ name: '\u0000', value: 1 }], note: undefined, left: null, is: true };
  const seen = { rows: [{ name: '\\u0000', value: 1 }], note: undefined, left: null, is: true };
  assert.deepEqual(allVisible(record), seen);
});

test('a long text is cut to its first lines, and a long line to its beginning', () => {
  assert.equal(cut('one\ntwo'), 'one\ntwo');
  assert.equal(cut('line\n'.repeat(100)), `${'line\n'.repeat(8)}[...]`);
  assert.equal(cutLine('y'.repeat(16_000)), `${'y'.repeat(400)} [...]`);
  const promise = {
    id: 'a',
    task: 1,
    sentence: 'it works',
    verdict: /** @type {const} */ ('failed'),
  };
  const lines = promiseDetails(
    { ...promise, why: 'no\n'.repeat(50) },
    {},
    createStyle(/** @type {any} */ ({}), {}),
    80,
  );
  assert.equal(lines.length, 5, 'of each part four lines, and its name');
});

test('a report has no escapes but its own colours', () => {
  let text = '';
  const io = { stdout: { write: (part) => (text += part) }, env: { FORCE_COLOR: '1' }, root: '/' };
  const lesson = { key: '02-cluster-fork', number: 2, title: 'A title', needs: [] };
  const subject = `/folder${CLEAR}`;
  const story = { expected: CLEAR, got: CLEAR, why: CLEAR, try: CLEAR };
  const verdict = 'failed';
  const promise = { id: 'a', task: 1, sentence: `it works ${CLEAR}`, verdict, ...story };
  const result = {
    ...{ verdict, isWhole: true, promises: [promise], seconds: 1, fault: `Error: ${CLEAR}` },
    measurements: [{ name: 'a', label: CLEAR, value: 1, unit: CLEAR, note: CLEAR }],
    charts: [{ label: CLEAR, unit: CLEAR, rows: [{ name: CLEAR, value: 1 }], note: CLEAR }],
    output: `${CLEAR}\n${'y'.repeat(16_000)}\n`,
  };
  const reporter = createReporter(
    /** @type {any} */ ({ lesson, lessons: [lesson], io, subject, isHelped: true }),
  );
  reporter.begin();
  reporter.promise(/** @type {any} */ ({ promise, number: 1, of: 1 }));
  reporter.end(result, { passed: {} });
  assert.ok(text.includes('\u001b[31m'), 'it has colours');
  assert.doesNotMatch(text.replace(/\p{Cc}\[\d+m/gu, ''), STEERING);
  assert.equal(text.split(SHOWN).length - 1, 16);
  assert.ok(text.length < 3_000);
});

test('a path with escapes is shown safely in a usage error, and in the head of a check', async () => {
  const root = makeRoot();
  const nowhere = await forkshop(root, ['check', '--in', `/nowhere${CLEAR}`]);
  assert.equal(nowhere.code, 2);
  assert.ok(nowhere.stderr.includes(`/nowhere${SHOWN}`), nowhere.stderr);
  assert.doesNotMatch(nowhere.stderr, STEERING);
  const folder = join(root, `mine${CLEAR}`);
  mkdirSync(folder);
  const { stdout, stderr } = await forkshop(root, ['check', '1', '--in', folder]);
  assert.ok(stdout.includes(`mine${SHOWN}`), stdout);
  assert.doesNotMatch(stdout + stderr, STEERING);
});

test("a diff shows them in the learner's file", async () => {
  const root = makeRoot();
  writeFileSync(join(root, 'lessons', keys[0], 'server.js'), `// ${CLEAR}\n`);
  await forkshop(root, ['diff', '1']);
  const { stdout } = await forkshop(root, ['diff', '1']);
  assert.ok(stdout.includes(`// ${SHOWN}`), stdout);
  assert.doesNotMatch(stdout, STEERING);
});
