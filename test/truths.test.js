// Verifies what bench:demos compares: the last sentence of every recording is true, and no other would be.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { seenIn, truths } from '../bench/truths.js';
import { rootFolder } from '../lib/lessons/catalog.js';
import { readDemos } from '../lib/deck/recordings.js';

const NOT_DRAWN = ['drown-or-keep-up', 'two-counts']; // their counts are in no message

test('every demo about one run has a truth, and its recording is true', async () => {
  const demos = (await readDemos(rootFolder)).filter(({ name }) => !name.startsWith('spot-'));
  assert.deepEqual(demos.map(({ name }) => name).sort(), Object.keys(truths).sort());
  for (const { key, name } of demos) {
    const folder = join(rootFolder, 'slides', key, 'recordings');
    assert.ok(readdirSync(folder).includes(`${name}.json`), name);
    const messages = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
    const seen = seenIn(messages);
    assert.equal(truths[name](seen), undefined, name);
    if (NOT_DRAWN.includes(name)) continue;
    const more = (/** @type {string} */ text) =>
      text.replace(/\d+(?= )|\d+(?=[,.;])/g, (n) => String(Number(n) + 40));
    assert.ok(
      truths[name]({ ...seen, sentence: more(seen.sentence) }),
      `${name}: ${more(seen.sentence)}`,
    );
  }
});
