// Verifies that a lesson's tools besides `npm ci` are found, and that a missing one is reported with its remedy.
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { parseLessonYml, toolNames } from '../lib/lessons/lesson-yml.js';
import { demandTool, explainMissing, findTool } from '../lib/tools/tools.js';
import { Undecided } from '../lib/verdict/outcome.js';

/** Calls `look` with only these folders in PATH. */
function withPath(/** @type {string[]} */ folders, /** @type {() => void} */ look) {
  const before = process.env.PATH;
  process.env.PATH = folders.join(delimiter);
  try {
    look();
  } finally {
    process.env.PATH = before;
  }
}

test('a program is found in PATH only if it can be executed', (t) => {
  const [empty, full] = ['a', 'b'].map((name) => mkdtempSync(join(tmpdir(), `forkshop-${name}-`)));
  t.after(() => [empty, full].forEach((folder) => rmSync(folder, { recursive: true })));
  const file = join(full, process.platform === 'win32' ? 'vegeta.exe' : 'vegeta');
  writeFileSync(file, '#!/bin/sh\n', { mode: 0o644 });
  if (process.platform !== 'win32')
    withPath([full], () => assert.equal(findTool('vegeta'), undefined));
  chmodSync(file, 0o755);
  withPath([empty, full], () => assert.equal(findTool('vegeta'), file));
  withPath([empty, full], () => assert.equal(demandTool('vegeta'), file));
  withPath([empty], () => {
    assert.equal(findTool('vegeta'), undefined);
    assert.throws(
      () => demandTool('vegeta'),
      (error) => error instanceof Undecided && /vegeta is not installed here/.test(error.message),
    );
  });
});

test('each tool has a command that installs it', () => {
  assert.ok(toolNames.length >= 4);
  for (const name of toolNames) {
    const { got, why, try: command } = explainMissing(name);
    assert.match(got, /is not installed here\.$/);
    assert.match(why, /\.$/);
    assert.match(command, /install|npm ci/);
  }
});

test('a lesson declares its tools in its lesson.yml; an unknown name is refused, and the known ones are listed', () => {
  const lines = ['title: T', 'minutes: 1', 'goal: g', 'concepts: [c]', 'starterFails: [x]'];
  const about = (/** @type {string} */ needs) => parseLessonYml([...lines, needs].join('\n'), 'f');
  assert.deepEqual(about('needs: [nginx, redis]').needs, ['nginx', 'redis']);
  assert.equal(about('').needs, undefined);
  for (const wrong of ['needs: [apache]', 'needs: nginx', 'needs: []'])
    assert.throws(() => about(wrong), /needs must be .*nginx, redis/);
});
