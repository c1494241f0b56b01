// Verifies that concurrent commands lose no change, even if one of them is killed in the middle, and that no command waits
// forever for another.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { readProgress, updateProgress } from '../lib/cli/saved/progress.js';
import { lockFile } from '../lib/cli/saved/file-lock.js';
import { spawnOurs } from '../lib/common/child.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { forkshop, keys, makeRoot, write } from './fixture-root.js';

const PROCESSES = 6;
const TIMES = Number(process.env.FORKSHOP_TIMES ?? 10);
const urlOf = (/** @type {string} */ file) => JSON.stringify(pathToFileURL(join(rootFolder, file)));
const folderOf = (/** @type {string} */ root) => join(root, '.forkshop');
const ioOf = (/** @type {string} */ root) => ({ root, env: {}, stderr: new PassThrough() });

/** A process that runs these lines, with `io` and updateProgress in scope. */
function run(/** @type {string} */ root, /** @type {string} */ lines) {
  const text = `import { existsSync } from 'node:fs';
    import { updateProgress } from ${urlOf('lib/cli/saved/progress.js')};
    const io = { root: ${JSON.stringify(root)}, env: {}, stderr: process.stderr };
    ${lines};
    process.exit();`;
  return spawnOurs(['--input-type=module', '-e', text]);
}

/** A process that stays in the middle of a change. */
async function holdTurn(
  /** @type {import('node:test').TestContext} */ t,
  /** @type {string} */ root,
) {
  const child = run(root, `updateProgress(io, () => { process.stdout.write('.'); for (;;); });`);
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

test(`${PROCESSES} processes change progress ${TIMES} times each, and no change is lost`, async () => {
  const root = makeRoot();
  const children = Array.from({ length: PROCESSES }, (_, index) =>
    run(
      root,
      `while (!existsSync(${JSON.stringify(join(root, 'go'))}));
      for (let times = 0; times < ${TIMES}; times += 1)
        updateProgress(io, ({ hints }) => {
          hints.all = (hints.all ?? 0) + 1;
          hints.own${index} = (hints.own${index} ?? 0) + 1;
        });`,
    ),
  );
  write(root, { go: '' });
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]));
  assert.deepEqual(codes, Array(PROCESSES).fill(0));
  const { hints } = readProgress(ioOf(root));
  assert.equal(hints.all, PROCESSES * TIMES);
  for (let index = 0; index < PROCESSES; index += 1) assert.equal(hints[`own${index}`], TIMES);
  assert.deepEqual(readdirSync(folderOf(root)), ['progress.json']);
});

test('commands that run at once lose no hint', async () => {
  const root = makeRoot();
  const all = keys.flatMap((_, index) => Array(4).fill(['hint', String(index + 1)]));
  const told = await Promise.all(all.map((argv) => forkshop(root, argv)));
  assert.deepEqual(
    told.map(({ code, stderr }) => [code, stderr]),
    all.map(() => [0, '']),
  );
  const { hints } = readProgress(ioOf(root));
  assert.deepEqual(
    hints,
    Object.fromEntries(keys.map((key) => [`${key}/1`, 3])),
    'there are three each',
  );
});

test('a process that is killed with the lock keeps no other waiting, and leaves nothing', async (t) => {
  const root = makeRoot();
  const child = await holdTurn(t, root);
  assert.equal(readdirSync(folderOf(root)).length, 1, 'it has its turn');
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
  const io = ioOf(root);
  updateProgress(io, (progress) => (progress.lastLesson = keys[0]));
  assert.equal(readProgress(ioOf(root)).lastLesson, keys[0]);
  assert.equal(io.stderr.read(), null);
  assert.deepEqual(readdirSync(folderOf(root)), ['progress.json']);
});

test('a living process is waited for, and named if it takes too long', async (t) => {
  const root = makeRoot();
  const { pid } = await holdTurn(t, root);
  const file = join(folderOf(root), 'progress.json');
  const expected = { code: 'EBUSY', message: new RegExp(`^Process ${pid} has been changing `) };
  assert.throws(() => lockFile(file, 20), expected);
  const { code, stderr } = await forkshop(root, ['hint', '1']);
  assert.equal(code, 0);
  assert.match(stderr, new RegExp(`could not be kept: Process ${pid} has .* End it, or wait`));
  assert.equal(existsSync(file), false, 'what the other is changing is left alone');
  assert.equal(
    readdirSync(folderOf(root)).length,
    1,
    'nothing is left of the commands that gave up',
  );
});

test('a file that only looks like a ticket is left alone', () => {
  const root = makeRoot();
  const odd = ['progress.json.turn.x', 'progress.json.turn.1.2', 'progress.json.turns'];
  write(root, Object.fromEntries(odd.map((name) => [`.forkshop/${name}`, ''])));
  write(root, { '.forkshop/progress.json.turn.1.999999999.1': 'of a process that is no more' });
  updateProgress(ioOf(root), () => {});
  assert.deepEqual(readdirSync(folderOf(root)).sort(), ['progress.json', ...odd].sort());
});
