// Verifies that a file of ours with unexpected content is reported or made again, and never counts as a fault of Forkshop.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as shape from '../lib/common/shape.js';
import { copyProgram } from '../lib/observe/program-copy.js';
import { findRecording } from '../lib/deck/recordings.js';
import { forkshop, keys, makeRoot, write } from './fixture-root.js';

test('shapes: each question is answered with yes or no, whatever the value', () => {
  const { having, isCount, isFlag, isNumber, isRecord, isText, listOf, maybe, parseAs, recordOf } =
    shape;
  const odd = [undefined, null, 0, -1, 0.5, NaN, Infinity, '', 'a', true, [], [1], {}, { a: 1 }];
  const fits = (/** @type {shape.Shape} */ one) => odd.filter((value) => one(value));
  assert.deepEqual(fits(isText), ['', 'a']);
  assert.deepEqual(fits(isFlag), [true]);
  assert.deepEqual(fits(isNumber), [0, -1, 0.5]);
  assert.deepEqual(fits(isCount), [0]);
  assert.deepEqual(fits(isRecord), [{}, { a: 1 }]);
  assert.deepEqual(fits(maybe(isText)), [undefined, null, '', 'a']);
  assert.deepEqual(fits(listOf(isNumber)), [[], [1]]);
  assert.deepEqual(fits(recordOf(isText)), [{}]);
  assert.deepEqual(fits(having({ a: isCount })), [{ a: 1 }]);
  assert.deepEqual(parseAs('{"a":1,"b":2}', having({ a: isCount })), { a: 1, b: 2 });
  for (const text of ['', '{', '{"a":"1"}', 'null'])
    assert.equal(parseAs(text, having({ a: isCount })), undefined, text);
});

test('a missing recording is named, with the command that makes it', () => {
  const root = makeRoot();
  const recorded = { cpu: 'a', cores: 2, node: '20', date: '2026-01-01' };
  const file = `slides/${keys[0]}/recordings/one.json`;
  write(root, {
    [file]: JSON.stringify([
      { at: 0, recorded },
      { at: 3, end: {} },
    ]),
  });
  assert.equal(findRecording(root, 'one')?.length, 2);
  const odd = [
    [],
    [{ at: 0 }],
    [{ at: 0, recorded: {} }],
    [{ at: 0, recorded }, 7],
    { at: 0 },
    null,
  ];
  for (const text of ['', '[', ...odd.map((one) => JSON.stringify(one))]) {
    write(root, { [file]: text });
    assert.throws(() => findRecording(root, 'one'), {
      name: 'UsageError',
      message: `${join(root, file)} is no recording.`,
      hint: 'Record it: npm run slides -- --record one',
    });
  }
});

test('a program is copied even if the package.json around it is invalid', () => {
  for (const text of ['{', 'null', '[]', '7']) {
    const root = makeRoot();
    const home = join(root, 'home');
    mkdirSync(home);
    write(root, { 'package.json': text, 'mine/server.js': '// mine' });
    const place = join(root, 'mine');
    const { entry } = copyProgram({ place, entry: join(place, 'server.js') }, home);
    assert.equal(readFileSync(entry, 'utf8'), '// mine');
  }
});

test('commands continue with any kind of history', async () => {
  const root = makeRoot();
  const lines = [
    { lesson: keys[0], failed: 'listens', verdicts: 7 },
    { lesson: 3, measurements: [{ name: 'a', value: 1, isHeadline: true }] },
    { lesson: keys[0], failed: [null], conditions: null, measurements: {} },
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  write(root, { '.forkshop/history.jsonl': text, '.forkshop/solutions.jsonl': text });
  writeFileSync(join(root, `checks/${keys[0]}/check.js`), CHECK);
  const { code, stdout, stderr } = await forkshop(root, ['check', '1']);
  assert.deepEqual([code, stderr], [1, '']);
  assert.match(stdout, /expected {2}hello/);
  assert.ok(existsSync(join(root, '.forkshop/progress.json')));
});

const CHECK = `import { check, demand } from ${JSON.stringify(import.meta.resolve('../lib/check/checking.js'))};
  export default check('${keys[0]}', { 1: { greets: 'it says hello' } }, ({ hold }) =>
    hold('greets', [], () => demand(false, { expected: 'hello', got: 'bye', why: 'why', try: 'this' })));`;
