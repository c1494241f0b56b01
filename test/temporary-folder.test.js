// Verifies that a missing folder for temporary files is reported at once: exit code 3, no fault, no failure.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { spawnOurs } from '../lib/common/child.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { demandRoom, temporaryFolder } from '../lib/observe/temporary-folder.js';
import { EnvironmentError } from '../lib/common/usage-error.js';
import { perform } from '../lib/deck/perform-demo.js';
import { forkshop, keys, makeRoot, write } from './fixture-root.js';
import { until } from './nothing-left.js';

const folder = mkdtempSync(join(tmpdir(), 'temporary ü '));
after(() => rmSync(folder, { recursive: true }));
const nowhere = join(folder, 'nowhere');
const file = join(folder, 'file');
writeFileSync(file, '');

/** A preload to which every disk has these numbers. */
const numbers = (/** @type {string} */ text) => ({
  TMPDIR: folder,
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
    fs.statfsSync = () => (${text}); syncBuiltinESMExports();`,
  )}`,
});

/** @type {Record<string, { env: Record<string, string>, says: RegExp }>} */
const obstacles = {
  'is not there': { env: { TMPDIR: nowhere }, says: /nowhere, but there is no such folder\.\n/ },
  'is a file': { env: { TMPDIR: file }, says: /file, but that isn't a folder\.\n/ },
  'is full': {
    env: numbers('{ bavail: 1, bsize: 4096, files: 9, ffree: 9 }'),
    says: /but only 0 MB are free there, and a check wants 48 MB\.\n/,
  },
  'is too small for what a program may print': {
    env: numbers('{ bavail: 20, bsize: 1024 ** 2, files: 9, ffree: 9 }'),
    says: /but only 20 MB are free there, and a check wants 48 MB\.\n/,
  },
  'takes no more files': {
    env: numbers('{ bavail: 1e9, bsize: 4096, files: 9, ffree: 0 }'),
    says: /but no more files fit there\.\n/,
  },
};

for (const [name, { env, says }] of Object.entries(obstacles)) {
  test(`the folder for temporary files ${name}`, async () => {
    const argv = ['--solution', '--json'];
    const { code, stdout, stderr } = await forkshop(rootFolder, ['check', '2', ...argv], env);
    assert.deepEqual([code, stdout], [3, '']);
    assert.match(stderr, says);
    assert.match(stderr, /name another folder, as in: TMPDIR=\S+ npm run check\n$/);
    const experiment = await forkshop(rootFolder, ['try', '2', '1'], env);
    assert.equal(experiment.code, 3);
    assert.match(experiment.stderr, says);
  });
}

test('start says so at each save, and continues', async (t) => {
  const root = makeRoot();
  const env = { PATH: process.env.PATH, FORKSHOP_ROOT: root, TMPDIR: nowhere };
  const child = spawnOurs([join(rootFolder, 'lib/cli/main.cjs'), 'start'], { env });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (said += text));
  const isSaid = (/** @type {RegExp} */ pattern) => () => pattern.test(said);
  await until('it has begun', isSaid(/Whenever you save/), 10_000);
  for (const text of ['// one', '// two']) {
    said = '';
    write(root, { [`lessons/${keys[0]}/server.js`]: text });
    await until('it says so', isSaid(/there is no such folder/), 10_000);
    await until('it continues', isSaid(/Waiting for the next save/), 10_000);
  }
});

test('a demo shows the error in its place', async () => {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = nowhere;
  /** @type {any[]} */
  const sent = [];
  const demo = { name: 'one', title: 'One', perform: async () => assert.fail('it was performed') };
  const { signal } = new AbortController();
  try {
    await perform(demo, { root: rootFolder, send: (message) => sent.push(message), signal });
    assert.throws(temporaryFolder, EnvironmentError);
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
  assert.match(sent.at(-1).end.error, /nowhere, but there is no such folder/);
});

test('the folder is created where there is room', () => {
  assert.equal(demandRoom(folder), folder);
  assert.equal(typeof temporaryFolder(), 'string');
});
