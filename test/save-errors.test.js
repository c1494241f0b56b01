// Verifies that a command does its work if progress cannot be saved, says so in one line after it, and loses nothing that was
// saved before.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { spawnOurs } from '../lib/common/child.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { readProgress, updateProgress } from '../lib/cli/saved/progress.js';
import { reportSaveErrors } from '../lib/cli/saved/save-errors.js';
import { forkshop, keys, makeRoot, read, write } from './fixture-root.js';

const door = pathToFileURL(join(rootFolder, 'lib/check/checking.js'));
const check = `import { check, demand } from '${door}';
export default check('${keys[0]}', { 1: { greets: 'it says hello' } }, ({ hold }) =>
  hold('greets', [], () => demand(false, { expected: 'hello', got: 'bye', why: 'why', try: 'this' })));
`;
const LINE = /^Your progress could not be kept: .*\n$/;

function makeWorkshop() {
  const root = makeRoot();
  write(root, { [`checks/${keys[0]}/check.js`]: check });
  return root;
}

/** A preload in which these functions of node:fs fail below .forkshop, since root may write everywhere. */
const refusing = (/** @type {string} */ code, /** @type {string[]} */ ...names) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
    for (const name of ${JSON.stringify(names)}) {
      const real = fs[name];
      fs[name] = (...args) => {
        if (!String(args[0]).includes('.forkshop')) return real(...args);
        throw Object.assign(new Error('${code}: refused, ' + name), { code: '${code}' });
      };
    }
    syncBuiltinESMExports();`,
  )}`,
});

/** Reasons why progress cannot be saved: how to prepare the root, and the environment of the command. */
const obstacles = {
  'a folder that may not be made': { env: refusing('EACCES', 'mkdirSync') },
  'a full disk': { env: refusing('ENOSPC', 'writeFileSync', 'appendFileSync') },
  '.forkshop is a file': { before: (root) => write(root, { '.forkshop': 'mine' }) },
  'progress.json is a folder': {
    before: (root) => mkdirSync(join(root, '.forkshop/progress.json'), { recursive: true }),
  },
};

for (const [name, { before = () => {}, env = {} }] of Object.entries(obstacles)) {
  test(`${name}: the verdict is printed, then a warning that it is not saved`, async () => {
    const root = makeWorkshop();
    before(root);
    const { code, stdout, stderr } = await forkshop(root, ['check', '1'], env);
    assert.equal(code, 1, stderr);
    assert.match(stdout, /expected {2}hello\n +got {7}bye\n +why {7}why[^]*A hint: /);
    assert.match(stderr, LINE);
    const hint = await forkshop(root, ['hint', '1'], env);
    assert.match(
      hint.stdout,
      /nudge[^]*look it up[^]*the answer/,
      'all, as they cannot be counted',
    );
    const solution = await forkshop(root, ['solution', '1'], env);
    assert.match(solution.stdout, /solutions\/01-blocking-server\/server\.js[^]*hello/);
    const diff = await forkshop(root, ['diff', '1'], env);
    assert.match(diff.stdout, /^\+console\.log\('hello'\)/m);
    for (const { code, stderr } of [hint, solution, diff]) {
      assert.equal(code, 0);
      assert.match(stderr, LINE);
    }
  });
}

test('an obstacle in place of a folder or a file is named, and list names it as well', async () => {
  const root = makeWorkshop();
  write(root, { '.forkshop': 'mine' });
  const { code, stderr } = await forkshop(root, ['list']);
  assert.equal(code, 0);
  assert.match(stderr, /\.forkshop should be a folder\. Remove it, or rename it\.\n$/);
  const timeline = await forkshop(root, ['check', '1', '--timeline']);
  assert.deepEqual(
    [timeline.code, timeline.stdout],
    [2, ''],
    'it cannot be had without the folder',
  );
  assert.match(timeline.stderr, /\.forkshop should be a folder/);
  write(root, { [`lessons/${keys[0]}/server.js`]: '// mine' });
  const reset = await forkshop(root, ['reset', '1', '--yes']);
  assert.equal(reset.code, 3);
  assert.match(reset.stderr, /^The operating system refused: ENOTDIR/);
  assert.equal(read(root, `lessons/${keys[0]}/server.js`), '// mine');
  assert.equal(read(root, '.forkshop'), 'mine');
});

