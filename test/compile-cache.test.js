// Verifies the compiled code that programs start from: made once, copied for each run, and never spoilt for other runs.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { copyCache, makeCache } from '../lib/observe/compile-cache.js';

const folder = mkdtempSync(join(tmpdir(), 'compile-cache-'));
after(() => rmSync(folder, { recursive: true }));
const cache = join(folder, 'cache');

test('is made once, and each run gets its own copy', async () => {
  const home = join(folder, 'home');
  mkdirSync(home);
  assert.equal(copyCache(home, cache), undefined, 'no cache exists yet');
  await makeCache(cache);
  assert.deepEqual(readdirSync(folder).sort(), ['cache', 'home'], 'nothing unfinished is left');
  if ('enableCompileCache' in module) assert.ok(readdirSync(cache).length > 0);
  writeFileSync(join(cache, 'whole'), 'ours');
  await makeCache(cache);
  const copy = String(copyCache(home, cache));
  assert.equal(copyCache(home, cache), copy);
  writeFileSync(join(copy, 'whole'), 'spoilt');
  assert.equal(readFileSync(join(cache, 'whole'), 'utf8'), 'ours');
});

test('if it cannot be made or copied, programs run without it', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  await makeCache(join(file, 'cache'));
  assert.equal(copyCache(join(file, 'home'), cache), undefined);
});
