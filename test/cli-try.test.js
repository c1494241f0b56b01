// Verifies `try` on the real experiments of lesson 2, and on wrong names.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { listLessons, rootFolder } from '../lib/lessons/catalog.js';
import { run } from '../lib/cli/commands/try.js';
import experiments from '../checks/02-cluster-fork/experiments.js';
import { dispatched, forkshop, makeRoot, keys } from './fixture-root.js';

test('try without a name shows a menu and runs nothing', async () => {
  const { code, stdout } = await dispatched(rootFolder, ['try', '2']);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^Experiments of lesson 2: .*\n\n {2}1 {2}who-answers: Which processes answer/,
  );
  assert.match(stdout, /npm run try lesson-2 1, or all of them: npm run try lesson-2 all\n$/);
});

test('who-answers: four workers answer eight requests, the primary none', async () => {
  const { code, stdout } = await forkshop(rootFolder, ['try', '2', 'who-answers']);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /What do you expect\?[^]*Seen just now[^]*Why/);
  const shares = [...stdout.matchAll(/^ {4}process \d+: (\d+)$/gm)].map(([, count]) =>
    Number(count),
  );
  assert.equal(shares.length, 4);
  assert.equal(
    shares.reduce((sum, count) => sum + count),
    8,
  );
  assert.match(stdout, /the primary, process \d+: 0/);
});

/** Runs the command at a terminal, and types each part when prompted. */
async function type(/** @type {string[]} */ argv, /** @type {string[]} */ ...parts) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()].map((stream) =>
    Object.assign(stream, { isTTY: true }),
  );
  let output = '';
  stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    if (output.includes(': ', output.lastIndexOf('\n')))
      setImmediate(() => stdin.write(parts.shift() ?? ''));
  });
  const env = { NO_COLOR: '1' };
  const code = await run(argv, { stdin, stdout, stderr: stdout, env, root: rootFolder });
  return { code, output };
}

test('Ctrl-C and Ctrl-D at a question exit silently', async () => {
  for (const key of ['\u0003', '\u0004']) {
    const menu = await type(['2'], key);
    assert.equal(menu.code, 130);
    assert.match(menu.output, /Which one\? A number, or "all": /);
    const one = await type(['2', '1'], key);
    assert.equal(one.code, 130);
    assert.match(one.output, /Enter to look: /);
    assert.doesNotMatch(menu.output + one.output, /fault|Error|Seen just now/);
  }
});

test('at a terminal it asks; an empty answer runs nothing, a number runs that experiment', async () => {
  const ask = (/** @type {string} */ answer) => type(['2'], `${answer}\n`, '\n');
  const nothing = await ask('');
  assert.equal(nothing.code, 0);
  assert.match(nothing.output, /Which one\? A number, or "all": /);
  assert.ok(!nothing.output.includes('Seen just now'));
  assert.match((await ask('1')).output, /Enter to look: [^]*Seen just now/);
});

test('a wrong name suggests the nearest right one; a lesson without experiments says so', async () => {
  const wrong = await dispatched(rootFolder, ['try', '2', 'who-answer']);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /no experiment who-answer|no experiment "who-answer"/);
  assert.match(wrong.stderr, /Did you mean who-answers\?/);
  const root = makeRoot();
  rmSync(join(root, 'checks', keys[0], 'experiments.js'));
  const none = await dispatched(root, ['try', '1']);
  assert.equal(none.code, 2);
  assert.match(none.stderr, /Lesson 1 has no experiments/);
});

test('every experiment has its own description, question and name', () => {
  const names = experiments.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const { name, title, question } of experiments) {
    assert.match(name, /^[a-z]+(-[a-z]+)*$/);
    assert.ok(title && question.endsWith('?'));
  }
  assert.ok(listLessons(rootFolder).some(({ key }) => key === '02-cluster-fork'));
});