test('start continues', async (t) => {
  const root = makeWorkshop();
  write(root, { '.forkshop': 'mine' });
  const main = join(rootFolder, 'lib/cli/main.cjs');
  const child = spawnOurs([main, 'start'], {
    env: { PATH: process.env.PATH, FORKSHOP_ROOT: root },
  });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (said += text));
  const until = async (/** @type {RegExp} */ pattern) => {
    while (!pattern.test(said) && child.exitCode === null)
      await new Promise((resolve) => setTimeout(resolve, 20));
    assert.match(said, pattern);
  };
  await until(/Whenever you save/);
  for (const text of ['// one\n', '// two\n']) {
    said = '';
    write(root, { [`lessons/${keys[0]}/server.js`]: text });
    await until(/got {7}bye[^]*Waiting for the next save/);
    await until(/Your progress could not be kept/);
  }
});

test('progress that cannot be read is not overwritten, and a full disk leaves no half of it', () => {
  const root = makeRoot();
  const io = { root, env: {}, stderr: new PassThrough() };
  updateProgress(io, ({ passed }) => (passed[keys[0]] = { at: 'then' }));
  const file = join(root, '.forkshop/progress.json');
  const before = readFileSync(file, 'utf8');
  rmSync(file);
  mkdirSync(file);
  assert.deepEqual(readProgress(io).passed, {});
  assert.equal(
    updateProgress(io, (progress) => (progress.lastLesson = keys[1])).lastLesson,
    keys[1],
  );
  assert.deepEqual(readdirSync(join(root, '.forkshop')), ['progress.json']);
  reportSaveErrors(io);
  reportSaveErrors(io);
  assert.match(String(io.stderr.read()), LINE);
  assert.equal(readProgress(io).lastLesson, keys[1], 'it is remembered for as long as we run');
  rmSync(file, { recursive: true });
  write(root, { '.forkshop/progress.json': before });
  assert.equal(readProgress(io).passed[keys[0]].at, 'then');
  assert.equal(existsSync(file), true);
});

test('progress that could not be written is kept, and written as soon as possible', () => {
  const root = makeRoot();
  const io = { root, env: {}, stderr: new PassThrough() };
  write(root, { '.forkshop': 'a file' });
  for (let shown = 1; shown <= 2; shown += 1)
    updateProgress(io, ({ hints }) => (hints[keys[0]] = (hints[keys[0]] ?? 0) + 1));
  assert.equal(readProgress(io).hints[keys[0]], 2);
  assert.deepEqual(readProgress({ ...io }).hints, {}, 'another command knows nothing of it');
  rmSync(join(root, '.forkshop'));
  mkdirSync(join(root, '.forkshop'));
  write(root, { '.forkshop/progress.json': '{ "version": 1, "hints": {} }' });
  assert.deepEqual(readProgress(io).hints, {}, 'progress written by another process counts');
  rmSync(join(root, '.forkshop'), { recursive: true });
  write(root, { '.forkshop': 'a file' });
  updateProgress(io, (progress) => (progress.lastLesson = keys[1]));
  rmSync(join(root, '.forkshop'));
  updateProgress(io, ({ predictions }) => (predictions[keys[0]] = 3));
  assert.match(read(root, '.forkshop/progress.json'), /"lastLesson": "\d\d-/);
});

test('a refusal says what to do', async () => {
  const said = async (/** @type {string} */ code) =>
    (await forkshop(makeWorkshop(), ['hint', '1'], refusing(code, 'writeFileSync'))).stderr;
  assert.match(
    await said('ENOSPC'),
    /Make room there, or keep it elsewhere, as in: FORKSHOP_HOME=/,
  );
  assert.match(await said('EROFS'), /Let Forkshop write there, or keep it elsewhere/);
});
