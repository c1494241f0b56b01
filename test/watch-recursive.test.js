// Verifies that watching a folder survives an error: Node 20 fails on folders that vanish while it reads them, and
// Node 24 watches a missing folder without an error.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { watchRecursive } from '../lib/common/watch-recursive.js';
import { until } from './nothing-left.js';

test('a broken watcher is replaced, at once or later, and the change is reported', async (t) => {
  const real = fs.watch;
  t.after(() => {
    fs.watch = real;
    syncBuiltinESMExports();
  });
  /** @type {(EventEmitter & { close(): void, isClosed?: boolean })[]} */
  const watchers = [];
  let refusals = 0;
  const watch = (/** @type {string} */ _folder, /** @type {object} */ _options, onChange) => {
    if (refusals > 0) {
      refusals -= 1;
      throw Object.assign(new Error('ENOENT: scandir'), { code: 'ENOENT' });
    }
    const watcher = Object.assign(new EventEmitter(), {
      close: () => void Object.assign(watcher, { isClosed: true }),
    });
    watchers.push(watcher.on('change', onChange));
    return watcher;
  };
  fs.watch = /** @type {any} */ (watch);
  syncBuiltinESMExports();

  let told = 0;
  refusals = 1;
  const following = watchRecursive(tmpdir(), () => (told += 1));
  await until('it is watched', () => told === 1, 5_000);
  watchers[0].emit('change');
  assert.equal(told, 2);
  refusals = 2;
  watchers[0].emit('error', new Error('ENOENT: scandir'));
  await until('it is watched again', () => told === 3, 5_000);
  assert.deepEqual([watchers.length, watchers[0].isClosed], [2, true]);
  following.close();
  watchers[1].emit('error', new Error('too late'));
  assert.equal(watchers[1].isClosed, true);
  await new Promise((wait) => setTimeout(wait, 500));
  assert.deepEqual([watchers.length, told], [2, 3]);
});

test('a folder that does not exist yet is watched once it does', async (t) => {
  const home = fs.mkdtempSync(join(tmpdir(), 'forkshop-watch-'));
  t.after(() => fs.rmSync(home, { recursive: true }));
  const folder = join(home, 'later');
  let told = 0;
  const following = watchRecursive(folder, () => (told += 1));
  t.after(() => following.close());
  fs.mkdirSync(folder);
  await until('it is watched', () => told > 0, 5_000);
  const before = told;
  fs.writeFileSync(join(folder, 'file'), '');
  await until('the new file is reported', () => told > before, 5_000);
});
